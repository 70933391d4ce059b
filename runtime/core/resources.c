/* Resources that one operation of a PE uses at a time: queues and microthreads (DSD-208, DSD-209). */
#include "partitions.h"

static void conflict(struct core *core, struct pe *pe, uint32_t place, const struct early *early) {
    const struct class *class = pe->class;
    if (place < class->source_count || (place >= class->input_count && place < class->queue_count)) {
        fail(core, pe, USES_QUEUE, early->later_task, early->where,
             VALUES(early->later, early->earlier, early->earlier_task, class->queues[place].number));
    } else if (place < class->input_count) {
        fail(core, pe, USES_FIFO, early->later_task, early->where,
             VALUES(early->later, early->earlier, early->earlier_task, class->queues[place].number,
                    class->queues[place].writes));
    } else {
        fail(core, pe, USES_MICROTHREAD, early->later_task, early->where,
             VALUES(early->later, early->earlier, early->earlier_task, place - class->queue_count));
    }
}

bool resource_use_early(struct core *core, struct pe *pe, uint32_t place, const struct operation *operation,
                        uint32_t where, cycle start, cycle end) {
    struct resource *resource = resource_of(pe, place);
    uint32_t task = running_task(pe);
    struct early early = {.pe = pe, .start = start, .place = place, .later = operation->number, .later_task = task,
                          .earlier = resource->user, .earlier_task = resource->task, .where = where};
    if (resource->ends != NEVER) {
        conflict(core, pe, place, &early);
        return false;
    }
    struct early *made = pool_take(core, &core->earlies);
    *made = early;
    *core->early_end = made;
    core->early_end = &made->next;
    pe->early++;
    *resource = (struct resource){.ends = end, .user = operation->number, .task = task};
    return true;
}

/* Lets the use that started last end at another time, NEVER if that is not known yet. */
void resource_extend(struct pe *pe, uint32_t place, cycle end) { resource_of(pe, place)->ends = end; }

bool resource_release_early(struct core *core, struct pe *pe, uint32_t place, cycle end) {
    struct early **list = &core->early;
    while (*list != NULL && ((*list)->pe != pe || (*list)->place != place)) {
        list = &(*list)->next;
    }
    struct early *early = *list;
    if (early == NULL) {
        resource_of(pe, place)->ends = end;
        return true;
    }
    if (end > early->start) {
        conflict(core, pe, place, early);
        return false;
    }
    *list = early->next;
    if (early->next == NULL) {
        core->early_end = list;
    }
    pe->early--;
    pool_give(&core->earlies, early);
    return true;
}

/* Returns the place of a resource among those of its class: queues, in the order of the program, before ends of FIFOs. */
static uint32_t rank(const struct early *early) {
    const struct class *class = early->pe->class;
    uint32_t place = early->place, fifo_ends = class->input_count - class->source_count;
    if (place < class->source_count || (place >= class->input_count && place < class->queue_count)) {
        return class->queues[place].number;
    }
    return class->row->queues + class->queue_count - fifo_ends + place;
}

static bool comes_before(const struct early *a, const struct early *b) {
    uint32_t first = a->pe->class->number, second = b->pe->class->number;
    return first != second ? first < second : a->place != b->place ? rank(a) < rank(b) : a->pe->unit < b->pe->unit;
}

/* Checks uses that are still open when nothing can happen any more; returns false if another use had started. */
bool resources_rest(struct core *core) {
    const struct early *first = NULL;
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        for (const struct early *early = core->partitions->cores[k]->early; early != NULL; early = early->next) {
            if (first == NULL || comes_before(early, first)) {
                first = early;
            }
        }
    }
    if (first != NULL) {
        conflict(core, first->pe, first->place, first);
    }
    return first == NULL;
}
