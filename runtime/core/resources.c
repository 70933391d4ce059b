/* Resources that one operation of a PE uses at a time: queues and microthreads (DSD-208, DSD-209). */
#include "machine.h"

/* Returns the finding of a use that has started while another was open. */
static struct finding conflict(const struct early *early) {
    const struct class *class = early->pe->class;
    uint32_t place = early->place;
    struct finding found = {.pe = early->pe->number, .task = early->later_task, .where = early->where,
                            .cycle = early->start, .values = {early->later, early->earlier, early->earlier_task}};
    if (place >= class->queue_count) {
        found.code = USES_MICROTHREAD;
        found.values[3] = place - class->queue_count;
        return found;
    }
    bool is_fifo = place >= class->source_count && place < class->input_count;
    found.code = is_fifo ? USES_FIFO : USES_QUEUE;
    found.values[3] = class->queues[place].number;
    found.values[4] = is_fifo ? class->queues[place].writes : 0;
    return found;
}

bool resource_use_early(struct core *core, struct pe *pe, uint32_t place, const struct operation *operation,
                        uint32_t where, cycle start, cycle end) {
    struct resource *resource = resource_of(pe, place);
    uint32_t tasks = pe->class->task_count + 1, task = resource->user % tasks;
    struct early early = {.pe = pe, .start = start, .place = place, .later = operation->number,
                          .later_task = running_task(pe), .earlier = resource->user / tasks,
                          .earlier_task = task == 0 ? NO_ROW : pe->class->tasks[task - 1].number, .where = where,
                          .since = resource->ends - NEVER};
    if (resource->ends < NEVER) {
        struct finding found = conflict(&early);
        note_error(core, &found);
        core->is_failing = true;
        return false;
    }
    struct early *made = pool_take(core, &core->earlies);
    *made = early;
    *core->early_end = made;
    core->early_end = &made->next;
    pe->early++;
    *resource = (struct resource){.ends = end, .user = user_of(pe, operation)};
    return true;
}

/* Lets the use that started last end at another time, or be open. */
void resource_extend(struct pe *pe, uint32_t place, cycle end) { resource_of(pe, place)->ends = end; }

void resource_release_early(struct core *core, struct pe *pe, uint32_t place, cycle since, cycle end) {
    struct early **list = &core->early;
    while (*list != NULL && ((*list)->pe != pe || (*list)->place != place || (*list)->since != since)) {
        list = &(*list)->next;
    }
    struct early *early = *list;
    if (early == NULL) {
        resource_of(pe, place)->ends = end;
        return;
    }
    if (end > early->start) {
        struct finding found = conflict(early);
        note_error(core, &found);
    }
    *list = early->next;
    if (early->next == NULL) {
        core->early_end = list;
    }
    pe->early--;
    pool_give(&core->earlies, early);
}

/* Finds the first use that has started up to a cycle while another was open, and still is when all has happened up to
 * there; returns false if there is none. */
bool find_conflict(const struct core *core, cycle until, struct finding *found) {
    bool any = false;
    for (const struct early *early = core->early; early != NULL; early = early->next) {
        struct finding other = conflict(early);
        if (early->start <= until && (!any || is_before(&other, found))) {
            *found = other;
            any = true;
        }
    }
    return any;
}
