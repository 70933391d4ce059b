/* Events of the heap, and epochs, in which partitions go on. */
#ifndef LOOM_EVENTS_H
#define LOOM_EVENTS_H

#include "wavelets.h"

enum { EVENT_MESSAGE = 0, EVENT_ROUTER = 1, EVENT_RUN = 2, EVENT_POLL = 3, EVENT_PICK = 4, EVENT_TURN = 5,
       EVENT_ACCESS = 6 };

struct event {
    cycle time;
    uint64_t key, number; /* `key` is kind and PE */
    void *what;
};

/* How far the PEs of a partition go, and what waits until all have come there */
struct epoch {
    cycle until; /* nothing begins later: the end of the epoch, or the cycle of an error */
    cycle first; /* that anything waits for, or NEVER */
    struct pe **pes;
    uint64_t count, room;
    struct arrivals operations; /* that pass elements on */
};

#endif
