/* Operations that wait, and who uses which queue and microthread until when. */
#ifndef LOOM_WAITING_H
#define LOOM_WAITING_H

#include "descriptors.h"

/* Operands of an operation that waits: descriptors and numbers */
struct operand_state {
    struct descriptor descriptor;
    int64_t number;
    uint8_t is_number;
};

/* An operation that waits for wavelets, or for elements of FIFOs or places in them. */
struct open {
    struct pe *pe;
    const struct operation *operation;
    cycle time, rate; /* when it is ready for its next element */
    cycle since;      /* when it was issued */
    int64_t count, position;
    uint8_t inputs;               /* its queues and ends of FIFOs: how many they are */
    uint8_t is_plain;             /* it has one queue, and all that it touches is checked */
    uint8_t is_sync, by_control, signals_end, uses_fifo, stopped;
    uint8_t forwards;     /* it sends what it takes */
    uint8_t is_forwarder; /* it does so by ways that may be full */
    uint8_t keeps;
    uint8_t shares;                   /* the PEs of its class have datapaths */
    uint8_t header;                   /* of its message is still to come: `count` is the most that there is room for */
    uint8_t polls;                    /* bits of its ends of FIFOs that end it if they have nothing */
    uint8_t polled;                   /* the one that it looks at */
    uint8_t has_failed;               /* it takes nothing any more */
    uint8_t has_half;                 /* the first of the two values of a wavelet that it sends, `half`, is there */
    uint16_t half;
    uint16_t carry;                   /* of the last element, for the next one */
    uint8_t pairs;                    /* bits of its queues whose wavelets it takes two by two */
    uint8_t steps[MAX_OPERANDS];      /* elements that it takes of each queue at once; more than 1 only of FIFOs */
    uint8_t source[MAX_OPERANDS];     /* the operand that takes from each queue; 0: the destination, a FIFO */
    uint32_t queue[MAX_OPERANDS];     /* the queues, by their places in the class */
    uint64_t poll; /* number of the event in which it looks at a FIFO that may have nothing for it; 0: none */
    struct open *waits[MAX_OPERANDS]; /* behind it in each of its queues */
    uint32_t where, task;
    cycle polls_at;
    cycle waits_until; /* for the end of which epoch it waits; 0: none */
    int64_t limit;     /* elements that it may pass on, if steps are limited, by the limit of this number */
    uint32_t limit_number;
    int64_t credits; /* elements of a forwarder for which there is room, and when the credits are back */
    cycle credit_first, credit_rate;
    struct turn *turn; /* when it takes its next element, if something may hold it back: priorities.c; or NULL */
    cycle turn_at;
    uint32_t before; /* what a scalar destination held, if `keeps` */
    struct operand_state operands[MAX_OPERANDS];
};

/* Uses of a queue or microthread. One that starts while another is open is judged when the end of that is known. */
struct early {
    struct early *next; /* all of the core, the first that started first */
    struct pe *pe;
    cycle start, since; /* of the later and of the earlier use */
    uint32_t place, later, later_task, earlier, earlier_task, where;
};
struct TIGHT resource {
    cycle ends; /* of the use that started last; `open_since` its start while it is open */
    uint32_t user; /* the operation and task of that: `user_of` */
};

#endif
