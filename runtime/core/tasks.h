/* Tasks: what activates, unblocks and blocks them. */
#ifndef LOOM_TASKS_H
#define LOOM_TASKS_H

#include "order.h"

/* tasks.c */
void activate(struct core *core, struct pe *pe, uint32_t task, cycle time, bool completion);
void activate_later(struct core *core, struct pe *pe, uint32_t task, cycle time);
void unblock_again(struct core *core, struct pe *pe, uint32_t task, cycle time, bool ahead);
void unblock_later(struct core *core, struct pe *pe, uint32_t task, cycle time);
static inline cycle task_ready(const struct pe *pe, uint32_t task) {
    const struct task_state *state = &pe->tasks[task];
    return state->active > state->unblocked ? state->active : state->unblocked;
}
/* The bit of a task in masks, 0 of one that has none */
static inline uint64_t task_bit(uint32_t task) { return (uint64_t)(task < MASKED_TASKS) << task % MASKED_TASKS; }
static inline void set_active(struct pe *pe, uint32_t task, cycle time) {
    pe->tasks[task].active = time;
    if (time < NEVER) {
        pe->active |= task_bit(task);
    } else {
        pe->active &= ~task_bit(task);
    }
}

/* Tasks in the frequent case, where nothing waits behind anything: tasks.c has the others */

static inline struct activations *activations_of(const struct pe *pe, uint32_t task) {
    int place = pe->class->tasks[task].activations;
    return place < 0 ? NULL : &activations_at(pe)[place];
}

static inline struct unblockings *unblockings_of(const struct pe *pe, uint32_t task) {
    int place = pe->class->tasks[task].unblockings;
    return place < 0 ? NULL : &unblockings_at(pe)[place];
}

/* Notes in a mask of tasks that one operation more (1) or less (-1) may change a task, of `may` that still may. */
static inline void note_may(uint64_t *tasks, uint64_t bit, uint32_t may, int change) {
    if (change > 0) {
        *tasks |= bit;
    } else if (may == 0) {
        *tasks &= ~bit;
    }
}

static inline void may_activate(struct pe *pe, struct activations *state, uint64_t bit, int change) {
    state->may = (state->may + (uint32_t)change) & MAX_MAY;
    note_may(&pe->may_activate, bit, state->may, change);
}

static inline void may_unblock(struct pe *pe, struct unblockings *state, uint64_t bit, int change) {
    state->may += (uint32_t)change;
    note_may(&pe->may_unblock, bit, state->may, change);
}

/* Notes that a task may, or may no longer, be activated or unblocked by the end of one more operation. */
static inline void expect(struct pe *pe, uint16_t activate, uint16_t unblock, int change) {
    if (activate != NO_TASK) {
        struct activations *state = activations_of(pe, activate);
        assert(state != NULL);
        may_activate(pe, state, task_bit(activate), change);
    } else if (unblock != NO_TASK) {
        struct unblockings *state = unblockings_of(pe, unblock);
        assert(state != NULL);
        may_unblock(pe, state, task_bit(unblock), change);
    }
}

/* Notes that an operation whose end changes tasks has started (1) or ended (-1). */
static inline void expect_completion(struct pe *pe, const struct operation *operation, int change) {
    const struct completion *completion = &operation->completion;
    if (completion->known != 0 && completion->activates) {
        may_activate(pe, part_at(pe, completion->known), completion->bit, change);
    } else if (completion->known != 0) {
        may_unblock(pe, part_at(pe, completion->known), completion->bit, change);
    }
    if (operation->has_control) {
        expect(pe, operation->control_activate, operation->control_unblock, change);
    }
}

/* Notes that a task is activated which is active, and so starts once for both. */
static inline void note_lost(struct activations *state) {
    if (state->lost < MAX_LOST) {
        state->lost++;
    }
}

static inline void task_activate(struct core *core, struct pe *pe, uint32_t task, cycle time) {
    if (pe->tasks[task].active == NEVER && pe->class->tasks[task].activations < 0) {
        set_active(pe, task, time);
        touch(core, pe);
    } else {
        activate(core, pe, task, time, false);
    }
}

static inline void task_pick(struct core *core, struct pe *pe, uint32_t task, cycle time) {
    set_active(pe, task, NEVER);
    struct activations *state = activations_of(pe, task);
    if (state != NULL) {
        state->picked = time;
        if (pe->later != NULL) {
            activate_later(core, pe, task, time);
        }
    }
}

/* Notes that a task is blocked at a time; `place` is that of what is known of the completions that unblock it, or -1. */
static inline void block_at(struct core *core, struct pe *pe, uint32_t task, int place, cycle time) {
    struct task_state *times = &pe->tasks[task];
    times->unblocked = times->unblocked <= time ? NEVER : times->unblocked;
    if (place >= 0) {
        unblockings_at(pe)[place].blocked = time;
        if (pe->later != NULL) {
            unblock_later(core, pe, task, time);
        }
    }
}

/* Unblocks a task from a time on. `ahead`: a completion does it, which may be later than what the PE does next. */
static inline void task_unblock(struct core *core, struct pe *pe, uint32_t task, cycle time, bool ahead) {
    if (!(pe->class->tasks[task].flags & BLOCKABLE)) {
        return;
    }
    if (pe->tasks[task].unblocked == NEVER) {
        pe->tasks[task].unblocked = time;
    } else {
        unblock_again(core, pe, task, time, ahead);
    }
    touch(core, pe);
}

static inline void task_block(struct core *core, struct pe *pe, uint32_t task, cycle time) {
    if (!(pe->class->tasks[task].flags & BLOCKABLE)) {
        return;
    }
    block_at(core, pe, task, pe->class->tasks[task].unblockings, time);
}

/* Activates or unblocks a task by the end of an operation. It may be known only after the task was picked, or blocked, at
 * a later cycle: then it has had its effect before. */
static inline void task_complete(struct core *core, struct pe *pe, uint32_t task, cycle time, bool activates) {
    if (activates) {
        assert(activations_of(pe, task) != NULL);
        struct activations *known = activations_of(pe, task);
        if (known->picked > time) {
            note_lost(known);
        } else {
            activate(core, pe, task, time, true);
        }
    } else {
        assert(unblockings_of(pe, task) != NULL);
        if (!(unblockings_of(pe, task)->blocked >= time)) {
            task_unblock(core, pe, task, time, true);
        }
    }
}

/* The same of the task that an operation names. */
static ALWAYS_INLINE void complete_task(struct core *core, struct pe *pe, const struct completion *completion, cycle time) {
    if (completion->activates) {
        struct activations *known = part_at(pe, completion->known);
        if (known->picked > time) {
            note_lost(known);
        } else {
            activate(core, pe, completion->task, time, true);
        }
        return;
    }
    const struct unblockings *known = part_at(pe, completion->known);
    if (known->blocked >= time || completion->is_void) {
        return;
    }
    struct task_state *state = part_at(pe, completion->state);
    if (state->unblocked == NEVER) {
        state->unblocked = time;
    } else {
        unblock_again(core, pe, completion->task, time, true);
    }
    touch(core, pe);
}

/* Lets the end of an operation at a time change the tasks that it names. */
static inline void signal_end(struct core *core, struct pe *pe, const struct operation *operation, cycle time,
                              bool by_control) {
    if (by_control && operation->control_activate != NO_TASK) {
        task_complete(core, pe, operation->control_activate, time, true);
    } else if (by_control && operation->control_unblock != NO_TASK) {
        task_complete(core, pe, operation->control_unblock, time, false);
    } else if (!by_control && operation->completion.known != 0) {
        complete_task(core, pe, &operation->completion, time);
    } else if (time > core->latest) {
        assert(by_control || (operation->activate == NO_TASK && operation->unblock == NO_TASK));
        core->latest = time;
    }
}

#endif
