/* Moves between memory and queues, the most frequent of all transfers: of elements side by side, by one way to the one
 * queue that it leads to. What is done here is what quick.c would do.
 */
#include "quick.h"
#include "races.h"

/* Receiving */

/* Opens a receive for which nothing is there yet. */
static void open_move(struct core *core, struct pe *pe, const struct application *application,
                      const struct descriptor *to, uint32_t count, uint32_t where, cycle issued) {
    const struct operation *operation = application->operation;
    struct open *open = pool_take(core, &core->opens);
    memset(&open->inputs, 0, offsetof(struct open, source) - offsetof(struct open, inputs));
    open->pe = pe;
    open->operation = operation;
    open->since = issued;
    open->time = issued + core->timing.receive_setup;
    open->rate = operation->plain_rate;
    open->count = count;
    open->position = 0;
    open->to = pe->memory + 2 * (int64_t)to->address;
    open->inputs = open->is_plain = open->is_move = true;
    open->is_sync = !operation->is_async;
    open->signals_end = operation->is_async && operation->has_completion;
    open->source[0] = 1;
    open->queue[0] = application->place;
    open->poll = 0;
    open->waits[0] = NULL;
    open->where = where;
    open->task = running_task(pe);
    open->operands[0].descriptor = *to;
    open->operands[0].is_number = false;
    open->operands[1].descriptor = *(const struct descriptor *)(void *)operand_at(application, NULL, 1);
    open->operands[1].is_number = false;
    pe->inputs[application->place].waiting = open;
}

int receive_move(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                 uint32_t where, cycle *now) {
    const struct operation *operation = application->operation;
    const struct descriptor *to = (const struct descriptor *)(void *)operand_at(application, registers, 0);
    uint32_t count = application->count < to->extents[0] ? application->count : to->extents[0];
    const bool is_async = operation->is_async;
    struct input *input = &pe->inputs[application->place];
    struct resource *queue = resource_of(pe, application->place), *thread = resource_of(pe, application->thread);
    struct run *run = input->first;
    cycle issued = *now, end = open_since(issued);
    if (core->is_observed || to->plain != application->plain[0] || count == 0 ||
        !is_quiet(application->queue, pe->unit) || input->waiting != NULL || queue->ends > issued ||
        (is_async && thread->ends > issued)) {
        return NOT_QUICK;
    }
    if (run == NULL) {
        open_move(core, pe, application, to, count, where, issued);
        if (is_async && operation->has_completion) {
            expect_completion(pe, operation, 1);
        }
    } else {
        ptrdiff_t size = application->steps[0];
        if (run->control || run->count - run->taken < count || run->size < size) {
            return NOT_QUICK;
        }
        uint8_t *elements[] = {pe->memory + 2 * (int64_t)to->address,
                               (uint8_t *)run->at + (ptrdiff_t)run->taken * run->step};
        if (run->step == size) {
            memcpy(elements[0], elements[1], (size_t)count * (size_t)size);
        } else {
            const ptrdiff_t steps[] = {size, run->step};
            operation->kernel->walk(elements, steps, count);
        }
        end = note_taken(core, run, count, issued + core->timing.receive_setup, operation->plain_rate);
        if (run->taken == run->count) {
            input->first = run->next;
            if (input->first == NULL) {
                input->last = NULL;
            }
            drop_run(core, run);
        }
        settle_credits(core);
    }
    struct resource use = {.ends = end, .user = operation->number, .task = running_task(pe)};
    *queue = use;
    if (!is_async) {
        *now = run == NULL ? issued : end;
        return run == NULL ? WAITS : DONE_NOW;
    }
    *thread = use;
    *now = issued + core->timing.async_issue;
    if (run != NULL) {
        signal_end(core, pe, operation, end, false);
    }
    return DONE_NOW;
}

/* Sending */

/* Finds when a run that leaves from `first` on can be taken by the operation that waits for it; returns false if that is
 * not at one pace. */
static inline bool find_pace(const struct open *open, cycle head, cycle rate, cycle *begin, cycle *pace) {
    *begin = head > open->time ? head : open->time;
    *pace = *begin == head && rate > open->rate ? rate : open->rate;
    return *begin == head || rate <= open->rate;
}

/* Ends an asynchronous move that has done its last element, as `complete` does. */
static inline void complete_move(struct core *core, struct open *open) {
    struct pe *pe = open->pe;
    const struct operation *operation = open->operation;
    if (open->is_sync || pe->early > 0 || operation->has_control) {
        complete(core, open);
        return;
    }
    cycle time = open->time;
    if (core->races != NULL) {
        end_flight(core, pe, open, time);
    }
    resource_of(pe, open->queue[0])->ends = time;
    resource_of(pe, thread_place(pe, operation))->ends = time;
    open->poll = 0;
    pool_give(&core->opens, open);
    if (operation->has_completion) {
        expect(pe, operation->activate, operation->unblock, -1);
    }
    signal_end(core, pe, operation, time, false);
}

/* Moves elements into the memory of the operation that waits for them, and notes when their credits are back in `done`.
 * Returns false, and has done nothing, if that is for others. */
static inline bool move_now(struct core *core, struct input *input, const struct way *way, const uint8_t *at,
                            uint32_t count, uint8_t size, cycle first, cycle rate, cycle tail, cycle *done) {
    struct open *open = input->waiting;
    struct path *path = &input->path;
    cycle begin, pace;
    if (!open->is_move || open->operation->kernel->size[1] != size || count > open->count - open->position ||
        path->pending > 0 || path->held != NULL || path->waiting != NULL ||
        !find_pace(open, first + way->latency, rate, &begin, &pace)) {
        return false;
    }
    assert(path->claims == NULL);
    memcpy(open->to + open->position * size, at, (size_t)count * size);
    cycle last = -1; /* when the one is taken whose credit the last wavelet needs */
    if (count > path->capacity) {
        last = begin + (cycle)(count - path->capacity - 1) * pace;
    } else if (path->last.count > 0) {
        last = taken_at(path, path->capacity + 1 - count);
    }
    path->leaves = first + (cycle)(count - 1) * rate;
    if (last >= 0 && last + path->back + tail > *done) {
        *done = last + path->back + tail; /* as `send_ends` has it */
    }
    note_takes(core, path, begin, pace, count);
    open->time = begin + (cycle)(count - 1) * pace + open->rate;
    open->position += count;
    if (open->position == open->count) {
        input->waiting = open->waits[0];
        complete_move(core, open);
    }
    return true;
}

/* Queues elements that nothing waits for. */
static inline void queue_move(struct core *core, struct input *input, const uint8_t *at, uint32_t count, uint8_t size,
                              cycle head, cycle rate, const struct pe *from) {
    struct run *run = pool_take(core, &core->runs);
    struct payload *payload = payload_take(core, ((uint64_t)count * size + 3) / 4);
    memcpy(payload->words, at, (size_t)count * size);
    *run = (struct run){.payload = payload, .at = (const uint8_t *)payload->words, .path = &input->path, .first = head,
                        .origin = input->path.origin, .step = size, .rate = (uint32_t)rate, .count = count,
                        .sender = from->number, .size = size};
    if (input->first == NULL) {
        input->first = run;
    } else {
        input->last->next = run;
    }
    input->last = run;
    core->moves -= core->moves > 1;
}

/* Finds where an output queue leads to. What goes to the border of a partition takes the long way. */
static void find_output(struct core *core, const struct pe *pe, const struct queue *queue, struct output *output) {
    static const struct way nowhere;
    uint32_t list = queue->ways[pe->unit], number = core->list_first[list];
    output->way = &nowhere;
    if (!queue->is_static || core->list_first[list + 1] - number != 1) {
        return;
    }
    const struct way *way = &core->ways[number];
    struct pe *to = core->pe_of[(int64_t)pe->number + way->offset];
    const struct queue *receiver = &to->class->queues[core->queue_place[way->queue]];
    if (receiver->is_taskless && receiver->senders == 1 && to != pe && way->capacity > 0 &&
        !core->tiles[to->tile].is_border) {
        struct input *input = &to->inputs[core->queue_place[way->queue]];
        output->way = way;
        output->to = path_at(core, input, way, origin_by(way, pe, queue)) == &input->path ? input : NULL;
    }
}

int send_move(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
              uint32_t where, cycle *now) {
    const struct operation *operation = application->operation;
    const struct descriptor *from = (const struct descriptor *)(void *)operand_at(application, registers, 1);
    const bool is_async = operation->is_async;
    const uint32_t count = from->extents[0];
    struct output *output = &pe->outputs[application->output];
    struct resource *queue = resource_of(pe, application->place), *thread = resource_of(pe, application->thread);
    cycle issued = *now, rate = operation->plain_rate;
    if (core->is_observed || from->plain != application->plain[1] || count == 0 || core->at_work) {
        return NOT_QUICK;
    }
    if (output->way == NULL) {
        find_output(core, pe, application->queue, output);
    }
    const struct way *way = output->way;
    struct input *input = output->to;
    if (input == NULL || !is_quiet(application->queue, pe->unit) || queue->ends > issued ||
        (is_async && thread->ends > issued)) {
        return NOT_QUICK;
    }
    const uint8_t size = (uint8_t)application->steps[1];
    const uint8_t *at = pe->memory + 2 * (int64_t)from->address;
    cycle begins = is_async ? issued : issued + core->timing.send_setup;
    cycle first = begins + core->timing.inject, leaves = first + (cycle)(count - 1) * rate;
    cycle end = begins + rate * count + (is_async ? core->timing.inject : 0);
    cycle tail = end > leaves ? end - leaves : 0;
    struct resource use = {.ends = end, .user = operation->number, .task = running_task(pe)};
    bool waits = false;
    if (input->waiting != NULL) {
        if (!move_now(core, input, way, at, count, size, first, rate, tail, &use.ends)) {
            return NOT_QUICK;
        }
        settle_credits(core);
    } else {
        struct path *path = &input->path;
        waits = path->pending + count > path->capacity;
        if (waits) {
            struct send *send = pool_take(core, &core->send_pool);
            *send = (struct send){.pe = pe, .operation = operation, .where = where, .task = use.task,
                                  .queue = application->queue->number, .done = end, .tail = tail,
                                  .count = count, .is_sync = !is_async, .since = issued, .is_pooled = true};
            path_note(core, path, count, leaves, &send);
            hold_send(core, send);
            use.ends = open_since(issued);
        } else {
            struct send here = {.done = end, .tail = tail}, *send = &here;
            path_note(core, path, count, leaves, &send);
            use.ends = here.done;
        }
        queue_move(core, input, at, count, size, first + way->latency, rate, pe);
    }
    core->wavelets += count;
    *queue = use;
    if (is_async) {
        *thread = use;
        *now = issued + core->timing.async_issue;
        if (!waits) {
            signal_end(core, pe, operation, use.ends, false);
        }
    } else if (!waits) {
        *now = use.ends;
    }
    if (has_failed(core)) {
        return WENT_WRONG;
    }
    return waits && !is_async ? WAITS : DONE_NOW;
}

/* Preparation */

/* Finds the queues of moves that the code names, and leaves those to the other ways that these moves cannot have. */
void prepare_moves(struct core *core) {
    for (uint64_t k = 0; k < core->application_count; k++) {
        struct application *application = &core->applications[k];
        if (application->form != SENDS_MOVE && application->form != RECEIVES_MOVE) {
            continue;
        }
        bool sends = application->form == SENDS_MOVE;
        const struct descriptor *stream = (const struct descriptor *)(void *)operand_at(application, NULL, !sends);
        const struct class *class = &core->classes[core->tables.queues[stream->row].owner];
        uint32_t place = core->queue_place[stream->row];
        application->queue = &class->queues[place];
        application->place = place;
        application->thread = class->queue_count + application->operation->thread;
        application->output = place - class->input_count;
        application->count = stream->extents[0];
        bool fits = sends ? !application->queue->is_input
                          : application->queue->is_taskless && stream->extents[0] != ENDLESS_EXTENT;
        if (stream->plain != PLAIN_RUN || !fits) {
            application->form = OTHER_WAY;
        }
    }
}
