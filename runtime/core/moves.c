/* Moves between memory and queues, the most frequent of all transfers: of elements side by side, by one way to the one
 * queue that it leads to. What is done here is what quick.c would do, but what waits does so in short.
 */
#include "moves.h"
#include "races.h"

/* Ends the use of a resource, so many bytes behind the PE, as `resource_release` does. */
static inline void end_use(struct core *core, struct pe *pe, uint32_t place, uint32_t at, cycle since, cycle time) {
    if (pe->early > 0) {
        resource_release_early(core, pe, place, since, time);
    } else {
        ((struct resource *)part_at(pe, at))->ends = time;
    }
}

/* Ends a move that has waited in a queue, and was issued at `since`: its task goes on, or one starts. */
static inline __attribute__((always_inline)) void end_move(struct core *core, struct pe *pe,
                                                           const struct application *application,
                                                           const struct input *input, cycle since, cycle time) {
    const struct operation *operation = application->operation;
    end_use(core, pe, application->place, application->at.queue, since, time);
    if (!operation->is_async) {
        resume(core, pe, time);
        return;
    }
    if (core->races != NULL) {
        end_flight(core, pe, input, time);
    }
    end_use(core, pe, application->thread, application->at.thread, since, time);
    signal_end(core, pe, operation, time, false);
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

/* Has a receive for which nothing is there yet wait. A destination in the frame is copied, which ends before that. */
static inline void wait_in_short(struct core *core, struct pe *pe, const struct application *application,
                                 const struct descriptor *to, uint32_t count, uint32_t where, cycle issued) {
    struct input *input = part_at(pe, application->at.input);
    struct payload *copy = NULL;
    if (application->places[0].in_frame != 0) {
        copy = payload_take(core, (sizeof *to + 3) / 4);
        memcpy(copy->words, to, sizeof *to);
    }
    assert(input->form == SPELLED_OUT && input->first == NULL && input->waiting == NULL);
    input->form = SHORT_RECEIVE;
    input->count = (uint16_t)count;
    input->position = 0;
    input->task = pe->task;
    input->move = (struct short_move){.time = issued + core->timing.receive_setup, .since = issued, .payload = copy,
                                      .application = application->number, .where = where};
    core->short_moves++;
    if (core->changes) {
        spell_out(core, pe, application->place);
    }
}

/* Finds when a run that is there from `head` on can be taken by an operation that is ready at a time; returns false if
 * that is not at one pace. */
static inline bool find_pace(cycle ready, cycle ready_rate, cycle head, cycle rate, cycle *begin, cycle *pace) {
    *begin = head > ready ? head : ready;
    *pace = *begin == head && rate > ready_rate ? rate : ready_rate;
    return *begin == head || rate <= ready_rate;
}

/* Ends the send whose wavelets, which have come by a way, are taken from `begin` on, by a queue that has nothing else. */
static inline void accept_send(struct core *core, const struct input *input, const struct way *way,
                               const struct short_move *move, cycle leaves, uint32_t count, cycle begin, cycle pace) {
    struct pe *pe = move->from;
    const struct application *application = application_of(core, move);
    const struct operation *operation = application->operation;
    struct move_times times = times_behind(application, leaves, count);
    cycle room = begin + (cycle)(count - way->capacity - 1) * pace + way->back; /* for its last wavelet */
    cycle end = room + times.tail; /* as `send_ends` has it */
    pe->held_sends--;
    if (operation->has_completion) {
        expect_completion(pe, operation, -1);
    }
    end_move(core, pe, application, input, times.issued, end > times.end ? end : times.end);
}

/* Takes all that waits in short; returns false, and has done nothing, if that is for others. */
static inline bool take_short(struct core *core, struct input *input, const struct application *application,
                              uint8_t *to, uint32_t count, cycle ready, cycle *end) {
    const struct short_move move = input->move;
    const struct application *sent = application_of(core, &move);
    cycle rate = application->operation->plain_rate, begin, pace;
    ptrdiff_t size = application->steps[0];
    if (input->count != count || sent->steps[1] != size || is_waited_for(input) ||
        !find_pace(ready, rate, move.time, sent->operation->plain_rate, &begin, &pace)) {
        return false;
    }
    bool has_to_end = input->form == SHORT_SEND;
    const struct way *way = way_of(core, input);
    cycle leaves = leaves_in_short(core, input, way);
    memcpy(to, move.payload->words, (size_t)count * (size_t)size);
    payload_drop(core, move.payload);
    end_short(core, input);
    if (input->path != NULL) {
        assert(input->path->pending == count);
        input->path->pending = 0;
    }
    note_moved(core, input, way, move.from, sent->queue, begin, pace, count);
    if (has_to_end) {
        accept_send(core, input, way, &move, leaves, count, begin, pace);
    }
    *end = begin + (cycle)(count - 1) * pace + rate;
    return true;
}

/* Takes the first elements of a run; returns false, and has done nothing, if that is for others. */
static bool take_run(struct core *core, struct input *input, const struct application *application, uint8_t *to,
                     uint32_t count, cycle ready, cycle *end) {
    const struct operation *operation = application->operation;
    struct run *run = input->first;
    ptrdiff_t size = application->steps[0];
    if (run->control || run->count - run->taken < count || run->size < size) {
        return false;
    }
    uint8_t *elements[] = {to, (uint8_t *)run->at + (ptrdiff_t)run->taken * run->step};
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

int receive_move(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                 uint32_t where, cycle *now) {
    const struct operation *operation = application->operation;
    const struct descriptor *to = (const struct descriptor *)(void *)operand_at(application, registers, 0);
    uint32_t count = application->count < to->extents[0] ? application->count : to->extents[0];
    const bool is_async = operation->is_async;
    struct input *input = part_at(pe, application->at.input);
    struct resource *queue = part_at(pe, application->at.queue), *thread = part_at(pe, application->at.thread);
    cycle issued = *now, end = open_since(issued), ready = issued + core->timing.receive_setup;
    if (core->is_observed || to->plain != application->plain[0] || count == 0 ||
        !is_quiet(application->queue, pe->unit) || queue->ends > issued || (is_async && thread->ends > issued)) {
        return NOT_QUICK;
    }
    bool waits = false;
    uint8_t *at = pe->memory + 2 * (int64_t)to->address;
    if (input->form != SPELLED_OUT) {
        if (input->form == SHORT_RECEIVE || !take_short(core, input, application, at, count, ready, &end)) {
            return NOT_QUICK;
        }
    } else if (input->waiting != NULL) {
        return NOT_QUICK;
    } else if (input->first != NULL) {
        if (!take_run(core, input, application, at, count, ready, &end)) {
            return NOT_QUICK;
        }
    } else {
        waits = true;
        wait_in_short(core, pe, application, to, count, where, issued);
        if (is_async && operation->has_completion) {
            expect_completion(pe, operation, 1);
        }
    }
    if (!waits) {
        settle_credits(core);
    }
    struct resource use = {.ends = end, .user = user_in(application->user, pe)};
    *queue = use;
    if (!is_async) {
        *now = waits ? issued : end;
        return waits ? WAITS : DONE_NOW;
    }
    *thread = use;
    *now = issued + core->timing.async_issue;
    if (!waits) {
        signal_end(core, pe, operation, end, false);
    }
    return DONE_NOW;
}

/* Sending */

static inline struct pe *receiver_of(const struct output *output) {
    return (struct pe *)(void *)((char *)output->to - output->behind);
}

/* Has a send end no sooner than a credit of a way is back for its last wavelet, for one that is taken at a time; -1: it
 * was back long ago. */
static inline void end_no_sooner(struct move_times *times, const struct way *way, cycle taken) {
    if (taken >= 0 && taken + way->back + times->tail > times->end) {
        times->end = taken + way->back + times->tail; /* as `send_ends` has it */
    }
}

/* Moves elements into the memory of the receive that waits for them, and notes when their credits are back in `times`.
 * Returns false, and has done nothing, if that is for others. */
static inline bool move_now(struct core *core, const struct pe *from, const struct queue *queue,
                            const struct output *output, const uint8_t *at, uint32_t count, uint8_t size, cycle rate,
                            struct move_times *times) {
    struct input *input = output->to;
    struct path *path = input->path;
    const struct way *way = &core->ways[output->way - 1];
    struct pe *pe = receiver_of(output);
    const struct application *application = application_of(core, &input->move);
    const struct operation *operation = application->operation;
    cycle first = times->leaves - (cycle)(count - 1) * rate, begin, pace;
    if (application->steps[0] != size || count > (uint32_t)(input->count - input->position) ||
        (path != NULL && (path->pending > 0 || path->waiters != NULL)) ||
        !find_pace(input->move.time, operation->plain_rate, first + way->latency, rate, &begin, &pace)) {
        return false;
    }
    assert(path == NULL || path->claims == NULL);
    uint8_t *to = pe->memory + 2 * (int64_t)destination_of(core, &input->move)->address;
    memcpy(to + (ptrdiff_t)input->position * size, at, (size_t)count * size);
    cycle last = -1; /* when the one is taken whose credit the last wavelet needs */
    if (count > way->capacity) {
        last = begin + (cycle)(count - way->capacity - 1) * pace;
    } else if (last_takes(input)->count > 0) {
        last = taken_at(last_takes(input), older_takes(input), way->capacity + 1 - count);
    }
    if (path != NULL) {
        path->leaves = times->leaves;
    }
    end_no_sooner(times, way, last);
    note_moved(core, input, way, from, queue, begin, pace, count);
    input->move.time = begin + (cycle)(count - 1) * pace + operation->plain_rate;
    input->position += (uint16_t)count;
    if (input->position == input->count) {
        struct short_move move = input->move;
        if (move.payload != NULL) {
            payload_drop(core, move.payload);
        }
        end_short(core, input);
        if (operation->is_async && operation->has_completion) {
            expect_completion(pe, operation, -1);
        }
        pe->stopped = pe->stopped && operation->is_async;
        end_move(core, pe, application, input, move.since, move.time);
    }
    return true;
}

/* Leaves elements in a queue that has nothing, and notes when their credits are back in `times`; returns whether the send
 * has to wait for room. */
static inline bool leave_in_short(struct core *core, struct pe *pe, const struct application *application,
                                  const struct output *output, const uint8_t *at, uint32_t count, uint8_t size,
                                  uint32_t where, cycle rate, struct move_times *times) {
    struct input *input = output->to;
    struct path *path = input->path;
    const struct way *way = &core->ways[output->way - 1];
    const bool waits = count > way->capacity;
    struct payload *payload = payload_take(core, ((uint64_t)count * size + 3) / 4);
    memcpy(payload->words, at, (size_t)count * size);
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
        end_no_sooner(times, way, taken_at(last_takes(input), older_takes(input), way->capacity + 1 - count));
    }
    cycle head = times->leaves - (cycle)(count - 1) * rate + way->latency;
    input->form = waits ? SHORT_SEND : SHORT_WAVELETS;
    input->count = (uint16_t)count;
    input->way = output->way <= UINT16_MAX ? (uint16_t)output->way : 0;
    input->task = pe->task;
    input->move = (struct short_move){.time = head, .from = pe, .payload = payload,
                                      .application = application->number, .where = where};
    core->short_moves++;
    core->moves -= core->moves > 1;
    if (core->changes) {
        spell_out(core, receiver_of(output), core->queue_place[way->queue]);
    }
    return waits;
}

/* Finds where an output queue leads to. What goes to the border of a partition takes the long way, as what something is to
 * be told of. */
static void find_output(struct core *core, const struct pe *pe, const struct queue *queue, struct output *output) {
    uint32_t list = queue->ways[pe->unit], number = core->list_first[list];
    output->way = 1;
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
        output->way = 1 + number;
        output->behind = (uint32_t)((char *)input - (char *)to);
        output->to = is_other ? NULL : input;
    }
}

int send_move(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
              uint32_t where, cycle *now) {
    const struct operation *operation = application->operation;
    const struct descriptor *from = (const struct descriptor *)(void *)operand_at(application, registers, 1);
    const bool is_async = operation->is_async;
    const uint32_t count = from->extents[0];
    struct output *output = part_at(pe, application->at.output);
    struct resource *queue = part_at(pe, application->at.queue), *thread = part_at(pe, application->at.thread);
    cycle issued = *now, rate = operation->plain_rate;
    if (core->is_observed || from->plain != application->plain[1] || count == 0 || core->at_work) {
        return NOT_QUICK;
    }
    if (output->way == 0) {
        find_output(core, pe, application->queue, output);
    }
    struct input *input = output->to;
    if (input == NULL || queue->ends > issued || (is_async && thread->ends > issued)) {
        return NOT_QUICK;
    }
    const uint8_t size = (uint8_t)application->steps[1];
    const uint8_t *at = pe->memory + 2 * (int64_t)from->address;
    struct move_times times = times_of(application, issued, count);
    struct resource use = {.user = user_in(application->user, pe)};
    bool waits = false;
    if (input->form == SHORT_RECEIVE) {
        if (!move_now(core, pe, application->queue, output, at, count, size, rate, &times)) {
            return NOT_QUICK;
        }
        settle_credits(core);
    } else if (input->form == SPELLED_OUT && input->first == NULL && input->waiting == NULL &&
               !is_waited_for(input)) {
        waits = leave_in_short(core, pe, application, output, at, count, size, where, rate, &times);
    } else {
        return NOT_QUICK;
    }
    core->wavelets += count;
    use.ends = waits ? open_since(issued) : times.end;
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
        const struct parts *parts = &class->parts;
        application->at.queue = parts->resources + place * (uint32_t)sizeof(struct resource);
        application->at.thread = parts->resources + application->thread * (uint32_t)sizeof(struct resource);
        application->at.input = sends ? 0 : parts->inputs + place * (uint32_t)sizeof(struct input);
        application->at.output =
            sends ? parts->outputs + (place - class->input_count) * (uint32_t)sizeof(struct output) : 0;
        application->count = stream->extents[0];
        application->number = (uint32_t)k;
        application->user = user_without_task(class, application->operation);
        const struct operation *operation = application->operation;
        application->before = core->timing.inject + (operation->is_async ? 0 : core->timing.send_setup);
        application->behind = operation->plain_rate - (operation->is_async ? 0 : core->timing.inject);
        bool fits = sends ? !application->queue->is_input
                          : application->queue->is_taskless && stream->extents[0] != ENDLESS_EXTENT;
        if (stream->plain != PLAIN_RUN || !fits) {
            application->form = OTHER_WAY;
        }
    }
}
