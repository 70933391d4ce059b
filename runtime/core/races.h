/* Races: accesses to memory that asynchronous operations in flight read or write. What is called where `races` is set. */
#ifndef LOOM_RACES_H
#define LOOM_RACES_H

#include "machine.h"

/* Words of memory that an operand of an operation touches, from `low` up to `high`: all of them if it is a line, else
 * those of `count` elements of a walk. Those of walks that leave memory are cut. */
struct range {
    int32_t low, high;
    bool writes, is_line;
    bool is_fifo; /* the memory of a FIFO, which two operations on it use at once */
};
struct walked {
    int64_t count;
    struct descriptor walk;
};

/* An access while an operation was in flight whose end was not known */
struct late {
    cycle time;
    uint32_t code, task, where;
    int64_t values[6];
};

/* An asynchronous operation, from its issue until its end is seen. Two lines of a cache; what all accesses are compared
 * with is first. */
struct flight {
    cycle done;        /* NEVER: not known */
    int32_t low, high; /* all its ranges are between these words */
    uint32_t joins;    /* of its PE when it was issued */
    uint8_t range_count;
    bool fills;     /* it receives into memory, which is its first range */
    bool has_walks; /* some ranges are no lines: the walks are in `walks` of its PE, at its place */
    const void *key; /* the open operation, or the send that waits; NULL when its end is known */
    uint32_t operation, task, where;
    uint32_t unblocks; /* the task that its end unblocks, or NO_ROW */
    uint32_t alone_on; /* the queue it receives from, if it fills memory, nobody waits for it, and nothing has come behind
                        * it; or NO_ROW */
    bool is_waited_for;
    struct range ranges[MAX_OPERANDS];
    uint16_t held[MAX_OPERANDS]; /* 1 + the place of the register that holds an operand; 0: none */
    struct late *lates;
    uint64_t late_count, late_room;
};

/* What is in flight on a PE. `joins` counts what the main thread of tasks may have learnt from outside: of starts of tasks
 * that wavelets, completions and hosts cause, and of ends of operations that take
 * wavelets and that tasks wait for. */
struct pe_races {
    struct flight *flights;
    uint64_t count, room;
    uint32_t joins;
    struct walked *walks; /* MAX_OPERANDS for each place of `flights` */
    uint8_t *unwritten; /* a byte for each word from `first_word` on, up to `last_word`: 1 if nothing has written it */
    int64_t first_word, last_word;
    int64_t low, high; /* what is in flight uses no words but those between these */
    int64_t command_word; /* that lets the host go on */
    int64_t *left; /* how many of them are 1 */
    uint32_t unblocked_at, unblocked_by; /* since the last launch: the source place, or 0, and the task */
};

void prepare_races(struct core *core);
void prepare_unwritten(struct core *core, const struct unwritten *classes);
void free_races(struct core *core);
void check_words(struct core *core, struct pe *pe, int64_t low, int64_t high, bool writes, uint32_t where, cycle now);
void check_operands(struct core *core, struct pe *pe, const struct operation *operation,
                    const struct operand_state *operands, uint32_t where, cycle now, int64_t count, bool receives);
void check_quick(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                 uint32_t where, cycle issued, int how);
void check_move(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                uint32_t where, cycle issued, int how);
void check_start(struct core *core, struct pe *pe, const struct task *task, cycle begin);
void comes_behind(struct core *core, const struct pe *pe, uint32_t queue);
void check_load(struct core *core, struct pe *pe, uint32_t row, uint32_t where, cycle now);
void bind_flight(struct core *core, const struct pe *pe, const void *key);
void rename_flight(struct core *core, const struct pe *pe, const void *key, const void *other);
void bind_send(struct core *core, struct pe *pe, const struct send *send);
void end_flight(struct core *core, struct pe *pe, const void *key, cycle done);
void settle_races(struct core *core, cycle until);

static inline struct pe_races *races_of(const struct core *core, const struct pe *pe) {
    return &core->races[pe->number];
}

/* Looks at an element that scalar code reads or writes. */
static inline void check_element(struct core *core, struct pe *pe, int64_t address, uint32_t bytes, bool writes,
                                 uint32_t where, cycle now) {
    const struct pe_races *here = races_of(core, pe);
    int64_t low = address / 2, high = (address + bytes + 1) / 2;
    if ((low < here->high && here->low < high) || (low < here->last_word && here->first_word < high) ||
        (writes && low == here->command_word)) {
        check_words(core, pe, low, high, writes, where, now);
    }
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
    if (task->type != LOCAL_TASK && races_of(core, pe)->count > 0) {
        comes_behind(core, pe, task->type == DATA_TASK ? task->row->queue : NO_ROW);
    }
    bool is_local = task->type == LOCAL_TASK && !(task->flags & (COMPLETION_ACTIVATES | COMPLETION_UNBLOCKS));
    races_of(core, pe)->joins += !is_local;
    if (task->type == LAUNCH_TASK) {
        races_of(core, pe)->unblocked_at = 0;
    }
}

#endif
