/* States of tasks: when they were activated and since when they are unblocked.
 *
 * What happens at cycle 500 may be known before what happens at cycle 100, so the state of a task is times: an activation
 * or an unblocking of the future waits until the task has run, or was blocked, at an earlier cycle.
 */
#include "machine.h"

static bool is_of(const struct moment *moment, uint32_t task, bool activates) {
    return moment->task == task && moment->activates == activates;
}

/* Appends a moment to those of a PE, and drops those of the task that are past: they can no longer follow a pick or a
 * blocking. */
static void wait_for(struct core *core, struct pe *pe, uint32_t task, bool activates, cycle time, cycle past) {
    struct moment *moment = pool_take(core, &core->moments), **link = &pe->later;
    *moment = (struct moment){.time = time, .task = (uint16_t)task, .activates = activates};
    for (struct moment *known; (known = *link) != NULL;) {
        if (is_of(known, task, activates) && known->time < past) {
            *link = known->next;
            pool_give(&core->moments, known);
        } else {
            link = &known->next;
        }
    }
    *link = moment;
}

/* Takes the moments of a task out of those of its PE. */
static struct moment *take_moments(struct pe *pe, uint32_t task, bool activates) {
    struct moment *taken = NULL, **end = &taken, **link = &pe->later;
    for (struct moment *moment; (moment = *link) != NULL;) {
        if (is_of(moment, task, activates)) {
            *link = moment->next;
            moment->next = NULL;
            *end = moment;
            end = &moment->next;
        } else {
            link = &moment->next;
        }
    }
    return taken;
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
            wait_for(core, pe, task, true, first ? current : time, -1);
        } else {
            note_lost(state);
        }
    } else if (time < current) {
        set_active(pe, task, time);
    }
    touch(core, pe);
}

/* Activates a task that was picked at a time by what has waited behind that. */
void activate_later(struct core *core, struct pe *pe, uint32_t task, cycle time) {
    struct moment *waiting = take_moments(pe, task, true);
    while (waiting != NULL) {
        struct moment *next = waiting->next;
        if (waiting->time >= time) {
            activate(core, pe, task, waiting->time, true);
        } else {
            note_lost(activations_of(pe, task));
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
        wait_for(core, pe, task, false, current > time ? current : time, pe->clock);
    }
}

/* Unblocks a task that was blocked at a time by what has waited behind that. */
void unblock_later(struct core *core, struct pe *pe, uint32_t task, cycle time) {
    struct moment *waiting = take_moments(pe, task, false);
    while (waiting != NULL) {
        struct moment *next = waiting->next;
        if (waiting->time > time) {
            task_unblock(core, pe, task, waiting->time, true);
        }
        pool_give(&core->moments, waiting);
        waiting = next;
    }
}

