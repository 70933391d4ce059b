/* FIFOs in the memory of a PE, as two queues: elements that wait to be popped, and free places that wait to be filled.
 *
 * A push takes places and leaves elements, a pop takes elements and leaves places, both as runs with time stamps. So an
 * operation that finds a FIFO full or empty waits as it would for wavelets, or ends if nothing can have come by the
 * time it looks.
 */
#include "machine.h"

static uint32_t place_of(const struct pe *pe, const struct operand_state *operand, bool writes) {
    return fifo_place(pe->class, operand->descriptor.row, writes);
}

static bool is_fifo(const struct operand_state *operand) {
    return !operand->is_number && operand->descriptor.type == FIFO_END;
}

/* Sets up the ends of FIFOs of a class, and of each of its PEs with all places free. */
void prepare_fifos(struct core *core, struct class *class) {
    for (uint32_t place = class->source_count; place < class->input_count; place++) {
        struct queue *queue = &class->queues[place];
        uint32_t row = class->row->fifos + (place - class->source_count) / 2;
        queue->fifo = &core->tables.fifos[row];
        queue->number = row;
        queue->writes = (place - class->source_count) % 2;
        queue->action = queue->writes ? queue->fifo->full_action : queue->fifo->empty_action;
        uint32_t task = queue->writes ? queue->fifo->pop_task : queue->fifo->push_task;
        queue->starts = task == NO_ROW ? NO_TASK : (uint16_t)(task - class->row->tasks);
        queue->task = NO_TASK;
        for (uint32_t unit = 0; unit < class->units; unit++) {
            struct pe *pe = pe_at(class, unit);
            side_at(pe, place)->missed = NEVER;
            if (queue->writes) {
                struct run *run = pool_take(core, &core->runs);
                *run = (struct run){.count = core->tables.buffers[queue->fifo->buffer].elements};
                inputs_of(pe)[place].first = inputs_of(pe)[place].last = run;
            }
        }
    }
}

/* Returns the iterations of an operation on FIFOs: a FIFO counts only if its length is set (AMB-16), and a queue that is
 * sent to only if there is nothing else (AMB-01). */
int64_t count_with_fifos(const struct pe *pe, const struct operation *operation, const struct operand_state *operands) {
    int64_t least = -1, streams = -1;
    bool scalars = true;
    for (int k = 0; k <= operation->sources; k++) {
        const struct descriptor *stream = &operands[k].descriptor;
        if (operands[k].is_number) {
            continue;
        }
        if (stream->type == FIFO_END) {
            const struct side *side = side_at(pe, place_of(pe, &operands[k], k == 0));
            int64_t length = side->outstanding != 0 ? side->outstanding : side->set_to;
            least = length != 0 && (least < 0 || length < least) ? length : least;
        } else if (k > 0 || stream->type == MEMORY_WALK) {
            int64_t length = stream->type == QUEUE_RUN ? stream->extents[0] : walk_count(stream);
            streams = streams < 0 || length < streams ? length : streams;
            scalars &= stream->type == MEMORY_WALK && stream->dimensions == 1 && stream->extents[0] == POINTER_EXTENT;
        }
    }
    if (operands[0].descriptor.type == QUEUE_RUN) {
        streams = streams < 0 && least < 0 ? operands[0].descriptor.extents[0] : streams;
    } else if (least < 0 && scalars) {
        return 1; /* a scalar takes one element from a FIFO, and a FIFO one from a scalar */
    }
    least = streams >= 0 && (least < 0 || streams < least) ? streams : least;
    return least < 0 ? 1 : least == ENDLESS_EXTENT ? UNBOUNDED : least;
}

/* Has `need` elements of a FIFO, or places in it, in the first run, all there at once; returns false if there are fewer. */
static bool gather(struct core *core, struct pe *pe, uint32_t place, int64_t need) {
    struct input *input = &inputs_of(pe)[place];
    int64_t there = 0;
    for (const struct run *run = input->first; run != NULL && there < need; run = run->next) {
        there += run->count - run->taken;
    }
    struct run *first = input->first;
    if (there < need) {
        return false;
    }
    if (first->rate == 0 && first->count - first->taken >= need) {
        return true;
    }
    struct run *gathered = pool_take(core, &core->runs);
    *gathered = (struct run){.count = (uint32_t)need, .step = 4, .size = 4};
    if (first->payload != NULL) {
        gathered->payload = payload_take(core, (uint32_t)need);
        gathered->at = (const uint8_t *)gathered->payload->words;
    }
    for (int64_t found = 0; found < need;) {
        struct run *run = input->first;
        int64_t left = run->count - run->taken, count = left < need - found ? left : need - found;
        for (int64_t k = 0; k < count && run->payload != NULL; k++) {
            gathered->payload->words[found + k] = 0;
            memcpy(&gathered->payload->words[found + k], run->at + (ptrdiff_t)(run->taken + k) * run->step, run->size);
        }
        run->taken += (uint32_t)count;
        found += count;
        cycle last = run->first + (cycle)(run->taken - 1) * run->rate;
        gathered->first = last > gathered->first ? last : gathered->first;
        if (run->taken == run->count) {
            input->first = run->next;
            drop_run(core, run);
        }
    }
    gathered->next = input->first;
    if (input->first == NULL) {
        input->last = gathered;
    }
    input->first = gathered;
    return true;
}

/* Returns true if the first wavelet of queue `k` is the first of two that an operation takes together. */
static bool begins_pair(const struct open *open, int k) {
    uint32_t lanes = lanes_from(open, k);
    return open->pairs >> k & 1 && open->position / lanes % 2 == 0 && open->count - open->position > lanes &&
           !(open->operation->on_control && inputs_of(open->pe)[open->queue[k]].first->control);
}

/* Returns when the first wavelet of queue `k`, or element of a FIFO, may be taken: if wavelets are taken in pairs, when
 * the second one is there too (DSD-241); NEVER if that has not come. */
cycle ready_time(const struct open *open, int k) {
    const struct run *first = inputs_of(open->pe)[open->queue[k]].first;
    cycle head = head_time(first);
    if (!begins_pair(open, k)) {
        return head;
    }
    if (first->count - first->taken > 1) {
        return head + first->rate;
    }
    return first->next == NULL ? NEVER : head > head_time(first->next) ? head : head_time(first->next);
}

/* Returns how many wavelets of the first run of queue `k` an operation may take when it takes the next one. */
int64_t taken_at_once(const struct open *open, int k) {
    const struct run *first = inputs_of(open->pe)[open->queue[k]].first;
    int64_t left = first->count - first->taken, lanes = lanes_from(open, k);
    if (!(open->pairs >> k & 1)) {
        return left;
    }
    if (!begins_pair(open, k) || left == 1) {
        return 1;
    }
    if (first->rate > open->rate * lanes) {
        return 2;
    }
    return left * lanes >= open->count - open->position ? left : left - left % 2;
}

/* Returns true if queue `k` of an operation has what that takes of it at once. */
bool has_elements(struct core *core, const struct open *open, int k) {
    if (open->steps[k] <= 1) {
        return inputs_of(open->pe)[open->queue[k]].first != NULL && (open->pairs == 0 || ready_time(open, k) < NEVER);
    }
    int64_t left = open->count - open->position;
    int64_t need = left < open->steps[k] ? left : open->steps[k];
    return gather(core, open->pe, open->queue[k], need < 1 ? 1 : need);
}

/* Returns when it has that; NEVER if nothing says so yet. */
cycle elements_at(struct core *core, const struct open *open, int k) {
    return has_elements(core, open, k) ? ready_time(open, k) : NEVER;
}

/* Tasks */

static void start_task(struct core *core, struct pe *pe, uint32_t task, cycle time) {
    if (pe->class->tasks[task].flags & COMPLETION_ACTIVATES) {
        task_complete(core, pe, task, time, true);
    } else {
        task_activate(core, pe, task, time);
    }
}

/* Starts the task of an end at which an operation has found too little, when a run brings what that lacks. */
static void start_missed(struct core *core, struct pe *pe, uint32_t place, const struct run *run) {
    struct side *side = side_at(pe, place);
    uint16_t task = pe->class->queues[place].starts;
    if (task == NO_TASK || side->missed == NEVER) {
        return;
    }
    int64_t count = run->count - run->taken;
    if (count < side->lacking) {
        side->lacking -= count;
        return;
    }
    side->missed = NEVER;
    start_task(core, pe, task, head_time(run) + (side->lacking - 1) * (cycle)run->rate);
}

/* Starts the task of an end whose operation waited for elements or places of a run (DSD-144, DSD-147). */
static void wake(struct core *core, struct open *open, uint32_t place, const struct run *run, int64_t count) {
    uint16_t task = open->pe->class->queues[place].starts;
    if (task == NO_TASK) {
        return;
    }
    cycle ready = open->time;
    int64_t several = run->rate > open->rate ? count : 1;
    for (int64_t k = 0; k < several; k++) {
        cycle time = head_time(run) + k * run->rate;
        if (time > ready) {
            start_task(core, open->pe, task, time);
        }
        ready = (time > ready ? time : ready) + open->rate;
    }
}

/* Notes what the next elements of an operation mean for its FIFOs: tasks that start, and what a scalar destination held,
 * which stays if a FIFO turns out to hold too little (DSD-128). */
void look_at_fifos(struct core *core, struct open *open, struct run **runs, int64_t count) {
    struct pe *pe = open->pe;
    for (int k = 0; k < open->inputs; k++) {
        if (open->queue[k] >= pe->class->source_count && !(open->polls >> k & 1)) {
            wake(core, open, open->queue[k], runs[k], count);
        }
    }
    const struct descriptor *to = &open->operands[0].descriptor;
    if (open->polls && !open->keeps && to->type == MEMORY_WALK && to->dimensions == 1 && to->extents[0] == POINTER_EXTENT) {
        int64_t size = open->operation->kernel->size[0], address = 2 * (int64_t)to->address;
        if (address >= 0 && address <= 2 * pe->class->words - size) {
            memcpy(&open->before, pe->memory + address, (size_t)size);
            open->keeps = true;
        }
    }
}

/* What operations leave */

static void leave_in(struct core *core, struct pe *pe, uint32_t place, const struct run *left) {
    start_missed(core, pe, place, left);
    struct run *run = pool_take(core, &core->runs);
    *run = *left;
    hand_over_later(core, pe, place, run);
}

/* Leaves the places of elements that an operation has popped. */
void leave_places(struct core *core, struct open *open, int64_t count, cycle begin, cycle rate) {
    struct run run = {.first = begin + open->rate, .rate = (uint32_t)rate, .count = (uint32_t)count};
    for (int k = 0; k < open->inputs; k++) {
        if (open->queue[k] >= open->pe->class->source_count && open->source[k] > 0) {
            leave_in(core, open->pe, open->queue[k] + 1, &run);
        }
    }
}

/* Writes elements to the FIFO that is the destination, and leaves them there. */
void leave_elements(struct core *core, struct open *open, struct payload *payload, int64_t count, cycle begin,
                    cycle rate) {
    struct pe *pe = open->pe;
    uint32_t place = place_of(pe, &open->operands[0], true);
    const struct buffer_row *buffer = &core->tables.buffers[pe->class->queues[place].fifo->buffer];
    struct side *side = side_at(pe, place);
    uint32_t bytes = kind_bytes(buffer->kind) == 4 ? 4 : 2;
    assert(2 * (uint64_t)buffer->address + (uint64_t)buffer->elements * bytes <= pe->class->bytes);
    for (int64_t k = 0; k < count; k++) {
        memcpy(pe->memory + 2 * (uint64_t)buffer->address + (uint64_t)side->next * bytes, &payload->words[k], bytes);
        side->next = side->next + 1 == buffer->elements ? 0 : side->next + 1;
    }
    payload->references++;
    struct run run = {.payload = payload, .at = (const uint8_t *)payload->words, .first = begin + open->rate,
                      .step = 4, .size = 4, .rate = (uint32_t)rate, .count = (uint32_t)count};
    leave_in(core, pe, place - 1, &run);
}

/* Operations that end where a FIFO has nothing for them */

/* Ends an operation that looks at a FIFO at a time when that has nothing for it (DSD-127 to DSD-133). */
void fifo_stop(struct core *core, struct open *open, int k, cycle time) {
    struct pe *pe = open->pe;
    const struct operation *operation = open->operation;
    uint32_t place = open->queue[k];
    const struct queue *queue = &pe->class->queues[place];
    core->at = time;
    if (queue->action == FAULT) {
        fail(core, pe, FIFO_FAULT, open->task, open->where, VALUES(operation->number, queue->number, queue->writes));
        return;
    }
    for (int n = 0; n <= operation->sources; n++) {
        const struct descriptor *end = &open->operands[n].descriptor;
        if (is_fifo(&open->operands[n]) && end->state & HOLDS_FIFO && end->row == queue->number) {
            uint16_t at = core->register_at[end->held - 1];
            fail(core, pe, FIFO_IN_REGISTER, open->task, open->where,
                 VALUES(operation->number, queue->number, queue->writes, at >> 8, at & 0xFF));
            return;
        }
    }
    core->at = -1;
    if (core->statistics != NULL) {
        count_stop(core, open, time);
    }
    open->time = time;
    open->stopped = queue->action == TEST_OR_SUSPEND;
    struct side *side = side_at(pe, place);
    side->outstanding = open->count == UNBOUNDED ? ENDLESS_EXTENT : open->count - open->position;
    if (queue->starts != NO_TASK) {
        int64_t left = open->count - open->position;
        side->missed = time;
        side->lacking = left < open->steps[k] ? left : open->steps[k];
        for (const struct run *run = inputs_of(pe)[place].first; run != NULL; run = run->next) {
            start_missed(core, pe, place, run); /* what comes later may be known */
        }
    }
    if (open->keeps && !queue->writes) {
        memcpy(pe->memory + 2 * (int64_t)open->operands[0].descriptor.address, &open->before, operation->kernel->size[0]);
    }
    end_early(core, open);
}

/* Returns for how many elements, or wavelets of two, every FIFO has something when they are looked for; if for none, the
 * operation has ended. */
int64_t elements_in_time(struct core *core, struct open *open, struct run **runs) {
    int64_t count = UNBOUNDED, lanes = 1;
    for (int k = 0; k < open->inputs; k++) {
        uint32_t own = lanes_from(open, k);
        int64_t left = (int64_t)(runs[k]->count - runs[k]->taken) * own;
        count = left < count ? left : count;
        lanes = own > lanes ? own : lanes;
    }
    cycle begin, rate;
    count = pace(open, runs, open->polls, count, &begin, &rate);
    for (int k = 0; k < open->inputs; k++) {
        if (!(open->polls >> k & 1)) {
            continue;
        }
        cycle head = head_time(runs[k]);
        if (head > begin) {
            fifo_stop(core, open, k, begin);
            return 0;
        }
        if ((cycle)runs[k]->rate > rate) {
            int64_t there = (begin - head) / ((cycle)runs[k]->rate - rate) + 1;
            count = there < count ? there : count;
        }
    }
    return count / lanes > 1 ? count / lanes : 1;
}

/* Returns true if an operation has ended that lacks something in a FIFO; else it waits, or looks later. */
bool ends_without_elements(struct core *core, struct open *open) {
    struct pe *pe = open->pe;
    cycle begin = open->time;
    for (int k = 0; k < open->inputs; k++) {
        if (!(open->polls >> k & 1)) {
            cycle head = elements_at(core, open, k);
            if (head == NEVER) {
                return false; /* a FIFO is looked at when all that is waited for is there */
            }
            begin = head > begin ? head : begin;
        }
    }
    for (int k = 0; k < open->inputs; k++) {
        if (!(open->polls >> k & 1) || elements_at(core, open, k) <= begin) {
            continue;
        }
        /* An operation of the task itself sees all that its PE has done before; what microthreads do is not known. */
        uint32_t other = open->queue[k] + (pe->class->queues[open->queue[k]].writes ? -1u : 1u);
        if (elements_at(core, open, k) == NEVER && (!open->is_sync || resource_of(pe, other)->ends >= NEVER)) {
            open->poll = ++core->polls;
            open->polls_at = begin;
            open->polled = (uint8_t)k;
            return false;
        }
        fifo_stop(core, open, k, begin);
        return true;
    }
    assert(!"a FIFO lacks something");
    return true;
}
