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

/* Words that an operation touches, all of them from `low` up to `high` */
struct touched {
    int32_t low, high;
    uint8_t count;
    bool writes;                        /* some of them */
    struct range ranges[MAX_OPERANDS];
    struct walked walks[MAX_OPERANDS];  /* of those that are no lines */
    uint16_t held[MAX_OPERANDS];        /* 1 + the place of the register that holds an operand; 0: none */
};

/* An access while an operation was in flight whose end was not known */
struct late {
    cycle time;
    uint32_t code, task, where, flight; /* its number */
    int64_t values[6];
};

/* An asynchronous operation, from its issue until its end is seen. What all accesses are compared with is first. */
struct flight {
    cycle done;        /* NEVER: not known */
    int32_t low, high; /* all its words are between these */
    uint32_t joins;    /* of its PE when it was issued, or when its microthread, blocked then, was unblocked */
    uint8_t writes : 1;  /* some of its words */
    uint8_t is_line : 1; /* it touches all its words with one operand, and uses no registers; else `touched` says it */
    uint8_t fills : 1;   /* it receives into memory */
    uint16_t alone_on; /* the place of the queue it receives from, if it fills memory, nobody waits for it, and nothing has
                        * come behind it; or NO_QUEUE */
    uint16_t unblocks; /* the task of the class that its end unblocks, or NO_TASK */
    uint16_t task;     /* of the class, or NO_TASK */
    uint32_t operation, where;
    uint32_t number;   /* of all of its PE */
    const void *key;   /* the open operation, the send that waits, or the queue in which it waits in short; NULL when its
                        * end is known */
};

enum { OWN_FLIGHTS = 8, SEEN = 16, NO_QUEUE = 0xFFFF };

/* What is in flight on a PE. `joins` counts what the main thread of tasks may have learnt from outside: of starts of tasks
 * that wavelets, completions and hosts cause, and of ends of operations that take wavelets and that tasks wait for. Those
 * that are over, as the tasks may know, are left in the list until it is looked at. The first cache line is all
 * that most accesses need. */
struct pe_races {
    int32_t low, high;                 /* what is in flight uses no words but those between these */
    int32_t written_low, written_high; /* the same of what writes some of its words */
    int32_t marked_low, marked_high;   /* the same of words that nothing has written, and of the command word */
    uint32_t count, open;              /* in flight, and of these the ends that are not known */
    uint32_t joins;
    uint16_t alone;                    /* those in flight whose `alone_on` is a queue */
    uint16_t most;                     /* in flight until the list is looked at for those that are over */
    cycle latest;                      /* end of all that have ended */
    struct flight *flights;
    int64_t *left;                     /* words that nothing has written: how many */

    uint32_t seen[SEEN]; /* 1 + numbers of applications whose words, which the code names, are known to be written, by
                          * their last bits */

    struct touched *touched; /* of each place of `flights`; NULL as long as all are lines */
    uint64_t room, touched_room;
    uint8_t *unwritten; /* a byte for each word from `first_word` on, up to `last_word`: 1 if nothing has written it */
    int64_t first_word, last_word;
    struct late *lates;
    uint64_t late_count, late_room;
    int64_t command_word; /* that lets the host go on */
    uint32_t unblocked_at, unblocked_by; /* since the last launch: the source place, or 0, and the task */
    uint32_t issued;
    struct flight own[OWN_FLIGHTS];
};

void prepare_races(struct core *core);
void prepare_unwritten(struct core *core, const struct unwritten *classes);
void free_races(struct core *core);
void check_words(struct core *core, struct pe *pe, int64_t low, int64_t high, bool writes, uint32_t where, cycle now);
void check_operands(struct core *core, struct pe *pe, const struct operation *operation,
                    const struct operand_state *operands, uint32_t where, cycle now, int64_t count, bool receives);
void begin_flight(struct core *core, struct pe *pe, const void *key, const struct operation *operation,
                  const struct operand_state *operands, uint32_t where, uint32_t task, int64_t count);
void check_quick(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                 uint32_t where, cycle issued, int how);
void check_computed(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                    uint32_t where, cycle now);
void check_move(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                uint32_t where, cycle issued, int how);
void comes_behind(struct pe_races *here, uint16_t place);
bool check_sum(const struct core *core, const struct pe *pe, const uint8_t *to, const uint8_t *base,
               const uint8_t *const *vectors, uint32_t vector_count, uint32_t bytes, cycle now);
/* Returns true if an operation in memory may touch words of one in flight, one of which writes; `streams` has NULL for
 * numbers. */
bool may_meet_any(const struct core *core, const struct pe *pe, const struct descriptor *const streams[], int sources);
void check_start(struct core *core, struct pe *pe, const struct task *task, cycle begin);
void check_load(struct core *core, struct pe *pe, uint32_t row, uint32_t where, cycle now);
void bind_flight(struct core *core, const struct pe *pe, const void *key);
void rename_flight(struct core *core, const struct pe *pe, const void *key, const void *other);
void bind_send(struct core *core, struct pe *pe, const struct send *send);
void end_flight(struct core *core, struct pe *pe, const void *key, cycle done);
void settle_races(struct core *core, cycle until);

static inline struct pe_races *races_of(const struct core *core, const struct pe *pe) {
    return &core->races[pe->number];
}

static inline void forget_bounds(struct pe_races *here) {
    here->low = here->written_low = INT32_MAX;
    here->high = here->written_high = INT32_MIN;
}

/* Returns true if an element that scalar code reads or writes has to be looked at. */
static inline bool is_watched(const struct pe_races *here, int64_t low, int64_t high) {
    return (low < here->high && here->low < high) || (low < here->marked_high && here->marked_low < high);
}

/* Looks at an element that scalar code reads or writes. */
static inline void check_element(struct core *core, struct pe *pe, int64_t address, uint32_t bytes, bool writes,
                                 uint32_t where, cycle now) {
    int64_t low = address / 2, high = (address + bytes + 1) / 2;
    if (is_watched(races_of(core, pe), low, high)) {
        check_words(core, pe, low, high, writes, where, now);
    }
}

/* Returns true if operations in memory have to be checked. */
static inline bool has_to_look(const struct core *core, const struct pe *pe) {
    const struct pe_races *here = races_of(core, pe);
    return here->count > 0 || *here->left > 0;
}

/* Returns where a PE notes that all words of an application are known to be written. */
static inline uint32_t *seen_at(struct pe_races *here, uint32_t application) { return &here->seen[application % SEEN]; }

/* Returns true if an operation in memory has to be checked that the code applies. */
static inline bool has_to_look_at(const struct core *core, const struct pe *pe, const struct application *application) {
    struct pe_races *here = races_of(core, pe);
    uint32_t number = (uint32_t)(application - core->applications);
    return here->count > 0 || (*here->left > 0 && *seen_at(here, number) != number + 1);
}

/* Notes that a task starts: one that only instructions of its PE activate has learnt nothing from outside. */
static inline void race_start(struct core *core, struct pe *pe, const struct task *task, cycle begin) {
    struct pe_races *here = races_of(core, pe);
    const bool are_over = here->open == 0 && here->latest <= begin;
    const bool completes = task->flags & (COMPLETION_ACTIVATES | COMPLETION_UNBLOCKS);
    if (!are_over && task->flags & COMPLETION_UNBLOCKS && here->count > 0) {
        check_start(core, pe, task, begin);
    }
    if (task->type != LOCAL_TASK && here->alone > 0) {
        comes_behind(here, task->type == DATA_TASK ? task->queue : NO_QUEUE);
    }
    if (task->type != LOCAL_TASK || completes) {
        here->joins++;
        if (are_over && here->count > 0 && here->alone == 0) {
            here->count = 0;
            forget_bounds(here);
        }
    }
    if (task->type == LAUNCH_TASK) {
        here->unblocked_at = 0;
    }
}

#endif
