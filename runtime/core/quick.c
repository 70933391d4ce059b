/* Operations in the frequent case, where little is to be found out: elements side by side, inside of their buffers, and
 * runs of whole wavelets between two PEs. All else, and all that leaves a finding or a trace, is in operations.c,
 * queues.c and taking.c, and what is done here is what they would do. Where operations have several priorities, those go
 * this way that nothing can hold back; others see what they work on.
 */
#include "element_price.h"
#include "priorities.h"
#include "quick.h"

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
        operation->plain = element_price(core, operation, 1, false);
        operation->paired = element_price(core, operation, 2, false);
        operation->plain_rate = (uint32_t)pace_of(operation->plain);
    }
}

static bool is_queue(const struct use *use, uint16_t named) {
    return named >= STATIC_DESCRIPTOR && named < FRAME_DESCRIPTOR &&
           use->descriptors[named - STATIC_DESCRIPTOR].type == QUEUE_RUN;
}

static short_way walks, one_source, two_sources, source_and_number, three_sources, two_sources_and_number;
static short_way fixed_move, fixed_source, fixed_sources, fixed_source_and_number, fixed_three_sources, fixed_sources_and_number;

/* Notes where the operands of an operation begin if the code says it, and returns true if their elements are side by
 * side, and those of different operands apart. */
static bool note_fixed(struct application *application, const struct operation *operation, int vectors) {
    uint32_t count = UINT32_MAX;
    uint8_t *at[MAX_OPERANDS];
    for (int k = 0; k <= vectors; k++) {
        if (application->places[k].in_frame != 0) {
            return false;
        }
        const struct descriptor *stream = (const struct descriptor *)(void *)operand_at(application, NULL, k);
        if (stream->plain != application->plain[0]) {
            return false;
        }
        count = stream->extents[0] < count ? stream->extents[0] : count;
        application->fixed.at[k] = 2 * (uint32_t)stream->address;
        at[k] = (uint8_t *)(uintptr_t)application->fixed.at[k];
    }
    application->fixed.count = count;
    application->fixed.bytes = count * 2 * application->plain[0];
    application->fixed.cycles = price_times(&operation->plain, count);
    return count > 0 && are_apart(at, vectors, (uint64_t)count * 2 * application->plain[0]);
}

/* Returns how an operation computes that has no queues. */
static short_way *compute_way(struct application *application, const struct operation *operation, bool alike) {
    application->is_alike = alike && !application->is_number[1] && (operation->sources < 3 || !application->is_number[2]);
    if (!application->is_alike) {
        return walks;
    }
    bool has_number = application->is_number[operation->sources];
    if (note_fixed(application, operation, operation->sources - has_number)) {
        return operation->kernel->is_move ? fixed_move
               : operation->sources == 1 ? fixed_source
               : operation->sources == 2 ? (has_number ? fixed_source_and_number : fixed_sources)
                                         : (has_number ? fixed_sources_and_number : fixed_three_sources);
    }
    return operation->sources == 1   ? one_source
           : operation->sources == 2 ? (has_number ? source_and_number : two_sources)
                                     : (has_number ? two_sources_and_number : three_sources);
}

/* Returns the short way that an operation may take, as far as the code tells. */
static uint8_t form_of(struct application *application, const struct operation *operation, const struct use *use,
                       const uint16_t *named) {
    bool has_carry = operation->kernel->sources > operation->sources;
    if (application->is_number[0] || operation->drops_data || has_carry) {
        return NO_SHORT_WAY;
    }
    bool alike = true, queues = false;
    for (int k = 0; k <= operation->sources; k++) {
        alike &= operation->kernel->size[k] == operation->kernel->size[0];
        queues |= is_queue(use, named[k]);
    }
    if (operation->sources == 1 && operation->is_move && alike && !application->is_number[1] && queues) {
        return is_queue(use, named[0]) ? SENDS_MOVE : RECEIVES_MOVE;
    }
    if (queues) {
        return OTHER_WAY;
    }
    application->compute = compute_way(application, operation, alike);
    return COMPUTES;
}

void prepare_application(struct application *application, const struct operation *operation, const struct use *use) {
    const struct operation_row *row = operation->row;
    const uint16_t named[MAX_OPERANDS] = {row->destination, row->sources[0], row->sources[1], row->sources[2]};
    application->operation = operation;
    for (int k = 0; k <= operation->sources; k++) {
        uint8_t size = operation->kernel->size[k];
        bool is_static = named[k] >= STATIC_DESCRIPTOR && named[k] < FRAME_DESCRIPTOR;
        application->is_number[k] = named[k] < STATIC_DESCRIPTOR;
        application->plain[k] = size == 4 ? PLAIN_WORDS : PLAIN_HALVES;
        application->steps[k] = application->is_number[k] ? 0 : size;
        application->places[k] = (struct operand_place){
            .offset = is_static                ? (uintptr_t)&use->descriptors[named[k] - STATIC_DESCRIPTOR]
                      : application->is_number[k] ? named[k] * sizeof(int64_t)
                                                  : use->body->registers * sizeof(int64_t) +
                                                        (named[k] - FRAME_DESCRIPTOR) * sizeof(struct descriptor),
            .in_frame = is_static ? 0 : UINT64_MAX};
    }
    application->form = form_of(application, operation, use, named);
}

/* Returns true if `count` elements of a source share no memory with the destination, but element for element. */
static inline bool is_apart(const uint8_t *at, ptrdiff_t step, const uint8_t *to, ptrdiff_t to_step, uint32_t count) {
    return (at == to && step == to_step) || at >= to + count * to_step || to >= at + count * step;
}

/* Finds the elements of all operands but runs of wavelets. `streams` has NULL for numbers, which are at `at`. Returns
 * false if some share memory with the destination otherwise than element for element. */
static bool find_elements(const struct pe *pe, const struct application *application,
                          const struct descriptor *const *streams, uint32_t count, struct elements *elements) {
    elements->steps[0] = 0; /* a run shares no memory with anything */
    for (int k = 0; k <= application->operation->sources; k++) {
        if (streams[k] == NULL) {
            elements->steps[k] = 0;
        } else if (streams[k]->plain < PLAIN_RUN) {
            elements->at[k] = pe->memory + 2 * (int64_t)streams[k]->address;
            elements->steps[k] = application->steps[k];
            if (k > 0 && elements->steps[0] != 0 &&
                !is_apart(elements->at[k], elements->steps[k], elements->at[0], elements->steps[0], count)) {
                return false;
            }
        }
    }
    return true;
}

/* Receiving */

/* Notes what an operation works on that takes elements as `take` does. */
static void note_take(struct core *core, struct pe *pe, const struct operation *operation, const struct run *run,
                      uint32_t count, cycle ready, cycle rate) {
    cycle slower = run->rate > rate ? run->rate : rate, head = head_time(run);
    cycle begin = head > ready ? head : ready;
    int64_t there = begin == head || slower == rate ? 0 : (begin - head) / (slower - rate) + 1;
    there = there < count ? there : count;
    if (there > 0) {
        note_work(core, pe, operation, begin, rate, rate, there);
    }
    if (there < count) {
        cycle first = there > 0 ? head + there * slower : begin;
        note_work(core, pe, operation, first, begin == head || there > 0 ? slower : rate, rate, count - there);
    }
}

/* Gives a whole run to the operation that waits for it and is not beyond its end then; returns false if there is none. */
bool quick_hand_over(struct core *core, struct pe *pe, uint32_t place, struct run *run) {
    struct input *input = &inputs_of(pe)[place];
    spell_out(core, pe, place);
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
    if (open->shares) {
        note_take(core, pe, operation, run, count, open->time, open->rate);
    }
    open->time = take(core, operation, &elements, open->source[0], run, count, open->time, open->rate);
    open->position += count;
    if (open->position == open->count) {
        input->waiting = open->waits[0];
        complete(core, open);
    }
    return true;
}

static int quick_receive(struct core *core, struct pe *pe, const struct application *application,
                         const struct descriptor *const *streams, struct elements *elements, int source,
                         uint32_t count, uint32_t where, cycle *now) {
    const struct operation *operation = application->operation;
    uint32_t place = core->queue_place[streams[source]->row], thread = thread_place(pe, operation);
    const struct queue *queue = &pe->class->queues[place];
    if (!queue->is_taskless) { /* an output queue, which has no input, is not either */
        return NOT_QUICK;
    }
    struct input *input = &inputs_of(pe)[place];
    spell_out(core, pe, place);
    struct run *run = input->first;
    cycle issued = *now;
    if (!is_quiet(queue, pe->unit) || count == ENDLESS_EXTENT || input->waiting != NULL ||
        !is_free(pe, place, issued) || (operation->is_async && !is_free(pe, thread, issued)) ||
        (run != NULL && (run->control || run->count - run->taken < count ||
                         run->size < operation->kernel->size[source])) ||
        !find_elements(pe, application, streams, count, elements)) {
        return NOT_QUICK;
    }
    cycle ready = issued + core->timing.receive_setup;
    uint32_t task = running_task(pe);
    bool shares = streams[source]->plain == PLAIN_SHARED_RUN;
    if (run != NULL) {
        if (shares) {
            note_take(core, pe, operation, run, count, ready, operation->plain_rate);
        }
        cycle end = take(core, operation, elements, source, run, count, ready, operation->plain_rate);
        if (run->taken == run->count) {
            input->first = run->next;
            if (input->first == NULL) {
                input->last = NULL;
            }
            drop_run(core, run);
        }
        use_until(pe, place, operation, end);
        settle_credits(core);
        if (!operation->is_async) {
            *now = end;
            return DONE_NOW;
        }
        use_until(pe, thread, operation, end);
        *now += core->timing.async_issue;
        signal_end(core, pe, operation, end, false);
        return DONE_NOW;
    }
    struct open *open = pool_take(core, &core->opens);
    memset(open, 0, offsetof(struct open, operands));
    open->pe = pe;
    open->operation = operation;
    open->since = issued;
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
    if (shares) {
        begin_to_receive(core, open, issued);
    }
    use_until(pe, place, operation, open_since(issued));
    if (!operation->is_async) {
        return WAITS;
    }
    use_until(pe, thread, operation, open_since(issued));
    *now += core->timing.async_issue;
    if (operation->has_completion) {
        open->signals_end = true;
        expect_completion(pe, operation, 1);
    }
    return DONE_NOW;
}

/* Sending */

static int quick_send(struct core *core, struct pe *pe, const struct application *application,
                      const struct descriptor *const *streams, struct elements *elements, uint32_t count,
                      uint32_t where, cycle *now) {
    const struct operation *operation = application->operation;
    uint32_t row = streams[0]->row, place = core->queue_place[row], thread = thread_place(pe, operation);
    const struct queue *queue = &pe->class->queues[place];
    const struct kernel *kernel = operation->kernel;
    cycle issued = *now, rate = operation->plain_rate;
    cycle begins = operation->is_async ? issued : issued + core->timing.send_setup;
    if (!queue->is_static || queue->is_input || !is_quiet(queue, pe->unit) || !is_free(pe, place, issued) ||
        (operation->is_async && !is_free(pe, thread, issued)) ||
        !find_elements(pe, application, streams, count, elements)) {
        return NOT_QUICK;
    }
    if (streams[0]->plain == PLAIN_SHARED_RUN) {
        note_work(core, pe, operation, begins, rate, rate, count);
    }
    uint8_t size = kernel->size[0];
    struct run run = {.first = begins + core->timing.inject, .rate = (uint32_t)rate, .step = size, .count = count,
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
                        .done = begins + rate * count + (operation->is_async ? core->timing.inject : 0),
                        .count = count, .is_sync = !operation->is_async};
    cycle own = run.first + (count - 1) * rate;
    here.tail = here.done > own ? here.done - own : 0;
    struct send *send = &here; /* in the pool if it has to wait */
    core->wavelets += count;
    cycle first = run.first, leaves = first + (cycle)(count - 1) * rate;
    uint32_t list = queue->ways[pe->unit], behind = core->list_first[list + 1];
    uint32_t ways = behind - core->list_first[list];
    if ((ways > 1 || (ways == 1 && core->ways[core->list_first[list]].meets)) && is_multicast(core, pe, queue) &&
        !has_room(core, pe, queue, count, first)) {
        multicast_send(core, pe, queue, &run, false, &send);
        behind = 0;
    }
    for (uint32_t k = core->list_first[list]; k < behind; k++) {
        const struct way *way = &core->ways[k];
        struct pe *to = core->pe_of[(int64_t)pe->number + way->offset];
        struct core *its = core_of(core, to);
        uint32_t there = core->queue_place[way->queue];
        const struct queue *receiver = &to->class->queues[there];
        run.first = first + way->latency;
        run.origin = origin_by(way, pe, queue);
        run.taken = 0;
        spell_out(its, to, there);
        run.path = path_send(its, &inputs_of(to)[there], way, run.origin, count, leaves, &send);
        if (receiver->is_taskless && receiver->senders == 1 && to != pe && !has_to_wait(core, to) &&
            quick_hand_over(its, to, there, &run)) {
            continue;
        }
        struct run *kept = pool_take(its, &its->runs);
        *kept = run;
        hold_payload(core, its, kept);
        arrive(its, to, there, kept);
    }
    if (run.payload != NULL) {
        payload_drop(core, run.payload);
    }
    settle_credits(core);
    bool waits = send->waiting > 0;
    cycle end = waits ? open_since(issued) : send->done;
    use_until(pe, place, operation, end);
    if (operation->is_async) {
        use_until(pe, thread, operation, end);
    }
    if (waits) {
        send->since = issued;
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

/* Applies an operation of which some operands are numbers, and one may be a run of wavelets. Returns NOT_QUICK, and has
 * done nothing, if that is for operations.c. */
int quick_transfer(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                   uint32_t where, cycle *now) {
    if (core->is_observed || application->form == NO_SHORT_WAY) {
        return NOT_QUICK;
    }
    const struct descriptor *streams[MAX_OPERANDS];
    struct elements elements;
    uint32_t count = UINT32_MAX;
    int queue = -1;
    for (int k = 0; k <= application->operation->sources; k++) {
        char *at = operand_at(application, registers, k);
        if (application->is_number[k]) {
            streams[k] = NULL;
            elements.at[k] = (uint8_t *)at;
            continue;
        }
        const struct descriptor *stream = streams[k] = (const struct descriptor *)(void *)at;
        if ((stream->plain == PLAIN_RUN || stream->plain == PLAIN_SHARED_RUN) && queue < 0) {
            queue = k;
            if (k == 0) {
                continue; /* its length counts if there is no other */
            }
        } else if (stream->plain != application->plain[k]) {
            return NOT_QUICK;
        }
        count = stream->extents[0] < count ? stream->extents[0] : count;
    }
    if (count == 0 || count == UINT32_MAX) {
        return NOT_QUICK;
    }
    if (queue < 0) {
        if (!find_elements(pe, application, streams, count, &elements)) {
            return NOT_QUICK;
        }
        application->operation->kernel->row(elements.at, elements.steps, count);
        *now += core->timing.memory_setup + price_times(&application->operation->plain, count);
        return DONE_NOW;
    }
    if (streams[queue]->plain == PLAIN_SHARED_RUN && !is_never_held(pe, application->operation)) {
        return NOT_QUICK;
    }
    return queue == 0 ? quick_send(core, pe, application, streams, &elements, count, where, now)
                      : quick_receive(core, pe, application, streams, &elements, queue, count, where, now);
}

/* In memory */

static inline __attribute__((always_inline)) cycle compute_of(const struct core *core, const struct pe *pe,
                                                              const struct application *application,
                                                              int64_t *registers, const int sources,
                                                              const bool has_number) {
    const int vectors = sources - has_number;
    const struct operation *operation = application->operation;
    const uint8_t plain = application->plain[0];
    uint8_t *at[MAX_OPERANDS];
    uint32_t count = UINT32_MAX;
    for (int k = 0; k <= vectors; k++) {
        const struct descriptor *stream = (const struct descriptor *)(void *)operand_at(application, registers, k);
        if (stream->plain != plain) {
            return -1;
        }
        count = stream->extents[0] < count ? stream->extents[0] : count;
        at[k] = pe->memory + 2 * (int64_t)stream->address;
    }
    if (has_number) {
        at[sources] = (uint8_t *)operand_at(application, registers, sources);
    }
    if (count == 0) {
        return -1;
    }
    if (!are_apart(at, vectors, (uint64_t)count * 2 * plain)) {
        return -1;
    }
    operation->kernel->row(at, application->steps, count);
    return core->timing.memory_setup + price_times(&operation->plain, count);
}

void note_walk(struct descriptor *walk) {
    uint32_t size = (uint32_t)kind_bytes(walk->kind);
    int64_t count = walk_count(walk), lowest, highest;
    if ((size != 2 && size != 4) || count == 0 || count > MAX_WALK ||
        (walk->dimensions == 1 && walk->extents[0] == POINTER_EXTENT)) {
        return;
    }
    if (is_circular(walk)) {
        walk->lowest = 0;
        walk->highest = (walk->extents[1] - 1) * (int32_t)size / 2;
        walk->shape = PLAIN_RING;
        return;
    }
    walk_reach(size, walk->dimensions, walk->extents, walk->strides, &lowest, &highest);
    walk->lowest = within(lowest / 2);
    walk->highest = within(highest / 2);
    bool is_paired = walk->dimensions == 1 && walk->strides[0] == 2;
    walk->shape = !is_paired ? PLAIN_WALK : size == 2 ? PAIRED_HALVES : PAIRED_WORDS;
}

bool is_within_buffer(const struct core *core, const struct descriptor *walk) {
    const struct bounds *bounds = &core->bounds[walk->row];
    int64_t width = kind_bytes(walk->kind) / 2, first = (int64_t)walk->address - bounds->start;
    return !(walk->address & (width - 1)) && first + walk->lowest >= 0 &&
           first + walk->highest + width <= (int64_t)bounds->words;
}

/* Returns true if an operand is a walk inside its buffer, of elements as wide as those of the operation. */
static inline bool is_plain_walk(const struct application *application, const struct descriptor *stream, int k) {
    return stream->plain == application->plain[k] ||
           (stream->plain >= PLAIN_WALK && (kind_bytes(stream->kind) == 4) == (application->operation->kernel->size[k] == 4));
}

/* Computes an operation on every second element of all operands but a number, as `compute_walks` does. */
static inline __attribute__((always_inline)) cycle compute_pairs(const struct core *core, const struct pe *pe,
                                                                 const struct application *application,
                                                                 int64_t *registers, const int sources,
                                                                 const bool has_number) {
    const int vectors = sources - has_number;
    const struct operation *operation = application->operation;
    const ptrdiff_t size = operation->kernel->size[0];
    const uint8_t paired = size == 2 ? PAIRED_HALVES : PAIRED_WORDS;
    uint8_t *at[MAX_OPERANDS];
    ptrdiff_t steps[MAX_OPERANDS];
    uint32_t count = UINT32_MAX;
    for (int k = 0; k <= vectors; k++) {
        const struct descriptor *stream = (const struct descriptor *)(void *)operand_at(application, registers, k);
        if (stream->plain != paired) {
            return -1;
        }
        count = stream->extents[0] < count ? stream->extents[0] : count;
        at[k] = pe->memory + 2 * (int64_t)stream->address;
        steps[k] = 2 * size;
    }
    if (has_number) {
        at[sources] = (uint8_t *)operand_at(application, registers, sources);
        steps[sources] = 0;
    }
    uint64_t bytes = (uint64_t)count * 2 * (uint64_t)size;
    if (count == 0 || !are_apart(at, vectors, bytes)) {
        return -1;
    }
    operation->kernel->pairs(at, steps, count);
    return core->timing.memory_setup + price_times(&operation->paired, count);
}

/* Computes an operation on walks of one dimension, with a number behind them or none, as `compute_walks` does. */
static inline __attribute__((always_inline)) cycle compute_lines(const struct core *core, const struct pe *pe,
                                                                 const struct application *application,
                                                                 int64_t *registers, const int sources,
                                                                 const bool has_number) {
    const int vectors = sources - has_number;
    uint8_t *at[MAX_OPERANDS];
    ptrdiff_t steps[MAX_OPERANDS];
    uint32_t count = UINT32_MAX;
    int64_t widest = 0, size = application->operation->kernel->size[0]; /* of all operands */
    bool is_reduction = false;
    for (int k = 0; k <= vectors; k++) {
        const struct descriptor *stream = (const struct descriptor *)(void *)operand_at(application, registers, k);
        if (stream->dimensions != 1 || !is_plain_walk(application, stream, k)) {
            return -1;
        }
        int64_t stride = stream->strides[0];
        count = stream->extents[0] < count ? stream->extents[0] : count;
        at[k] = pe->memory + 2 * (int64_t)stream->address;
        steps[k] = stride * size;
        is_reduction |= k == 0 && stride == 0;
        stride = stride < 0 ? -stride : stride;
        widest = stride > widest ? stride : widest;
    }
    if (has_number) {
        at[sources] = (uint8_t *)operand_at(application, registers, sources);
        steps[sources] = 0;
    }
    if (count == 0) {
        return -1;
    }
    kernel_apply_lines(application->operation->kernel, at, steps, count);
    struct price price = element_price(core, application->operation, widest, is_reduction);
    return core->timing.memory_setup + price_times(&price, count);
}

/* Computes an operation on walks and numbers as `apply` does, and returns its cycles; -1 if it is for others. */
static cycle compute_walks(const struct core *core, const struct pe *pe, const struct application *application,
                           int64_t *registers) {
    const struct operation *operation = application->operation;
    const struct kernel *kernel = operation->kernel;
    struct operand operands[MAX_OPERANDS];
    int64_t count = UNBOUNDED, widest = -1;
    bool is_reduction = false;
    for (int k = 0; k <= operation->sources; k++) {
        char *at = operand_at(application, registers, k);
        if (application->is_number[k]) {
            operand_run(&operands[k], at, 0);
            continue;
        }
        const struct descriptor *stream = (const struct descriptor *)(void *)at;
        uint32_t size = kernel->size[k];
        if (!is_plain_walk(application, stream, k)) {
            return -1;
        }
        uint8_t *first = pe->memory + 2 * (int64_t)stream->address;
        int64_t elements = stream->extents[0], stride = stream->strides[0];
        if (stream->plain == application->plain[k] || stream->dimensions == 1) {
            operand_run(&operands[k], first, (int32_t)stride * (int32_t)size);
        } else {
            operand_walk(&operands[k], first, size, stream->dimensions, stream->extents, stream->strides);
            elements = walk_count(stream);
        }
        count = elements < count ? elements : count;
        is_reduction |= widest < 0 && stride == 0;
        stride = stride < 0 ? -stride : stride;
        widest = stride > widest ? stride : widest;
    }
    if (count == 0 || count == UNBOUNDED) {
        return -1;
    }
    kernel_apply(kernel, operands, (uint32_t)count);
    struct price price = element_price(core, operation, widest, is_reduction);
    return core->timing.memory_setup + price_times(&price, count);
}

/* The short ways of operations of which all operands are in memory, or numbers */
#define SHORT_WAY(name, sources, has_number)                                                                           \
    static cycle name(const struct core *core, const struct pe *pe, const struct application *application,             \
                      int64_t *registers) {                                                                            \
        if (core->is_observed) {                                                                                       \
            return -1;                                                                                                 \
        }                                                                                                              \
        const struct descriptor *to = (const struct descriptor *)(void *)operand_at(application, registers, 0);        \
        cycle taken = -1;                                                                                              \
        if (to->loaded != 0) {                                                                                         \
            return compute_held(core, pe, application, registers);                                                     \
        }                                                                                                              \
        if (to->plain == application->plain[0]) {                                                                      \
            taken = compute_of(core, pe, application, registers, sources, has_number);                                 \
        } else if (to->plain > PLAIN_WALK && application->operation->kernel->pairs != NULL) {                         \
            taken = compute_pairs(core, pe, application, registers, sources, has_number);                              \
        }                                                                                                              \
        taken = taken >= 0 ? taken : compute_lines(core, pe, application, registers, sources, has_number);             \
        return taken >= 0 ? taken : walks(core, pe, application, registers);                                           \
    }
static cycle walks(const struct core *core, const struct pe *pe, const struct application *application,
                   int64_t *registers) {
    cycle taken = core->is_observed ? -1 : compute_walks(core, pe, application, registers);
    return taken >= 0 || core->is_observed ? taken : compute_held(core, pe, application, registers);
}

/* The same where all operands but a number are at places that the code names */
#define FIXED_WAY(name, sources, has_number)                                                                           \
    static cycle name(const struct core *core, const struct pe *pe, const struct application *application,             \
                      int64_t *registers) {                                                                            \
        if (core->is_observed) {                                                                                       \
            return -1;                                                                                                 \
        }                                                                                                              \
        uint8_t *at[MAX_OPERANDS];                                                                                     \
        for (int k = 0; k <= (sources) - (has_number); k++) {                                                          \
            at[k] = pe->memory + application->fixed.at[k];                                                             \
        }                                                                                                              \
        if (has_number) {                                                                                              \
            at[sources] = (uint8_t *)operand_at(application, registers, sources);                                      \
        }                                                                                                              \
        application->operation->kernel->row(at, application->steps, application->fixed.count);                         \
        return core->timing.memory_setup + application->fixed.cycles;                                                  \
    }
/* A move between such places that share no byte, or are one */
static cycle fixed_move(const struct core *core, const struct pe *pe, const struct application *application,
                        int64_t *registers) {
    (void)registers;
    if (core->is_observed) {
        return -1;
    }
    memmove(pe->memory + application->fixed.at[0], pe->memory + application->fixed.at[1], application->fixed.bytes);
    return core->timing.memory_setup + application->fixed.cycles;
}
FIXED_WAY(fixed_source, 1, false)
FIXED_WAY(fixed_sources, 2, false)
FIXED_WAY(fixed_source_and_number, 2, true)
FIXED_WAY(fixed_three_sources, 3, false)
FIXED_WAY(fixed_sources_and_number, 3, true)
SHORT_WAY(one_source, 1, false)
SHORT_WAY(two_sources, 2, false)
SHORT_WAY(source_and_number, 2, true)
SHORT_WAY(three_sources, 3, false)
SHORT_WAY(two_sources_and_number, 3, true)

