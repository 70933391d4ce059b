/* What Python gives the core when it makes a machine: records of core.py. */
#ifndef LOOM_INPUTS_H
#define LOOM_INPUTS_H

#include "constants.h"

struct timing {
    int64_t hop, turn, inject, forward, ramp, task_start, memory_setup, send_setup, receive_setup, register_setup;
    int64_t async_issue, read_words, reduction;
};

/* Of a DSD operation: sources, if it is a move, words of the destination, numerator and denominator of the cycles of an
 * element, kinds of the operands. */
enum { DSD_FIELDS = 10 };

/* What is counted of an operation: how often it is issued in memory, to send, to receive or with a FIFO, or with all its
 * descriptors in registers, and elements. */
enum { ISSUED_IN_MEMORY, ISSUED_TO_SEND, ISSUED_TO_RECEIVE, ISSUED_IN_REGISTERS, ISSUED_ELEMENTS, ISSUE_FIELDS };

/* A color whose wavelets go from router to router: the arrays of its routers are those of runtime/fabric */
struct switched_input {
    const uint8_t *receive, *transmit, *valid, *ring, *pop_mode, *current, *senders, *crowded;
    const uint8_t *swap; /* NULL if it swaps with none, and none with it */
    const uint8_t *filter_kind, *filter_flags; /* NULL if it has no filters */
    const int32_t *filter_numbers;
    const uint16_t *held; /* wavelets that the link to each port holds */
    const int32_t *readers;
    const uint8_t *sets, *teardown;
    uint64_t layers, color, changes;
    int64_t other; /* the color that it swaps with, or -1 */
};

/* Configuration registers: targets.model.Registers; `end` is behind the last, and there are so many `colors_count` */
struct registers_input {
    uint32_t start, end, colors, colors_count, switches, positions[3], position_count, teardown_pending, teardown_task;
    uint32_t queues, input_queues, output_queues, flush_poll;
    uint32_t filters, filter_count;
    uint32_t settings;
    uint32_t queue_priorities, queue_priority_count;
    uint32_t clock;
};

/* How the floating point exceptions of an operation are computed; 0 if it has none */
enum {
    RAISES_ADD = 1, RAISES_SUBTRACT, RAISES_MULTIPLY, RAISES_MULTIPLY_ADD, RAISES_DIVIDE, RAISES_POWER, RAISES_POLE,
    RAISES_SQRT, RAISES_SCALE, RAISES_CONVERT, RAISES_OTHER,
};
/* A scalar operation whose exceptions are looked for: registers, and kinds of what they hold */
struct trap {
    uint16_t class, source, kind, is_integer, count, operands[MAX_SOURCES], result;
};

/* Words of memory that nothing has written, of a class: runtime/unwritten.py. `words` has `count` bytes for each unit, from
 * word `first` on, and `left` says how many of them are 1. */
struct unwritten {
    uint8_t *words;
    int64_t *left, first, count;
};

/* What a core is made from, all of which outlives it: the arrays are those of runtime/fabric. */
struct core_input {
    const struct tables *tables;
    const int64_t *class_first;
    const int32_t *unit_pes;
    const int64_t *words;
    const int32_t *queue_class;
    const int64_t *queue_first;
    const int16_t *colors;
    const uint8_t *flags;
    const uint32_t *way_lists;
    const uint8_t *colorless;
    const int64_t *room;
    const int32_t *senders;
    const uint32_t *list_first;
    const struct way *ways;
    uint8_t *const *memory;       /* of each class */
    const uint64_t *memory_bytes; /* of a PE of each class */
    const int64_t *prices;        /* of each class of costs */
    uint64_t *ticked;             /* how often each row of costs has been charged; NULL if not counted */
    uint64_t (*issued)[ISSUE_FIELDS]; /* of each operation; NULL if not counted */
    const struct statistics_input *statistics; /* arrays for statistics; NULL if there are none */
    const struct trace_input *trace;           /* what to trace; NULL if nothing */
    const uint32_t (*dsd_rows)[DSD_FIELDS];
    const struct trap *traps;
    const struct switched_input *switched;
    const int32_t *network; /* of each queue */
    const int32_t *network_readers;
    const int64_t *stack_rooms; /* bytes for calls on a PE of each class */
    const int64_t *call_bytes;  /* that a call of each body takes */
    const uint8_t *levels;          /* of each class, as in struct class */
    const uint8_t *main_levels;
    const uint8_t *priority_levels; /* of each number of a priority */
    const uint32_t *blockable;      /* of each class, microthreads that may be blocked, as bits */
    const int64_t *command_words;   /* of each class, by which it lets its host go on; -1: none */
    const struct unwritten *unwritten; /* of each class; NULL: races are not looked for */
    struct timing timing;
    struct registers_input registers;
    uint32_t width, height, queue_count, strings, switched_count, microthreads;
    uint32_t allocations; /* for tests: the one that fails, from 1 on; 0: none */
    uint32_t partitions, threads; /* so many at most */
    uint32_t parallel_from; /* PEs to visit from which partitions work at the same time */
};

/* What to trace: events as bits, by number, and the most records to keep, 0 for all. Waits and wavelets need statistics. */
struct trace_input {
    uint64_t events, ring;
};

#endif
