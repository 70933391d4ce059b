/* Message networks: colors that carry whole messages between any two PEs of the grid. */
#ifndef LOOM_MESSAGES_H
#define LOOM_MESSAGES_H

#include "machine.h"

/* A link from a router to its neighbor, or the ramp down to its PE */
struct link {
    struct worm *holder, *waiting, *last_waiting;
    uint32_t pe;
    uint8_t port;
};

/* The way of a message: a link, the port of its router by which the head comes, and when it does */
struct leg {
    struct link *link;
    cycle head;
    uint8_t came_by;
};

/* A message on its way. Its own times are cycles from when its address is at its sender's router. */
struct worm {
    struct worm *next, *previous; /* all of the network */
    struct worm *behind;          /* that waits for the same link */
    struct network *network;
    struct payload *payload; /* its elements */
    const uint32_t *words;
    struct send *send; /* that ends when it has left; may be NULL */
    cycle start, rate;
    cycle lag;   /* what it has waited for links */
    cycle stops; /* when it stalls, because its receiver's queue is full */
    cycle pause; /* for how long, if that `is_known` */
    uint32_t source, target, header, count, where;
    uint32_t legs, heads, releases; /* its links; those that its head has come to, and its end has left */
    uint32_t waits_at;              /* link that its head waits for, or NO_ROW */
    bool is_known, is_planned, is_delivered;
    struct leg way[];
};

/* Wavelets taken from a queue: `count` from number `first` on, at `time` and every `rate` cycles */
struct taking {
    int64_t first, count;
    cycle time, rate;
};

/* What the input queue of a PE has been given and what has been taken, counted from the first wavelet on */
struct inbox {
    int64_t given, taken, room;
    uint32_t place; /* of the queue */
    struct taking *times;
    uint64_t first, count, room_for_times;
    struct worm *worm; /* the message that waits for room */
};

/* The part of a message that a run holds: wavelets from number `first` on */
struct piece {
    struct worm *worm;
    struct inbox *inbox;
    int64_t first;
};

/* Wavelets of a message whose end has not been sent */
struct begun {
    uint64_t count;
    uint32_t front[2];
};

struct network {
    uint32_t color;
    const int32_t *readers; /* input queue of each PE that gets messages, or -1 */
    struct link **links;    /* by PE, those of all ports */
    struct inbox **inboxes; /* by PE */
    struct begun *begun;    /* by PE */
    struct worm *first, *last;
};

struct networks {
    struct network *all;
    uint32_t count;
    uint64_t events;
    struct pool pieces;
};

#endif
