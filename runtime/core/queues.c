/* Input queues: wavelets that wait to be taken, and operations that wait for more. */
#include "priorities.h"
#include "races.h"

void drop_run(struct core *core, struct run *run) {
    if (run->is_piece) {
        piece_drop(core, run->piece);
    }
    if (run->payload != NULL) {
        payload_drop(core, run->payload);
    }
    pool_give(&core->runs, run);
}

/* Returns the payload of a run, with one reference more; what is in the sender's memory still is copied. */
struct payload *payload_of(struct core *core, const struct run *run) {
    if (run->payload != NULL) {
        run->payload->references++;
        return run->payload;
    }
    uint32_t left = run->count - run->taken;
    struct payload *copy = payload_take(core, left);
    const uint8_t *at = run->at + (ptrdiff_t)run->taken * run->step;
    if (run->size == 4 && run->step == 4) {
        memcpy(copy->words, at, (size_t)left * 4);
    } else {
        for (uint32_t k = 0; k < left; k++, at += run->step) {
            uint32_t word = 0;
            memcpy(&word, at, run->size);
            copy->words[k] = word;
        }
    }
    return copy;
}

/* Replaces what is left of a run by a copy in elements of `size` bytes side by side. */
static void copy_run(struct core *core, struct run *run, uint8_t size) {
    uint32_t left = run->count - run->taken;
    struct payload *payload = payload_take(core, ((uint64_t)left * size + 3) / 4);
    const uint8_t *at = run->at + (ptrdiff_t)run->taken * run->step;
    uint8_t *to = (uint8_t *)payload->words;
    if (run->size == size && run->step == size) {
        memcpy(to, at, (size_t)left * size);
    } else if (size == 2) {
        for (uint32_t k = 0; k < left; k++, at += run->step) {
            memcpy(to + 2 * (size_t)k, at, 2);
        }
    } else {
        for (uint32_t k = 0; k < left; k++, at += run->step) {
            uint32_t word = 0;
            memcpy(&word, at, run->size);
            payload->words[k] = word;
        }
    }
    if (run->payload != NULL) {
        payload_drop(core, run->payload);
    }
    run->payload = payload;
    run->first = head_time(run);
    run->count = left;
    run->taken = 0;
    run->at = to;
    run->step = run->size = size;
}

/* Copies what is left of a run out of the sender's memory. */
static void keep(struct core *core, struct run *run) {
    if (run->payload == NULL && run->size != 0) {
        copy_run(core, run, run->size);
    }
}

/* Has a run hold whole wavelets: elements of 16 bits have their other half 0. */
static void widen(struct core *core, struct run *run) {
    if (run->size == 2) {
        copy_run(core, run, 4);
    }
}

/* Has a run that a sender makes hold its payload: the sender's own in its partition, else a copy. */
void hold_payload(struct core *core, struct core *to, struct run *run) {
    if (run->payload != NULL) {
        run->payload->references++;
        if (core != to) {
            copy_run(to, run, run->size);
        }
    }
}

/* Queues wavelets that nobody waits for. */
static void store(struct core *core, struct pe *pe, uint32_t place, struct run *run) {
    keep(core, run);
    struct input *input = &pe->inputs[place];
    run->next = NULL;
    if (input->first == NULL) {
        input->first = run;
    } else {
        input->last->next = run;
    }
    input->last = run;
    if (pe->class->queues[place].task != NO_TASK) {
        recount(pe, place);
        touch(core, pe);
    }
}

static void take_first(struct core *core, struct pe *pe, uint32_t place) {
    struct input *input = &pe->inputs[place];
    struct run *run = input->first;
    input->first = run->next;
    if (input->first == NULL) {
        input->last = NULL;
    }
    drop_run(core, run);
}

/* Returns when an operation takes a wavelet that is no element, and is there at a time. */
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
    open->count = open->position;
    open->by_control = true;
}

/* Finds when an operation takes the next element, and the cycles between two; returns for how many of `count` that
 * holds. It takes an element when it is ready and that of each run is there, but for those of `without`, as bits: what is
 * the last to be so may change, when a run that is there early is slower. */
int64_t pace(const struct open *open, struct run **runs, uint32_t without, int64_t count, cycle *begin, cycle *rate) {
    uint32_t lanes = open->operands[open->source[0]].descriptor.flags & PACKED ? 2 : 1;
    cycle most = open->rate;
    *begin = open->time;
    *rate = open->rate;
    for (int k = 0; k < open->inputs; k++) {
        if (without >> k & 1) {
            continue;
        }
        cycle head = head_time(runs[k]), theirs = (runs[k]->rate + lanes - 1) / lanes;
        theirs = theirs > open->rate ? theirs : open->rate;
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
        cycle theirs = (runs[k]->rate + lanes - 1) / lanes;
        if (theirs > *rate && !(without >> k & 1)) {
            int64_t until = (*begin - head_time(runs[k])) / (theirs - *rate) + 1;
            holds = until < holds ? until : holds;
        }
    }
    if (holds < count) {
        const struct descriptor *to = &open->operands[0].descriptor;
        int64_t together = lanes == 2 || (to->type == QUEUE_RUN && to->flags & PACKED) ? 2 : 1;
        holds -= holds % together;
        if (holds == 0) {
            *rate = most;
            return count < together ? count : together;
        }
    }
    return holds;
}

/* Takes the header of a message, which says how many elements follow. */
static void take_header(struct core *core, struct open *open, struct run *run) {
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

/* Returns whether each element may leave a finding of its own: then they are taken one by one. */
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
        count_feed(core, open, &run, count, begin, rate, 1);
    }
    run_taken(core, run, (uint32_t)count, begin, rate);
    run->taken += (uint32_t)count;
    open->position += run->control ? count : 0;
    open->time = begin + (count - 1) * rate + open->rate;
    if (open->count == UNBOUNDED && open->time > core->latest) {
        core->latest = open->time;
    }
}

/* Advances an operation by one run for each of its queues, and by `most` elements of each at most. */
static void take_elements(struct core *core, struct open *open, struct run **runs, int64_t most) {
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
    uint32_t lanes = open->operands[open->source[0]].descriptor.flags & PACKED ? 2 : 1;
    count = most * lanes < count ? most * lanes : count;
    for (int k = 0; k < open->inputs; k++) {
        int64_t left = (int64_t)(runs[k]->count - runs[k]->taken) * lanes;
        count = left < count ? left : count;
    }
    struct operand_state *states = open->operands;
    const struct descriptor *stream = &states[0].descriptor;
    uint32_t together = lanes == 2 || (stream->type == QUEUE_RUN && stream->flags & PACKED) ? 2 : 1;
    if (count > together && is_watched(core, open)) {
        count = together;
    }
    cycle begin, rate;
    count = pace(open, runs, 0, count, &begin, &rate);
    core->at = begin;
    if (core->steps_left != NULL && stream->type != MEMORY_WALK) {
        count = allowed(core, open, count, together);
        if (count == 0) {
            return;
        }
    }
    for (int k = 0; k <= operation->sources; k++) {
        count = until_round(&states[k], low, count); /* an operation without an end goes over its walks again */
    }
    int64_t wavelets = (count + lanes - 1) / lanes;
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
        sent.payload = make_payload(core, stream, count, operation->kernel->size[0], &made[0]);
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
            widen(core, runs[k]);
            keep(core, runs[k]);
        }
        uint8_t *at = (uint8_t *)runs[k]->at + (ptrdiff_t)runs[k]->taken * runs[k]->step;
        operand_run(&made[source], at, lanes == 2 ? 2 : runs[k]->step);
    }
    bool computed = compute(core, pe, operation, open->task, open->where, made, (uint32_t)count);
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
    } else if (sent.payload != NULL) {
        uint32_t out = stream->flags & PACKED ? 2 : 1;
        sent.at = (const uint8_t *)sent.payload->words;
        sent.step = sent.size = 4;
        sent.count = (uint32_t)((count + out - 1) / out);
        sent.rate = (uint32_t)rate * out;
        sent.first = begin + core->timing.inject;
        mark_payload(stream, sent.payload, sent.count);
        struct sending sending = {.operation = operation, .task = open->task, .where = open->where,
                                  .is_last = low + count == open->count};
        if (out == 2 && count % 2 && !sending.is_last) {
            fail(core, pe, SENDS_ODD_LANES, open->task, open->where, VALUES(operation->number));
        } else {
            transmit(core, pe, &sending, stream, &sent);
        }
        payload_drop(core, sent.payload);
    }
    if (open->uses_fifo) {
        leave_places(core, open, count, begin, rate);
    }
    if (core->statistics != NULL) {
        count_feed(core, open, runs, count, begin, rate, lanes);
    }
    for (int k = 0; k < open->inputs; k++) {
        struct run *run = runs[k];
        run_taken(core, run, (uint32_t)wavelets, begin, rate * lanes);
        run->taken += (uint32_t)wavelets;
    }
    open->position += count;
    open->time = begin + (count - 1) * rate + open->rate;
    if (open->count == UNBOUNDED && open->time > core->latest) {
        core->latest = open->time; /* it never ends, so what it has done is what a host sees of the time */
    }
}

/* Notes that an operation has met an error, after which it takes nothing any more; returns false if it has not. */
static bool note_failure(struct core *core, struct open *open) {
    bool fails = has_failed(core);
    open->has_failed |= fails;
    core->is_failing = false;
    core->at = -1;
    return fails;
}

/* Does the same; returns false after an error. */
static bool feed(struct core *core, struct open *open, struct run **runs, int64_t most) {
    take_elements(core, open, runs, most);
    return !note_failure(core, open);
}

static void release_all(struct core *core, struct open *open) {
    struct pe *pe = open->pe;
    for (int k = 0; k < open->inputs; k++) {
        resource_release(core, pe, open->queue[k], open->since, open->time);
    }
    if (open->forwards) {
        resource_release(core, pe, core->queue_place[open->operands[0].descriptor.row], open->since, open->time);
    }
    if (open->operation->is_async) {
        resource_release(core, pe, thread_place(pe, open->operation), open->since, open->time);
    }
}

static void forget(struct core *core, struct open *open) {
    if (open->shares) {
        end_to_receive(core, open);
    }
    open->pe->fifo_opens -= open->uses_fifo;
    open->poll = 0;
    pool_give(&core->opens, open);
}

/* Ends an operation that has done its last element: its task goes on, or one starts. */
void complete(struct core *core, struct open *open) {
    struct pe *pe = open->pe;
    if (core->traces) {
        trace_completion(core, open);
    }
    if (core->races != NULL && !open->is_sync) {
        end_flight(core, pe, open, open->time);
    }
    release_all(core, open);
    if (open->is_sync) {
        pe->stopped = open->stopped;
        resume(core, pe, open->time);
    } else {
        if (open->signals_end) {
            expect_completion(pe, open->operation, -1);
        }
        signal_end(core, pe, open->operation, open->time, open->by_control);
    }
    forget(core, open);
}

/* Waiting */

static bool is_simple(const struct open *open) {
    return open->inputs == 1 && !open->polls && !open->header && !open->is_forwarder && !open->has_failed &&
           open->operands[0].descriptor.type == MEMORY_WALK;
}

static void wait_in(struct open *open, int k) {
    struct open **link = &open->pe->inputs[open->queue[k]].waiting;
    while (*link != NULL) {
        link = &(*link)->waits[input_at(*link, open->queue[k])];
    }
    *link = open;
    open->waits[k] = NULL;
}

static void leave_one(struct open *open, int k) {
    uint32_t place = open->queue[k];
    struct open **link = &open->pe->inputs[place].waiting;
    while (*link != open) {
        link = &(*link)->waits[input_at(*link, place)];
    }
    *link = open->waits[k];
}

/* Has an operation look at a FIFO when it is ready for that, if it has to. */
static void look_later(struct core *core, struct open *open) {
    if (open->poll != 0) {
        schedule(core, open->polls_at, EVENT_POLL, open->pe->number, open->poll, open);
    }
}

static void wait(struct core *core, struct open *open) {
    for (int k = 0; k < open->inputs; k++) {
        wait_in(open, k);
    }
    look_later(core, open);
}

static void leave(struct open *open) {
    for (int k = 0; k < open->inputs; k++) {
        leave_one(open, k);
    }
    open->poll = 0;
}

/* Takes what is first in the queues of an operation, `most` elements of each at most. */
static void take_next(struct core *core, struct open *open, struct run **runs, int64_t most) {
    struct pe *pe = open->pe;
    if (open->header) {
        take_header(core, open, runs[0]);
    } else {
        take_elements(core, open, runs, most);
    }
    for (int k = 0; k < open->inputs && !has_failed(core); k++) {
        if (runs[k]->taken == runs[k]->count) {
            take_first(core, pe, open->queue[k]);
        }
        if (pe->class->queues[open->queue[k]].task != NO_TASK) {
            recount(pe, open->queue[k]);
            touch(core, pe);
        }
    }
}

/* Lets an operation take what is queued; returns whether it has done its last element. */
static bool proceed(struct core *core, struct open *open) {
    struct pe *pe = open->pe;
    if (open->turn != NULL && open->position < open->count && !open->has_failed) {
        await_turn(core, open->turn);
        return false;
    }
    while (open->position < open->count && !open->has_failed) {
        struct run *runs[MAX_OPERANDS];
        cycle ready = open->time;
        for (int k = 0; k < open->inputs; k++) {
            runs[k] = pe->inputs[open->queue[k]].first;
            if (runs[k] == NULL) {
                return open->polls && ends_without_elements(core, open) && !note_failure(core, open);
            }
            ready = head_time(runs[k]) > ready ? head_time(runs[k]) : ready;
        }
        if (open->operands[0].descriptor.type != MEMORY_WALK && waits_for_epoch(core, open, ready)) {
            return false;
        }
        if (open->is_forwarder && !open->header && !find_credits(core, open)) {
            return false;
        }
        int64_t most = UNBOUNDED;
        if (open->polls && !open->header) {
            most = elements_in_time(core, open, runs);
            if (most == 0) {
                return !note_failure(core, open);
            }
        }
        take_next(core, open, runs, most);
        if (note_failure(core, open)) {
            return false;
        }
    }
    return !open->has_failed;
}

static void post(struct core *core, struct open *open) {
    if (proceed(core, open)) {
        complete(core, open);
    } else {
        wait(core, open);
    }
}

/* Lets the operations that wait for a queue take what is in it. */
static void hand_over_stored(struct core *core, struct input *input) {
    while (input->first != NULL && input->waiting != NULL) {
        struct open *open = input->waiting;
        if (open->turn != NULL) {
            if (!open->has_failed) {
                await_turn(core, open->turn);
            }
            return;
        }
        open->poll = 0;
        if (!proceed(core, open)) {
            look_later(core, open);
            return;
        }
        leave(open);
        complete(core, open);
    }
}

/* Counts a run that an operation waits for, and keeps where that is for when the core returns behind the last. */
static void count_move(struct core *core, const struct open *open) {
    if (core->moves > 1) {
        core->moves--;
    } else if (open != NULL) {
        core->moves = 0;
        core->last[0] = open->pe->number;
        core->last[1] = open->task;
        core->last[2] = open->where;
    }
}

/* Gives a run to the operations that wait for it, and queues the rest. */
static void hand_over(struct core *core, struct pe *pe, uint32_t place, struct run *run) {
    if (quick_hand_over(core, pe, place, run)) {
        drop_run(core, run);
        return;
    }
    struct input *input = &pe->inputs[place];
    count_move(core, input->waiting);
    for (struct open *open = input->waiting; open != NULL; open = open->waits[input_at(open, place)]) {
        if (!is_simple(open)) {
            /* The other queue may lack wavelets still: queue these, and see what both have. */
            store(core, pe, place, run);
            hand_over_stored(core, input);
            return;
        }
    }
    while (input->waiting != NULL && run->taken < run->count) {
        struct open *open = input->waiting;
        if (!feed(core, open, &run, UNBOUNDED)) {
            break;
        }
        if (open->position >= open->count) {
            leave(open);
            complete(core, open);
        }
    }
    if (run->taken < run->count) {
        store(core, pe, place, run);
    } else {
        drop_run(core, run);
    }
}

/* Arrival. What operations send while others are at work is handed over afterwards, so that chains of them need no
 * recursion. */

static void append(struct core *core, struct arrivals *arrivals, struct arrival arrival) {
    grow(core, (void **)&arrivals->list, &arrivals->room, arrivals->count + 1, sizeof arrival);
    arrivals->list[arrivals->count++] = arrival;
}

static struct arrival next_of(struct arrivals *arrivals) {
    struct arrival found = arrivals->list[arrivals->first++];
    if (arrivals->first == arrivals->count) {
        arrivals->first = arrivals->count = 0;
    } else if (arrivals->first > 1024 && 2 * arrivals->first > arrivals->count) {
        arrivals->count -= arrivals->first;
        memmove(arrivals->list, arrivals->list + arrivals->first, arrivals->count * sizeof found);
        arrivals->first = 0;
    }
    return found;
}

void deliver(struct core *core) {
    while (core->arriving.count > 0 && core->moves > 0) {
        struct arrival arrival = next_of(&core->arriving);
        if (has_to_wait(core, arrival.multicast != NULL ? arrival.multicast->pe : arrival.pe)) {
            append(core, &core->at_border, arrival);
        } else if (arrival.multicast != NULL) {
            multicast_advance(core, arrival.multicast);
        } else if (arrival.place == HELD_SENDS) {
            await_room(core, arrival.pe);
        } else if (arrival.run == NULL) {
            hand_over_stored(core, &arrival.pe->inputs[arrival.place]);
        } else {
            hand_over(core, arrival.pe, arrival.place, arrival.run);
        }
    }
}

/* Delivers what has come to the border of a partition while others were at work, and what its own parts have left. */
void deliver_at_border(struct core *core) {
    assert(!core->at_work && !core->is_parallel);
    core->at_work = true;
    deliver(core);
    while (core->at_border.count > 0 && core->moves > 0) {
        append(core, &core->arriving, next_of(&core->at_border));
        deliver(core);
    }
    core->at_work = false;
}

/* Lets what has waited for a credit go on when the operation at work is done with its own. */
void go_on_later(struct core *core, struct arrival arrival) { append(core, &core->arriving, arrival); }

/* Hands a run over when the operation at work is done with its own. */
void hand_over_later(struct core *core, struct pe *pe, uint32_t place, struct run *run) {
    assert(core->at_work);
    keep(core, run);
    append(core, &core->arriving, (struct arrival){.pe = pe, .place = place, .run = run});
}

void admit(struct core *core, struct pe *pe, uint32_t place, struct run *run) {
    if (core->at_work) {
        hand_over_later(core, pe, place, run);
        return;
    }
    if (has_to_wait(core, pe)) {
        keep(core, run);
        append(core, &core->at_border, (struct arrival){.pe = pe, .place = place, .run = run});
        return;
    }
    core->at_work = true;
    hand_over(core, pe, place, run);
    deliver(core);
    core->at_work = false;
}

static void come(struct core *core, struct arrival *arrival) {
    struct run *run = arrival->run;
    schedule(core, head_time(run), EVENT_RUN, arrival->pe->number, run->origin, arrival);
}

/* Hands the first wavelet of a run over that others may come in between of; the next has its own time. */
void admit_first(struct core *core, struct arrival *arrival) {
    struct arrival its = *arrival;
    struct run *run = its.run;
    if (run->taken + 1 < run->count) {
        struct run *first = pool_take(core, &core->runs);
        *first = *run;
        first->first = head_time(run);
        first->at += (ptrdiff_t)run->taken * run->step;
        first->count = 1;
        first->taken = 0;
        first->payload->references++;
        run->taken++;
        its.run = first;
        come(core, arrival);
    } else {
        core->runs_due--;
        pool_give(&core->arrivals, arrival);
    }
    if (!its.pe->class->queues[its.place].is_sink) {
        enter_queue(core, its.pe, its.place, its.run);
    }
    admit(core, its.pe, its.place, its.run);
}

/* Hands a run over, wavelet by wavelet in the order of time if others send to the queue as well. */
void arrive(struct core *core, struct pe *pe, uint32_t place, struct run *run) {
    const struct queue *queue = &pe->class->queues[place];
    if (queue->is_sink || queue->senders > 1 || run->sender == pe->number) {
        keep(core, run);
    }
    if (queue->is_sink) {
        widen(core, run);
    }
    if (queue->senders > 1) {
        struct arrival *arrival = pool_take(core, &core->arrivals);
        *arrival = (struct arrival){.pe = pe, .place = place, .run = run};
        core->runs_due++;
        come(core, arrival);
        return;
    }
    admit(core, pe, place, run);
}

/* Lets an operation that has just been issued take what is there. */
int receive(struct core *core, struct open *open) {
    assert(!core->at_work);
    core->at_work = true;
    int how = DONE_NOW;
    struct pe *pe = open->pe;
    if (!open->is_sync) {
        post(core, open);
    } else if (proceed(core, open)) {
        if (core->traces) {
            trace_completion(core, open);
        }
        release_all(core, open);
        pe->stopped = open->stopped;
        pe->now = open->time;
        forget(core, open);
    } else {
        how = WAITS;
        wait(core, open);
    }
    deliver(core);
    core->at_work = false;
    return how;
}

/* Ends an operation for which nothing can come any more by when it looks at a FIFO. */
void poll(struct core *core, struct open *open, cycle time) {
    assert(!core->at_work);
    core->at_work = true;
    open->poll = 0;
    fifo_stop(core, open, open->polled, time);
    if (!note_failure(core, open)) {
        leave(open);
        complete(core, open);
    }
    deliver(core);
    core->at_work = false;
}

/* Lets an operation whose turn it is take one element, or as many as a wavelet has. */
void take_in_turn(struct core *core, struct open *open) {
    struct pe *pe = open->pe;
    struct run *runs[MAX_OPERANDS];
    uint32_t places[MAX_OPERANDS];
    int inputs = open->inputs;
    bool has_ended = false;
    memcpy(places, open->queue, sizeof places);
    for (int k = 0; k < inputs && !has_ended; k++) {
        runs[k] = pe->inputs[places[k]].first;
        if (open->polls >> k & 1 && (runs[k] == NULL || head_time(runs[k]) > open->turn_at)) {
            fifo_stop(core, open, k, open->turn_at);
            has_ended = true;
        }
    }
    if (!has_ended) {
        const struct descriptor *to = &open->operands[0].descriptor;
        int64_t lanes = open->operands[open->source[0]].descriptor.flags & PACKED ? 2 : 1;
        bool packs = lanes == 1 && to->type == QUEUE_RUN && to->flags & PACKED;
        take_next(core, open, runs, packs ? 2 : 1);
        has_ended = open->position >= open->count;
    }
    if (note_failure(core, open)) {
        return;
    }
    if (!has_ended) {
        await_turn(core, open->turn);
        return;
    }
    leave(open);
    complete(core, open);
    for (int k = 0; k < inputs; k++) {
        hand_over_stored(core, &pe->inputs[places[k]]);
    }
}
