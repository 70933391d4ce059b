/* Operations in the frequent case, where little is to be found out: elements side by side, inside of their buffers, and
 * runs of whole wavelets between two PEs. All else, and all that leaves a finding or a trace, is in operations.c and
 * queues.c, and what is done here is what they would do.
 */
#include "machine.h"

/* Elements of an operation as its kernel takes them */
struct elements {
    uint8_t *at[MAX_OPERANDS];
    ptrdiff_t steps[MAX_OPERANDS];
};

void prepare_quick(struct core *core) {
    const struct tables *tables = &core->tables;
    core->bounds = core_allocate(core, tables->buffers_count, sizeof *core->bounds);
    for (uint64_t k = 0; k < tables->buffers_count; k++) {
        const struct buffer_row *row = &tables->buffers[k];
        int64_t words = ((int64_t)row->elements * kind_bytes(row->kind) + 1) / 2;
        core->bounds[k] = (struct bounds){within(row->address), (uint32_t)within(words)};
    }
    for (uint64_t k = 0; k < tables->operations_count; k++) {
        struct operation *operation = &core->operations[k];
        const uint16_t named[MAX_OPERANDS] = {operation->row->destination, operation->row->sources[0],
                                              operation->row->sources[1], operation->row->sources[2]};
        for (int n = 0; n < MAX_OPERANDS && n <= operation->sources; n++) {
            uint8_t size = operation->kernel->size[n];
            struct operand_place *place = &operation->places[n];
            if (named[n] < STATIC_DESCRIPTOR) {
                *place = (struct operand_place){.offset = named[n] * (uint32_t)sizeof(int64_t), .base = IN_REGISTERS};
                continue;
            }
            uint32_t number = named[n] - (named[n] < FRAME_DESCRIPTOR ? STATIC_DESCRIPTOR : FRAME_DESCRIPTOR);
            *place = (struct operand_place){.offset = number * (uint32_t)sizeof(struct descriptor), .step = size,
                                            .base = named[n] < FRAME_DESCRIPTOR ? IN_USE : IN_FRAME,
                                            .plain = size == 4 ? PLAIN_WORDS : PLAIN_HALVES, .odd = size == 4};
        }
        int64_t numerator = operation->numerator, denominator = operation->denominator;
        int64_t whole = core->timing.read_words, read = operation->words < whole ? operation->words : whole;
        if (read * denominator > numerator * whole) {
            numerator = read;
            denominator = whole;
        }
        operation->plain_numerator = (uint32_t)numerator;
        operation->plain_denominator = (uint32_t)denominator;
        int64_t rate = (numerator + denominator - 1) / denominator;
        operation->plain_rate = (uint32_t)(rate < 1 ? 1 : rate);
    }
}

/* Finds the elements of operand `k`, which is no number: returns false if some are outside of their buffer or at an odd
 * word, or if they share memory with the destination otherwise than element for element. */
static inline bool find_walk(const struct core *core, const struct pe *pe, const struct operation *operation,
                             const struct descriptor *walk, int k, uint32_t count, struct elements *elements) {
    const struct operand_place *place = &operation->places[k];
    const struct bounds *bounds = &core->bounds[walk->row];
    int32_t address = walk->address;
    uint32_t bytes = count * place->step;
    uint64_t into = (uint32_t)(address - bounds->start); /* far beyond the end if it is before the start */
    if (address & place->odd || into + bytes / 2 > bounds->words) {
        return false;
    }
    uint8_t *at = pe->memory + 2 * (int64_t)address, *to = elements->at[0];
    elements->at[k] = at;
    elements->steps[k] = place->step;
    return k == 0 || elements->steps[0] == 0 || at >= to + count * operation->places[0].step || to >= at + bytes ||
           (at == to && place->step == operation->places[0].step);
}

/* Finds the elements of all operands but runs of wavelets. `streams` has NULL for numbers, which are at `at`. */
static bool find_elements(const struct core *core, const struct pe *pe, const struct operation *operation,
                          const struct descriptor *const *streams, uint32_t count, struct elements *elements) {
    elements->steps[0] = 0; /* a run shares no memory with anything */
    for (int k = 0; k <= operation->sources; k++) {
        if (streams[k] == NULL) {
            elements->steps[k] = 0;
        } else if (streams[k]->plain != PLAIN_RUN && !find_walk(core, pe, operation, streams[k], k, count, elements)) {
            return false;
        }
    }
    return true;
}

static inline cycle plain_cycles(const struct operation *operation, int64_t count) {
    int64_t cycles = count * operation->plain_numerator;
    return operation->plain_denominator == 1
               ? cycles
               : (cycles + operation->plain_denominator - 1) / (int64_t)operation->plain_denominator;
}

static inline bool is_free(const struct pe *pe, uint32_t place, cycle time) {
    return resource_of(pe, place)->ends <= time;
}

static inline void use_until(struct pe *pe, uint32_t place, const struct operation *operation, uint32_t task,
                             cycle end) {
    *resource_of(pe, place) = (struct resource){.ends = end, .user = operation->number, .task = task};
}

/* Returns whether nothing is to be told of a PE's use of a queue. */
static inline bool is_quiet(const struct queue *queue, uint32_t unit) {
    return queue->is_uniform || (queue->flags[unit] == 0 && !(queue->is_colorless && queue->colors[unit] < 0));
}

/* Receiving */

/* Takes `count` elements of a run; returns when the operation is ready for the next. */
static inline cycle take(struct core *core, const struct operation *operation, struct elements *elements, int source,
                         struct run *run, uint32_t count, cycle ready, cycle rate) {
    cycle slower = run->rate > rate ? run->rate : rate, head = head_time(run);
    cycle begin = head > ready ? head : ready;
    const struct kernel *kernel = operation->kernel;
    elements->at[source] = (uint8_t *)run->at + (ptrdiff_t)run->taken * run->step;
    elements->steps[source] = run->step;
    bool side_by_side = run->step == kernel->size[source];
    (side_by_side ? kernel->row : kernel->walk)(elements->at, elements->steps, count);
    cycle end;
    if (begin == head || slower == rate || (begin - head) / (slower - rate) + 1 >= count) {
        slower = begin == head ? slower : rate;
        run_taken(core, run, count, begin, slower);
        end = begin + (count - 1) * slower;
    } else {
        /* It is late, and takes what is there as fast as it can until it waits for the next. */
        uint32_t there = (uint32_t)((begin - head) / (slower - rate) + 1);
        run_taken(core, run, there, begin, rate);
        run->taken += there;
        count -= there;
        run_taken(core, run, count, head + there * slower, slower);
        end = head + (there + count - 1) * slower;
    }
    run->taken += count;
    return end + rate;
}

/* Gives a whole run to the operation that waits for it and is not beyond its end then; returns false if there is none. */
bool quick_hand_over(struct core *core, struct pe *pe, uint32_t place, struct run *run) {
    struct input *input = &pe->inputs[place];
    struct open *open = input->waiting;
    uint32_t count = run->count - run->taken;
    if (open == NULL || !open->is_plain || count > open->count - open->position || run->control ||
        run->size < open->operation->kernel->size[open->source[0]]) {
        return false;
    }
    const struct operation *operation = open->operation;
    struct elements elements;
    for (int k = 0; k <= operation->sources; k++) {
        struct operand_state *state = &open->operands[k];
        if (state->is_number) {
            elements.at[k] = (uint8_t *)&state->number;
            elements.steps[k] = 0;
        } else {
            ptrdiff_t size = operation->kernel->size[k];
            elements.at[k] = pe->memory + 2 * (int64_t)state->descriptor.address + open->position * size;
            elements.steps[k] = size;
        }
    }
    open->time = take(core, operation, &elements, open->source[0], run, count, open->time, open->rate);
    open->position += count;
    if (open->position == open->count) {
        input->waiting = open->waits[0];
        complete(core, open);
    }
    return true;
}

static int quick_receive(struct core *core, struct pe *pe, const struct operation *operation,
                         const struct descriptor *const *streams, struct elements *elements, int source,
                         uint32_t count, uint32_t where, cycle *now) {
    uint32_t place = core->queue_place[streams[source]->row], thread = thread_place(pe, operation);
    struct input *input = &pe->inputs[place];
    struct run *run = input->first;
    cycle issued = *now;
    const struct queue *queue = &pe->class->queues[place];
    if (!queue->is_taskless || !is_quiet(queue, pe->unit) || count == ENDLESS_EXTENT || input->waiting != NULL ||
        !is_free(pe, place, issued) || (operation->is_async && !is_free(pe, thread, issued)) ||
        (run != NULL && (run->control || run->count - run->taken < count ||
                         run->size < operation->kernel->size[source])) ||
        !find_elements(core, pe, operation, streams, count, elements)) {
        return NOT_QUICK;
    }
    cycle ready = issued + core->timing.receive_setup;
    uint32_t task = running_task(pe);
    if (run != NULL) {
        cycle end = take(core, operation, elements, source, run, count, ready, operation->plain_rate);
        if (run->taken == run->count) {
            input->first = run->next;
            if (input->first == NULL) {
                input->last = NULL;
            }
            drop_run(core, run);
        }
        use_until(pe, place, operation, task, end);
        settle_credits(core);
        if (!operation->is_async) {
            *now = end;
            return DONE_NOW;
        }
        use_until(pe, thread, operation, task, end);
        *now += core->timing.async_issue;
        signal_end(core, pe, operation, end, false);
        return DONE_NOW;
    }
    struct open *open = pool_take(core, &core->opens);
    memset(open, 0, offsetof(struct open, operands));
    open->pe = pe;
    open->operation = operation;
    open->time = ready;
    open->rate = operation->plain_rate;
    open->count = count;
    open->where = where;
    open->task = task;
    open->queue[0] = place;
    open->source[0] = (uint8_t)source;
    open->inputs = 1;
    open->is_plain = true;
    open->is_sync = !operation->is_async;
    for (int k = 0; k <= operation->sources; k++) {
        open->operands[k].is_number = streams[k] == NULL;
        if (streams[k] == NULL) {
            open->operands[k].number = *(const int64_t *)(const void *)elements->at[k];
        } else {
            open->operands[k].descriptor = *streams[k];
        }
    }
    input->waiting = open;
    use_until(pe, place, operation, task, NEVER);
    if (!operation->is_async) {
        return WAITS;
    }
    use_until(pe, thread, operation, task, NEVER);
    *now += core->timing.async_issue;
    if (operation->has_completion) {
        open->signals_end = true;
        expect_completion(pe, operation, 1);
    }
    return DONE_NOW;
}

/* Sending */

static int quick_send(struct core *core, struct pe *pe, const struct operation *operation,
                      const struct descriptor *const *streams, struct elements *elements, uint32_t count,
                      uint32_t where, cycle *now) {
    uint32_t row = streams[0]->row, place = core->queue_place[row], thread = thread_place(pe, operation);
    const struct queue *queue = &pe->class->queues[place];
    const struct kernel *kernel = operation->kernel;
    cycle issued = *now, rate = operation->plain_rate;
    if (!queue->is_static || queue->is_input || !is_quiet(queue, pe->unit) || !is_free(pe, place, issued) ||
        (operation->is_async && !is_free(pe, thread, issued)) ||
        !find_elements(core, pe, operation, streams, count, elements)) {
        return NOT_QUICK;
    }
    uint8_t size = kernel->size[0];
    struct run run = {.first = issued + core->timing.inject, .rate = (uint32_t)rate, .step = size, .count = count,
                      .size = size, .sender = pe->number};
    if (operation->is_move && kernel->size[1] == size && streams[1] != NULL) {
        run.at = elements->at[1];
    } else {
        run.payload = payload_take(core, ((uint64_t)count * size + 3) / 4);
        run.at = elements->at[0] = (uint8_t *)run.payload->words;
        elements->steps[0] = size;
        kernel->row(elements->at, elements->steps, count);
    }
    struct send here = {.pe = pe, .operation = operation, .where = where, .task = running_task(pe), .queue = row,
                        .done = issued + (operation->is_async ? core->timing.inject : core->timing.send_setup) + rate * count,
                        .count = count, .is_sync = !operation->is_async};
    here.tail = here.done - run.first - (count - 1) * rate;
    struct send *send = &here; /* in the pool if it has to wait */
    core->wavelets += count;
    cycle first = run.first, leaves = first + (cycle)(count - 1) * rate;
    uint32_t list = queue->ways[pe->unit], behind = core->list_first[list + 1];
    if (behind - core->list_first[list] > 1 && is_multicast(core, pe, queue) &&
        !has_room(core, pe, queue, count, first)) {
        multicast_send(core, pe, queue, &run, &send);
        behind = 0;
    }
    for (uint32_t k = core->list_first[list]; k < behind; k++) {
        const struct way *way = &core->ways[k];
        struct pe *to = core->pe_of[(int64_t)pe->number + way->offset];
        uint32_t there = core->queue_place[way->queue];
        const struct queue *receiver = &to->class->queues[there];
        run.first = first + way->latency;
        run.origin = origin_by(way, pe, queue);
        run.taken = 0;
        run.path = path_send(core, &to->inputs[there], way, run.origin, count, leaves, &send);
        if (receiver->is_taskless && receiver->senders == 1 && to != pe && quick_hand_over(core, to, there, &run)) {
            continue;
        }
        struct run *kept = pool_take(core, &core->runs);
        *kept = run;
        if (run.payload != NULL) {
            run.payload->references++;
        }
        arrive(core, to, there, kept);
    }
    if (run.payload != NULL) {
        payload_drop(core, run.payload);
    }
    settle_credits(core);
    bool waits = send->waiting > 0;
    cycle end = waits ? NEVER : send->done;
    use_until(pe, place, operation, here.task, end);
    if (operation->is_async) {
        use_until(pe, thread, operation, here.task, end);
    }
    if (waits) {
        hold_send(core, send);
    } else if (send != &here) {
        pool_give(&core->send_pool, send);
    }
    if (has_failed(core)) {
        return WENT_WRONG;
    }
    if (!operation->is_async) {
        *now = waits ? *now : end;
        return waits ? WAITS : DONE_NOW;
    }
    *now += core->timing.async_issue;
    if (!waits) {
        signal_end(core, pe, operation, end, false);
    }
    return DONE_NOW;
}

/* Receives or sends, of operands of which some are numbers, NULL, and one is a run of wavelets. */
static int quick_transfer(struct core *core, struct pe *pe, const struct operation *operation,
                          const struct descriptor *const *streams, struct elements *elements, uint32_t where,
                          cycle *now) {
    uint32_t count = UINT32_MAX;
    int queue = -1;
    for (int k = 0; k <= operation->sources; k++) {
        const struct descriptor *stream = streams[k];
        if (stream == NULL) {
            continue;
        }
        if (stream->plain == PLAIN_RUN && queue < 0) {
            queue = k;
            if (k == 0) {
                continue; /* its length counts if there is no other */
            }
        } else if (stream->plain != operation->places[k].plain) {
            return NOT_QUICK;
        }
        count = stream->extents[0] < count ? stream->extents[0] : count;
    }
    if (count == 0 || count == UINT32_MAX) {
        return NOT_QUICK;
    }
    return queue == 0 ? quick_send(core, pe, operation, streams, elements, count, where, now)
                      : quick_receive(core, pe, operation, streams, elements, queue, count, where, now);
}

static inline __attribute__((always_inline)) int quick_of(struct core *core, struct pe *pe,
                                                          const struct operation *operation, char *const *bases,
                                                          uint32_t where, cycle *now, const int sources) {
    const struct descriptor *streams[MAX_OPERANDS];
    struct elements elements;
    uint32_t count = UINT32_MAX;
    bool in_memory = true;
    for (int k = 0; k <= sources; k++) {
        const struct operand_place *place = &operation->places[k];
        char *at = bases[place->base] + place->offset;
        if (place->base == IN_REGISTERS) {
            streams[k] = NULL;
            elements.at[k] = (uint8_t *)at;
            elements.steps[k] = 0;
            continue;
        }
        const struct descriptor *stream = (const struct descriptor *)(void *)at;
        streams[k] = stream;
        in_memory &= stream->plain == place->plain;
        count = stream->extents[0] < count ? stream->extents[0] : count;
    }
    if (!in_memory) {
        return quick_transfer(core, pe, operation, streams, &elements, where, now);
    }
    if (count == 0) {
        return NOT_QUICK;
    }
    for (int k = 0; k <= sources; k++) {
        if (streams[k] != NULL && !find_walk(core, pe, operation, streams[k], k, count, &elements)) {
            return NOT_QUICK;
        }
    }
    operation->kernel->row(elements.at, elements.steps, count);
    *now += core->timing.memory_setup + plain_cycles(operation, count);
    return DONE_NOW;
}

/* Any operation: returns NOT_QUICK, and has done nothing, if it is for operations.c. `bases` are what places of operands
 * begin at. */
int quick_apply(struct core *core, struct pe *pe, const struct operation *operation, char *const *bases,
                uint32_t where, cycle *now) {
    if (core->traces || core->issued != NULL || core->watches || operation->places[0].base == IN_REGISTERS) {
        return NOT_QUICK;
    }
    switch (operation->sources) {
    case 1: return quick_of(core, pe, operation, bases, where, now, 1);
    case 2: return quick_of(core, pe, operation, bases, where, now, 2);
    default: return quick_of(core, pe, operation, bases, where, now, MAX_SOURCES);
    }
}
