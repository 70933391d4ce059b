/* DSD operations: on memory at once, to the fabric at once with time stamps, from the fabric as wavelets arrive. */
#include "element_price.h"
#include "priorities.h"
#include "races.h"

/* Lengths and costs */

/* Returns the iterations: the length of the shortest operand that has one. A sending queue counts only if there is no
 * other (AMB-01). */
static int64_t count_of(const struct pe *pe, const struct operation *operation, const struct operand_state *operands) {
    int64_t least = -1;
    bool receives = false;
    for (int k = operation->sources; k >= 0; k--) {
        const struct descriptor *stream = &operands[k].descriptor;
        if (operands[k].is_number) {
            continue;
        }
        if (stream->type == FIFO_END) {
            return count_with_fifos(pe, operation, operands);
        }
        receives |= k > 0 && stream->type == QUEUE_RUN;
        if (k == 0 && stream->type == QUEUE_RUN && least >= 0) {
            continue;
        }
        int64_t count = stream->type == QUEUE_RUN ? stream->extents[0] : walk_count(stream);
        least = least < 0 || count < least ? count : least;
    }
    if (least < 0) {
        return 1;
    }
    return least == ENDLESS_EXTENT && receives ? UNBOUNDED : least;
}

/* Returns the price of an element of operands in memory from `first` on. */
static struct price price_of(const struct core *core, const struct operation *operation,
                             const struct operand_state *operands, int first) {
    int64_t widest = -1;
    bool is_reduction = false;
    for (int k = first; k <= operation->sources; k++) {
        const struct descriptor *stream = &operands[k].descriptor;
        if (operands[k].is_number || stream->type != MEMORY_WALK) {
            continue;
        }
        int64_t stride = stream->strides[0];
        is_reduction |= widest < 0 && stride == 0;
        stride = stride < 0 ? -stride : stride;
        widest = stride > widest ? stride : widest;
    }
    return element_price(core, operation, widest, is_reduction);
}

/* Operands */

/* Returns the operand of an operation that is set to zero when it is sent to a run of wavelets, or 0. */
int zeroed_operand(const struct operation *operation, const struct descriptor *stream) {
    bool is_run = stream->type == QUEUE_RUN && stream->flags & (ZERO_FIRST | ZERO_SECOND);
    return !is_run ? 0 : stream->flags & ZERO_FIRST || operation->sources == 1 ? 1 : 2;
}

/* Returns true if what an operation takes and gives is what its kernel does, and no walk is too long; else leaves a
 * finding. What a register holds packs values of 16 bits alone. `instruction` is the number of the one that is at work. */
bool fits(struct core *core, struct pe *pe, const struct operation *operation, uint32_t where,
          struct operand_state *operands, uint32_t instruction) {
    for (int k = 0; k <= operation->sources; k++) {
        struct descriptor *stream = &operands[k].descriptor;
        if (operands[k].is_number) {
            continue;
        }
        bool is_wide = operation->kernel->size[k] == 4;
        if (stream->type == QUEUE_RUN && stream->held != 0 && is_wide) {
            stream->flags &= (uint8_t)~PACKED; /* a SIMD mode packs values of 16 bits alone (DSD-239) */
        }
        bool other = stream->type == QUEUE_RUN
                         ? core->tables.queues[stream->row].direction != (k == 0 ? OUTPUT_QUEUE : INPUT_QUEUE) ||
                               (is_wide && stream->flags & PACKED)
                         : stream->held == 0 && (kind_bytes(stream->kind) == 4) != is_wide; /* `from_registers` says more */
        int zeroed = k == 0 ? zeroed_operand(operation, stream) : 0;
        other |= zeroed > 0 && (operands[zeroed].is_number || operands[zeroed].descriptor.type != MEMORY_WALK);
        if (other) {
            fail(core, pe, DESCRIPTOR_SHAPE, running_task(pe), where, VALUES(instruction));
            return false;
        }
        if (stream->type == MEMORY_WALK && walk_count(stream) > MAX_WALK) {
            int64_t extents[4] = {0};
            for (int dim = 0; dim < stream->dimensions; dim++) {
                extents[dim] = stream->extents[dim];
            }
            fail(core, pe, WALK_TOO_LONG, running_task(pe), 0, VALUES(extents[0], extents[1], extents[2], extents[3]));
            return false;
        }
    }
    return true;
}

/* Returns how many of `count` elements from `low` on an operand has before a walk of several dimensions begins again. */
int64_t until_round(const struct operand_state *state, int64_t low, int64_t count) {
    if (state->is_number || state->descriptor.type != MEMORY_WALK || state->descriptor.dimensions == 1) {
        return count;
    }
    int64_t whole = walk_count(&state->descriptor), left = whole - low % whole;
    return left < count ? left : count;
}

/* Makes the operand of elements `low` up to `high`; returns false after a finding that is an error. */
bool make_operand(struct core *core, struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
                  struct operand_state *state, int place, int64_t low, int64_t high, struct operand *operand) {
    if (state->is_number) {
        operand_run(operand, &state->number, 0);
        return true;
    }
    const struct descriptor *walk = &state->descriptor;
    if (walk->dimensions > 1 && low > 0) {
        int64_t rounds = low / walk_count(walk) * walk_count(walk);
        low -= rounds;
        high -= rounds;
    }
    if (!check_walk(core, pe, operation, task, where, walk, low, high)) {
        return false;
    }
    assert(kind_bytes(walk->kind) == operation->kernel->size[place]);
    uint32_t size = operation->kernel->size[place];
    uint8_t *at = pe->memory + 2 * (int64_t)walk->address;
    if (is_circular(walk)) {
        operand_ring(operand, at, size, walk->extents[1]);
        operand_skip(operand, (uint64_t)low + walk->begin);
    } else if (walk->dimensions == 1) {
        int32_t step = walk->strides[0] * (int32_t)size;
        operand_run(operand, at + low * step, step);
    } else {
        operand_walk(operand, at, size, walk->dimensions, walk->extents, walk->strides);
        operand_skip(operand, (uint64_t)low);
    }
    return true;
}

/* Wavelets */

static uint32_t lanes_of(const struct descriptor *stream) {
    return stream->flags & PACKED ? 2 : 1; /* an element of a FIFO is one value */
}

/* Returns room for the wavelets of `count` elements, and the operand that writes them. */
struct payload *make_payload(struct core *core, const struct descriptor *stream, int64_t count, uint8_t size,
                             struct operand *operand) {
    uint32_t lanes = lanes_of(stream);
    uint64_t words = ((uint64_t)count + lanes - 1) / lanes;
    struct payload *payload = payload_take(core, words);
    if (size == 2) {
        memset(payload->words, 0, words * 4);
    }
    operand_run(operand, payload->words, lanes == 2 ? 2 : 4);
    return payload;
}

/* Sets elements `low` up to `high` of the source to zero that is so when it is sent (DSD-246, DSD-247). */
void set_to_zero(struct pe *pe, const struct operation *operation, const struct descriptor *stream,
                 const struct operand_state *operands, int64_t low, int64_t high) {
    int place = zeroed_operand(operation, stream);
    if (place == 0) {
        return;
    }
    const struct descriptor *walk = &operands[place].descriptor;
    uint32_t size = kind_bytes(walk->kind);
    int64_t whole = walk_count(walk);
    for (int64_t k = low; k < high; k++) {
        memset(pe->memory + 2 * (int64_t)walk->address + walk_offset(walk, k % whole) * size, 0, size);
    }
}

void mark_payload(const struct descriptor *stream, struct payload *payload, uint32_t words) {
    if (stream->state & MARKED) {
        for (uint32_t k = 0; k < words; k++) {
            payload->words[k] |= (uint32_t)stream->mark << WORD_BITS;
        }
    }
}

/* Sending */

/* Ends a send that waits for nobody any more. */
static void end_send(struct core *core, struct send *send) {
    struct pe *pe = send->pe;
    const struct operation *operation = send->operation;
    if (core->statistics != NULL) {
        count_sent(core, send);
    }
    if (core->traces) {
        trace_done(core, pe, operation, send->task, send->where, send->done, send->count);
    }
    if (core->races != NULL) {
        end_flight(core, pe, send, send->done);
    }
    resource_release(core, pe, core->queue_place[send->queue], send->since, send->done);
    if (operation->is_async) {
        resource_release(core, pe, thread_place(pe, operation), send->since, send->done);
    }
    if (send->is_sync) {
        resume(core, pe, send->done);
    } else {
        signal_end(core, pe, operation, send->done, false);
    }
}

static void forget_send(struct core *core, struct send *send) {
    if (send->next != NULL) {
        send->next->previous = send->previous;
    }
    if (send->previous != NULL) {
        send->previous->next = send->next;
    } else if (core->sends == send) {
        core->sends = send->next;
    }
    pool_give(&core->send_pool, send);
}

/* Lets a send know that it may end from a time on, as a receiver sees it, or the network that its message has left. */
void send_accepted(struct core *core, struct send *send, cycle time) {
    core = core_of(core, send->pe);
    send->done = time > send->done ? time : send->done;
    send->waiting--;
    if (send->settled && send->waiting == 0) {
        send->pe->held_sends--;
        if (send->operation->has_completion) {
            expect_completion(send->pe, send->operation, -1);
        }
        end_send(core, send);
        forget_send(core, send);
    }
}

/* Puts a send that waits for room into the list of them. */
void list_send(struct core *core, struct send *send) {
    send->settled = true;
    send->previous = NULL;
    send->next = core->sends;
    if (core->sends != NULL) {
        core->sends->previous = send;
    }
    core->sends = send;
}

/* Remembers a send that waits for room. */
void hold_send(struct core *core, struct send *send) {
    list_send(core, send);
    send->pe->held_sends++;
    if (send->operation->has_completion) {
        expect_completion(send->pe, send->operation, 1);
    }
}

/* Reads what an operation sends, and sets to zero what is to be when it is sent; returns NULL after an error. */
struct payload *read_payload(struct core *core, struct pe *pe, const struct operation *operation,
                             struct operand_state *operands, uint32_t task, uint32_t where, int64_t count) {
    const struct descriptor *stream = &operands[0].descriptor;
    const uint32_t lanes = lanes_of(stream), wavelets = (uint32_t)((count + lanes - 1) / lanes);
    struct operand made[MAX_OPERANDS];
    for (int k = 1; k <= operation->sources; k++) {
        if (!make_operand(core, pe, operation, task, where, &operands[k], k, 0, count, &made[k])) {
            return NULL;
        }
    }
    struct payload *payload = make_payload(core, stream, count, operation->kernel->size[0], &made[0]);
    uint16_t carry = 0;
    if (!compute(core, pe, operation, task, where, made, (uint32_t)count, &carry)) {
        return NULL;
    }
    mark_payload(stream, payload, wavelets);
    set_to_zero(pe, operation, stream, operands, 0, count);
    return payload;
}

static int apply_send(struct core *core, struct pe *pe, const struct operation *operation,
                      struct operand_state *operands, uint32_t where, int64_t count, cycle setup, cycle *now) {
    const struct descriptor *stream = &operands[0].descriptor;
    uint32_t place = core->queue_place[stream->row], lanes = lanes_of(stream), task = running_task(pe);
    cycle rate = pace_of(price_of(core, operation, operands, 1)), issued = *now;
    cycle begins = operation->is_async ? issued : issued + setup;
    cycle ending = operation->is_async ? core->timing.inject : 0;
    cycle done = begins + rate * count + ending;
    int64_t wavelets = (count + lanes - 1) / lanes;
    if (stream->flags & MESSAGE && (count == 0 || count > stream->extents[0])) {
        fail(core, pe, count == 0 ? MESSAGE_EMPTY : MESSAGE_TOO_LONG, task, where,
             VALUES(operation->number, count, count == 0 ? 0 : stream->extents[0]));
        return WENT_WRONG;
    }
    if (pe->class->queues[place].network != 0 && is_blocked(pe, operation)) {
        fail(core, pe, MESSAGE_BLOCKED, task, where, VALUES(operation->number, operation->thread));
        return WENT_WRONG;
    }
    cycle leaves = begins + core->timing.inject + (wavelets - 1) * rate * lanes;
    struct send own = {.pe = pe, .operation = operation, .where = where, .task = task, .since = issued, .done = done,
                       .unheld = done,
                       .tail = done > leaves ? done - leaves : 0,
                       .count = (uint32_t)wavelets, .queue = stream->row, .is_sync = !operation->is_async};
    struct send *send = &own;
    if (!resource_use(core, pe, place, operation, where, issued, done) ||
        (operation->is_async && !resource_use(core, pe, thread_place(pe, operation), operation, where, issued, done))) {
        return WENT_WRONG;
    }
    if (pe->class->queues[place].network != 0 && stream->flags & (MESSAGE | CONTROL_WAVELETS)) {
        send = pool_take(core, &core->send_pool);
        *send = own;
        send->is_pooled = true;
        send->waiting = 1; /* for its message to leave */
    }
    bool in_turns = pe->class->datapaths != NULL && count > 0 &&
                    sends_in_turns(core, pe, operation, issued, begins, rate, count, &pe->class->queues[place]);
    if (in_turns) {
        keep_send(core, &send);
        send->waiting = 1; /* for its last element to leave */
    }
    if (in_turns && is_blocked(pe, operation)) {
        send_when_unblocked(core, send, operands, count, begins, rate, ending);
    } else if (count > 0) {
        uint8_t size = operation->kernel->size[0];
        struct run run = {.first = begins + core->timing.inject, .rate = (uint32_t)(rate * lanes), .step = 4,
                          .count = (uint32_t)wavelets, .size = 4};
        bool plain = !in_turns && operation->is_move && operation->kernel->size[1] == size && lanes == 1 &&
                     !(stream->flags & (CONTROL_WAVELETS | ZERO_FIRST | ZERO_SECOND | CONTROL_TRANSFORM)) &&
                     !(stream->state & MARKED) && !operands[1].is_number &&
                     operands[1].descriptor.dimensions == 1;
        if (plain) {
            struct operand made;
            if (!make_operand(core, pe, operation, task, where, &operands[1], 1, 0, count, &made)) {
                return WENT_WRONG;
            }
            run.at = made.at;
            run.step = made.step[0];
            run.size = size;
        } else {
            run.payload = read_payload(core, pe, operation, operands, task, where, count);
            if (run.payload == NULL) {
                return WENT_WRONG;
            }
            run.at = (const uint8_t *)run.payload->words;
        }
        struct sending sending = {.operation = operation, .task = task, .where = where, .is_last = true, .send = send};
        if (in_turns) {
            send_in_turns(core, send, stream, run.payload, count, begins, rate, ending);
        } else {
            transmit(core, pe, &sending, stream, &run);
        }
        send = sending.send;
        if (run.payload != NULL) {
            payload_drop(core, run.payload);
        }
        if (has_failed(core)) {
            return WENT_WRONG;
        }
    }
    if (core->statistics != NULL) {
        count_send(core, send, done - issued, count);
        if (send->waiting == 0) {
            count_sent(core, send);
        }
    }
    if (send->waiting > 0) {
        resource_extend(pe, place, open_since(issued));
        if (operation->is_async) {
            resource_extend(pe, thread_place(pe, operation), open_since(issued));
            *now += core->timing.async_issue;
        }
        if (core->races != NULL && operation->is_async) {
            bind_send(core, pe, send);
        }
        hold_send(core, send);
        return operation->is_async ? DONE_NOW : WAITS;
    }
    if (send->done > done) {
        done = send->done;
        resource_extend(pe, place, done);
        if (operation->is_async) {
            resource_extend(pe, thread_place(pe, operation), done);
        }
    }
    if (send != &own) {
        pool_give(&core->send_pool, send);
    }
    if (core->traces) {
        trace_done(core, pe, operation, task, where, done, wavelets);
    }
    if (operation->is_async) {
        if (core->races != NULL) {
            own.done = done;
            bind_send(core, pe, &own);
        }
        *now += core->timing.async_issue;
        signal_end(core, pe, operation, done, false);
    } else {
        *now = done;
    }
    return has_failed(core) ? WENT_WRONG : DONE_NOW;
}

/* Receiving */

static bool is_awaited(struct core *core, struct pe *pe, const struct operation *operation, uint32_t where,
                       const struct queue *queue) {
    if (queue->is_colorless && queue->colors[pe->unit] < 0) {
        fail(core, pe, RECEIVES_WITHOUT_COLOR, running_task(pe), where, VALUES(operation->number, queue->number));
        return false;
    }
    if (queue->flags[pe->unit] & UNROUTED) {
        warn(core, pe, RECEIVES_UNROUTED, running_task(pe), where, VALUES(operation->number, queue->number));
    }
    /* What the task is when wavelets come depends on how far the PE is by then, and not on the time alone. */
    if (operation->is_async && queue->task != NO_TASK && pe->class->tasks[queue->task].type != LISTENER &&
        pe->tasks[queue->task].unblocked <= pe->now) {
        warn(core, pe, TASK_MAY_TAKE, running_task(pe), where, VALUES(operation->number, queue->number));
    }
    return true;
}

/* Has an operation take from an end of a FIFO: of operand `k`, elements of a source, or places of a destination. */
static void open_end(struct pe *pe, const struct operation *operation, struct open *open,
                     const struct descriptor *stream, uint8_t k) {
    uint32_t place = fifo_place(pe->class, stream->row, k == 0);
    uint8_t action = pe->class->queues[place].action;
    bool waits = action == SUSPEND || (action == TEST_OR_SUSPEND && operation->is_async);
    open->polls |= (uint8_t)(!waits << open->inputs);
    open->steps[open->inputs] = pe->class->queues[place].fifo->step;
    open->queue[open->inputs] = place;
    open->source[open->inputs++] = k;
    open->uses_fifo = true;
}

/* Finds an operation that reads a FIFO with two of its operands. */
static bool takes_twice(struct core *core, const struct open *open, uint32_t where) {
    struct pe *pe = open->pe;
    for (int k = 1; k < open->inputs; k++) {
        for (int n = 0; n < k; n++) {
            if (open->queue[n] == open->queue[k]) {
                uint32_t operation = open->operation->number;
                fail(core, pe, USES_FIFO, running_task(pe), where,
                     VALUES(operation, operation, running_task(pe), pe->class->queues[open->queue[k]].number, 0));
                return true;
            }
        }
    }
    return false;
}

static int apply_receive(struct core *core, struct pe *pe, const struct operation *operation,
                         struct operand_state *operands, uint32_t where, int64_t count, cycle setup, cycle *now) {
    struct open *open = pool_take(core, &core->opens);
    memset(open, 0, offsetof(struct open, operands));
    open->pe = pe;
    open->operation = operation;
    if (core->races != NULL && operation->is_async) {
        bind_flight(core, pe, open);
    }
    memcpy(open->operands, operands, (operation->sources + 1u) * sizeof *operands);
    uint32_t lanes = 0;
    for (uint8_t k = 1; k <= operation->sources; k++) {
        if (operands[k].is_number || operands[k].descriptor.type == MEMORY_WALK) {
            continue;
        }
        const struct descriptor *stream = &operands[k].descriptor;
        if (stream->type == FIFO_END) {
            open_end(pe, operation, open, stream, k);
        } else {
            uint32_t place = core->queue_place[stream->row];
            for (int n = 0; n < open->inputs; n++) {
                if (open->queue[n] == place) {
                    fail(core, pe, RECEIVES_TWICE, running_task(pe), where, VALUES(operation->number, stream->row));
                    return WENT_WRONG;
                }
            }
            if (!is_awaited(core, pe, operation, where, &pe->class->queues[place])) {
                return WENT_WRONG;
            }
            open->queue[open->inputs] = place;
            open->steps[open->inputs] = 1;
            if (stream->flags & IN_PAIRS && !(stream->flags & MESSAGE) && !operation->drops_data) {
                open->pairs |= (uint8_t)(1 << open->inputs);
            }
            open->source[open->inputs++] = k;
            open->header |= stream->flags & MESSAGE ? 1 : 0;
        }
        if (lanes != 0 && lanes != lanes_of(stream)) {
            fail(core, pe, RECEIVES_MIXED_LANES, running_task(pe), where, VALUES(operation->number));
            return WENT_WRONG;
        }
        lanes = lanes_of(stream);
    }
    if (operands[0].descriptor.type == FIFO_END) {
        open_end(pe, operation, open, &operands[0].descriptor, 0);
        uint8_t *step = &open->steps[open->inputs - 1];
        *step = lanes > *step ? (uint8_t)lanes : *step; /* both values of a wavelet at once */
    }
    if (open->uses_fifo && takes_twice(core, open, where)) {
        return WENT_WRONG;
    }
    cycle rate = pace_of(price_of(core, operation, operands, 0)), issued = *now;
    open->where = where;
    open->task = running_task(pe);
    open->rate = rate;
    open->since = issued;
    open->time = issued + setup;
    open->count = count;
    open->is_sync = !operation->is_async;
    open->signals_end = operation->has_completion && operation->is_async;
    for (int k = 0; k < open->inputs; k++) {
        if (!resource_use(core, pe, open->queue[k], operation, where, issued, open_since(issued))) {
            return WENT_WRONG;
        }
    }
    if (operands[0].descriptor.type == QUEUE_RUN &&
        !resource_use(core, pe, core->queue_place[operands[0].descriptor.row], operation, where, issued,
                      open_since(issued))) {
        return WENT_WRONG;
    }
    if (operation->is_async && !resource_use(core, pe, thread_place(pe, operation), operation, where, issued,
                                             open_since(issued))) {
        return WENT_WRONG;
    }
    if (operands[0].descriptor.type == QUEUE_RUN) {
        const struct queue *queue = &pe->class->queues[core->queue_place[operands[0].descriptor.row]];
        open->forwards = true;
        open->is_forwarder = has_full_ways(core, pe, queue);
    }
    if (pe->class->datapaths != NULL) {
        begin_to_receive(core, open, issued);
    }
    if (core->statistics != NULL) {
        count_receive(core, open, setup);
    }
    pe->fifo_opens += open->uses_fifo;
    if (operation->is_async) {
        *now += core->timing.async_issue;
        if (open->signals_end) {
            expect_completion(pe, operation, 1);
        }
    }
    int how = receive(core, open);
    if (how == DONE_NOW && !operation->is_async) {
        *now = pe->now;
    }
    return has_failed(core) ? WENT_WRONG : how;
}

/* Returns true if an operation is to be issued behind all that happens earlier, and some of that may be open: its
 * wavelets come behind those of a use of the queue before it, and what is under way then decides if it can be held back. */
static bool has_to_be_in_order(const struct core *core, const struct pe *pe, const struct operation *operation,
                               const struct descriptor *destination, bool receives, cycle now) {
    bool sends = destination->type == QUEUE_RUN;
    if (core->present == now || !(sends || receives)) {
        return false;
    }
    return (sends && resource_of(pe, core->queue_place[destination->row])->ends >= NEVER) ||
           (pe->class->datapaths != NULL && may_be_held(pe, operation));
}

/* Runs or starts an operation at `*now`, and moves that on; WAITS if the task has to wait for its end, AWAITS_ORDER if it
 * has to wait until nothing earlier can happen, and then apply it. */
int apply(struct core *core, struct pe *pe, const struct operation *operation, struct operand_state *operands,
          uint32_t where, cycle *now) {
    bool holds = false, in_registers = true; /* numbers aside */
    for (int k = 0; k <= operation->sources; k++) {
        bool held = operands[k].descriptor.held != 0;
        holds |= !operands[k].is_number && held;
        in_registers &= operands[k].is_number || held;
    }
    if (holds) {
        operation = from_registers(core, pe, operation, operands, where);
        if (operation == NULL) {
            return WENT_WRONG;
        }
    }
    bool receives = operands[0].descriptor.type == FIFO_END;
    for (int k = 1; k <= operation->sources; k++) {
        receives |= !operands[k].is_number && operands[k].descriptor.type != MEMORY_WALK;
    }
    if (has_to_be_in_order(core, pe, operation, &operands[0].descriptor, receives, *now)) {
        return AWAITS_ORDER;
    }
    if (core->traces) {
        trace_issue(core, pe, operation, where, *now);
    }
    int64_t count = count_of(pe, operation, operands);
    if (holds) {
        move_registers(core, pe, operation, operands, count);
    }
    if (core->issued != NULL) {
        uint64_t *issued = core->issued[operation->number];
        issued[in_registers                               ? ISSUED_IN_REGISTERS
               : receives                                 ? ISSUED_TO_RECEIVE
               : operands[0].descriptor.type == QUEUE_RUN ? ISSUED_TO_SEND
                                                            : ISSUED_IN_MEMORY]++;
        issued[ISSUED_ELEMENTS] += count == UNBOUNDED ? 0 : (uint64_t)count;
    }
    if (core->statistics != NULL) {
        count_issue(core, where);
    }
    if (core->races != NULL) {
        check_operands(core, pe, operation, operands, where, *now, count, receives);
    }
    const struct timing *timing = &core->timing;
    if (receives) {
        cycle setup = in_registers ? timing->register_setup : timing->receive_setup;
        return apply_receive(core, pe, operation, operands, where, count, setup, now);
    }
    if (operands[0].descriptor.type == QUEUE_RUN) {
        cycle setup = in_registers ? timing->register_setup : timing->send_setup;
        return apply_send(core, pe, operation, operands, where, count, setup, now);
    }
    uint32_t task = running_task(pe);
    *now += in_registers ? timing->register_setup : timing->memory_setup;
    if (count == 0) {
        if (core->statistics != NULL) {
            count_in_memory(core, where, *now - pe->now, 0);
        }
        if (core->traces) {
            trace_done(core, pe, operation, task, where, *now, 0);
        }
        return DONE_NOW;
    }
    struct price price = price_of(core, operation, operands, 0);
    *now += (count * price.numerator + price.denominator - 1) / price.denominator;
    struct operand made[MAX_OPERANDS];
    for (int k = 0; k <= operation->sources; k++) {
        if (!make_operand(core, pe, operation, task, where, &operands[k], k, 0, count, &made[k])) {
            return WENT_WRONG;
        }
    }
    uint16_t carry = 0;
    if (!compute(core, pe, operation, task, where, made, (uint32_t)count, &carry)) {
        return WENT_WRONG;
    }
    if (core->statistics != NULL) {
        count_in_memory(core, where, *now - pe->now, count);
    }
    if (core->traces) {
        trace_done(core, pe, operation, task, where, *now, count);
    }
    return DONE_NOW;
}
