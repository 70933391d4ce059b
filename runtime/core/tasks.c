/* States of tasks: when they were activated and since when they are unblocked.
 *
 * What happens at cycle 500 may be known before what happens at cycle 100, so the state of a task is times: an activation
 * or an unblocking of the future waits until the task has run, or was blocked, at an earlier cycle.
 */
#include "machine.h"

/* Appends a time to a list, and drops those that are past: they can no longer follow a pick or a blocking. */
static void wait_for(struct core *core, struct moment **list, cycle time, cycle past) {
    struct moment *moment = pool_take(core, &core->moments);
    moment->time = time;
    moment->next = NULL;
    while (*list != NULL) {
        struct moment *known = *list;
        if (known->time < past) {
            *list = known->next;
            pool_give(&core->moments, known);
        } else {
            list = &known->next;
        }
    }
    *list = moment;
}

void activate(struct core *core, struct pe *pe, uint32_t task, cycle time, bool completion) {
    cycle current = pe->tasks[task].active;
    struct activations *state = activations_of(pe, task);
    if (current == NEVER) {
        set_active(pe, task, time);
        if (state != NULL) {
            state->completed = completion;
        }
    } else if (state != NULL) {
        /* The PE that executes an instruction picks no task before it, so only a completion can come later. */
        bool first = time < current;
        bool waits = first ? state->completed : completion;
        if (first) {
            set_active(pe, task, time);
            state->completed = completion;
        }
        if (waits) {
            wait_for(core, &state->later, first ? current : time, -1);
        }
    } else if (time < current) {
        set_active(pe, task, time);
    }
    touch(core, pe);
}

/* Activates a task that was picked at a time by what has waited behind that. */
void activate_later(struct core *core, struct pe *pe, uint32_t task, cycle time, struct moment *waiting) {
    while (waiting != NULL) {
        struct moment *next = waiting->next;
        if (waiting->time >= time) {
            activate(core, pe, task, waiting->time, true);
        }
        pool_give(&core->moments, waiting);
        waiting = next;
    }
}

/* Unblocks a task that is not blocked now: it counts once more after a blocking that comes before. */
void unblock_again(struct core *core, struct pe *pe, uint32_t task, cycle time, bool ahead) {
    struct task_state *times = &pe->tasks[task];
    cycle current = times->unblocked;
    if (time < current) {
        times->unblocked = time;
    }
    struct unblockings *state = unblockings_of(pe, task);
    if (state != NULL && (ahead || current > time)) {
        wait_for(core, &state->later, current > time ? current : time, pe->clock);
    }
}

/* Unblocks a task that was blocked at a time by what has waited behind that. */
void unblock_later(struct core *core, struct pe *pe, uint32_t task, cycle time, struct moment *waiting) {
    while (waiting != NULL) {
        struct moment *next = waiting->next;
        if (waiting->time > time) {
            task_unblock(core, pe, task, waiting->time, true);
        }
        pool_give(&core->moments, waiting);
        waiting = next;
    }
}

