/* Order: which PE goes on.
 *
 * PEs in which something changed are visited, one after the other, a tile of the grid until nothing is left to do in it,
 * then the first tile in which something is: what a tile lets others do that have had their turn is done before the next
 * one is begun, so that most of several steps of neighbors are done while their state is in the cache. A PE picks its next
 * task if it is certain that no other can become ready before; then when it does so cannot be told from the outside. Else
 * it waits in a heap for its cycle, with wavelets for queues of several senders; when nothing is certain any more, the
 * earliest goes on.
 */
#include "code.h"
#include "frames.h"
#include "priorities.h"
#include "races.h"

bool is_earlier(const struct event *a, const struct event *b) {
    return a->time != b->time ? a->time < b->time : a->key != b->key ? a->key < b->key : a->number < b->number;
}

void schedule(struct core *core, cycle time, uint32_t kind, uint32_t pe, uint64_t number, void *what) {
    struct event event = {.time = time, .key = (uint64_t)kind << 32 | pe, .number = number, .what = what};
    grow(core, (void **)&core->heap, &core->heap_room, core->heap_count + 1, sizeof event);
    uint64_t at = core->heap_count++;
    struct event *heap = core->heap;
    while (at > 0) {
        uint64_t above = (at - 1) / 4;
        if (!is_earlier(&event, &heap[above])) {
            break;
        }
        heap[at] = heap[above];
        at = above;
    }
    heap[at] = event;
}

static struct event pop(struct core *core) {
    struct event *heap = core->heap, first = heap[0], last = heap[--core->heap_count];
    uint64_t at = 0, count = core->heap_count;
    for (;;) {
        uint64_t child = 4 * at + 1, best = child;
        if (child >= count) {
            break;
        }
        uint64_t end = child + 4 < count ? child + 4 : count;
        for (uint64_t k = child + 1; k < end; k++) {
            if (is_earlier(&heap[k], &heap[best])) {
                best = k;
            }
        }
        if (!is_earlier(&heap[best], &last)) {
            break;
        }
        heap[at] = heap[best];
        at = best;
    }
    heap[at] = last;
    return first;
}

static void list_tile(struct core *core, const struct tile *tile) {
    uint64_t place = (uint64_t)(tile - core->own), word = place / 64;
    core->listed.bits[word] |= UINT64_C(1) << place % 64;
    core->listed.words[word / 64] |= UINT64_C(1) << word % 64;
}

/* Takes a tile without PEs to visit out of those that have some. */
static void unlist_tile(struct core *core, const struct tile *tile) {
    uint64_t place = (uint64_t)(tile - core->own), word = place / 64;
    core->listed.bits[word] &= ~(UINT64_C(1) << place % 64);
    if (core->listed.bits[word] == 0) {
        core->listed.words[word / 64] &= ~(UINT64_C(1) << word % 64);
    }
}

/* Returns the first tile of a partition with PEs to visit, of which there are some. */
static struct tile *first_listed(const struct core *core) {
    uint64_t k = 0;
    while (core->listed.words[k] == 0) {
        k++;
    }
    uint64_t word = 64 * k + (uint64_t)__builtin_ctzll(core->listed.words[k]);
    return &core->own[64 * word + (uint64_t)__builtin_ctzll(core->listed.bits[word])];
}

void note_touched(struct core *core, struct pe *pe) {
    struct tile *tile = &core->tiles[pe->tile];
    core = tile->core;
    pe->is_dirty = true;
    pe->next_dirty = NULL;
    if (tile->first == NULL) {
        tile->first = pe;
        if (!tile->is_border) {
            list_tile(core, tile);
        }
    } else {
        tile->last->next_dirty = pe;
    }
    tile->last = pe;
    core->listed_count += !tile->is_border;
}

/* Lets a PE that waits in the middle of a task go on from a time. */
void resume(struct core *core, struct pe *pe, cycle time) {
    assert(pe->is_busy && !pe->resumes);
    pe->now = time;
    pe->resumes = true;
    touch(core, pe);
}

/* Returns which of some tasks is ready first, of several the first of the class. */
static inline uint32_t first_active(const struct pe *pe, uint64_t tasks, cycle *time) {
    uint32_t best = (uint32_t)__builtin_ctzll(tasks);
    *time = task_ready(pe, best);
    while ((tasks &= tasks - 1) != 0) {
        uint32_t task = (uint32_t)__builtin_ctzll(tasks);
        cycle ready = task_ready(pe, task);
        if (ready < *time) {
            *time = ready;
            best = task;
        }
    }
    return best;
}

/* Returns the task that is ready first, of several the first of the class; NO_TASK if none is. */
static uint32_t first_ready(const struct pe *pe, cycle *time) {
    uint32_t best = NO_TASK;
    *time = NEVER;
    if (pe->active != 0) {
        best = first_active(pe, pe->active, time);
        best = *time < NEVER ? best : NO_TASK;
    }
    for (uint32_t task = MASKED_TASKS; task < pe->class->task_count; task++) {
        cycle ready = task_ready(pe, task);
        if (ready < *time) {
            *time = ready;
            best = task;
        }
    }
    return best;
}

/* Returns true if wavelets that are still to come may start a data task before what it is known to be. */
static bool may_arrive(const struct pe *pe, uint32_t task) {
    const struct task *row = &pe->class->tasks[task];
    const struct queue *queue = &pe->class->queues[row->queue];
    if (queue->senders == 0) {
        return false;
    }
    return queue->senders > 1 || row->type == LISTENER || inputs_of(pe)[row->queue].first == NULL;
}

/* Returns true if the end of something open may activate a task, or unblock it. */
static inline bool may_be_activated(const struct pe *pe, uint32_t task) {
    const struct activations *state = activations_of(pe, task);
    return state != NULL && state->may > 0;
}

static inline bool may_be_unblocked(const struct pe *pe, uint32_t task) {
    const struct unblockings *state = unblockings_of(pe, task);
    return state != NULL && state->may > 0;
}

/* Returns true if a task may become ready before the one that is ready first, at `time`, or in that cycle and be picked
 * instead: whether something open, or a wavelet, can give it all that it lacks. */
static inline bool may_precede(const struct pe *pe, uint32_t task, uint32_t best, cycle time, bool is_data) {
    const struct task_state *state = &pe->tasks[task];
    cycle limit = task < best ? time : time - 1;
    bool activated = state->active <= limit, unblocked = state->unblocked <= limit;
    if (activated && unblocked) {
        return false; /* as ready as it can be; the best one at the limit */
    }
    if (!unblocked && !may_be_unblocked(pe, task)) {
        return false;
    }
    return activated || may_be_activated(pe, task) || (is_data && may_arrive(pe, task));
}

/* Returns true if no task, of those in `masked` and those that are no bits, may precede the one that is ready first. */
static SELDOM bool none_precedes(const struct pe *pe, uint64_t masked, uint32_t best, cycle time) {
    const struct class *class = pe->class;
    for (uint64_t left = masked; left != 0; left &= left - 1) {
        uint32_t task = (uint32_t)__builtin_ctzll(left);
        if (may_precede(pe, task, best, time, class->data_tasks >> task & 1)) {
            return false;
        }
    }
    for (uint32_t task = MASKED_TASKS; task < class->task_count; task++) {
        uint8_t type = class->tasks[task].type;
        if (may_precede(pe, task, best, time, type == DATA_TASK || type == LISTENER)) {
            return false;
        }
    }
    return true;
}

/* Returns true if no task can become ready before the one that is ready first, at `time`, or be picked instead. */
static inline bool is_certain(const struct pe *pe, uint32_t best, cycle time) {
    const struct class *class = pe->class;
    uint64_t candidates = pe->active | pe->may_activate | class->data_tasks;
    uint64_t changing = pe->may_activate | pe->may_unblock | class->data_tasks;
    /* Wavelets of one sender come in order: the first in the queue says when its task is ready. */
    changing &= ~(class->ordered_tasks & task_bit(best) & ~pe->may_unblock);
    uint64_t masked = candidates & changing;
    return (masked == 0 && class->task_count <= MASKED_TASKS) || none_precedes(pe, masked, best, time);
}

static struct run *take_run(struct core *core, struct pe *pe, uint32_t place, cycle begin, uint32_t *word) {
    struct input *input = &inputs_of(pe)[place];
    struct run *run = input->first;
    const uint8_t *at = run->at + (ptrdiff_t)run->taken * run->step;
    memcpy(word, at, 2);
    if (run->size == 4) {
        memcpy(word, at, 4);
    }
    if (core->statistics != NULL) {
        count_taking(core, pe, place, run, 1, begin, 1);
    }
    run_taken(core, run, 1, begin, 1);
    run->taken++;
    return run;
}

/* Returns an argument of a kind, as registers hold it. */
static inline int64_t argument_of(uint8_t kind, uint32_t value) {
    switch (kind) {
    case KIND_F32: return value;
    case KIND_I32: return (int32_t)value;
    case KIND_I16: return (int16_t)value;
    case KIND_I8: return (int8_t)value;
    default: return value & WORD_MASK;
    }
}

/* Puts what a wavelet carries into the arguments of a task: one of 16 or 32 bits, or two halves. */
static inline void set_arguments(struct core *core, const struct use *use, uint32_t word) {
    const struct body_row *body = use->body;
    int64_t *arguments = registers_of(core->frame) + body->numbers;
    const uint8_t *kinds = core->tables.kinds + body->kinds;
    if (body->arguments == 1) {
        arguments[0] = argument_of(kinds[0], word);
    } else if (body->arguments > 1) {
        arguments[0] = argument_of(kinds[0], word & WORD_MASK);
        arguments[1] = argument_of(kinds[1], word >> WORD_BITS);
    }
}

/* Tells those that watch tasks that one starts. */
static SELDOM void tell_start(struct core *core, struct pe *pe, const struct task *task, cycle begin) {
    if (core->statistics != NULL) {
        count_start(core, pe, task->row->where, begin);
    }
    if (core->traces) {
        trace_task(core, pe, task->number, pe->now);
    }
}

/* Runs a task of a PE from a time on, with what a wavelet carries as its arguments unless `word` is NULL; returns how the
 * interpreter left it. */
static inline int run_task(struct core *core, struct pe *pe, uint32_t number, cycle begin, const uint32_t *word) {
    const struct task *task = &pe->class->tasks[number];
    const struct use *use = task->use;
    enter_task(core, pe, number, use);
    if (task->launch != NULL) {
        memcpy(registers_of(core->frame) + use->body->numbers, task->launch, use->body->arguments * sizeof(int64_t));
    } else if (word != NULL) {
        set_arguments(core, use, *word);
    }
    core->task_runs++;
    core->running = pe;
    pe->is_busy = true;
    pe->now = begin + core->timing.task_start;
    if (core->tells_tasks) {
        tell_start(core, pe, task, begin);
    }
    if (core->races != NULL) {
        race_start(core, pe, task, begin);
    }
    if (core->steps_left != NULL && core->steps_left[pe->number] == 0) {
        fail(core, pe, STEP_LIMIT, task->number, task->row->where, VALUES((int64_t)core->step_limit));
        return FAILED;
    }
    if (core->steps >= core->budget) {
        core->frame->pc = use->code;
        core->paused_at = task->row->where;
        return PAUSED;
    }
    count_steps(core, pe, 1);
    if (core->statistics != NULL) {
        count_line_step(core, task->row->where);
    }
    return interpret(core, pe, pe->now);
}

/* Starts the task that the first wavelet of a queue starts. */
static int start_by_wavelet(struct core *core, struct pe *pe, uint32_t number, cycle begin) {
    const struct task *task = &pe->class->tasks[number];
    uint32_t word = 0;
    struct run *run = take_run(core, pe, task->queue, begin, &word);
    bool control = run->control, is_message = run->is_piece;
    if (control && is_message) {
        core->at = begin;
        check_last(core, pe, run->piece, word);
        core->at = -1;
    }
    struct input *input = &inputs_of(pe)[task->queue];
    if (run->taken == run->count) {
        input->first = run->next;
        if (input->first == NULL) {
            input->last = NULL;
        }
        drop_run(core, run);
    }
    recount(pe, task->queue);
    settle_credits(core);
    if (control && is_message) {
        return FINISHED; /* the end of a message starts nothing */
    }
    if (control) {
        int64_t id = word >> 16 & 63;
        const struct queue *queue = &pe->class->queues[task->queue];
        int64_t entry = id + queue->row->control_offset;
        uint16_t found = entry >= 0 && entry < 64 ? pe->class->control_tasks[entry] : NO_TASK;
        if (found == NO_TASK) {
            pe->now = begin;
            fail(core, pe, CONTROL_TASK_MISSING, task->number, 0, VALUES(id, queue->number));
            return FAILED;
        }
        number = found;
    }
    return run_task(core, pe, number, begin, &word);
}

/* Starts a task of a PE that is ready at a time; returns how the interpreter left it. */
static inline int start(struct core *core, struct pe *pe, uint32_t number, cycle begin) {
    uint8_t type = pe->class->tasks[number].type;
    if (type == DATA_TASK || type == LISTENER) {
        return start_by_wavelet(core, pe, number, begin);
    }
    static const uint32_t nothing = 0;
    task_pick(core, pe, number, begin);
    return run_task(core, pe, number, begin, type == LOCAL_TASK ? NULL : &nothing);
}

/* Handles how the interpreter has left a PE; returns true if it may go on. */
static bool left(struct core *core, struct pe *pe, int how) {
    if (how == PAUSED) {
        return false;
    }
    core->running = NULL;
    core->is_failing = false; /* a task that has failed stays where it is */
    if (how == FINISHED) {
        if (core->traces && pe->is_busy) { /* the end of a message starts nothing */
            trace_end(core, pe);
        }
        pe->is_busy = false;
        pe->task = NO_TASK;
        return true;
    }
    if (pe->resumes) {
        touch(core, pe);
    }
    return false;
}

/* Picks and runs a task that has nothing but signals, which needs neither registers nor a frame. Its class has only tasks
 * that are bits. */
static SELDOM cycle run_signals(struct core *core, struct pe *pe, uint32_t picked, cycle begin) {
    const struct use *use = pe->class->tasks[picked].use;
    const cycle start = begin + core->timing.task_start;
    task_pick(core, pe, picked, begin);
    const struct signal *signal = use->signals, *past = signal + use->signal_count;
    for (; signal < past; signal++) {
        cycle time = start + signal->behind;
        uint32_t task = signal->task;
        if (signal->op == I_activate) {
            struct task_state *state = &pe->tasks[task];
            if (state->active == NEVER && signal->place < 0) {
                state->active = time;
                pe->active |= UINT64_C(1) << task;
            } else {
                activate(core, pe, task, time, false);
            }
        } else if (signal->is_void) {
            continue;
        } else if (signal->op == I_block) {
            block_at(core, pe, task, signal->place, time);
        } else if (pe->tasks[task].unblocked == NEVER) {
            pe->tasks[task].unblocked = time;
        } else {
            unblock_again(core, pe, task, time, false);
        }
    }
    return start + use->duration;
}

/* Picks and runs a task at `begin` that blocks itself and activates another, as `run_signals` does, where nothing waits
 * behind that, and then those that do the same as long as each is activated by the one before, is not among `uncertain`
 * tasks, and can be picked no later than `until`, with `left` steps. Returns the last that has run. */
static inline const struct relay *run_relays(struct pe *pe, const struct relay *relay, uint32_t task, cycle begin,
                                             uint64_t uncertain, cycle until, uint64_t *left, cycle *clock) {
    struct task_state *own = &pe->tasks[task];
    own->active = NEVER;
    for (;;) {
        assert(own->active == NEVER);
        if (relay->picks != 0) {
            ((struct activations *)part_at(pe, relay->picks))->picked = begin;
        }
        ((struct unblockings *)part_at(pe, relay->unblocks))->blocked = begin + relay->blocks;
        own->unblocked = NEVER; /* it was unblocked no later than it is picked */
        own = part_at(pe, relay->next);
        const cycle ends = begin + relay->ends, time = begin + relay->activates, free = ends > time ? ends : time;
        begin = own->unblocked > free ? own->unblocked : free;
        --*left;
        if (relay->behind == NULL || (uncertain & relay->activated) != 0 || *left == 0 || begin > until) {
            own->active = time < own->active ? time : own->active;
            *clock = ends;
            return relay;
        }
        relay = relay->behind;
    }
}

/* Returns how many steps a PE may take. */
static inline uint64_t most_steps(const struct core *core, const struct pe *pe) {
    uint64_t most = core->steps < core->budget ? core->budget - core->steps : 0;
    return core->steps_left != NULL && core->steps_left[pe->number] < most ? core->steps_left[pe->number] : most;
}

/* Runs the tasks that are certain to be next and have nothing but signals, as `visit` does, from one on that is ready first,
 * at `ready`. Returns the task that is so behind them, NO_TASK if none is; `is_sure`: it is certain to be next. */
static SELDOM uint32_t visit_signals(struct core *core, struct pe *pe, uint32_t task, cycle *ready, bool *is_sure) {
    const struct class *class = pe->class;
    const uint64_t most = most_steps(core, pe);
    const cycle until = core->epoch.until;
    /* Tasks that may come before one that no wavelet starts, and is a bit, as `is_certain` has it: some in any case, and of
     * those that are active some. Signals change neither. */
    const uint64_t others = class->data_tasks | pe->may_activate, blocked = pe->may_unblock;
    uint64_t active = pe->active, left = most;
    cycle clock = pe->clock, time = *ready;
    const bool looks = core->races != NULL;
    core->running = pe;
    for (;;) {
        const cycle begin = clock > time ? clock : time;
        const uint64_t masked = others | (active & blocked);
        if (left == 0 || begin > until || (masked != 0 && !none_precedes(pe, masked, task, time))) {
            break;
        }
        const struct relay *relay = &class->relays[task];
        if (relay->unblocks != 0 && pe->later == NULL) {
            const uint64_t rest = active & relay->others;
            const uint64_t uncertain = (rest | others) == 0 && !looks ? blocked : UINT64_MAX; /* one at a time */
            relay = run_relays(pe, relay, task, begin, uncertain, until, &left, &clock);
            active = rest | relay->activated;
        } else if (class->signal_tasks >> task & 1) {
            pe->active = active;
            pe->clock = clock;
            clock = run_signals(core, pe, task, begin);
            left--;
            active = pe->active;
        } else {
            *is_sure = true;
            break;
        }
        if (looks) {
            race_start(core, pe, &class->tasks[task], begin);
        }
        if (active == 0) {
            task = NO_TASK;
            break;
        }
        task = first_active(pe, active, &time);
    }
    core->running = NULL;
    const uint64_t count = most - left;
    if (count > 0) {
        pe->active = active;
        core->certain += count;
        core->task_runs += count;
        count_steps(core, pe, count);
        pe->now = pe->clock = clock;
        core->last_clock = clock > core->last_clock ? clock : core->last_clock;
    }
    *ready = time;
    return time < NEVER ? task : NO_TASK;
}

enum { MOST_FETCHED = 24 * LINE };

/* Has the cache get bytes that are used soon; `writes` is 0 or 1. A macro, because compilers take a function that only
 * prefetches for one that does nothing, and leave its calls out, and the builtin takes constants alone. */
#define FETCH(bytes_at, bytes, writes)                                                                                 \
    for (const char *from = (bytes_at), *end = from + ((bytes) < MOST_FETCHED ? (bytes) : MOST_FETCHED); from < end;   \
         from += 4 * LINE) {                                                                                           \
        __builtin_prefetch(from, writes, 3);                                                                           \
        __builtin_prefetch(from + LINE, writes, 3);                                                                    \
        __builtin_prefetch(from + 2 * LINE, writes, 3);                                                                \
        __builtin_prefetch(from + 3 * LINE, writes, 3);                                                                \
    }

/* Fetches the state of the PE that is visited next, and the begin of its memory. */
static inline __attribute__((always_inline)) void fetch_pe(const struct pe *pe) {
    if (pe != NULL) {
        FETCH((const char *)pe, pe->class->pe_bytes, 1)
        FETCH((const char *)pe->memory, pe->class->bytes, 0)
    }
}

/* Lets a PE go on as far as it is certain, or no later than the horizon. */
static void visit(struct core *core, struct pe *pe) {
    if (pe->resumes) {
        if (pe->now > core->epoch.until) {
            wait_for_epoch(core, pe, pe->now);
            return;
        }
        pe->resumes = false;
        core->running = pe;
        uint64_t *saved = pe->suspended;
        pe->suspended = NULL;
        uint64_t words = saved[0], frame = saved[1];
        memcpy(core->stack, saved + 2, words * 8);
        core->frame = (struct frame *)(core->stack + frame);
        if (pe->stopped) {
            const struct instruction *applied = core->frame->pc - 1;
            if (result_of(applied) != NO_REGISTER) {
                registers_of(core->frame)[applied->b] = 0;
            }
            pe->stopped = false;
        }
        payload_drop(core, (struct payload *)(void *)((char *)saved - offsetof(struct payload, words)));
        if (!left(core, pe, interpret(core, pe, pe->now))) {
            return;
        }
    }
    while (!pe->is_busy) {
        if (core->moves == 0) {
            touch(core, pe);
            return;
        }
        cycle time;
        uint32_t task = first_ready(pe, &time);
        if (task == NO_TASK) {
            return;
        }
        /* Credits come back sooner than anything that others send. How far a message of a network gets depends on what
         * has been taken when its head arrives. What takes turns sends its wavelets before those of later sends. */
        bool is_strict = core->is_strict || pe->fifo_opens > 0 || (pe->held_sends > 0 && has_turns(pe)), is_sure = false;
        if ((pe->class->signal_tasks >> task % MASKED_TASKS & 1) != 0 && core->runs_signals && !is_strict) {
            task = visit_signals(core, pe, task, &time, &is_sure);
            if (task == NO_TASK) {
                return;
            }
        }
        if (core->settings != NULL) {
            task = prefer(core, pe, task, &time);
        }
        cycle begin = pe->clock > time ? pe->clock : time;
        if (begin > core->epoch.until) {
            wait_for_epoch(core, pe, begin);
            return;
        }
        if (time > core->horizon ||
            (time > core->present && (is_strict || pe->held_sends > 0 || multicasts_wait(core)))) {
            if (is_strict || !(is_sure || is_certain(pe, task, time))) {
                if (pe->queued > time) {
                    pe->queued = time;
                    schedule(core, time, EVENT_PICK, pe->number, 0, pe);
                }
                return;
            }
            core->certain++;
        } else {
            core->ordered++;
        }
        if (!left(core, pe, start(core, pe, task, begin))) {
            return;
        }
    }
}

/* Returns true if a partition cannot go on before the core has returned to its host. */
static bool has_to_stop(const struct core *core) {
    return core->running != NULL || core->moves == 0;
}

/* Lets the task go on in which a partition has paused, if there are steps for it. */
void continue_paused(struct core *core) {
    if (core->steps >= core->budget && !core->at_call) {
        return;
    }
    struct pe *pe = core->running;
    if (!core->at_call) {
        count_steps(core, pe, 1);
    }
    if (core->statistics != NULL && !core->at_call) {
        count_line_step(core, core->paused_at);
    }
    core->at_call = false;
    core->horizon = core->present = -1; /* they were those of the PE */
    if (left(core, pe, interpret(core, pe, pe->now))) {
        touch(core, pe);
    }
}

/* Fetches what is in flight on the PE that is visited next. */
static inline void fetch_flights(const struct core *core, const struct pe *pe) {
    if (pe != NULL) {
        FETCH((const char *)races_of(core, pe), sizeof(struct pe_races), 1)
    }
}

/* Visits the PEs of a tile until nothing is certain there; returns how many. */
static uint64_t visit_tile(struct core *core, struct tile *tile) {
    uint64_t count = 0;
    while (tile->first != NULL && !has_to_stop(core)) {
        struct pe *pe = tile->first;
        tile->first = pe->next_dirty;
        pe->is_dirty = false;
        count++;
        fetch_pe(tile->first);
        if (core->races != NULL) {
            fetch_flights(core, tile->first);
        }
        visit(core, pe);
    }
    return count;
}

/* Visits PEs that are not at the border, `most` of them or a few more, until nothing is certain. */
void visit_listed(struct core *core, uint64_t most) {
    uint64_t count = 0;
    while (core->listed_count > count && count < most && !has_to_stop(core)) {
        struct tile *tile = first_listed(core);
        count += visit_tile(core, tile);
        if (tile->first == NULL) {
            unlist_tile(core, tile);
        }
    }
    core->listed_count -= count;
}

void visit_border(struct core *core) { visit_tile(core, core->border); }

/* Lets a PE pick what it is the first of all to pick; `others` is the cycle of the next event. */
static void pick(struct core *core, struct pe *pe, cycle time, cycle others) {
    if (pe->queued != time) {
        return; /* something earlier has come since */
    }
    pe->queued = NEVER;
    /* What others do reaches it no earlier than they can send; what it does itself comes back later still. */
    core->present = time;
    core->horizon = time + 2 * core->timing.inject - 1;
    if (others + core->timing.inject - 1 < core->horizon) {
        core->horizon = others + core->timing.inject - 1;
    }
    /* Wavelets of several senders come to their queue when they are due, and may start a task then. */
    if (core->horizon < time || core->changes || pe->held_sends > 0 || multicasts_wait(core) || runs_are_due(core)) {
        core->horizon = time;
    }
    if (!pe->is_busy) {
        visit(core, pe);
    }
}

static bool is_pick_at(const struct event *event, cycle time) {
    return event->time == time && event->key >> 32 == EVENT_PICK;
}

/* Returns how many PEs of a part of the heap pick at the time of the first event, at most `most` and a few more. */
static uint64_t count_picks(const struct core *core, uint64_t from, cycle time, uint64_t most) {
    if (from >= core->heap_count || !is_pick_at(&core->heap[from], time)) {
        return 0;
    }
    uint64_t count = 1;
    for (uint64_t k = 1; k <= 4 && count < most; k++) {
        count += count_picks(core, 4 * from + k, time, most - count);
    }
    return count;
}

/* Returns true if at least so many PEs are to pick at a time, and nothing else happens before. */
bool has_picks(const struct core *core, cycle time, uint64_t least) {
    return count_picks(core, 0, time, least) >= least;
}

/* Lets all PEs pick that are to do so at a time; those at the border only if no other partition is at work. */
void pick_all(struct core *core, cycle time) {
    uint64_t kept = 0;
    core->present = core->horizon = time;
    while (core->heap_count > 0 && is_pick_at(core->heap, time) && !has_to_stop(core)) {
        struct event event = pop(core);
        struct pe *pe = event.what;
        if (pe->queued != time) {
            continue; /* something earlier has come since */
        }
        if (has_to_wait(core, pe)) {
            grow(core, (void **)&core->kept, &core->kept_room, kept + 1, sizeof event);
            core->kept[kept++] = event;
            continue;
        }
        pe->queued = NEVER;
        if (!pe->is_busy) {
            visit(core, pe);
        }
    }
    while (kept > 0) {
        kept--;
        schedule(core, time, EVENT_PICK, core->kept[kept].key & UINT32_MAX, 0, core->kept[kept].what);
    }
    if (core->running == NULL) {
        core->horizon = core->present = -1;
    }
}

/* Lets a task go on that is to use configuration registers. */
static void use_registers(struct core *core, struct pe *pe, cycle time) {
    core->present = core->horizon = time;
    pe->now = time;
    pe->resumes = true;
    visit(core, pe);
}

/* Lets the first event of a partition happen; `others` is the cycle of the first of the other partitions. */
void happen(struct core *core, cycle others) {
    struct event event = pop(core);
    switch (event.key >> 32) {
    case EVENT_PICK:
        others = core->heap_count > 0 && core->heap[0].time < others ? core->heap[0].time : others;
        pick(core, event.what, event.time, others);
        break;
    case EVENT_MESSAGE: message_moves(core, event.what, event.time); break;
    case EVENT_ROUTER: router_decide(core, event.what, event.time); break;
    case EVENT_POLL: {
        struct open *open = event.what;
        if (open->poll == event.number) {
            poll(core, open, event.time);
        }
        break;
    }
    case EVENT_TURN:
        if (is_turn_due(event.what, event.number, event.time)) {
            take_turn(core, event.what, event.time);
        }
        break;
    case EVENT_ACCESS:
        if (event.number == 0) {
            use_registers(core, event.what, event.time);
        } else {
            look_at_queue(core, event.what, event.number, event.time);
        }
        break;
    default: admit_first(core, event.what); break;
    }
    if (core->running == NULL) {
        core->horizon = core->present = -1;
    }
}
