/* Queues and ends of FIFOs: what the tables say of them, and their state on a PE. */
#ifndef LOOM_QUEUES_H
#define LOOM_QUEUES_H

#include "wavelets.h"

/* A move between memory and a queue that waits there alone, in short: a receive for which nothing has come, or what a send
 * has handed over and nobody has asked for. moves.c makes and ends most of them; all else spells them out first, as an
 * open operation, or as a run and a send (short_moves.c). */
struct short_move {
    cycle time; /* when the receive is ready for its next element, or the first wavelet of the send is there */
    union {
        cycle since;     /* the receive was issued */
        struct pe *from; /* the sender */
    };
    struct payload *payload; /* elements of the send; the destination of the receive if that was in a frame, else NULL */
    const struct instruction *by; /* that has issued it */
};

/* What is in an input queue: a cache line, of which a send or a receive touches nothing else of it. As long as
 * nothing but short moves needs to know of its way, that has no record: what has been taken last is here then, and the
 * rest is known from the move. */
struct input {
    union {
        struct {
            struct run *first, *last;
            struct open *waiting; /* the first that waits */
        };
        struct short_move move;
    };
    struct takes taken;       /* the last, if it has no record of its way */
    struct path *path;        /* of its first sender; the others follow; or NULL */
    uint16_t count;           /* elements of the short move in all */
    union {
        uint16_t position; /* those that its receive has */
        uint16_t way;      /* place of the way that its wavelets have come by; 0: the record of the output queue has it */
    };
    uint16_t task; /* of the class of the PE that has issued it, or NO_TASK */
    uint8_t form;  /* of what is in the queue */
    bool is_loud;  /* the PE's use of the queue is to be reported */
};
_Static_assert(sizeof(struct input) == LINE, "a cache line");
/* The last is of a send that waits for room; that of others that are handed over has ended. */
enum { SPELLED_OUT, SHORT_RECEIVE, SHORT_WAVELETS, SHORT_SEND };

/* Where an output queue leads to, if that is one queue of one sender from which operations alone take */
struct output {
    struct input *to; /* NULL: elsewhere */
    uint32_t behind;  /* bytes behind its PE at which that is */
    uint32_t way;     /* place of the way that leads to it, or of any (moves.h); 0 until it is first sent to */
};

/* An end of a FIFO on a PE */
struct side {
    cycle missed;        /* when an operation stopped because it found too little; NEVER if none did since its task started */
    int64_t lacking;     /* what it lacks since then to go on (DSD-145, DSD-148) */
    int64_t outstanding; /* elements that the last operation lacked when it stopped; 0: none */
    uint32_t set_to;     /* elements that an operation moves; 0: its other operands say */
    uint32_t next;       /* place of the next element that is pushed */
};

struct queue {
    const struct queue_row *row; /* NULL for a sink and an end of a FIFO */
    const struct fifo_row *fifo; /* NULL for others */
    uint32_t number;
    uint32_t senders;
    int64_t room;
    uint16_t task; /* NO_TASK */
    uint8_t is_input, is_colorless, is_sink;
    uint8_t is_taskless; /* an input queue from which operations alone take */
    uint8_t is_uniform;  /* no PE has flags or lacks a color */
    uint8_t is_static;   /* what it sends goes by ways alone */
    uint16_t network;    /* 1 + row of the one whose messages it sends or receives, or 0 */
    uint16_t starts;         /* of an end of a FIFO: what goes on then, or NO_TASK */
    uint8_t writes, action; /* of an end of a FIFO: 0 to read; when it has nothing */
    const uint8_t *flags;   /* of each unit, as runtime/fabric has them */
    const int16_t *colors;
    const uint32_t *ways; /* list of ways of each unit */
    uint32_t *unread;     /* wavelets sent of which some go unread; may be NULL */
    struct entry **entries; /* of each unit, if senders meet in it; NULL before the first wavelet */
};
enum { UNROUTED = 1, SWALLOWED = 2, LOST = 4, PARTLY_UNREAD = 8, LEAVES = 16 };

#endif
