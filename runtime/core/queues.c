/* Input queues: wavelets that wait to be taken, and operations that wait for more. */
#include "priorities.h"
#include "races.h"

/* Queues wavelets that nobody waits for. */
static void store(struct core *core, struct pe *pe, uint32_t place, struct run *run) {
    keep_run(core, run);
    struct input *input = &inputs_of(pe)[place];
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
    struct input *input = &inputs_of(pe)[place];
    struct run *run = input->first;
    input->first = run->next;
    if (input->first == NULL) {
        input->last = NULL;
    }
    drop_run(core, run);
}

/* Notes that an operation has met an error, after which it takes nothing any more; returns false if it has not. */
static bool note_failure(struct core *core, struct open *open) {
    bool fails = has_failed(core);
    open->has_failed |= fails;
    core->is_failing = false;
    core->at = -1;
    return fails;
}

/* Has an operation that ends send what it has of a wavelet; returns false after an error. */
static bool finish(struct core *core, struct open *open) {
    if (open->has_half && !has_failed(core)) {
        send_half(core, open);
    }
    return !note_failure(core, open);
}

/* Lets an operation take elements; returns false after an error. */
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
    return open->inputs == 1 && open->steps[0] <= 1 && !open->pairs && !open->polls && !open->header && !open->is_forwarder && !open->has_failed &&
           open->operands[0].descriptor.type == MEMORY_WALK;
}

static void wait_in(struct open *open, int k) {
    struct open **link = &inputs_of(open->pe)[open->queue[k]].waiting;
    while (*link != NULL) {
        link = &(*link)->waits[input_at(*link, open->queue[k])];
    }
    *link = open;
    open->waits[k] = NULL;
}

static void leave_one(struct open *open, int k) {
    uint32_t place = open->queue[k];
    struct open **link = &inputs_of(open->pe)[place].waiting;
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

/* Lets an operation take what is queued; returns true if it has done its last element. */
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
            if (!has_elements(core, open, k)) {
                return open->polls && ends_without_elements(core, open) && finish(core, open);
            }
            runs[k] = inputs_of(pe)[open->queue[k]].first;
            cycle there = ready_time(open, k);
            ready = there > ready ? there : ready;
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
                return finish(core, open);
            }
        }
        take_next(core, open, runs, most);
        if (note_failure(core, open)) {
            return false;
        }
    }
    return !open->has_failed && finish(core, open);
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
    assert(input->form == SPELLED_OUT);
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
    struct input *input = &inputs_of(pe)[place];
    assert(input->form == SPELLED_OUT);
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
            hand_over_stored(core, &inputs_of(arrival.pe)[arrival.place]);
        } else {
            hand_over(core, arrival.pe, arrival.place, arrival.run);
        }
    }
}

/* Delivers the wavelets at the border of a partition while others were at work, and what its own parts have left. */
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
    keep_run(core, run);
    append(core, &core->arriving, (struct arrival){.pe = pe, .place = place, .run = run});
}

void admit(struct core *core, struct pe *pe, uint32_t place, struct run *run) {
    if (core->at_work) {
        hand_over_later(core, pe, place, run);
        return;
    }
    if (has_to_wait(core, pe)) {
        keep_run(core, run);
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
        keep_run(core, run);
    }
    if (queue->is_sink) {
        widen_run(core, run);
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
    for (int k = 0; k < open->inputs; k++) {
        spell_out(core, pe, open->queue[k]);
    }
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
    if (finish(core, open)) {
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
        cycle there = elements_at(core, open, k);
        runs[k] = inputs_of(pe)[places[k]].first;
        if (open->polls >> k & 1 && there > open->turn_at) {
            fifo_stop(core, open, k, open->turn_at);
            has_ended = true;
        }
    }
    if (!has_ended) {
        take_next(core, open, runs, taken_together(open) / lanes_from(open, 0));
        has_ended = open->position >= open->count;
    }
    if (has_ended ? !finish(core, open) : note_failure(core, open)) {
        return;
    }
    if (!has_ended) {
        await_turn(core, open->turn);
        return;
    }
    leave(open);
    complete(core, open);
    for (int k = 0; k < inputs; k++) {
        hand_over_stored(core, &inputs_of(pe)[places[k]]);
    }
}
