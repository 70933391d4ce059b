/* Statistics: what PEs do with their cycles, wavelets in queues and on links. The arrays are those of
 * runtime/statistics/counts.py, which says what each counts; docs/statistics.md defines it.
 */
#ifndef LOOM_STATISTICS_H
#define LOOM_STATISTICS_H

#include "machine.h"

struct pe_counts {
    int64_t idle, background, blocked, reached;
};
struct cell_counts {
    uint64_t sent, ignored, taken;
    int64_t peak, peak_cycle, waited, waited_in_background;
};
struct line_counts {
    int64_t cycles, waited;
    uint64_t steps, issued, elements;
};

/* Arrays that Python owns */
struct statistics_input {
    struct pe_counts *pes;
    struct cell_counts *cells;
    struct line_counts *lines;
    uint64_t *routers, *messages;
    const int64_t *first; /* cell of each class; behind them the number of all */
};

/* When those wavelets were taken from a queue that may have been in it when the next one came: a ring of pieces */
struct fill {
    struct payload *block;
    struct takes *pieces;
    uint32_t first, count, room;
    int64_t wavelets; /* of all pieces */
    cycle last_there, last_taken;
};

struct statistics {
    struct statistics_input counts;
    struct fill *fills; /* by cell */
};

/* An operation that waits for an element, and then takes one every `rate` cycles */
struct waiter {
    const struct pe *pe;
    const struct operation *operation;
    uint32_t where, task;
    bool is_sync;
    cycle rate;
};
void trace_blocked(struct core *core, const struct waiter *who, cycle ready, cycle until);
void trace_wait(struct core *core, const struct waiter *who, uint32_t place, cycle ready, cycle until);
void trace_wavelets(struct core *core, const struct pe *pe, uint32_t place, uint32_t count, cycle first, cycle rate);

static inline uint64_t cell_of(const struct core *core, const struct pe *pe, uint32_t place) {
    return (uint64_t)core->statistics->counts.first[pe->class->number] + (uint64_t)pe->unit * pe->class->queue_count +
           place;
}

#endif
