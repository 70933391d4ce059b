/* Whether a machine in which nothing can happen any more has something that its report has to say. */
#include "machine.h"
#include "partitions.h"

/* Returns true if a partition has nothing open or on its way. */
static bool pools_are_clear(const struct core *core) {
    const struct pool *pools[] = {&core->opens, &core->runs, &core->send_pool, &core->arrivals, &core->multicasts};
    for (size_t k = 0; k < sizeof pools / sizeof *pools; k++) {
        if (pools[k]->live != 0) {
            return false;
        }
    }
    return core->short_moves == 0;
}

/* Returns false if `core_waits` and the like may find something: they look at every PE. */
bool core_is_clear(const struct core *core) {
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        if (!pools_are_clear(core->partitions->cores[k])) {
            return false;
        }
    }
    if (core->switches != NULL || core->networks != NULL) {
        return false;
    }
    for (uint32_t c = 0; c < core->class_count; c++) {
        const struct class *class = &core->classes[c];
        if (class->task_count > MASKED_TASKS) {
            return false;
        }
        for (uint32_t q = 0; q < class->queue_count; q++) {
            if (class->queues[q].unread != NULL) {
                return false;
            }
        }
        for (uint32_t unit = 0; unit < class->units; unit++) {
            if (pe_at(class, unit)->active != 0) {
                return false;
            }
        }
    }
    return true;
}
