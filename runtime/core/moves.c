/* Moves between memory and queues, the most frequent of all transfers: of elements side by side, by one way to the one
 * queue that it leads to. What is done here is what quick.c would do.
 */
#include "quick.h"

/* Receiving */

/* Opens a receive for which nothing is there yet. */
static void open_move(struct core *core, struct pe *pe, const struct operation *operation, const struct descriptor *to,
                      const struct descriptor *from, uint32_t place, uint32_t count, uint32_t where, cycle issued) {
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
    open->queue[0] = place;
    open->poll = 0;
    open->waits[0] = NULL;
    open->where = where;
    open->task = running_task(pe);
    open->operands[0].descriptor = *to;
    open->operands[0].is_number = false;
    open->operands[1].descriptor = *from;
    open->operands[1].is_number = false;
    pe->inputs[place].waiting = open;
}

int receive_move(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                 uint32_t where, cycle *now) {
    const struct operation *operation = application->operation;
    const struct descriptor *to = (const struct descriptor *)(void *)operand_at(application, registers, 0);
    const struct descriptor *from = (const struct descriptor *)(void *)operand_at(application, registers, 1);
    uint32_t count = from->extents[0] < to->extents[0] ? from->extents[0] : to->extents[0];
    if (core->is_observed || to->plain != application->plain[0] || from->plain != PLAIN_RUN || count == 0 ||
        count == ENDLESS_EXTENT) {
        return NOT_QUICK;
    }
    uint32_t place = core->queue_place[from->row], thread = thread_place(pe, operation);
    const struct queue *queue = &pe->class->queues[place];
    struct input *input = &pe->inputs[place];
    struct run *run = input->first;
    cycle issued = *now, end = open_since(issued);
    if (!queue->is_taskless || !is_quiet(queue, pe->unit) || input->waiting != NULL || !is_free(pe, place, issued) ||
        (operation->is_async && !is_free(pe, thread, issued))) {
        return NOT_QUICK;
    }
    uint32_t task = running_task(pe);
    if (run == NULL) {
        open_move(core, pe, operation, to, from, place, count, where, issued);
        if (operation->is_async && operation->has_completion) {
            expect_completion(pe, operation, 1);
        }
    } else {
        ptrdiff_t size = application->steps[0];
        if (run->control || run->count - run->taken < count || run->size < size) {
            return NOT_QUICK;
        }
        struct elements elements = {.at = {pe->memory + 2 * (int64_t)to->address}, .steps = {size}};
        end = take(core, operation, &elements, 1, run, count, issued + core->timing.receive_setup, operation->plain_rate);
        if (run->taken == run->count) {
            input->first = run->next;
            if (input->first == NULL) {
                input->last = NULL;
            }
            drop_run(core, run);
        }
        settle_credits(core);
    }
    use_until(pe, place, operation, task, end);
    if (!operation->is_async) {
        *now = run == NULL ? issued : end;
        return run == NULL ? WAITS : DONE_NOW;
    }
    use_until(pe, thread, operation, task, end);
    *now += core->timing.async_issue;
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

/* Moves elements into the memory of the operation that waits for them, and notes when their credits are back in `done`.
 * Returns false, and has done nothing, if that is for others. */
static bool move_now(struct core *core, struct input *input, struct path *path, const struct way *way,
                     const uint8_t *at, uint32_t count, uint8_t size, cycle first, cycle rate, cycle tail,
                     cycle *done) {
    struct open *open = input->waiting;
    const struct operation *operation = open->operation;
    cycle begin, pace;
    if (!open->is_move || operation->kernel->size[1] != size ||
        count > open->count - open->position || path->pending > 0 || path->held != NULL || path->waiting != NULL ||
        !find_pace(open, first + way->latency, rate, &begin, &pace)) {
        return false;
    }
    assert(path->claims == NULL);
    const struct kernel *kernel = operation->kernel;
    uint8_t *elements[] = {open->to + open->position * size, (uint8_t *)(uintptr_t)at};
    const ptrdiff_t steps[] = {size, size};
    kernel->row(elements, steps, count);
    cycle last = -1; /* when the one is taken whose credit the last wavelet needs */
    if (count > path->capacity) {
        last = begin + (cycle)(count - path->capacity - 1) * pace;
    } else if (path->last.count > 0) {
        last = taken_at(path, path->capacity + 1 - count);
    }
    path->leaves = first + (cycle)(count - 1) * rate;
    if (last >= 0 && last + path->back > path->leaves && last + path->back + tail > *done) {
        *done = last + path->back + tail; /* as `send_ends` has it */
    }
    note_takes(core, path, begin, pace, count);
    open->time = begin + (cycle)(count - 1) * pace + open->rate;
    open->position += count;
    if (open->position == open->count) {
        input->waiting = open->waits[0];
        complete(core, open);
    }
    return true;
}

/* Queues elements that nothing waits for. */
static void queue_move(struct core *core, struct input *input, struct path *path, const uint8_t *at, uint32_t count,
                       uint8_t size, cycle head, cycle rate, const struct pe *from, uint64_t origin) {
    struct run *run = pool_take(core, &core->runs);
    struct payload *payload = payload_take(core, ((uint64_t)count * size + 3) / 4);
    memcpy(payload->words, at, (size_t)count * size);
    *run = (struct run){.payload = payload, .at = (const uint8_t *)payload->words, .path = path, .first = head,
                        .origin = origin, .step = size, .rate = (uint32_t)rate, .count = count,
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
        output->to = &to->inputs[core->queue_place[way->queue]];
        output->way = way;
    }
}

int send_move(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
              uint32_t where, cycle *now) {
    const struct operation *operation = application->operation;
    const struct descriptor *stream = (const struct descriptor *)(void *)operand_at(application, registers, 0);
    const struct descriptor *from = (const struct descriptor *)(void *)operand_at(application, registers, 1);
    uint32_t count = from->extents[0];
    uint32_t place = core->queue_place[stream->row], thread = thread_place(pe, operation);
    if (core->is_observed || stream->plain != PLAIN_RUN || from->plain != application->plain[1] || count == 0 ||
        core->at_work || place < pe->class->input_count) {
        return NOT_QUICK;
    }
    const struct queue *queue = &pe->class->queues[place];
    struct output *output = &pe->outputs[place - pe->class->input_count];
    cycle issued = *now, rate = operation->plain_rate;
    if (output->way == NULL) {
        find_output(core, pe, queue, output);
    }
    const struct way *way = output->way;
    struct input *input = output->to;
    if (input == NULL || !is_quiet(queue, pe->unit) || !is_free(pe, place, issued) ||
        (operation->is_async && !is_free(pe, thread, issued))) {
        return NOT_QUICK;
    }
    uint8_t size = (uint8_t)application->steps[1];
    const uint8_t *at = pe->memory + 2 * (int64_t)from->address;
    uint64_t origin = origin_by(way, pe, queue);
    cycle first = issued + core->timing.inject, leaves = first + (cycle)(count - 1) * rate;
    cycle end = issued + (operation->is_async ? core->timing.inject : core->timing.send_setup) + rate * count;
    cycle tail = end > leaves ? end - leaves : 0;
    struct path *path = path_at(core, input, way, origin);
    uint32_t task = running_task(pe);
    bool waits = false;
    if (input->waiting != NULL) {
        if (!move_now(core, input, path, way, at, count, size, first, rate, tail, &end)) {
            return NOT_QUICK;
        }
        settle_credits(core);
    } else {
        struct send here = {.pe = pe, .operation = operation, .where = where, .task = task, .queue = stream->row,
                            .done = end, .own = leaves, .tail = tail, .count = count,
                            .is_sync = !operation->is_async};
        struct send *send = &here;
        path_send(core, input, way, origin, count, leaves, &send);
        queue_move(core, input, path, at, count, size, first + way->latency, rate, pe, origin);
        end = send->done;
        waits = send->waiting > 0;
        if (waits) {
            send->since = issued;
            hold_send(core, send);
        }
    }
    core->wavelets += count;
    use_until(pe, place, operation, task, waits ? open_since(issued) : end);
    if (operation->is_async) {
        use_until(pe, thread, operation, task, waits ? open_since(issued) : end);
        *now += core->timing.async_issue;
        if (!waits) {
            signal_end(core, pe, operation, end, false);
        }
    } else if (!waits) {
        *now = end;
    }
    if (has_failed(core)) {
        return WENT_WRONG;
    }
    return waits && !operation->is_async ? WAITS : DONE_NOW;
}
