/* Taking: operations advance by wavelets of their queues, or by elements of FIFOs and places in them. */
#include "priorities.h"

/* Returns when an operation takes a wavelet that is not an element, and is there at a time. */
static cycle time_for(const struct open *open, cycle head) {
    cycle time = head > open->time ? head : open->time;
    return open->turn != NULL && open->turn_at > time ? open->turn_at : time;
}

/* Ends an operation by a control wavelet, which is taken and not stored (DSD-199 to DSD-201). */
static void end_by_control(struct core *core, struct open *open, struct run **runs) {
    for (int k = 0; k < open->inputs; k++) {
        if (runs[k]->control) {
            cycle head = head_time(runs[k]);
            cycle time = time_for(open, head);
            if (open->shares) {
                note_work(core, open->pe, open->operation, time, 1, open->rate, 1);
            }
            if (core->statistics != NULL) {
                count_one(core, open, k, runs[k], time, time + open->rate);
            }
            open->time = time + open->rate;
            run_taken(core, runs[k], 1, open->time, 1);
            runs[k]->taken++;
        }
    }
    end_early(core, open);
    open->by_control = true;
}

/* Finds when the next element of queue `k` may be taken; returns the cycles until the one behind it may. */
cycle line(const struct open *open, struct run **runs, int k, cycle *head) {
    if (open->pairs >> k & 1) {
        *head = ready_time(open, k);
        return open->rate;
    }
    uint32_t own = lanes_from(open, k);
    cycle theirs = (runs[k]->rate + own - 1) / own;
    *head = head_time(runs[k]);
    return theirs > open->rate ? theirs : open->rate;
}

/* Finds when an operation takes the next element, and the cycles between two; returns for how many of `count` that
 * holds. It takes an element when it is ready and that of each run is there, but for those of `without`, as bits: what is
 * the last to be so may change, when a run that is there early is slower. */
int64_t pace(const struct open *open, struct run **runs, uint32_t without, int64_t count, cycle *begin, cycle *rate) {
    uint32_t lanes = 1;
    cycle most = open->rate;
    *begin = open->time;
    *rate = open->rate;
    for (int k = 0; k < open->inputs; k++) {
        if (without >> k & 1) {
            continue;
        }
        uint32_t own = lanes_from(open, k);
        cycle head, theirs = line(open, runs, k, &head);
        lanes = own > lanes ? own : lanes;
        most = theirs > most ? theirs : most;
        if (head > *begin || (head == *begin && theirs > *rate)) {
            *begin = head;
            *rate = theirs;
        }
    }
    int64_t holds = count;
    if (open->is_forwarder) {
        cycle theirs = open->credit_rate > open->rate ? open->credit_rate : open->rate;
        most = theirs > most ? theirs : most;
        holds = open->credits < holds ? open->credits : holds;
        if (open->credit_first > *begin || (open->credit_first == *begin && theirs > *rate)) {
            *begin = open->credit_first;
            *rate = theirs;
        } else if (theirs > *rate) {
            int64_t until = (*begin - open->credit_first) / (theirs - *rate) + 1;
            holds = until < holds ? until : holds;
        }
        if (open->rate > *rate) {
            int64_t until = (*begin - open->time) / (open->rate - *rate) + 1;
            holds = until < holds ? until : holds;
        }
    } else if (most == *rate) {
        return count;
    }
    for (int k = 0; k < open->inputs; k++) {
        cycle head, theirs = line(open, runs, k, &head);
        if (theirs > *rate && !(without >> k & 1)) {
            int64_t until = (*begin - head) / (theirs - *rate) + 1;
            holds = until < holds ? until : holds;
        }
    }
    if (holds < count) {
        holds -= holds % lanes;
        if (holds == 0) {
            *rate = most;
            return count < lanes ? count : lanes;
        }
    }
    return holds;
}

/* Takes the header of a message, which says how many elements follow. */
void take_header(struct core *core, struct open *open, struct run *run) {
    uint32_t word = 0;
    memcpy(&word, run->at + (ptrdiff_t)run->taken * run->step, run->size);
    int64_t length = word & WORD_MASK;
    cycle head = head_time(run);
    cycle time = time_for(open, head);
    if (open->shares) {
        note_work(core, open->pe, open->operation, time, 1, open->rate, 1);
    }
    if (core->statistics != NULL) {
        count_one(core, open, 0, run, time, time);
    }
    open->time = time;
    run_taken(core, run, 1, open->time, 1);
    open->time += open->rate;
    open->header = false;
    run->taken++;
    core->at = time;
    if (length > open->count) {
        fail(core, open->pe, MESSAGE_DOES_NOT_FIT, open->task, open->where,
             VALUES(open->operation->number, length, open->count));
    } else if (run->is_piece && open->operation->kernel->size[0] == 2) {
        check_cut(core, open, run->piece);
    }
    core->at = -1;
    open->count = length;
}

/* Returns true if each element may leave a finding of its own: then they are taken one by one. */
static bool is_watched(const struct core *core, const struct open *open) {
    const struct pe *pe = open->pe;
    const struct operation *operation = open->operation;
    if (operation->raises && pe->class->unmasked != NULL && pe->class->unmasked[pe->unit] != 0) {
        return true;
    }
    for (int k = 0; k <= operation->sources && !open->is_plain; k++) {
        const struct operand_state *state = &open->operands[k];
        if (!state->is_number && state->descriptor.type == MEMORY_WALK && !is_inside(core, pe, &state->descriptor)) {
            return true;
        }
    }
    return false;
}

/* Returns what wavelets carry that an operation takes with control_transform, those of control wavelets marked
 * (DSD-256); reports an index that loses bits by that, or looks as if it were marked (DSD-259). */
static struct payload *transform(struct core *core, struct open *open, int k, const struct run *run, uint32_t count,
                                 cycle begin, cycle rate) {
    struct payload *payload = payload_take(core, count);
    bool told = false;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t word = 0;
        memcpy(&word, run->at + (ptrdiff_t)(run->taken + n) * run->step, run->size);
        if (word & CONTROL_MARK && !told) {
            cycle before = core->at;
            core->at = begin + (cycle)n * rate;
            warn(core, open->pe, INDEX_TOO_WIDE, open->task, open->where,
                 VALUES(open->operation->number, open->pe->class->queues[open->queue[k]].number, run->control, word));
            core->at = before;
            told = true;
        }
        payload->words[n] = word | (run->control ? CONTROL_MARK : 0);
    }
    return payload;
}

/* Returns how many elements an operation may pass on that has `count`: so many as the step limit lets it, since the
 * limit was set; leaves a finding if there are none. */
static int64_t allowed(struct core *core, struct open *open, int64_t count, uint32_t together) {
    if (open->limit_number != core->limit_number) {
        open->limit_number = core->limit_number;
        open->limit = open->position + (int64_t)core->step_limit;
    }
    int64_t left = open->limit - open->position;
    if (left <= 0) {
        fail(core, open->pe, STEP_LIMIT, open->task, open->where, VALUES((int64_t)core->step_limit));
        return 0;
    }
    if (left < count) {
        count = left - left % together;
        count = count == 0 ? together : count;
    }
    return count;
}

/* Lets an operation drop the data wavelets of a run, or count its control wavelets; `most` of them at most. */
static void drop_elements(struct core *core, struct open *open, struct run *run, int64_t most) {
    int64_t left = open->count - open->position, count = run->count - run->taken;
    count = run->control && left < count ? left : count;
    count = most < count ? most : count;
    cycle begin, rate;
    count = pace(open, &run, 0, count, &begin, &rate);
    if (open->shares) {
        note_work(core, open->pe, open->operation, begin, rate, open->rate, count);
    }
    if (core->statistics != NULL) {
        count_feed(core, open, &run, count, begin, rate);
    }
    run_taken(core, run, (uint32_t)count, begin, rate);
    run->taken += (uint32_t)count;
    open->position += run->control ? count : 0;
    open->time = begin + (count - 1) * rate + open->rate;
    if (open->count == UNBOUNDED && open->time > core->latest) {
        core->latest = open->time;
    }
}

/* Sends wavelets of two values that an operation makes of `count` single ones, behind what it has of one already; what it
 * has of the last is kept. A wavelet leaves when its second value is taken. */
static void send_pairs(struct core *core, struct open *open, struct payload *payload, int64_t count, cycle begin,
                       cycle rate) {
    const struct descriptor *stream = &open->operands[0].descriptor;
    int64_t values = open->has_half + count;
    cycle first = open->has_half ? begin : begin + rate;
    open->has_half = values % 2 != 0;
    if (open->has_half) {
        open->half = (uint16_t)payload->words[values / 2];
    }
    if (values < 2) {
        return;
    }
    struct run sent = {.payload = payload, .at = (const uint8_t *)payload->words, .step = 4, .size = 4,
                       .count = (uint32_t)(values / 2), .rate = (uint32_t)rate * 2, .first = first + cycles_to_pass_on(core)};
    mark_payload(stream, payload, sent.count);
    struct sending sending = {.operation = open->operation, .task = open->task, .where = open->where,
                              .is_last = open->position + count == open->count && !open->has_half};
    transmit(core, open->pe, &sending, stream, &sent);
}

/* Sends what an operation that ends has of a wavelet, with a zero behind it. */
void send_half(struct core *core, struct open *open) {
    const struct descriptor *stream = &open->operands[0].descriptor;
    struct payload *payload = payload_take(core, 1);
    payload->words[0] = open->half;
    mark_payload(stream, payload, 1);
    struct run sent = {.payload = payload, .at = (const uint8_t *)payload->words, .step = 4, .size = 4, .count = 1,
                       .rate = 2 * (uint32_t)open->rate, .first = open->time + cycles_to_pass_on(core)};
    struct sending sending = {.operation = open->operation, .task = open->task, .where = open->where, .is_last = true};
    open->has_half = false;
    core->at = open->time;
    transmit(core, open->pe, &sending, stream, &sent);
    core->at = -1;
    payload_drop(core, payload);
}

/* Advances an operation by one run for each of its queues, and by `most` elements of each at most. */
void take_elements(struct core *core, struct open *open, struct run **runs, int64_t most) {
    const struct operation *operation = open->operation;
    struct pe *pe = open->pe;
    if (operation->on_control) {
        for (int k = 0; k < open->inputs; k++) {
            if (runs[k]->control) {
                end_by_control(core, open, runs);
                return;
            }
        }
    }
    if (operation->drops_data && !open->uses_fifo) {
        drop_elements(core, open, runs[0], most);
        return;
    }
    int64_t low = open->position, count = open->count - low;
    uint32_t lanes = lanes_from(open, 0);
    count = most * lanes < count ? most * lanes : count;
    for (int k = 0; k < open->inputs; k++) {
        int64_t left = (open->pairs == 0 ? runs[k]->count - runs[k]->taken : taken_at_once(open, k)) * lanes_from(open, k);
        count = left < count ? left : count;
    }
    if (count < open->count - low) {
        uint32_t together = taken_together(open);
        count -= count % (count >= together ? together : lanes);
    }
    struct operand_state *states = open->operands;
    const struct descriptor *stream = &states[0].descriptor;
    bool packs = lanes == 1 && stream->type == QUEUE_RUN && stream->flags & PACKED;
    if (count > lanes && is_watched(core, open)) {
        count = lanes;
    }
    cycle begin, rate;
    count = pace(open, runs, 0, count, &begin, &rate);
    core->at = begin;
    if (core->steps_left != NULL && stream->type != MEMORY_WALK) {
        count = allowed(core, open, count, lanes);
        if (count == 0) {
            return;
        }
    }
    for (int k = 0; k <= operation->sources; k++) {
        count = until_round(&states[k], low, count); /* an operation without an end goes over its walks again */
    }
    if (open->shares) {
        note_work(core, pe, operation, begin, rate, open->rate, count);
    }
    if (open->uses_fifo) {
        look_at_fifos(core, open, runs, count);
    }
    struct operand made[MAX_OPERANDS];
    struct run sent = {.payload = NULL};
    struct payload *transformed[MAX_OPERANDS] = {NULL};
    if (stream->type != MEMORY_WALK) {
        sent.payload = make_payload(core, stream, count + open->has_half, operation->kernel->size[0], &made[0]);
    }
    if (open->has_half) {
        sent.payload->words[0] = open->half;
        operand_run(&made[0], (uint8_t *)sent.payload->words + sizeof open->half, sizeof open->half);
    }
    for (int k = 0; k <= operation->sources; k++) {
        if (!states[k].is_number && states[k].descriptor.type != MEMORY_WALK) {
            continue;
        }
        if (!make_operand(core, pe, operation, open->task, open->where, &states[k], k, low, low + count, &made[k])) {
            return;
        }
    }
    for (int k = 0; k < open->inputs; k++) {
        uint8_t source = open->source[k];
        if (source == 0) {
            continue; /* places in the FIFO that it writes to */
        }
        if (states[source].descriptor.type == QUEUE_RUN && states[source].descriptor.flags & CONTROL_TRANSFORM) {
            transformed[k] = transform(core, open, k, runs[k], (uint32_t)count, begin, rate);
            operand_run(&made[source], transformed[k]->words, 4);
            continue;
        }
        if (runs[k]->size < operation->kernel->size[source] || lanes == 2) {
            widen_run(core, runs[k]);
            keep_run(core, runs[k]);
        }
        uint8_t *at = (uint8_t *)runs[k]->at + (ptrdiff_t)runs[k]->taken * runs[k]->step;
        operand_run(&made[source], at, lanes == 2 ? 2 : runs[k]->step);
    }
    bool computed = compute(core, pe, operation, open->task, open->where, made, (uint32_t)count, &open->carry);
    for (int k = 0; k < open->inputs; k++) {
        if (transformed[k] != NULL) {
            payload_drop(core, transformed[k]);
        }
    }
    if (!computed) {
        return;
    }
    set_to_zero(pe, operation, stream, states, low, low + count);
    if (stream->type == FIFO_END) {
        leave_elements(core, open, sent.payload, count, begin, rate);
        payload_drop(core, sent.payload);
    } else if (packs) {
        send_pairs(core, open, sent.payload, count, begin, rate);
        payload_drop(core, sent.payload);
    } else if (sent.payload != NULL) {
        uint32_t out = stream->flags & PACKED ? 2 : 1;
        sent.at = (const uint8_t *)sent.payload->words;
        sent.step = sent.size = 4;
        sent.count = (uint32_t)((count + out - 1) / out);
        sent.rate = (uint32_t)rate * out;
        sent.first = begin + cycles_to_pass_on(core);
        mark_payload(stream, sent.payload, sent.count);
        struct sending sending = {.operation = operation, .task = open->task, .where = open->where,
                                  .is_last = low + count == open->count};
        transmit(core, pe, &sending, stream, &sent);
        payload_drop(core, sent.payload);
    }
    if (open->uses_fifo) {
        leave_places(core, open, count, begin, rate);
    }
    if (core->statistics != NULL) {
        count_feed(core, open, runs, count, begin, rate);
    }
    for (int k = 0; k < open->inputs; k++) {
        struct run *run = runs[k];
        uint32_t own = lanes_from(open, k), taken = (uint32_t)((count + own - 1) / own);
        run_taken(core, run, taken, begin, rate * own);
        run->taken += taken;
        if (open->queue[k] >= pe->class->source_count) {
            side_at(pe, open->queue[k])->lacking += taken;
        }
    }
    open->position += count;
    open->time = begin + (count - 1) * rate + open->rate;
    if (open->count == UNBOUNDED && open->time > core->latest) {
        core->latest = open->time; /* it never ends, so what it has done is what a host sees of the time */
    }
}
