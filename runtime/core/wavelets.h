/* Wavelets on their way: runs, the ways that they go by with their credits, and sends that wait for room. */
#ifndef LOOM_WAVELETS_H
#define LOOM_WAVELETS_H

#include "constants.h"

struct payload {
    uint32_t references, room;
    uint32_t words[];
};

/* Some wavelets of one sender, of which `taken` are consumed. Wavelet k is there at `first` + k * `rate`. */
struct run {
    struct run *next;
    struct payload *payload; /* NULL: they are still in the sender's memory */
    const uint8_t *at;       /* the first of all, `step` bytes before the second */
    union {
        struct path *path;   /* NULL: from a host, or of a FIFO */
        struct piece *piece; /* if `is_piece`: its message, which follows how many are taken */
        struct entry *entry; /* if `is_entered` */
    };
    cycle first;
    uint64_t origin; /* of runs that are there in one cycle the one with the smaller comes first */
    int32_t step;
    uint32_t rate, count, taken, sender;
    uint8_t is_piece;      /* it is part of a message of a network */
    uint8_t is_entered;    /* it has come to a queue in which senders meet */
    uint8_t size, control; /* `size`: 2 if the sender's memory has elements of 16 bits, 0 of places in a FIFO */
};

/* Wavelets that a receiver has taken: one every `rate` cycles from `first` on */
struct takes {
    cycle first;
    uint32_t rate, count;
};

/* A send that may not end before wavelet `ahead` of those that have not been taken is */
struct claim {
    struct claim *next;
    struct send *send;
    uint32_t ahead;
    uint8_t is_own; /* it is part of the send */
};

/* Takes before the last, a ring: `sum` wavelets in all */
struct older_takes {
    uint32_t first, count, room, sum;
    struct takes takes[];
};

/* What a way from an output queue to an input queue holds */
struct path {
    struct claim *claims;
    cycle leaves;      /* own time of the last wavelet that has been handed over */
    struct takes last; /* and those before it, while they may matter */
    uint32_t pending;  /* wavelets that have been handed over and not taken */
    uint32_t capacity, back;
    struct waiters *waiters;   /* go on when a wavelet is taken; or NULL */
    struct older_takes *older; /* in a payload, or NULL */
    struct path *next;         /* of other senders to the same queue */
    uint64_t origin;           /* the sender */
};

/* What waits for a way to have room */
struct waiters {
    struct pe *held; /* looks again at its queue `held_place`; or NULL */
    uint32_t held_place;
    struct multicast *multicasts;
};

/* Of a sender that is not the first to its queue. They follow each other from the second sender on, which is the root of
 * a tree of them too, in the order of `mixed` origins. */
struct other_path {
    struct path path;
    struct other_path *before, *behind;
};

/* A wavelet that has come to a queue in which senders meet, and has found no room */
struct newcomer {
    struct newcomer *next;
    struct path *way; /* by which it has come, or NULL */
    cycle time;
};

/* The words of a queue in which senders meet, which they share: a way holds the others alone, and a wavelet gives its
 * place there back when it enters the queue. They enter in the order in which they come. */
struct entry {
    struct path words; /* `pending` have entered and not been taken */
    struct newcomer *first, *last;
};

/* A send by several ways, or to where senders meet, which may be full; one of the host to there; or the place of a router
 * among what waits for a way */
struct multicast {
    struct multicast *next; /* that waits for the same way */
    struct router *router;  /* or NULL */
    struct path *host;      /* the way by which the host sends to `queue` of `pe`; NULL: `pe` sends by that */
    struct pe *pe;
    const struct queue *queue;
    struct send *send; /* NULL if the host sends */
    struct run run; /* `taken` of it are handed over */
    bool transforms; /* what is marked leaves as control wavelets */
};

/* A send that is not sure to find room */
struct send {
    struct send *next, *previous; /* all of the core */
    struct pe *pe;
    const struct operation *operation;
    uint32_t where, task, count;
    uint32_t queue;  /* row */
    int32_t waiting; /* receivers that have not made room yet */
    struct claim claim; /* on the first of its ways that may be full */
    cycle since;        /* when it was issued */
    cycle done;         /* its end as far as known */
    cycle tail;         /* cycles from when its last wavelet leaves to its end, if it ends behind that */
    cycle unheld;       /* its end if nothing holds it back */
    cycle blocked;      /* cycles that its elements have waited for its microthread to be unblocked */
    uint8_t settled, is_sync, is_pooled, is_claiming; /* it has used its own claim */
};

struct way {
    int32_t offset;
    uint32_t queue, latency;
    uint32_t port; /* of the receiver's router, by which wavelets come */
    uint32_t back, capacity;
    uint32_t meets; /* others send to the queue as well */
};

/* Wavelets that come to a queue of a PE */
struct arrival {
    struct pe *pe;
    uint32_t place;
    struct run *run;
    struct multicast *multicast; /* goes on, if there is no run; NULL: those that wait for the queue do */
};

struct arrivals {
    struct arrival *list;
    uint64_t first, count, room;
};

#endif
