/* DSD operations, and how the code of a use applies them. */
#ifndef LOOM_OPERATIONS_H
#define LOOM_OPERATIONS_H

#include "descriptors.h"

/* Cycles of an element: a fraction */
struct price {
    int64_t numerator, denominator;
    uint8_t shift; /* 2 to this is `denominator`; NO_SHIFT if none is */
};

/* What the end of an operation changes, unless a control wavelet ends it. Offsets of records are in bytes from the PE. */
struct completion {
    uint64_t bit;   /* of the task, in masks */
    uint32_t known; /* of the completions that do the same to the task; 0: it changes none */
    uint32_t state; /* of the task */
    uint16_t task;
    bool activates; /* it unblocks the task otherwise */
    bool is_void;   /* the task cannot be blocked */
};

struct operation {
    const struct operation_row *row;
    const struct kernel *kernel;
    uint32_t number; /* its row */
    uint8_t sources;
    uint8_t is_move, is_async, has_completion, on_control, drops_data;
    uint8_t words;                          /* of an element of the destination */
    uint32_t numerator, denominator;             /* cycles of an element, but for strides */
    struct price plain, paired; /* of operands side by side, and of every second element */
    uint32_t plain_rate;        /* whole cycles from one element side by side to the next */
    uint32_t thread;                        /* its microthread */
    uint16_t activate, unblock, control_activate, control_unblock; /* tasks of the class, or NO_TASK */
    struct completion completion;           /* of the first two */
    uint8_t kinds[MAX_OPERANDS];
    uint8_t level;               /* its priority, if it is asynchronous */
    uint8_t has_control;         /* control wavelets change tasks as well */
    uint8_t raises;              /* how its exceptions are computed; 0: it has none */
    uint32_t settings;           /* row of the load of a register that says how it runs, or NO_ROW */
    struct operation *next_variant; /* the same with other settings */
};
enum { NO_TASK = 0xFFFF, NO_SHIFT = 0xFF };

/* An operation as the code of a use applies it. Its operands are descriptors or, in registers, numbers; those in
 * the frame have an offset in bytes from its first register, the others an address. */
struct operand_place {
    uint64_t offset;
    uint64_t in_frame; /* all bits set, or 0 */
};
struct application;
typedef cycle short_way(const struct core *core, const struct pe *pe, const struct application *application,
                        int64_t *registers);
struct application {
    const struct operation *operation;
    short_way *compute; /* of those in memory: returns its cycles; -1, and has done nothing, if it is for others */
    uint8_t form;                    /* the short way that it may take */
    uint8_t is_alike;                /* all elements are as wide, and none but the last source is a number */
    uint8_t is_number[MAX_OPERANDS];
    uint8_t plain[MAX_OPERANDS];     /* of a descriptor in memory that is taken quickly */
    struct operand_place places[MAX_OPERANDS];
    ptrdiff_t steps[MAX_OPERANDS];   /* bytes from an element to the next then; 0 of a number */
    struct {
        uint32_t at[MAX_OPERANDS], count; /* where they begin in the memory of the PE, in bytes, and their elements */
        uint32_t bytes;                   /* of each operand */
        cycle cycles;
    } fixed; /* operands at places that the code names */
    /* Of a move from or to a queue that the code names: the queue, its place and that of the microthread among the
     * resources, and the wavelets of the run */
    const struct queue *queue;
    uint32_t place, thread, count;
    bool is_fixed; /* it fills what `fixed` says */
    struct {
        uint32_t input, output, queue, thread; /* the record of the queue, and these resources, behind the PE */
    } at; /* one without a microthread has its queue twice */
    uint32_t user;   /* `user_of` without a task */
    cycle before;    /* from when a send is issued until its first wavelet leaves */
    cycle behind;    /* from when its last wavelet leaves to its end, which may be before that */
    cycle tail;      /* the same, or 0 */
};
/* Short ways of operations: with all operands in memory, or numbers; moves from a queue, or to one; and others, none with
 * a number as destination */
enum { NO_SHORT_WAY, COMPUTES, RECEIVES_MOVE, SENDS_MOVE, OTHER_WAY };
static inline char *operand_at(const struct application *application, int64_t *registers, int k) {
    const struct operand_place *place = &application->places[k];
    return (char *)(uintptr_t)(place->offset + (place->in_frame & (uintptr_t)registers));
}

#endif
