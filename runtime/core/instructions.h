/* Code, prepared for the interpreter: instructions of a use, what they are applied to, and frames. */
#ifndef LOOM_INSTRUCTIONS_H
#define LOOM_INSTRUCTIONS_H

#include "operations.h"

struct access {
    uint32_t base, bytes, buffer; /* `bytes` is the size of an element */
    uint8_t kind, rank, flags;
    uint8_t is_static; /* its address is always `base` */
    const struct access_dim_row *dims;
};

enum { SLOT_USE, SLOT_COLUMN, SLOT_ACCESS, SLOT_LOAD, SLOT_READ, SLOT_OPERATION, SLOT_TASK };

union slot {
    const struct access *access;
    const struct application *application;
    const struct placing *placing;
    const struct sum *sum;
    const struct held *held;
    const int64_t *column; /* values of the class's units */
    const struct use *use;
    uint64_t number;       /* a task of the class, or a row */
    uint64_t byte;         /* of the PE's memory */
    cycle price;           /* of a tick */
    const struct instruction *target; /* of a jump */
};

/* A descriptor of the frame that is a static one at an offset, in elements: so many from the lowest on leave all of them in
 * its buffer */
struct placing {
    struct descriptor descriptor; /* without the offset */
    int64_t lowest, count;
    int32_t words; /* of an element */
    uint32_t at;   /* of the frame's descriptor: bytes behind the first register */
};

/* An instruction of a use, with what it is applied to (code.c) */
struct instruction {
    uint16_t op, a, b, c;
    union slot slot;
};

/* Returns the source place of a move that is an instruction of its own. */
static inline uint32_t source_of_move(const struct instruction *move) { return move->a | (uint32_t)move->c << 16; }

/* A task that an instruction activates, unblocks or blocks, and the cycles from the begin of its use until then */
struct signal {
    uint16_t op, task;
    int16_t place; /* of what is known of the completions that do the same, or -1 */
    bool is_void;  /* the task cannot be blocked */
    cycle behind;
};

/* What a local task does that has two signals alone: it blocks itself, and activates another that no completion
 * activates. Cycles count from when it is picked; offsets of records are in bytes from the PE. */
struct relay {
    uint32_t next;     /* the state of the other */
    uint32_t unblocks; /* what is known of the completions that unblock it; 0: this is none of these tasks */
    uint32_t picks;    /* the same of those that activate it, or 0 */
    uint64_t others;   /* bits of all tasks but this */
    uint64_t activated; /* the bit of the next */
    const struct relay *behind; /* of the next, or NULL */
    cycle blocks, activates, ends;
};

struct use {
    const struct body_row *body;
    const struct instruction *code;
    const uint32_t *where; /* source place of each instruction */
    const int64_t *numbers; /* some more can be read than there are */
    const struct descriptor *descriptors;
    uint32_t number, size; /* its row; words of a frame */
    uint32_t number_count;
    const struct signal *signals; /* if it has nothing but ticks and signals, these; else NULL */
    uint32_t signal_count;
    cycle duration;               /* of all of them */
    int64_t call_bytes;    /* of the PE's memory that a call takes while it is open */
};

/* An activation of a use. Registers follow, and behind them the frame's descriptors. */
struct frame {
    const struct use *use;
    const struct instruction *pc; /* where it goes on after a call or a wait */
    uint32_t caller;              /* words below this frame at which that of the caller begins; 0: none */
    uint16_t results, calls;      /* register of the caller; frames below */
    int64_t stack;                /* bytes of the PE's memory that the calls take which are open */
};
#define FRAME_WORDS (sizeof(struct frame) / 8)
enum { NUMBERS_AT_ONCE = 4 }; /* that are copied into a frame, the last with some that are not there */

/* interpreter.c */
enum { FINISHED, SUSPENDED, PAUSED, FAILED };
int interpret(struct core *core, struct pe *pe, cycle now);
static inline int64_t *registers_of(struct frame *frame) { return (int64_t *)frame + FRAME_WORDS; }

#endif
