/* Partitions of the grid, which threads work on at the same time. */
#ifndef LOOM_PARTITIONS_H
#define LOOM_PARTITIONS_H

#include "machine.h"
#include "threads.h"

struct partitions {
    struct core **cores; /* of each partition; the first is what the host knows */
    uint32_t count, threads;
    uint64_t parallel_from; /* PEs to visit from which partitions work at the same time */
    bool by_columns;        /* strips of columns, not of rows */
    uint32_t *tiles;        /* the first of each; its last is that of the PEs at its border */
    cycle present;          /* when all partitions pick what they pick now, or -1 */
    cycle looked_at;        /* the last time for which it was asked how many do */
    struct crew *crew;      /* once several have had work at the same time */
    struct finding error;   /* that has ended the run */
    cycle settled;          /* all that begins up to here has happened */
};

/* The pools of a core, as a list */
#define POOLS(core)                                                                                                    \
    &(core)->runs, &(core)->opens, &(core)->send_pool, &(core)->moments, &(core)->earlies, &(core)->arrivals,          \
        &(core)->paths, &(core)->claims, &(core)->waiters, &(core)->multicasts, &(core)->entries, &(core)->newcomers,          \
        &(core)->turns, &(core)->works

#endif
