/* Findings: what goes wrong in a program, or may: findings.c */
#ifndef LOOM_FINDINGS_H
#define LOOM_FINDINGS_H

#include "constants.h"

/* Findings: numbers of runtime/findings.py */
enum {
    ADDRESS_OUTSIDE = 1, ADDRESS_ODD, INDEX_OUTSIDE_MEMORY, DIVISION_BY_ZERO, ASSERTION, FAILURE, STACK_FULL,
    STEP_LIMIT, FLOAT_EXCEPTION, DIRECTIVES_DIFFER, DESCRIPTOR_SHAPE,
    REGISTER_EMPTY = 16, REGISTER_WITHOUT_FIFO, REGISTER_WIDTH,
    WALK_OUTSIDE_MEMORY = 24, USES_QUEUE, USES_MICROTHREAD, USES_FIFO, SENDS_WITHOUT_COLOR, SENDS_LOST,
    RECEIVES_WITHOUT_COLOR = 31, RECEIVES_TWICE, RECEIVES_MIXED_LANES, FIFO_FAULT, FIFO_IN_REGISTER, WALK_TOO_LONG,
    MESSAGE_EMPTY = 40, MESSAGE_TOO_LONG, MESSAGE_WITHOUT_FRONT, MESSAGE_OFF_GRID, MESSAGE_TO_NOBODY, MESSAGE_DOES_NOT_FIT,
    MESSAGE_BLOCKED,
    CONTROL_TASK_MISSING = 48, SWITCHES_LOOP, TEARDOWN, TEARDOWN_UNHANDLED, REGISTER_UNKNOWN, SWITCH_POSITION_MISSING,
    COLOR_NOT_TAKEN,
    FLUSHED_TWICE, FLUSH_UNHANDLED, FILTER_MISSING, MICROTHREAD_MISSING,
    FIRST_WARNING = 64,
    INDEX_OUTSIDE = 64, ODD_LOAD, ODD_STORE, ODD_WALK, WALK_LEAVES_BUFFER, SENDS_SWALLOWED, RECEIVES_UNROUTED,
    TASK_MAY_TAKE, LAST_ELEMENT_LOST, ELEMENTS_CUT, INDEX_TOO_WIDE = 75, USED_IN_FLIGHT, UNBLOCKS_EARLY = 78,
    READS_UNWRITTEN, UNBLOCKS_AGAIN, SUMS_UNWRITTEN, STARTS_UNBLOCKED = 84, RELOADED_IN_FLIGHT, SENDS_OFF_GRID,
};

struct finding {
    uint32_t code, pe, task, where;
    cycle cycle;
    int64_t values[6];
};

/* findings.c */
enum { TOLD = UINT32_MAX };
void warn(struct core *core, struct pe *pe, uint32_t code, uint32_t task, uint32_t where, const int64_t *values,
          int count);
void fail(struct core *core, struct pe *pe, uint32_t code, uint32_t task, uint32_t where, const int64_t *values,
          int count);
#define VALUES(...) (const int64_t[]){__VA_ARGS__}, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
void note_error(struct core *core, const struct finding *finding);
bool is_before(const struct finding *a, const struct finding *b);
uint64_t take_warnings(struct core *core, cycle until, struct finding *findings);

#endif
