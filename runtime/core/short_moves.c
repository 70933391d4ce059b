/* Short moves: what stands for a move that waits in a queue alone, spelled out as records that all can work on. */
#include "moves.h"
#include "partitions.h"
#include "races.h"

/* Returns where a receive in short puts what comes. */
static const struct descriptor *destination_of(const struct short_move *move) {
    return move->payload != NULL
               ? (const struct descriptor *)(void *)move->payload->words
               : (const struct descriptor *)(void *)operand_at(application_of(move), NULL, 0);
}

/* Opens the receive that has waited in short. */
static struct open *spell_receive(struct core *core, struct pe *pe, const struct input *input) {
    const struct short_move *move = &input->move;
    const struct application *application = application_of(move);
    const struct operation *operation = application->operation;
    struct open *open = pool_take(core, &core->opens);
    memset(open, 0, offsetof(struct open, operands));
    open->pe = pe;
    open->operation = operation;
    open->time = move->time;
    open->rate = operation->plain_rate;
    open->since = move->since;
    open->count = input->count;
    open->position = input->position;
    open->inputs = open->is_plain = true;
    open->is_sync = !operation->is_async;
    open->signals_end = operation->is_async && operation->has_completion;
    open->source[0] = 1;
    open->queue[0] = application->place;
    open->where = source_of_move(move->by);
    open->task = task_row(pe, input->task);
    open->operands[0].descriptor = *destination_of(move);
    open->operands[0].is_number = false;
    open->operands[1].descriptor = *(const struct descriptor *)(void *)operand_at(application, NULL, 1);
    open->operands[1].is_number = false;
    if (move->payload != NULL) {
        payload_drop(core, move->payload);
    }
    return open;
}

/* Returns the record of the way of wavelets that wait in short. */
static struct path *path_of_wavelets(struct core *core, struct input *input) {
    const struct short_move *move = &input->move;
    const struct way *way = way_of(core, input);
    return path_at(core, input, way, origin_by(way, move->from, application_of(move)->queue));
}

/* Makes a run of the wavelets that have waited in short. */
static struct run *spell_wavelets(struct core *core, struct input *input) {
    const struct short_move *move = &input->move;
    const struct application *application = application_of(move);
    struct path *path = path_of_wavelets(core, input);
    struct run *run = pool_take(core, &core->runs);
    uint8_t size = (uint8_t)application->steps[1];
    *run = (struct run){.payload = move->payload, .at = (const uint8_t *)move->payload->words, .path = path,
                        .first = move->time, .origin = path->origin, .step = size,
                        .rate = application->operation->plain_rate, .count = input->count,
                        .sender = move->from->number, .size = size};
    return run;
}

/* Makes the record of a send that waits for room, and has been counted as such. */
static struct send *spell_send(struct core *core, struct input *input) {
    const struct short_move *move = &input->move;
    const struct application *application = application_of(move);
    const struct operation *operation = application->operation;
    struct path *path = input->path;
    struct send *send = pool_take(core, &core->send_pool);
    struct move_times times = times_in_short(input, way_of(core, input));
    assert(times.leaves == path->leaves);
    *send = (struct send){.pe = move->from, .operation = operation, .where = source_of_move(move->by),
                          .task = task_row(move->from, input->task), .count = input->count,
                          .queue = application->queue->number, .waiting = 1,
                          .since = times.first - application->before, .done = times.end, .tail = application->tail,
                          .is_sync = !operation->is_async, .is_pooled = true, .is_claiming = true};
    assert(path->claims == NULL && path->pending == input->count && path->pending > path->capacity);
    send->claim = (struct claim){.send = send, .ahead = path->pending - path->capacity - 1, .is_own = true};
    path->claims = &send->claim;
    list_send(core, send);
    return send;
}

void spell_input(struct core *core, struct pe *pe, uint32_t place) {
    struct input *input = &inputs_of(pe)[place];
    struct run *run = NULL;
    struct open *open = NULL;
    core = core_of(core, pe);
    if (input->form == SHORT_RECEIVE) {
        open = spell_receive(core, pe, input);
        rename_flight(core, pe, input, open);
    } else {
        run = spell_wavelets(core, input);
        if (input->form == SHORT_SEND) {
            rename_flight(core, input->move.from, input, spell_send(core, input));
        }
    }
    end_short(core, input);
    input->first = input->last = run;
    input->waiting = open;
}

/* Spells out all that waits. */
void spell_all(struct core *core) {
    int64_t left = 0;
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        left += core->partitions->cores[k]->short_moves;
    }
    for (uint32_t c = 0; c < core->class_count && left > 0; c++) {
        const struct class *class = &core->classes[c];
        for (uint32_t unit = 0; unit < class->units; unit++) {
            for (uint32_t place = 0; place < class->input_count; place++) {
                spell_out(core, pe_at(class, unit), place);
            }
        }
    }
}
