/* Resources that one operation of a PE uses at a time: queues and microthreads (DSD-208, DSD-209). */
#include "machine.h"

static void conflict(struct core *core, struct pe *pe, uint32_t place, const struct early *early) {
    const struct class *class = pe->class;
    if (place < class->queue_count) {
        fail(core, pe, USES_QUEUE, early->later_task, early->where,
             VALUES(early->later, early->earlier, early->earlier_task, class->queues[place].number));
    } else if (place < class->input_count) {
        fail(core, pe, USES_FIFO, early->later_task, early->where,
             VALUES(early->later, early->earlier, early->earlier_task, class->queues[place].number,
                    class->queues[place].writes));
    } else {
        fail(core, pe, USES_MICROTHREAD, early->later_task, early->where,
             VALUES(early->later, early->earlier, early->earlier_task, place - class->input_count));
    }
}

/* Uses a resource from `start` to `end`; returns false if another operation still does. */
bool resource_use(struct core *core, struct pe *pe, uint32_t place, const struct operation *operation, uint32_t where,
                  cycle start, cycle end) {
    struct resource *resource = resource_of(pe, place);
    uint32_t task = running_task(pe);
    if (resource->ends > start) {
        struct early early = {.start = start, .later = operation->number, .later_task = task,
                              .earlier = resource->user, .earlier_task = resource->task, .where = where};
        if (resource->ends != NEVER) {
            conflict(core, pe, place, &early);
            return false;
        }
        struct early **list = &resource->early;
        while (*list != NULL) {
            list = &(*list)->next;
        }
        *list = pool_take(core, &core->earlies);
        **list = early;
        core->earlies_open++;
    }
    resource->ends = end;
    resource->user = operation->number;
    resource->task = task;
    return true;
}

/* Ends an open use; returns false if another had started before. */
bool resource_release(struct core *core, struct pe *pe, uint32_t place, cycle end) {
    struct resource *resource = resource_of(pe, place);
    struct early *early = resource->early;
    if (early == NULL) {
        resource->ends = end;
        return true;
    }
    if (end > early->start) {
        conflict(core, pe, place, early);
        return false;
    }
    resource->early = early->next;
    core->earlies_open--;
    pool_give(&core->earlies, early);
    return true;
}

/* Checks uses that are still open when nothing can happen any more; returns false if another use had started. */
bool resources_rest(struct core *core) {
    for (uint32_t c = 0; c < core->class_count && core->earlies_open > 0; c++) {
        const struct class *class = &core->classes[c];
        for (uint32_t k = 0; k < class->resource_count; k++) {
            for (uint32_t unit = 0; unit < class->units; unit++) {
                struct pe *pe = pe_at(class, unit);
                if (resource_of(pe, k)->early != NULL) {
                    conflict(core, pe, k, resource_of(pe, k)->early);
                    return false;
                }
            }
        }
    }
    return true;
}
