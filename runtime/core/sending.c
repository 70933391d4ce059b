/* Sending: wavelets leave an output queue, with the times at which they do, and come to queues or routers. */
#include "machine.h"

static bool is_covered(struct core *core, struct pe *pe, const struct sending *sending, const struct queue *queue) {
    uint32_t operation = sending->operation->number;
    if (queue->is_colorless && queue->colors[pe->unit] < 0) {
        fail(core, pe, SENDS_WITHOUT_COLOR, sending->task, sending->where, VALUES(operation, queue->number));
        return false;
    }
    uint8_t flags = queue->flags[pe->unit];
    if (flags & SWALLOWED) {
        warn(core, pe, SENDS_SWALLOWED, sending->task, sending->where, VALUES(operation, queue->number));
    }
    if (flags & LEAVES && !(flags & LOST)) {
        warn(core, pe, SENDS_OFF_GRID, sending->task, sending->where, VALUES(operation, queue->number));
    }
    if (flags & LOST) {
        fail(core, pe, SENDS_LOST, sending->task, sending->where, VALUES(operation, queue->number));
        return false;
    }
    return true;
}

/* Hands a run over to all that its way leads to. */
void send_run(struct core *core, struct pe *pe, const struct queue *queue, const struct run *wavelets,
              struct sending *sending) {
    cycle leaves = wavelets->first + (cycle)(wavelets->count - 1) * wavelets->rate;
    struct send **send = sending->send == NULL ? NULL : &sending->send;
    uint32_t list = queue->ways[pe->unit];
    for (uint32_t k = core->list_first[list]; k < core->list_first[list + 1]; k++) {
        const struct way *way = &core->ways[k];
        struct pe *to = core->pe_of[(int64_t)pe->number + way->offset];
        struct core *there = core_of(core, to);
        uint32_t place = core->queue_place[way->queue];
        struct run *run = pool_take(there, &there->runs);
        *run = *wavelets;
        run->next = NULL;
        run->first += way->latency;
        run->origin = origin_by(way, pe, queue);
        run->sender = pe->number;
        hold_payload(core, there, run);
        spell_out(there, to, place);
        run->path = path_send(there, &inputs_of(to)[place], way, run->origin, run->count, leaves, send);
        arrive(there, to, place, run);
    }
}

/* Hands control wavelets over, without those that a bit of their first command keeps from the compute engine. */
static void send_control(struct core *core, struct pe *pe, const struct queue *queue, const struct run *wavelets,
                         struct sending *sending) {
    bool any = false;
    for (uint32_t k = 0; k < wavelets->count; k++) {
        any |= wavelets->payload->words[k] >> 24 & 1;
    }
    if (!any) {
        send_run(core, pe, queue, wavelets, sending);
        return;
    }
    for (uint32_t k = 0; k < wavelets->count; k++) {
        if (!(wavelets->payload->words[k] >> 24 & 1)) {
            struct run one = *wavelets;
            one.at += (ptrdiff_t)k * one.step;
            one.first += (cycle)k * one.rate;
            one.count = 1;
            send_run(core, pe, queue, &one, sending);
        }
    }
}

/* Reports a control wavelet whose first command, which is for this router, tears a color down with fixed routes. */
static void check_commands(struct core *core, const struct pe *pe, const struct queue *queue, const struct run *wavelets) {
    enum { COMMAND_SHIFT = 22, COMMAND_CODES = 3, TEARDOWN_COMMAND = 3 };
    int32_t color = queue->colors[pe->unit];
    for (uint32_t k = 0; color >= 0 && k < wavelets->count && ramp_of(core, pe, queue) == NULL; k++) {
        uint32_t word = 0;
        memcpy(&word, wavelets->at + (ptrdiff_t)k * wavelets->step, wavelets->size < sizeof word ? wavelets->size : sizeof word);
        if ((word >> COMMAND_SHIFT & COMMAND_CODES) == TEARDOWN_COMMAND) {
            struct finding finding = {.code = TEARDOWN, .pe = pe->number, .task = NO_ROW,
                                      .where = core->tables.colors[color].where,
                                      .cycle = wavelets->first + (cycle)k * wavelets->rate, .values = {color}};
            note_error(core, &finding);
            return;
        }
    }
}

/* Counts wavelets that leave, and looks at the commands of control wavelets. */
static void count_wavelets(struct core *core, struct pe *pe, uint32_t place, const struct run *wavelets) {
    const struct queue *queue = &pe->class->queues[place];
    if (wavelets->control && queue->network == 0) {
        check_commands(core, pe, queue, wavelets);
    }
    core->wavelets += wavelets->count;
    if (queue->flags[pe->unit] & PARTLY_UNREAD) {
        queue->unread[pe->unit] += wavelets->count;
    }
    if (core->statistics != NULL) {
        count_leaving(core, pe, place, wavelets);
    }
}

/* Hands wavelets over, of which all or none are control wavelets, and lets them enter the router; `advances`: its switch
 * moves on behind the last. */
static void pass_on(struct core *core, struct pe *pe, const struct queue *queue, const struct run *wavelets,
                    struct sending *sending, bool advances) {
    if (wavelets->control) {
        send_control(core, pe, queue, wavelets, sending);
    } else {
        send_run(core, pe, queue, wavelets, sending);
    }
    if (core->switches != NULL) {
        enter_router(core, pe, queue, wavelets, advances, sending->send == NULL ? NULL : &sending->send);
    }
}

/* Gives a run a payload of its own without marks. */
void strip_marks(struct core *core, struct run *run) {
    struct payload *payload = payload_take(core, run->count);
    for (uint32_t k = 0; k < run->count; k++) {
        uint32_t word;
        memcpy(&word, run->at + (ptrdiff_t)k * run->step, sizeof word);
        payload->words[k] = word & ~CONTROL_MARK;
    }
    run->payload = payload;
    run->at = (const uint8_t *)payload->words;
    run->step = run->size = 4;
}

/* Returns a copy of wavelets of which those that are marked are changed by the mask of the PE. */
static struct payload *mask_marked(struct core *core, const struct run *wavelets, uint32_t mask) {
    struct payload *payload = payload_take(core, wavelets->count);
    for (uint32_t k = 0; k < wavelets->count; k++) {
        uint32_t word;
        memcpy(&word, wavelets->at + (ptrdiff_t)k * wavelets->step, sizeof word);
        payload->words[k] = is_marked(wavelets, k) ? word ^ mask : word;
    }
    return payload;
}

/* Sends what is marked as control wavelets, without the mark, and the rest as it is (DSD-257). */
static void transmit_marked(struct core *core, struct pe *pe, uint32_t place, struct sending *sending,
                            const struct descriptor *stream, const struct run *wavelets) {
    const struct queue *queue = &pe->class->queues[place];
    bool in_pieces = sending->send != NULL && is_multicast(core, pe, queue);
    for (uint32_t k = 0, behind; k < wavelets->count && !has_failed(core); k = behind) {
        struct run part = *wavelets;
        part.control = is_marked(wavelets, k);
        for (behind = k + 1; behind < wavelets->count && is_marked(wavelets, behind) == part.control;) {
            behind++;
        }
        part.at += (ptrdiff_t)k * part.step;
        part.first += (cycle)k * part.rate;
        part.count = behind - k;
        if (part.control) {
            strip_marks(core, &part);
        }
        count_wavelets(core, pe, place, &part);
        if (!in_pieces) {
            bool is_last = sending->is_last && behind == wavelets->count;
            pass_on(core, pe, queue, &part, sending, is_last && stream->flags & ADVANCE_SWITCH);
        }
        if (part.control) {
            payload_drop(core, part.payload);
        }
    }
    if (in_pieces) {
        multicast_send(core, pe, queue, wavelets, true, &sending->send);
    }
}

/* Sends a run, which keeps its payload: wavelet k leaves at `first` + k * `rate`. */
void transmit(struct core *core, struct pe *pe, struct sending *sending, const struct descriptor *stream,
              struct run *wavelets) {
    uint32_t place = core->queue_place[stream->row];
    const struct queue *queue = &pe->class->queues[place];
    if (!is_covered(core, pe, sending, queue)) {
        return;
    }
    if (stream->flags & CONTROL_TRANSFORM && queue->network == 0) {
        uint32_t mask = control_mask(core, pe);
        struct run masked = *wavelets;
        if (mask != 0) {
            masked.payload = mask_marked(core, wavelets, mask);
            masked.at = (const uint8_t *)masked.payload->words;
            masked.step = masked.size = 4;
        }
        transmit_marked(core, pe, place, sending, stream, &masked);
        if (mask != 0) {
            payload_drop(core, masked.payload);
        }
        return;
    }
    wavelets->control = stream->flags & CONTROL_WAVELETS;
    count_wavelets(core, pe, place, wavelets);
    if (queue->network != 0) {
        inject(core, pe, queue, sending, stream, wavelets);
    } else if (sending->send != NULL && is_multicast(core, pe, queue) &&
               (wavelets->control || !has_room(core, pe, queue, wavelets->count, wavelets->first))) {
        multicast_send(core, pe, queue, wavelets, false, &sending->send);
    } else {
        pass_on(core, pe, queue, wavelets, sending, sending->is_last && stream->flags & ADVANCE_SWITCH);
    }
}
