/* The state of queues as programs ask for it, and queues that are flushed.
 *
 * runtime/reference/flushes.py says the same.
 */
#include <stdlib.h>

#include "configuration.h"

void prepare_flushes(struct core *core) {
    bool is_ordered = false;
    for (uint32_t k = 0; k < core->tables.classes_count; k++) {
        is_ordered |= (core->tables.classes[k].flags & CLASS_ORDERED) != 0;
    }
    if (!is_ordered) {
        return;
    }
    uint64_t pes = (uint64_t)core->width * core->height;
    core->changes = true;
    core->flushes = core_allocate(core, 1, sizeof *core->flushes);
    core->flushes->flushing = core_allocate(core, pes, sizeof *core->flushes->flushing);
    core->flushes->flushed = core_allocate(core, pes, sizeof *core->flushes->flushed);
}

void free_flushes(struct core *core) {
    if (core->flushes != NULL) {
        free(core->flushes->flushing);
        free(core->flushes->flushed);
        free(core->flushes->later);
        free(core->flushes);
    }
}

/* Returns the local task that teardowns and flushed queues start, or NO_TASK. */
uint32_t teardown_task(const struct core *core, const struct pe *pe) {
    const struct class *class = pe->class;
    for (uint32_t task = 0; task < class->task_count; task++) {
        const struct task_row *row = class->tasks[task].row;
        if (row->type == LOCAL_TASK && row->number == (int32_t)core->registers.teardown_task) {
            return task;
        }
    }
    return NO_TASK;
}

/* Returns how many wavelets are in the input queues of an id that nothing at work has taken, and stores their room. */
static int64_t wavelets_in(const struct pe *pe, uint32_t id, cycle now, int64_t *room) {
    int64_t count = 0;
    *room = 0;
    for (uint32_t place = 0; place < pe->class->input_count; place++) {
        const struct queue *queue = &pe->class->queues[place];
        if (queue->row == NULL || !queue->is_input || queue->row->id != id) {
            continue;
        }
        *room += queue->room;
        for (const struct run *run = inputs_of(pe)[place].first; run != NULL; run = run->next) {
            cycle head = run->first + (cycle)run->taken * run->rate;
            if (head <= now) {
                int64_t rate = run->rate > 0 ? run->rate : 1; /* of one wavelet it may be anything */
                int64_t there = (now - head) / rate + 1, left = run->count - run->taken;
                count += there < left ? there : left;
            }
        }
    }
    return count;
}

/* Returns true if no wavelet is in the queues of an id; of output queues, if no operation sends. */
static bool is_empty(struct pe *pe, bool output, uint32_t id, cycle now) {
    int64_t room;
    if (!output) {
        return wavelets_in(pe, id, now, &room) == 0;
    }
    for (uint32_t place = pe->class->input_count; place < pe->class->queue_count; place++) {
        const struct queue *queue = &pe->class->queues[place];
        if (queue->row != NULL && queue->row->id == id && resource_of(pe, place)->ends > now) {
            return false;
        }
    }
    return true;
}

/* Returns the register of the state of input or output queues: which are empty, and which are full. */
uint16_t queue_status(const struct core *core, struct pe *pe, bool output) {
    uint16_t word = 0;
    for (uint32_t id = 0; id < (output ? core->registers.output_queues : core->registers.input_queues); id++) {
        int64_t room = 0;
        bool empty = is_empty(pe, output, id, pe->now), full = !empty;
        if (!output) {
            int64_t count = wavelets_in(pe, id, pe->now, &room);
            full = count > 0 && count >= room;
        }
        word |= (uint16_t)(empty << id | full << (id + 8));
    }
    return word;
}

static void look_behind(struct core *core, struct pe *pe, uint64_t number, cycle now) {
    cycle step = core->registers.flush_poll;
    core->flushes->looks++;
    schedule(core, (now / step + 1) * step, EVENT_ACCESS, pe->number, number, pe);
}

/* Looks at a queue that is to be flushed, and again later unless it is empty; when others happen, if none can now. */
static void look(struct core *core, struct pe *pe, uint64_t number, cycle now, bool others) {
    struct queue_flushes *flushes = core->flushes;
    bool output = number > 8;
    uint32_t id = (uint32_t)(number - 1) & 7;
    if (is_empty(pe, output, id, now)) {
        flushes->flushing[pe->number][output] &= (uint8_t) ~(1u << id);
        flushes->flushed[pe->number][output] |= (uint8_t)(1u << id);
        task_complete(core, pe, teardown_task(core, pe), now, true);
    } else if (others) {
        look_behind(core, pe, number, now);
    } else {
        grow(core, (void **)&flushes->later, &flushes->later_room, flushes->later_count + 1, sizeof *flushes->later);
        flushes->later[flushes->later_count++] = (struct look){.pe = pe, .number = number};
    }
}

void look_at_queue(struct core *core, struct pe *pe, uint64_t number, cycle now) {
    core->flushes->looks--;
    look(core, pe, number, now, core->heap_count > core->flushes->looks);
}

/* Looks at queues that are to be flushed behind a cycle, when the next thing happens. */
void look_again(struct core *core, cycle now) {
    struct queue_flushes *flushes = core->flushes;
    if (flushes == NULL) {
        return;
    }
    for (uint64_t k = 0; k < flushes->later_count; k++) {
        look_behind(core, flushes->later[k].pe, flushes->later[k].number, now);
    }
    flushes->later_count = 0;
}

/* Flushes a queue: its bit is set, and the task of teardowns is activated, once it is empty. */
bool flush(struct core *core, struct pe *pe, bool output, uint32_t id, uint32_t task, uint32_t where) {
    struct queue_flushes *flushes = core->flushes;
    if (teardown_task(core, pe) == NO_TASK) {
        fail(core, pe, FLUSH_UNHANDLED, task, where, VALUES(id, output));
        return false;
    }
    if ((flushes->flushing[pe->number][output] | flushes->flushed[pe->number][output]) >> id & 1) {
        fail(core, pe, FLUSHED_TWICE, task, where, VALUES(id, output));
        return false;
    }
    flushes->flushing[pe->number][output] |= (uint8_t)(1u << id);
    look(core, pe, 1 + 8 * (uint64_t)output + id, pe->now, true); /* the task goes on */
    return true;
}
