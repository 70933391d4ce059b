/* What the short ways of operations share. */
#ifndef LOOM_QUICK_H
#define LOOM_QUICK_H

#include "machine.h"

/* Elements of an operation as its kernel takes them */
struct elements {
    uint8_t *at[MAX_OPERANDS];
    ptrdiff_t steps[MAX_OPERANDS];
};

static inline bool is_free(const struct pe *pe, uint32_t place, cycle time) {
    return resource_of(pe, place)->ends <= time;
}

static inline void use_until(struct pe *pe, uint32_t place, const struct operation *operation, cycle end) {
    *resource_of(pe, place) = (struct resource){.ends = end, .user = user_of(pe, operation)};
}

/* Returns true if nothing of a PE's use of a queue is to be reported. */
static inline bool is_quiet(const struct queue *queue, uint32_t unit) {
    return queue->is_uniform || (queue->flags[unit] == 0 && !(queue->is_colorless && queue->colors[unit] < 0));
}

/* Returns true if each of the sources begins where the destination does, or at least that many bytes before or behind. */
static inline bool are_apart(uint8_t *const *at, int sources, uint64_t bytes) {
    for (int k = 1; k <= sources; k++) {
        uint64_t behind = (uint64_t)(at[k] - at[0]);
        if (behind != 0 && behind + bytes - 1 < 2 * bytes - 1) {
            return false;
        }
    }
    return true;
}

/* Notes that `count` wavelets of a run are taken; returns when the operation is ready for the next. */
static inline cycle note_taken(struct core *core, struct run *run, uint32_t count, cycle ready, cycle rate) {
    cycle slower = run->rate > rate ? run->rate : rate, head = head_time(run);
    cycle begin = head > ready ? head : ready, end;
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

/* Takes `count` elements of a run; returns when the operation is ready for the next. */
static inline cycle take(struct core *core, const struct operation *operation, struct elements *elements, int source,
                         struct run *run, uint32_t count, cycle ready, cycle rate) {
    const struct kernel *kernel = operation->kernel;
    elements->at[source] = (uint8_t *)run->at + (ptrdiff_t)run->taken * run->step;
    elements->steps[source] = run->step;
    bool side_by_side = run->step == kernel->size[source];
    (side_by_side ? kernel->row : kernel->walk)(elements->at, elements->steps, count);
    return note_taken(core, run, count, ready, rate);
}

#endif
