/* Races: accesses to memory that asynchronous operations in flight read or write. What is called where `races` is set. */
#ifndef LOOM_RACES_H
#define LOOM_RACES_H

#include "machine.h"

/* Words of memory that an operand of an operation touches, from `low` up to `high` */
struct range {
    int64_t low, high;
    bool writes, is_line; /* all words from `low` up to `high` */
    int64_t count;        /* elements of the walk, if it is no line */
    struct descriptor walk;
};

/* An access while an operation was in flight whose end was not known */
struct late {
    cycle time;
    uint32_t code, task, where;
    int64_t values[6];
};

/* An asynchronous operation, from its issue until its end is seen */
struct flight {
    const void *key; /* the open operation, or the send that waits; NULL when its end is known */
    cycle done;      /* NEVER: not known */
    uint64_t joins;  /* of its PE when it was issued */
    uint32_t operation, task, where;
    uint32_t unblocks; /* the task that its end unblocks, or NO_ROW */
    bool fills; /* it receives into memory, which is its first range */
    uint32_t range_count;
    struct range ranges[MAX_OPERANDS];
    struct late *lates;
    uint64_t late_count, late_room;
};

/* What is in flight on a PE. `joins` counts what the main thread of tasks may have learnt from outside: of starts of tasks
 * that wavelets, completions and hosts cause, and of ends of operations that take
 * wavelets and that tasks wait for. */
struct pe_races {
    struct flight *flights;
    uint64_t count, room, joins;
    uint8_t *unwritten; /* a byte for each word from `first_word` on, up to `last_word`: 1 if nothing has written it */
    int64_t first_word, last_word;
    int64_t *left; /* how many of them are 1 */
    uint32_t unblocked_at, unblocked_by; /* since the last launch: the source place, or 0, and the task */
};

void prepare_races(struct core *core);
void prepare_unwritten(struct core *core, const struct unwritten *classes);
void free_races(struct core *core);
void check_element(struct core *core, struct pe *pe, int64_t address, uint32_t bytes, bool writes, uint32_t where,
                   cycle now);
void check_operands(struct core *core, struct pe *pe, const struct operation *operation,
                    const struct operand_state *operands, uint32_t where, cycle now, int64_t count, bool receives);
void check_quick(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                 uint32_t where, cycle issued, int how);
void check_start(struct core *core, struct pe *pe, const struct task *task, cycle begin);
void bind_flight(struct core *core, const struct pe *pe, const void *key);
void bind_send(struct core *core, struct pe *pe, const struct send *send);
void end_flight(struct core *core, struct pe *pe, const void *key, cycle done);
void settle_races(struct core *core, cycle until);

static inline struct pe_races *races_of(const struct core *core, const struct pe *pe) {
    return &core->races[pe->number];
}

/* Returns true if an operation in memory has to be checked. */
static inline bool has_to_look(const struct core *core, const struct pe *pe) {
    const struct pe_races *here = races_of(core, pe);
    return here->count > 0 || *here->left > 0;
}

/* Notes that a task starts: one that only instructions of its PE activate has learnt nothing from outside. */
static inline void race_start(struct core *core, struct pe *pe, const struct task *task, cycle begin) {
    if (task->flags & COMPLETION_UNBLOCKS && races_of(core, pe)->count > 0) {
        check_start(core, pe, task, begin);
    }
    bool is_local = task->type == LOCAL_TASK && !(task->flags & (COMPLETION_ACTIVATES | COMPLETION_UNBLOCKS));
    races_of(core, pe)->joins += !is_local;
    if (task->type == LAUNCH_TASK) {
        races_of(core, pe)->unblocked_at = 0;
    }
}

#endif
