/* Epochs: no PE goes on past the end of an epoch before all have come there.
 *
 * So a PE in an endless loop keeps nobody from going on, and an error is told when all that begins before it has happened
 * everywhere: which of several comes first depends neither on threads nor on which PE has been ahead. What does not end
 * by itself looks at the cycle: the start of a task, a loop's next iteration, a call, and an operation that passes on
 * what it takes.
 */
#include "machine.h"

#include <stdlib.h>

static void note_first(struct core *core, cycle time) {
    assert(time > core->epoch.until);
    core->epoch.first = time < core->epoch.first ? time : core->epoch.first;
}

/* Has a PE wait for the next epoch, whose next task begins, or goes on, at a time. */
void wait_for_epoch(struct core *core, struct pe *pe, cycle time) {
    struct epoch *epoch = &core->epoch;
    note_first(core, time);
    if (!pe->waits) {
        grow(core, (void **)&epoch->pes, &epoch->room, epoch->count + 1, sizeof *epoch->pes);
        epoch->pes[epoch->count++] = pe;
        pe->waits = true;
    }
}

/* Returns true if an operation that takes its next element at a time has to wait for the next epoch. */
bool waits_for_epoch(struct core *core, struct open *open, cycle time) {
    struct epoch *epoch = &core->epoch;
    if (time <= epoch->until) {
        return false;
    }
    note_first(core, time);
    if (open->waits_until != epoch->until) {
        struct arrivals *list = &epoch->operations;
        open->waits_until = epoch->until;
        grow(core, (void **)&list->list, &list->room, list->count + 1, sizeof *list->list);
        list->list[list->count++] = (struct arrival){.pe = open->pe, .place = open->queue[0]};
    }
    return true;
}

/* Lets all that waits go on up to a cycle. */
void begin_epoch(struct core *core, cycle until) {
    struct epoch *epoch = &core->epoch;
    epoch->until = until;
    epoch->first = NEVER;
    for (uint64_t k = 0; k < epoch->count; k++) {
        epoch->pes[k]->waits = false;
        touch(core, epoch->pes[k]);
    }
    for (uint64_t k = 0; k < epoch->operations.count; k++) {
        go_on_later(core, epoch->operations.list[k]);
    }
    epoch->count = epoch->operations.count = 0;
}

/* Lets each PE take so many steps from now on; 0: any number. */
void set_step_limit(struct core *core, uint64_t limit) {
    uint64_t pes = (uint64_t)core->width * core->height;
    core->step_limit = limit;
    core->limit_number++;
    if (limit == 0) {
        free(core->steps_left);
        core->steps_left = NULL;
        return;
    }
    if (core->steps_left == NULL) {
        core->steps_left = core_allocate(core, pes, sizeof *core->steps_left);
    }
    for (uint64_t k = 0; k < pes; k++) {
        core->steps_left[k] = limit;
    }
}
