/* Moves between memory and queues, the most frequent of all transfers: of elements side by side, by one way to the one
 * queue that it leads to. What is done here is what quick.c would do, but what waits does so in short.
 */
#include "moves.h"
#include "races.h"

/* Ends uses of a queue and a microthread by a move while later ones have started. */
static SELDOM void release_early(struct core *core, struct pe *pe, const struct application *application, cycle since,
                                 cycle time) {
    resource_release_early(core, pe, application->place, since, time);
    if (application->operation->is_async) {
        resource_release_early(core, pe, application->thread, since, time);
    }
}

/* Has a move use its queue and its microthread until a time. One without a microthread has its queue in the place of that. */
static inline void use_both(struct pe *pe, const struct application *application, cycle time) {
    const struct resource use = {.ends = time, .user = user_in(application->user, pe)};
    *(struct resource *)part_at(pe, application->at.queue) = use;
    *(struct resource *)part_at(pe, application->at.thread) = use;
}

static inline bool are_both_free(const struct pe *pe, const struct application *application, cycle time) {
    return ((const struct resource *)part_at(pe, application->at.queue))->ends <= time &&
           ((const struct resource *)part_at(pe, application->at.thread))->ends <= time;
}

/* Signals the end of an asynchronous move, as `signal_end` does. */
static ALWAYS_INLINE void signal_move(struct core *core, struct pe *pe, const struct operation *operation, cycle time) {
    if (operation->completion.known != 0) {
        complete_task(core, pe, &operation->completion, time);
    } else if (time > core->latest) {
        core->latest = time;
    }
}

/* Ends a move that has waited in a queue, and was issued at `since`: its task goes on, or one starts. */
static ALWAYS_INLINE void end_move(struct core *core, struct pe *pe, const struct application *application,
                                   const struct input *input, cycle since, cycle time) {
    const struct operation *operation = application->operation;
    if (pe->early > 0) {
        release_early(core, pe, application, since, time);
    } else {
        ((struct resource *)part_at(pe, application->at.queue))->ends = time;
        ((struct resource *)part_at(pe, application->at.thread))->ends = time;
    }
    if (!operation->is_async) {
        resume(core, pe, time);
        return;
    }
    if (core->races != NULL) {
        end_flight(core, pe, input, time);
    }
    signal_move(core, pe, operation, time);
}

/* Takes, which a queue notes, and those before them */
static inline const struct takes *last_takes(const struct input *input) {
    return input->path == NULL ? &input->taken : &input->path->last;
}

static inline const struct older_takes *older_takes(const struct input *input) {
    return input->path == NULL ? NULL : input->path->older;
}

/* Notes that a queue, to which a way leads, takes wavelets. While these are all that the way holds, and more, none
 * before them matters. */
static inline void note_moved(struct core *core, struct input *input, const struct way *way, const struct pe *from,
                              const struct queue *queue, cycle begin, cycle pace, uint32_t count) {
    if (input->path == NULL && (count >= way->capacity || input->taken.count == 0)) {
        input->taken = (struct takes){.first = begin, .rate = (uint32_t)pace, .count = count};
    } else {
        note_takes(core, path_at(core, input, way, origin_by(way, from, queue)), begin, pace, count);
    }
}

static inline bool is_waited_for(const struct input *input) {
    return input->path != NULL && input->path->waiters != NULL;
}

/* Receiving */

/* Elements of memory that a receive fills */
struct destination {
    uint8_t *at;
    uint32_t count;
};

/* Finds where a receive puts what comes; returns false if that is for others. */
static inline bool find_destination(const struct pe *pe, const struct application *application, int64_t *registers,
                                    struct destination *to) {
    if (application->is_fixed) {
        *to = (struct destination){pe->memory + application->fixed.at[0], application->fixed.count};
        return true;
    }
    const struct descriptor *walk = (const struct descriptor *)(void *)operand_at(application, registers, 0);
    const uint32_t extent = walk->extents[0];
    *to = (struct destination){pe->memory + 2 * (int64_t)walk->address,
                               application->count < extent ? application->count : extent};
    return walk->plain == application->plain[0] && to->count > 0;
}

/* Returns where a receive that waits in short puts its first element. */
static inline uint8_t *waiting_destination(const struct pe *pe, const struct application *application,
                                           const struct short_move *move) {
    if (move->payload == NULL) {
        return pe->memory + application->fixed.at[0];
    }
    return pe->memory + 2 * (int64_t)((const struct descriptor *)(void *)move->payload->words)->address;
}

/* Has a receive for which nothing is there yet wait; `copy` is its destination if that is in the frame, which ends before
 * what comes. Returns when the task goes on, or -WAITS. */
static inline cycle wait_in_short(struct core *core, struct pe *pe, const struct instruction *by, struct payload *copy,
                                  uint32_t count, cycle issued) {
    const struct application *application = by->slot.application;
    const struct operation *operation = application->operation;
    struct input *input = part_at(pe, application->at.input);
    assert(input->form == SPELLED_OUT && input->first == NULL && input->waiting == NULL);
    input->form = SHORT_RECEIVE;
    input->count = (uint16_t)count;
    input->position = 0;
    input->task = pe->task;
    input->move =
        (struct short_move){.time = issued + core->timing.receive_setup, .since = issued, .payload = copy, .by = by};
    core->short_moves++;
    use_both(pe, application, open_since(issued));
    if (!operation->is_async) {
        return -WAITS;
    }
    if (operation->has_completion) {
        expect_completion(pe, operation, 1);
    }
    return issued + core->timing.async_issue;
}

/* The same of any receive. */
static SELDOM cycle wait_in_full(struct core *core, struct pe *pe, const struct instruction *by, int64_t *registers,
                                 cycle issued) {
    const struct application *application = by->slot.application;
    struct destination to;
    struct payload *copy = NULL;
    if (!find_destination(pe, application, registers, &to)) {
        return -NOT_QUICK;
    }
    if (!application->is_fixed) {
        copy = payload_take(core, (sizeof(struct descriptor) + 3) / 4);
        memcpy(copy->words, operand_at(application, registers, 0), sizeof(struct descriptor));
    }
    cycle after = wait_in_short(core, pe, by, copy, to.count, issued);
    if (core->changes) {
        spell_out(core, pe, application->place);
    }
    return after;
}

/* Finds when a run that is there from `head` on can be taken by an operation that is ready at a time; returns false if
 * that is not at one pace. */
static inline bool find_pace(cycle ready, cycle ready_rate, cycle head, cycle rate, cycle *begin, cycle *pace) {
    *begin = head > ready ? head : ready;
    *pace = *begin == head && rate > ready_rate ? rate : ready_rate;
    return *begin == head || rate <= ready_rate;
}

/* Ends the send whose wavelets, which have come by a way, are taken from `begin` on, by a queue that has nothing else. */
static inline void accept_send(struct core *core, const struct input *input, const struct way *way, struct pe *pe,
                               const struct application *application, const struct move_times *times, uint32_t count,
                               cycle begin, cycle pace) {
    cycle room = begin + (cycle)(count - way->capacity - 1) * pace + way->back; /* for its last wavelet */
    pe->held_sends--;
    if (application->operation->has_completion) {
        expect_completion(pe, application->operation, -1);
    }
    end_move(core, pe, application, input, times->first - application->before, end_of_move(application, times, room));
}

/* Takes all that waits in short; returns false, and has done nothing, if that is for others. */
static inline bool take_short(struct core *core, struct input *input, const struct application *application,
                              const struct destination *to, cycle ready, cycle *end) {
    const struct application *sent = application_of(&input->move);
    const uint32_t count = to->count;
    cycle rate = application->operation->plain_rate, begin, pace;
    ptrdiff_t size = application->steps[0];
    if (input->count != count || sent->steps[1] != size || is_waited_for(input) ||
        !find_pace(ready, rate, input->move.time, sent->operation->plain_rate, &begin, &pace)) {
        return false;
    }
    const bool has_to_end = input->form == SHORT_SEND;
    const struct way *way = way_of(core, input);
    const struct move_times times = times_in_short(input, way);
    struct pe *from = input->move.from;
    memcpy(to->at, input->move.payload->words, (size_t)count * (size_t)size);
    payload_drop(core, input->move.payload);
    end_short(core, input);
    if (input->path != NULL) {
        assert(input->path->pending == count);
        input->path->pending = 0;
    }
    note_moved(core, input, way, from, sent->queue, begin, pace, count);
    if (has_to_end) {
        accept_send(core, input, way, from, sent, &times, count, begin, pace);
    }
    *end = begin + (cycle)(count - 1) * pace + rate;
    return true;
}

/* Takes the first elements of a run; returns false, and has done nothing, if that is for others. */
static bool take_run(struct core *core, struct input *input, const struct application *application,
                     const struct destination *to, cycle ready, cycle *end) {
    const struct operation *operation = application->operation;
    const uint32_t count = to->count;
    struct run *run = input->first;
    ptrdiff_t size = application->steps[0];
    if (run->control || run->count - run->taken < count || run->size < size) {
        return false;
    }
    uint8_t *elements[] = {to->at, (uint8_t *)run->at + (ptrdiff_t)run->taken * run->step};
    if (run->step == size) {
        memcpy(elements[0], elements[1], (size_t)count * (size_t)size);
    } else {
        const ptrdiff_t steps[] = {size, run->step};
        operation->kernel->walk(elements, steps, count);
    }
    *end = note_taken(core, run, count, ready, operation->plain_rate);
    if (run->taken == run->count) {
        input->first = run->next;
        if (input->first == NULL) {
            input->last = NULL;
        }
        drop_run(core, run);
    }
    return true;
}

/* Takes what is there for a receive. */
static SELDOM cycle take_move(struct core *core, struct pe *pe, const struct instruction *by, int64_t *registers,
                              cycle issued) {
    const struct application *application = by->slot.application;
    const struct operation *operation = application->operation;
    struct input *input = part_at(pe, application->at.input);
    const cycle ready = issued + core->timing.receive_setup;
    struct destination to;
    cycle end;
    bool is_there = find_destination(pe, application, registers, &to);
    if (input->form == SPELLED_OUT) {
        is_there = is_there && input->waiting == NULL && take_run(core, input, application, &to, ready, &end);
    } else {
        is_there = is_there && input->form != SHORT_RECEIVE && take_short(core, input, application, &to, ready, &end);
    }
    if (!is_there) {
        return -NOT_QUICK;
    }
    settle_credits(core);
    use_both(pe, application, end);
    if (!operation->is_async) {
        return end;
    }
    signal_move(core, pe, operation, end);
    return issued + core->timing.async_issue;
}

cycle receive_move(struct core *core, struct pe *pe, const struct instruction *by, int64_t *registers, cycle issued) {
    const struct application *application = by->slot.application;
    const struct input *input = part_at(pe, application->at.input);
    if (core->is_observed || input->is_loud || !are_both_free(pe, application, issued)) {
        return -NOT_QUICK;
    }
    if (input->form != SPELLED_OUT || input->first != NULL) {
        return take_move(core, pe, by, registers, issued);
    }
    if (input->waiting != NULL) {
        return -NOT_QUICK;
    }
    if (!application->is_fixed || core->changes) {
        return wait_in_full(core, pe, by, registers, issued);
    }
    return wait_in_short(core, pe, by, NULL, application->fixed.count, issued);
}

/* Sending */

static inline struct pe *receiver_of(const struct output *output) {
    return (struct pe *)(void *)((char *)output->to - output->behind);
}

/* Has a send end no sooner than a credit of a way is back for its last wavelet, for one that is taken at a time; -1: it
 * was back long ago. */
static inline void end_no_sooner(const struct application *application, struct move_times *times, const struct way *way,
                                 cycle taken) {
    if (taken >= 0) {
        times->end = end_of_move(application, times, taken + way->back);
    }
}

/* Moves elements into the memory of the receive that waits for them, and notes when their credits are back in `times`.
 * Returns false, and has done nothing, if that is for others. */
static inline bool move_now(struct core *core, const struct pe *from, const struct application *sent,
                            const struct output *output, const uint8_t *at, uint32_t count, struct move_times *times) {
    struct input *input = output->to;
    struct path *path = input->path;
    const struct way *way = way_at(core, output->way);
    struct pe *pe = receiver_of(output);
    const struct application *application = application_of(&input->move);
    const struct operation *operation = application->operation;
    const cycle rate = sent->operation->plain_rate;
    const ptrdiff_t size = sent->steps[1];
    cycle begin, pace;
    if (application->steps[0] != size || count > (uint32_t)(input->count - input->position) ||
        (path != NULL && (path->pending > 0 || path->waiters != NULL)) ||
        !find_pace(input->move.time, operation->plain_rate, times->first + way->latency, rate, &begin, &pace)) {
        return false;
    }
    assert(path == NULL || path->claims == NULL);
    uint8_t *to = waiting_destination(pe, application, &input->move) + input->position * size;
    memcpy(to, at, (size_t)count * (size_t)size);
    cycle last = -1; /* when the one is taken whose credit the last wavelet needs */
    if (count > way->capacity) {
        last = begin + (cycle)(count - way->capacity - 1) * pace;
    } else if (last_takes(input)->count > 0) {
        last = taken_at(last_takes(input), older_takes(input), way->capacity + 1 - count);
    }
    if (path != NULL) {
        path->leaves = times->leaves;
    }
    end_no_sooner(sent, times, way, last);
    note_moved(core, input, way, from, sent->queue, begin, pace, count);
    const cycle end = begin + (cycle)(count - 1) * pace + operation->plain_rate;
    const uint32_t position = input->position + count;
    if (position < input->count) {
        input->move.time = end;
        input->position = (uint16_t)position;
        return true;
    }
    const cycle since = input->move.since;
    if (input->move.payload != NULL) {
        payload_drop(core, input->move.payload);
    }
    end_short(core, input);
    if (!operation->is_async) {
        pe->stopped = false;
    } else if (operation->has_completion) {
        expect_completion(pe, operation, -1);
    }
    end_move(core, pe, application, input, since, end);
    return true;
}

/* Leaves elements in a queue that has nothing, and notes when their credits are back in `times`; returns true if the send
 * has to wait for room. */
static inline bool leave_in_short(struct core *core, struct pe *pe, const struct instruction *by,
                                  const struct output *output, const uint8_t *at, uint32_t count,
                                  struct move_times *times) {
    const struct application *application = by->slot.application;
    struct input *input = output->to;
    struct path *path = input->path;
    const struct way *way = way_at(core, output->way);
    const bool waits = count > way->capacity;
    const size_t bytes = (size_t)count * (size_t)application->steps[1];
    struct payload *payload = payload_take(core, (bytes + 3) / 4);
    memcpy(payload->words, at, bytes);
    assert(path == NULL || (path->pending == 0 && path->claims == NULL));
    if (path != NULL) {
        path->pending = count;
        path->leaves = times->leaves;
    }
    if (waits) {
        pe->held_sends++;
        if (application->operation->has_completion) {
            expect_completion(pe, application->operation, 1);
        }
    } else if (last_takes(input)->count > 0) {
        cycle last = taken_at(last_takes(input), older_takes(input), way->capacity + 1 - count);
        end_no_sooner(application, times, way, last);
    }
    input->form = waits ? SHORT_SEND : SHORT_WAVELETS;
    input->count = (uint16_t)count;
    input->way = output->way <= UINT16_MAX ? (uint16_t)output->way : 0;
    input->task = pe->task;
    input->move =
        (struct short_move){.time = times->first + way->latency, .from = pe, .payload = payload, .by = by};
    core->short_moves++;
    core->moves -= core->moves > 1;
    if (core->changes) {
        spell_out(core, receiver_of(output), core->queue_place[way->queue]);
    }
    return waits;
}

/* Finds where an output queue leads to when it is first sent to. What goes to the border of a partition takes the long way, as what something is to
 * be told of. */
static SELDOM void find_output(struct core *core, const struct pe *pe, const struct queue *queue, struct output *output) {
    if (output->way != 0) {
        return;
    }
    uint32_t list = queue->ways[pe->unit], number = core->list_first[list];
    output->way = 1 + WORDS_OF_WAY * number;
    if (!queue->is_static || !is_quiet(queue, pe->unit) || core->list_first[list + 1] - number != 1) {
        return;
    }
    const struct way *way = &core->ways[number];
    struct pe *to = core->pe_of[(int64_t)pe->number + way->offset];
    const struct queue *receiver = &to->class->queues[core->queue_place[way->queue]];
    if (receiver->is_taskless && receiver->senders == 1 && to != pe && way->capacity > 0 &&
        !core->tiles[to->tile].is_border) {
        struct input *input = &inputs_of(to)[core->queue_place[way->queue]];
        bool is_other = input->path != NULL && input->path->origin != origin_by(way, pe, queue);
        output->behind = (uint32_t)((char *)input - (char *)to);
        output->to = is_other ? NULL : input;
    }
}

cycle send_move(struct core *core, struct pe *pe, const struct instruction *by, int64_t *registers, cycle issued) {
    const struct application *application = by->slot.application;
    const struct operation *operation = application->operation;
    const struct descriptor *from = (const struct descriptor *)(void *)operand_at(application, registers, 1);
    const uint32_t count = from->extents[0];
    struct output *output = part_at(pe, application->at.output);
    if (core->is_observed || from->plain != application->plain[1] || count == 0 ||
        !are_both_free(pe, application, issued)) {
        return -NOT_QUICK;
    }
    if (output->to == NULL) {
        find_output(core, pe, application->queue, output);
        if (output->to == NULL) {
            return -NOT_QUICK;
        }
    }
    struct input *input = output->to;
    const uint8_t *at = pe->memory + 2 * (int64_t)from->address;
    struct move_times times = times_from(application, issued + application->before, count);
    bool waits = false;
    if (input->form == SHORT_RECEIVE) {
        if (!move_now(core, pe, application, output, at, count, &times)) {
            return -NOT_QUICK;
        }
        settle_credits(core);
    } else if (input->form == SPELLED_OUT && input->first == NULL && input->waiting == NULL && !is_waited_for(input)) {
        waits = leave_in_short(core, pe, by, output, at, count, &times);
    } else {
        return -NOT_QUICK;
    }
    core->wavelets += count;
    use_both(pe, application, waits ? open_since(issued) : times.end);
    if (operation->is_async && !waits) {
        signal_move(core, pe, operation, times.end);
    }
    if (has_failed(core)) {
        return -WENT_WRONG;
    }
    return operation->is_async ? issued + core->timing.async_issue : waits ? -WAITS : times.end;
}

/* Preparation */

/* Notes where a receive puts what comes, if the code says it; returns false if that is for others. */
static bool note_destination(struct application *application) {
    if (application->places[0].in_frame != 0) {
        return true;
    }
    const struct descriptor *walk = (const struct descriptor *)(void *)operand_at(application, NULL, 0);
    application->is_fixed = true;
    application->fixed.at[0] = 2 * (uint32_t)walk->address;
    application->fixed.count = application->count < walk->extents[0] ? application->count : walk->extents[0];
    return walk->plain == application->plain[0] && application->fixed.count > 0;
}

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
        bool is_async = application->operation->is_async;
        application->thread = is_async ? class->queue_count + application->operation->thread : place;
        const struct parts *parts = &class->parts;
        application->at.queue = parts->resources + place * (uint32_t)sizeof(struct resource);
        application->at.thread = parts->resources + application->thread * (uint32_t)sizeof(struct resource);
        application->at.input = sends ? 0 : parts->inputs + place * (uint32_t)sizeof(struct input);
        application->at.output =
            sends ? parts->outputs + (place - class->input_count) * (uint32_t)sizeof(struct output) : 0;
        application->count = stream->extents[0];
        application->user = user_without_task(class, application->operation);
        const struct operation *operation = application->operation;
        application->before = core->timing.inject + (operation->is_async ? 0 : core->timing.send_setup);
        application->behind = operation->plain_rate - (operation->is_async ? 0 : core->timing.inject);
        application->tail = application->behind > 0 ? application->behind : 0;
        bool fits = sends ? !application->queue->is_input
                          : application->queue->is_taskless && stream->extents[0] != ENDLESS_EXTENT;
        if (stream->plain != PLAIN_RUN || !fits || (!sends && !note_destination(application))) {
            application->form = OTHER_WAY;
        }
    }
}
