/* Data model of the core: the state of a machine, and what its parts provide to each other.
 *
 * A `struct core` is made from the arrays of checked tables and of a fabric, which outlive it; it owns the state of PEs
 * but not their memory. A PE has a clock of its own. Its tasks run in the interpreter; sends hand their wavelets over
 * at once, with time stamps, to the operations that wait for them or to the receiver's queue. order.c decides which PE
 * goes on: one whose next task is certain at any time, the others in the order of time.
 */
#ifndef LOOM_MACHINE_H
#define LOOM_MACHINE_H

#include <assert.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core.h"
#include "kernels.h"
#include "tables.h"

/* A function that is called less often than the one that calls it is worked through, which then has more registers; and
 * one that is small where it is called, because there most of it is known */
#define SELDOM __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))

typedef int64_t cycle; /* a time, or a number of cycles */

/* Of records that each PE has many of: they take no bytes for the alignment of their cycles */
#define TIGHT __attribute__((packed, aligned(4)))
struct pe;

#define NEVER ((cycle)1 << 62)

enum {
    WORD_MASK = 0xFFFF,
    WORD_BITS = 16,
    POINTER_EXTENT = 0xFFFF, /* length of the walk that is a pointer to a scalar */
    ENDLESS_EXTENT = 0x7FFF, /* extent of a run of wavelets that never ends, as programs write it */
    MAX_OPERANDS = 1 + MAX_SOURCES,
    LEVELS = 5, /* of priority: targets.model.LEVELS */
    MASKED_TASKS = 64, /* the first tasks of a class, which are bits of a word; others are looked for one by one */
    MAX_REGISTER_FILES = 3,
    MAX_STACK_WORDS = 1 << 24,
    MAX_WALK = 1 << 22, /* elements of the longest walk */
    MAX_WARNINGS = 1 << 12, /* without a source place */
    MAX_CALLS_AT_A_TIME = 1 << 20, /* until the core returns to its host: calls count no steps */
    MAX_MOVES_AT_A_TIME = 1 << 20, /* the same of runs that operations wait for */
    LINE = 64,      /* bytes of a line of the cache */
    TILE = 8,       /* columns and rows of a tile */
    TILES_WIDE = 8, /* tiles of a column of them, which come before those of the next column */
    EPOCH = 1 << 16, /* cycles that no PE is ahead of another */
};
#define CONTROL_MARK UINT32_C(0xC0000000) /* targets.wavelets.CONTROL_MARK */
#define UNBOUNDED ((int64_t)1 << 40) /* elements of an operation that never ends */

/* Findings: numbers of runtime/findings.py */
enum {
    ADDRESS_OUTSIDE = 1, ADDRESS_ODD, INDEX_OUTSIDE_MEMORY, DIVISION_BY_ZERO, ASSERTION, FAILURE, STACK_FULL,
    STEP_LIMIT, FLOAT_EXCEPTION, DIRECTIVES_DIFFER, DESCRIPTOR_SHAPE,
    REGISTER_EMPTY = 16, REGISTER_WITHOUT_FIFO, REGISTER_WIDTH,
    WALK_OUTSIDE_MEMORY = 24, USES_QUEUE, USES_MICROTHREAD, USES_FIFO, SENDS_WITHOUT_COLOR, SENDS_LOST,
    RECEIVES_WITHOUT_COLOR = 31, RECEIVES_TWICE, RECEIVES_MIXED_LANES, FIFO_FAULT, FIFO_IN_REGISTER, WALK_TOO_LONG,
    MESSAGE_EMPTY = 40, MESSAGE_TOO_LONG, MESSAGE_WITHOUT_FRONT, MESSAGE_OFF_GRID, MESSAGE_TO_NOBODY, MESSAGE_DOES_NOT_FIT,
    CONTROL_TASK_MISSING = 48, SWITCHES_LOOP, TEARDOWN, TEARDOWN_UNHANDLED, REGISTER_UNKNOWN, SWITCH_POSITION_MISSING,
    COLOR_NOT_TAKEN,
    FLUSHED_TWICE, FLUSH_UNHANDLED, FILTER_MISSING,
    FIRST_WARNING = 64,
    INDEX_OUTSIDE = 64, ODD_LOAD, ODD_STORE, ODD_WALK, WALK_LEAVES_BUFFER, SENDS_SWALLOWED, RECEIVES_UNROUTED,
    TASK_MAY_TAKE, LAST_ELEMENT_LOST, ELEMENTS_CUT, INDEX_TOO_WIDE = 75, USED_IN_FLIGHT, UNBLOCKS_EARLY = 78,
    READS_UNWRITTEN, UNBLOCKS_AGAIN, SUMS_UNWRITTEN, STARTS_UNBLOCKED = 84, RELOADED_IN_FLIGHT, SENDS_OFF_GRID,
};

/* Words of a buffer in the memory of its class */
struct bounds {
    int32_t start;
    uint32_t words;
};

/* Descriptors at run time */

struct descriptor {
    int32_t address; /* in words; kept within +-2^30 */
    uint32_t row;    /* buffer (NO_ROW: all of memory), queue or FIFO */
    uint16_t extents[4];
    int16_t strides[4];
    uint8_t type, kind, dimensions, flags;
    union {
        uint16_t mark;  /* in the high halves of wavelets, if MARKED */
        uint16_t begin; /* the place at which a circular walk begins */
    };
    uint16_t held; /* 1 + place of the data structure register it was read from; 0: none */
    uint32_t load; /* row of the load that says how operations run, or NO_ROW */
    uint8_t shape; /* what `plain` is if its elements are where they belong */
    uint8_t plain; /* both are kept up to date by `note_plain` */
    uint8_t state; /* MARKED and the like */
    uint8_t loaded; /* what `plain` would be if it were not from a register; 0 of others */
    int32_t lowest, highest; /* of a PLAIN_WALK and what follows: words from its address to its lowest and its highest element */
};
/* Descriptors that operations take quickly (quick.c): elements side by side, inside of a buffer, 16 or 32 bits each, runs
 * of wavelets that carry nothing but one element, and other walks over such elements inside of a buffer. Those of elements
 * side by side are the words of one. */
enum {
    PLAIN_HALVES = 1, PLAIN_WORDS, PLAIN_RUN, PLAIN_SHARED_RUN /* of a class with several priorities */, PLAIN_WALK,
    PAIRED_HALVES, PAIRED_WORDS, /* walks of one dimension with a stride of 2 */
    PLAIN_RING, /* a circular walk, which only registers hold */
};
/* What the tables do not say: wavelets are marked; operations move the register on; the code does not say that the
 * register holds a FIFO */
enum { MARKED = 1, SAVES_ADDRESS = 2, HOLDS_FIFO = 4 };

/* Code, prepared for the interpreter */

struct access {
    uint32_t base, bytes, buffer; /* `bytes` is the size of an element */
    uint8_t kind, rank, flags;
    uint8_t is_static; /* it is at `base` always */
    const struct access_dim_row *dims;
};

/* Cycles of an element: a fraction */
struct price {
    int64_t numerator, denominator;
    uint8_t shift; /* 2 to this is `denominator`; NO_SHIFT if none is */
};

/* What the end of an operation changes, unless a control wavelet ends it. Records are so many bytes behind the PE. */
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

/* An operation as the code of a use applies it. Its operands are descriptors or, in registers, numbers; those of the
 * frame are so many bytes behind its first register, the others are at an address. */
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

/* A task that an instruction activates, unblocks or blocks, so many cycles behind the begin of its use */
struct signal {
    uint16_t op, task;
    int16_t place; /* of what is known of the completions that do the same, or -1 */
    bool is_void;  /* the task cannot be blocked */
    cycle behind;
};

/* What a local task does that has two signals alone: it blocks itself, and activates another that no completion
 * activates. Cycles count from when it is picked; records are so many bytes behind the PE. */
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

/* Wavelets */

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
        struct piece *piece; /* if `is_piece`: what is to know of all that are taken */
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

/* A send by several ways, or to where senders meet, which may be full; or the place of a router among what waits for a way */
struct multicast {
    struct multicast *next; /* that waits for the same way */
    struct router *router;  /* or NULL */
    struct pe *pe;
    const struct queue *queue;
    struct send *send;
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
    uint8_t settled, is_sync, is_pooled, is_claiming; /* it has used its own claim */
};

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
    uint8_t shares;                   /* the operations of its class have several priorities */
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

/* What is in an input queue: a line of the cache, of which a send or a receive touches nothing else of it. As long as
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
    bool is_loud;  /* something is to be told of the PE's use of the queue */
};
_Static_assert(sizeof(struct input) == LINE, "a line of the cache");
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

/* PEs */

/* An activation or unblocking of a task that is later than what the PE does next */
struct moment {
    struct moment *next; /* of the PE */
    cycle time;
    uint16_t task;
    bool activates;
};

struct task_state {
    cycle active, unblocked;
};
/* Of tasks that completions activate, and of those that they unblock; `may` counts open operations whose end may do it */
struct TIGHT activations {
    cycle picked;
    uint32_t may : 31, completed : 1; /* it is active by the end of an operation */
};
struct TIGHT unblockings {
    cycle blocked;
    uint32_t may;
};

struct pe {
    /* A line that others use too, when they send to it or take what it has sent */
    const struct class *class;
    uint8_t *memory;
    uint64_t active;                    /* tasks that are active */
    uint64_t may_activate, may_unblock; /* tasks that the end of something open may activate, and unblock */
    uint32_t held_sends;                /* sends that wait for room */
    uint32_t early;                     /* uses that start while another is open */
    struct pe *next_dirty;
    uint32_t tile;
    uint8_t is_busy, is_dirty, resumes;
    uint8_t stopped; /* its operation has ended because a FIFO had nothing for it */

    struct moment *later; /* in the order in which they became known */
    cycle clock;          /* when it has ended its last task */
    cycle now;            /* how far it is in the one that waits or pauses */
    cycle queued;         /* the cycle for which it is in the heap, or NEVER */
    uint64_t *suspended;  /* its stack, while it waits in the middle of a task */
    uint32_t number, unit; /* in the grid, and in its class */
    uint16_t x, y;
    uint16_t task;       /* that runs or waits, or NO_TASK */
    uint8_t waits;       /* for the next epoch */
    uint32_t fifo_opens; /* open operations on FIFOs */
    struct task_state tasks[];
};
_Static_assert(offsetof(struct pe, later) == LINE && sizeof(struct pe) <= 2 * LINE, "the hot record of a PE");
/* What a PE has besides, behind its tasks: so many bytes behind it */
struct parts {
    uint32_t activations, unblockings; /* by the places of the tasks among those that have some */
    uint32_t outputs;                  /* output queues */
    uint32_t resources;                /* input queues of the class, ends of FIFOs, output queues and microthreads */
    uint32_t inputs;                   /* the first two of these */
    uint32_t sides;                    /* ends of FIFOs: to read, to write */
    uint32_t registers;
};

/* A square of the grid, with its PEs in which something changed; or those at the border of a partition */
struct tile {
    struct pe *first, *last;
    struct core *core; /* of its partition */
    bool is_border;
};
/* Tiles of a partition with PEs to visit, as bits, by their places in it; and as bits the words of these that are not 0 */
struct tile_set {
    uint64_t *bits, *words;
};

struct task {
    const struct task_row *row;
    const struct use *use;
    uint32_t number; /* its row */
    uint16_t queue;  /* its input queue in the class */
    uint8_t type, flags;
    int16_t activations, unblockings; /* places of what is known of completions, or -1 */
    int64_t *launch;     /* arguments of the launch */
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

struct variable {
    uint32_t start, end, buffer;
};

struct class {
    const struct class_row *row;
    uint32_t number, units, task_count, resource_count, threads, variable_count;
    uint32_t source_count; /* input queues and sinks */
    uint32_t input_count;  /* these and the ends of FIFOs */
    uint32_t queue_count;  /* these and the output queues */
    uint32_t activations, unblockings; /* tasks that completions activate, and unblock */
    uint64_t bytes; /* of the memory of a PE */
    int64_t words;  /* of it that it may touch */
    int64_t stack_room; /* bytes of it for calls */
    struct task *tasks;
    struct relay *relays; /* of each task, if `signal_tasks` has some */
    struct queue *queues; /* its input queues, then its sinks, the ends of FIFOs, and its output queues */
    struct variable *variables;
    uint64_t data_tasks; /* that wavelets may start */
    uint64_t ordered_tasks; /* of these, those that each wavelet of one sender starts */
    uint64_t signal_tasks;  /* local ones that have nothing but signals; 0 if some tasks are no bits */
    uint8_t levels;      /* priorities of its operations on queues and FIFOs, as bits; 0 if they are all alike */
    uint8_t main_level;  /* of the operations for which tasks wait */
    struct datapath *datapaths; /* of each unit; NULL if they are all alike */
    uint32_t *unmasked;  /* of each unit, exceptions that stop it, as bits; NULL if nothing unmasks any */
    char *pes; /* the state of each PE, `pe_bytes` apart: a struct pe and its parts */
    uint64_t pe_bytes;
    struct parts parts;
    uint8_t *memory;
    uint16_t control_tasks[64]; /* by id */
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

/* Order */

enum { EVENT_MESSAGE = 0, EVENT_ROUTER = 1, EVENT_RUN = 2, EVENT_POLL = 3, EVENT_PICK = 4, EVENT_TURN = 5,
       EVENT_ACCESS = 6 };

struct event {
    cycle time;
    uint64_t key, number; /* `key` is kind and PE */
    void *what;
};

struct finding {
    uint32_t code, pe, task, where;
    cycle cycle;
    int64_t values[6];
};

/* Growing arrays of records that Python reads */
struct log {
    int64_t *words;
    uint64_t count, room;
};

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
    const int64_t *command_words;   /* of each class, by which it lets its host go on; -1: none */
    const struct unwritten *unwritten; /* of each class; NULL: races are not looked for */
    struct timing timing;
    struct registers_input registers;
    uint32_t width, height, queue_count, strings, switched_count;
    uint32_t allocations; /* for tests: the one that fails, from 1 on; 0: none */
    uint32_t partitions, threads; /* so many at most */
    uint32_t parallel_from; /* PEs to visit from which partitions work at the same time */
};

/* What to trace: events as bits, by number, and the most records to keep, 0 for all. Waits and wavelets need statistics. */
struct trace_input {
    uint64_t events, ring;
};

/* How far the PEs of a partition go, and what waits until all have come there */
struct epoch {
    cycle until; /* nothing begins later: the end of the epoch, or the cycle of an error */
    cycle first; /* that anything waits for, or NEVER */
    struct pe **pes;
    uint64_t count, room;
    struct arrivals operations; /* that pass elements on */
};

struct pool {
    void *free;
    void **chunks;
    uint64_t chunk_count, chunk_room;
    uint64_t live; /* items that are taken */
    uint32_t size;
};

enum { PAYLOAD_CLASSES = 40 };

/* The machine as one partition of it sees it. The first part is the same in all partitions, and none changes it while
 * the machine runs; the second is a partition's own. */
struct core {
    struct partitions *partitions; /* partitions.h */
    struct tables tables;
    struct timing timing;
    struct registers_input registers;
    bool changes; /* programs may change routes, or ask for the state of queues: PEs go on in the order of time alone */
    struct queue_flushes *flushes; /* flushes.c; NULL if programs ask for nothing of queues */
    struct pe_clock *clocks;      /* of each PE; clocks.c */
    struct pe_settings *settings; /* of each PE; settings.c; NULL if all are as they are without programs */
    uint32_t width, height, class_count, queue_count, register_count;
    uint16_t register_place[MAX_REGISTER_FILES][256];
    uint16_t register_at[MAX_REGISTER_FILES * 256]; /* file << 8 | number of each place */
    struct class *classes;
    struct pe **pe_of; /* by number in the grid, or NULL */
    uint32_t *queue_place; /* of each queue in its class */
    const uint32_t *list_first;
    const struct way *ways;
    struct tile *tiles;
    const uint8_t *levels, *priority_levels; /* as in core_input */

    /* Code */
    struct use *uses;
    struct access *accesses;
    struct operation *operations;
    struct operation **variants; /* of each operation, those with other settings; they are made when first used */
    union slot *slots; /* of a use that is being prepared; else NULL */
    struct instruction *code; /* of all uses */
    struct signal *signals;   /* the same */
    struct application *applications;
    struct placing *placings;
    struct sum *sums;
    struct held *held;
    uint64_t application_count, instruction_count;
    struct descriptor *descriptors;
    struct bounds *bounds; /* of each buffer */
    int64_t *prices;
    int64_t *numbers;
    bool is_observed; /* more is to be told of operations than what they do: none takes a short way */
    bool is_strict;   /* PEs go on in the order of time: of messages, or as programs may change routes */
    bool runs_signals; /* tasks that have nothing but signals are run apart from the others */
    bool tells_tasks; /* more is to be told of tasks than what they do */
    const struct trap *trap_rows;
    bool watches; /* some PEs may unmask exceptions */
    uint64_t step_limit;
    uint32_t limit_number; /* how often it has been set */
    uint64_t *steps_left; /* of each PE, by number; NULL if there is no limit */
    bool traces;
    const int64_t *command_words;
    struct pe_races *races; /* of each PE, by number: races.h; NULL if they are not looked for */

    /* Only in a machine of one partition */
    struct switches *switches; /* NULL if there are none */
    struct networks *networks; /* the same */
    struct directives *directives;

    /* A partition's own, from here on */
    jmp_buf *without_memory; /* where the work at hand ends that gets none */
    bool is_out;             /* it has, and the core is of no use */
    uint32_t allocations;

    /* Order */
    struct event *heap;
    uint64_t heap_count, heap_room;
    struct event *kept; /* events of PEs at the border, while other partitions are at work */
    uint64_t kept_room;
    int64_t runs_due; /* events in the heap that may bring wavelets */
    struct tile *own, *border; /* its tiles, the last of which is that of its border */
    struct tile_set listed;    /* of those that are not at the border */
    uint64_t listed_count;     /* PEs in these */
    cycle horizon; /* a PE may pick what is ready up to here */
    cycle present; /* the same if it has open operations on FIFOs, which may end at any time */
    struct epoch epoch;
    uint64_t polls;
    struct pe *running;
    uint32_t paused_at; /* the source place of a step for which the budget did not suffice */

    /* The stack of the task that runs */
    uint64_t *stack;
    uint64_t stack_words;
    struct frame *frame;

    /* Wavelets on their way from operations that were at work */
    struct arrivals arriving;
    struct arrivals at_border; /* that come to PEs at the border while other partitions are at work */
    bool at_work;
    bool is_parallel; /* other partitions are at work */

    struct send *sends;
    int64_t multicasts_waiting; /* and forwarders, and routers; those of all partitions count */
    int64_t short_moves;        /* that wait in queues */
    struct pool waiters, runs, opens, send_pool, moments, earlies, arrivals, paths, claims, multicasts, entries, newcomers, turns, works;
    uint64_t turns_made;
    struct payload *payloads[PAYLOAD_CLASSES]; /* free ones, by size */
    struct payload **blocks;                   /* all of them */
    uint64_t block_count, block_room;
    struct early *early, **early_end;

    /* What is counted and told */
    uint64_t steps, budget, pause, wavelets, task_runs, certain, ordered;
    cycle latest, last_clock; /* ends of operations, and of tasks */
    struct finding error;      /* the first so far */
    bool is_failing;           /* the task or operation at work has met one */
    cycle at;                  /* when what is at work happens, of operations that take elements; else -1 */
    struct finding *warnings;  /* that are not told yet */
    uint64_t warning_count, warning_room;
    uint32_t unplaced_warnings; /* of these */
    uint32_t last_unplaced;     /* the last of these, if there is no room for more */
    uint32_t calls; /* that may come before the core returns */
    uint32_t moves;   /* runs that may be handed over before it returns: those of a ring count no steps either */
    uint32_t last[3]; /* PE, task and source place of what took the last of them */
    bool at_call; /* the task that runs is before a call, and not behind a step */
    uint32_t *warned; /* of each source place, 1 + its place in `warnings`, or TOLD */
    struct log prints;
    uint64_t *ticked; /* as in core_input; other partitions than the first have their own */
    cycle unheld;       /* its end if nothing holds it back */
    uint64_t (*issued)[ISSUE_FIELDS];
    struct statistics *statistics; /* NULL if not asked for */
    struct trace *trace; /* NULL if nothing is traced */
};
#define OWN_PART offsetof(struct core, without_memory)

static inline struct pe *pe_at(const struct class *class, uint32_t unit) {
    return (struct pe *)(void *)(class->pes + unit * class->pe_bytes);
}

static inline void *part_at(const struct pe *pe, uint32_t bytes) { return (char *)(uintptr_t)pe + bytes; }
#define PART(name, type, part)                                                                                         \
    static inline struct type *name(const struct pe *pe) { return part_at(pe, pe->class->parts.part); }
PART(activations_at, activations, activations)
PART(unblockings_at, unblockings, unblockings)
PART(inputs_of, input, inputs)
PART(resources_of, resource, resources)
PART(outputs_of, output, outputs)
PART(sides_of, side, sides)
PART(registers_at, descriptor, registers)
#undef PART

/* The row of the task that runs or waits on a PE */
static inline uint32_t running_task(const struct pe *pe) {
    return pe->task == NO_TASK ? NO_ROW : pe->class->tasks[pe->task].number;
}

/* partitions.c */
struct partitions;
void prepare_tiles(struct core *core, const struct core_input *input);
uint32_t tile_of(const struct core *core, const struct pe *pe);
void divide(struct core *core, uint64_t strings);
void add_counts(struct core *core);
void free_partitions(struct core *core);
bool multicasts_wait(const struct core *core);
bool runs_are_due(const struct core *core);
void set_without_memory(struct core *core, jmp_buf *end);
/* The core of the partition of a PE */
static inline struct core *core_of(const struct core *core, const struct pe *pe) { return core->tiles[pe->tile].core; }
/* Returns whether something that comes to a PE has to wait until no other partition is at work: what follows from it may
 * change PEs of other partitions. */
static inline bool has_to_wait(const struct core *core, const struct pe *pe) {
    return core->is_parallel && core->tiles[pe->tile].is_border;
}

/* pools.c */
void pool_fill(struct core *core, struct pool *pool);
void pool_free_all(struct pool *pool);
static inline void *pool_take(struct core *core, struct pool *pool) {
    if (pool->free == NULL) {
        pool_fill(core, pool);
    }
    void *item = pool->free;
    pool->free = *(void **)item;
    pool->live++;
    return item;
}
static inline void pool_give(struct pool *pool, void *item) {
    *(void **)item = pool->free;
    pool->free = item;
    pool->live--;
}
void *core_allocate(struct core *core, uint64_t count, uint64_t size); /* zeros */
void *allocate_large(struct core *core, uint64_t bytes); /* zeros from a line of the cache on; in large pages where there are */
void give_back(void);
void grow(struct core *core, void **array, uint64_t *room, uint64_t wanted, uint64_t size);
struct payload *payload_make(struct core *core, uint32_t class);
/* Blocks that are free keep the next one in the place of their words. */
static inline struct payload **next_payload(struct payload *payload) {
    return (struct payload **)(void *)payload->words;
}
/* Returns the smallest class of which blocks have so many words: 4 << class. */
static inline uint32_t payload_class(uint64_t words) {
    return words <= 4 ? 0 : 62 - (uint32_t)__builtin_clzll(words - 1);
}
static inline struct payload *payload_take(struct core *core, uint64_t words) {
    const uint32_t class = payload_class(words);
    struct payload *found = core->payloads[class];
    if (found == NULL) {
        return payload_make(core, class);
    }
    core->payloads[class] = *next_payload(found);
    found->references = 1;
    return found;
}
static inline void payload_drop(struct core *core, struct payload *payload) {
    assert(payload->references > 0);
    if (--payload->references == 0) {
        *next_payload(payload) = core->payloads[payload->room];
        core->payloads[payload->room] = payload;
    }
}

/* findings.c */
enum { TOLD = UINT32_MAX };
void warn(struct core *core, struct pe *pe, uint32_t code, uint32_t task, uint32_t where, const int64_t *values,
          int count);
void fail(struct core *core, struct pe *pe, uint32_t code, uint32_t task, uint32_t where, const int64_t *values,
          int count);
#define VALUES(...) (const int64_t[]){__VA_ARGS__}, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
void note_error(struct core *core, const struct finding *finding);
bool is_before(const struct finding *a, const struct finding *b);
uint64_t take_warnings(struct core *core, cycle until, struct finding *findings);
/* Returns whether the task or operation at work has met an error, which others have not. */
static inline bool has_failed(const struct core *core) { return core->is_failing; }

/* Returns the cycles from when an operation takes an element until the wavelet made of it leaves. */
static inline cycle cycles_to_pass_on(const struct core *core) { return core->timing.inject + core->timing.forward; }

/* epochs.c */
void wait_for_epoch(struct core *core, struct pe *pe, cycle time);
/* Returns whether the PE at work has taken as many steps as it may: `pause` says where they end, or the budget does. */
static inline bool is_beyond_limit(const struct core *core) {
    return core->steps_left != NULL && core->steps < core->budget;
}
bool waits_for_epoch(struct core *core, struct open *open, cycle time);
void begin_epoch(struct core *core, cycle until);
void set_step_limit(struct core *core, uint64_t limit);
/* Counts steps of a PE. */
static inline void count_steps(struct core *core, const struct pe *pe, uint64_t steps) {
    core->steps += steps;
    if (core->steps_left != NULL) {
        core->steps_left[pe->number] -= steps;
    }
}

/* tasks.c */
void activate(struct core *core, struct pe *pe, uint32_t task, cycle time, bool completion);
void activate_later(struct core *core, struct pe *pe, uint32_t task, cycle time);
void unblock_again(struct core *core, struct pe *pe, uint32_t task, cycle time, bool ahead);
void unblock_later(struct core *core, struct pe *pe, uint32_t task, cycle time);
static inline cycle task_ready(const struct pe *pe, uint32_t task) {
    const struct task_state *state = &pe->tasks[task];
    return state->active > state->unblocked ? state->active : state->unblocked;
}
/* The bit of a task in masks, 0 of one that has none */
static inline uint64_t task_bit(uint32_t task) { return (uint64_t)(task < MASKED_TASKS) << task % MASKED_TASKS; }
static inline void set_active(struct pe *pe, uint32_t task, cycle time) {
    pe->tasks[task].active = time;
    if (time < NEVER) {
        pe->active |= task_bit(task);
    } else {
        pe->active &= ~task_bit(task);
    }
}

/* phases.c */
int core_go(struct core *core, uint64_t budget);

/* order.c */
void visit_listed(struct core *core, uint64_t most);
void visit_border(struct core *core);
void continue_paused(struct core *core);
void happen(struct core *core, cycle others);
bool has_picks(const struct core *core, cycle time, uint64_t least);
void pick_all(struct core *core, cycle time);
void note_touched(struct core *core, struct pe *pe);
/* Notes that something changed that may let a PE go on. */
static inline void touch(struct core *core, struct pe *pe) {
    if (!(pe->is_dirty || pe == core->running || (pe->is_busy && !pe->resumes))) {
        note_touched(core, pe);
    }
}
bool is_earlier(const struct event *a, const struct event *b);
void schedule(struct core *core, cycle time, uint32_t kind, uint32_t pe, uint64_t number, void *what);

/* interpreter.c */
enum { FINISHED, SUSPENDED, PAUSED, FAILED };
int interpret(struct core *core, struct pe *pe, cycle now);
static inline int64_t *registers_of(struct frame *frame) { return (int64_t *)frame + FRAME_WORDS; }

/* memory.c */
bool check_walk(struct core *core, struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
                const struct descriptor *walk, int64_t low, int64_t high);
bool is_inside(const struct core *core, const struct pe *pe, const struct descriptor *walk);
static inline uint32_t kind_bytes(uint8_t kind) {
    static const uint8_t bytes[] = {1, 1, 2, 4, 8, 8, 2, 2, 4};
    return bytes[kind];
}
int64_t walk_count(const struct descriptor *walk);
bool fits(struct core *core, struct pe *pe, const struct operation *operation, uint32_t where,
          struct operand_state *operands, uint32_t instruction);
int64_t until_round(const struct operand_state *state, int64_t low, int64_t count);

/* registers.c */
void place_registers(struct core *core);
void load_register(struct core *core, struct pe *pe, uint32_t row, const struct descriptor *descriptor);
uint32_t read_register(struct core *core, struct pe *pe, uint32_t row, struct descriptor *descriptor);
const struct operation *from_registers(struct core *core, struct pe *pe, const struct operation *operation,
                                       struct operand_state *operands, uint32_t where);
void move_registers(const struct core *core, struct pe *pe, const struct operation *operation,
                    const struct operand_state *operands, int64_t count);
void note_held(const struct core *core, const struct pe *pe, struct descriptor *held);
void leave_register(const struct core *core, const struct pe *pe, const struct descriptor *walk, int64_t count);
void end_early(const struct core *core, struct open *open);
int64_t walk_offset(const struct descriptor *walk, int64_t k);
static inline bool is_circular(const struct descriptor *stream) {
    return stream->type == MEMORY_WALK && stream->flags & CIRCULAR;
}
/* Returns a walk behind `count` elements, by a step of its slowest dimension (DSR-067). */
struct descriptor walk_behind(const struct descriptor *walk, int64_t count);
/* Returns an address that a descriptor can hold: one far beyond memory is no less outside. */
static inline int32_t within(int64_t address) {
    const int64_t most = 1 << 30;
    return (int32_t)(address > most ? most : address < -most ? -most : address);
}
void set_completion(const struct core *core, struct operation *operation, const uint32_t *tasks);
void set_settings(const struct tables *tables, struct operation *operation, const uint32_t *tasks, uint16_t thread);

/* quick.c */
enum { NOT_QUICK = 3 };
void prepare_quick(struct core *core);
void prepare_application(struct application *application, const struct operation *operation, const struct use *use);
int quick_transfer(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                   uint32_t where, cycle *now);
bool quick_hand_over(struct core *core, struct pe *pe, uint32_t place, struct run *run);
static inline void note_observers(struct core *core) {
    core->is_observed = core->traces || core->issued != NULL || core->watches || core->statistics != NULL;
    core->tells_tasks = core->traces || core->statistics != NULL;
    core->is_strict = core->networks != NULL || core->changes;
    core->runs_signals = !core->tells_tasks && core->settings == NULL;
}
/* sums.c */
void prepare_sums(struct core *core);
cycle compute_sum(const struct core *core, const struct pe *pe, const struct sum *sum, int64_t *registers, cycle now);
/* Applications of the forms SENDS_MOVE and RECEIVES_MOVE, as quick_transfer (moves.c) */
void prepare_moves(struct core *core);
/* Return when the task goes on, or, less than 0, how they leave it: -NOT_QUICK, -WAITS or -WENT_WRONG. */
cycle send_move(struct core *core, struct pe *pe, const struct instruction *by, int64_t *registers, cycle issued);
cycle receive_move(struct core *core, struct pe *pe, const struct instruction *by, int64_t *registers, cycle issued);
/* short_moves.c: has what waits in an input queue be records that all can work on */
void spell_input(struct core *core, struct pe *pe, uint32_t place);
void spell_all(struct core *core);
static inline void spell_out(struct core *core, struct pe *pe, uint32_t place) {
    if (inputs_of(pe)[place].form != SPELLED_OUT) {
        spell_input(core, pe, place);
    }
}

/* held.c: the short way of operations in memory with operands in registers */
short_way compute_held;
/* Notes the reach of a walk whose elements are not side by side, and whether it can be PLAIN_WALK or PAIRED. */
void note_walk(struct descriptor *walk);
/* Returns whether all elements of such a walk are in its buffer, and none of 32 bits is at an odd word. */
bool is_within_buffer(const struct core *core, const struct descriptor *walk);
/* Notes that the place of a descriptor has changed, or how many elements it has. */
static inline void note_place(const struct core *core, struct descriptor *stream) {
    stream->plain = stream->shape;
    if (stream->shape == PLAIN_HALVES || stream->shape == PLAIN_WORDS) {
        const struct bounds *bounds = &core->bounds[stream->row];
        uint64_t into = (uint32_t)(stream->address - bounds->start); /* far beyond the end if it is before the start */
        bool is_odd = stream->address & (stream->shape - 1);
        if (is_odd || into + (uint64_t)stream->extents[0] * stream->shape > bounds->words) {
            stream->plain = 0;
        }
    } else if (stream->shape >= PLAIN_WALK && !is_within_buffer(core, stream)) {
        stream->plain = 0;
    }
    if (stream->held != 0) {
        stream->loaded = stream->plain;
        stream->plain = 0;
    }
}
/* Notes what a descriptor is, wherever its elements are. */
static inline void note_shape(const struct core *core, struct descriptor *stream) {
    stream->shape = 0;
    if (stream->type == QUEUE_RUN) {
        bool shares = core->levels[core->tables.queues[stream->row].owner] != 0;
        stream->shape = stream->flags == 0 && stream->state == 0 && stream->held == 0 ? PLAIN_RUN + shares : 0;
    } else if (stream->type == MEMORY_WALK && stream->dimensions == 1 && stream->strides[0] == 1 &&
               stream->extents[0] != POINTER_EXTENT && !is_circular(stream)) {
        stream->shape = kind_bytes(stream->kind) == 4 ? PLAIN_WORDS : kind_bytes(stream->kind) == 2 ? PLAIN_HALVES : 0;
    } else if (stream->type == MEMORY_WALK && (stream->held != 0 || !is_circular(stream))) {
        note_walk(stream);
    }
}
static inline void note_plain(const struct core *core, struct descriptor *stream) {
    note_shape(core, stream);
    if (stream->type == MEMORY_WALK && stream->row == NO_ROW) {
        stream->shape = 0;
    }
    note_place(core, stream);
}

/* operations.c */
enum { DONE_NOW, WAITS, WENT_WRONG, AWAITS_ORDER = 4 }; /* NOT_QUICK is another; the last is to be applied again */
int apply(struct core *core, struct pe *pe, const struct operation *operation, struct operand_state *operands,
          uint32_t where, cycle *now);
void resume(struct core *core, struct pe *pe, cycle time);
void list_send(struct core *core, struct send *send);
void hold_send(struct core *core, struct send *send);
void send_accepted(struct core *core, struct send *send, cycle time);
struct sending {
    const struct operation *operation;
    uint32_t task, where;
    bool is_last;
    struct send *send; /* that may have to wait; NULL of an operation that receives */
};
struct payload *make_payload(struct core *core, const struct descriptor *stream, int64_t count, uint8_t size,
                             struct operand *operand);
int zeroed_operand(const struct operation *operation, const struct descriptor *stream);
void set_to_zero(struct pe *pe, const struct operation *operation, const struct descriptor *stream,
                 const struct operand_state *operands, int64_t low, int64_t high);
void mark_payload(const struct descriptor *stream, struct payload *payload, uint32_t words);
bool make_operand(struct core *core, struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
                  struct operand_state *state, int place, int64_t low, int64_t high, struct operand *operand);

/* sending.c */
void transmit(struct core *core, struct pe *pe, struct sending *sending, const struct descriptor *stream,
              struct run *wavelets);
void send_run(struct core *core, struct pe *pe, const struct queue *queue, const struct run *wavelets,
              struct sending *sending);
void strip_marks(struct core *core, struct run *run);

/* credits.c */
struct path *path_send(struct core *core, struct input *input, const struct way *way, uint64_t origin, uint32_t count,
                       cycle leaves, struct send **send);
void path_note(struct core *core, struct path *path, uint32_t count, cycle leaves, struct send **send);
struct path *path_at(struct core *core, struct input *input, const struct way *way, uint64_t origin);
struct path *path_of(struct core *core, const struct way *way, const struct pe *pe, uint64_t origin);
void next_credits(const struct path *path, struct takes *credits);
cycle taken_at(const struct takes *last, const struct older_takes *older, uint64_t number);
enum { MAX_TAKES = 1 << 30 }; /* of one pace that are remembered, far more than a way holds */
void note_takes(struct core *core, struct path *path, cycle first, cycle rate, uint32_t count);
void return_credits(struct core *core, struct path *path, cycle first, cycle rate, uint32_t count);
/* Notes that wavelets of a way are taken. */
static inline void path_taken(struct core *core, struct path *path, cycle first, cycle rate, uint32_t count) {
    if (path == NULL) {
        return;
    }
    assert(path->pending >= count);
    path->pending -= count;
    struct takes *last = &path->last;
    if (count == 1 && last->rate > 0 && first == last->first + (cycle)last->count * last->rate && last->count > 1 &&
        last->count < MAX_TAKES) {
        last->count++; /* as note_takes has it */
    } else {
        note_takes(core, path, first, rate, count);
    }
    if (path->claims != NULL || path->waiters != NULL) {
        return_credits(core, path, first, rate, count);
    }
}
void keep_send(struct core *core, struct send **send);
struct waiters *waiters_of(struct core *core, struct path *path);
void hold_pe(struct core *core, struct path *path, struct pe *pe, uint32_t place);
/* Returns when a send ends if there is no room for its last wavelet before a time. */
static inline cycle send_ends(const struct send *send, cycle time) {
    return time + send->tail > send->done ? time + send->tail : send->done;
}
static inline uint64_t origin_by(const struct way *way, const struct pe *pe, const struct queue *queue) {
    return (uint64_t)way->port << 60 | (uint64_t)pe->number << 32 | queue->number;
}

/* entry.c */
void enter_queue(struct core *core, struct pe *pe, uint32_t place, struct run *run);
void entry_taken(struct core *core, struct entry *entry, cycle first, cycle rate, uint32_t count);

/* room.c */
struct room {
    uint32_t count;    /* wavelets that may leave */
    cycle first, rate; /* when the first of them does, and the cycles between two */
    struct path *full; /* a way without room, if there is none for any */
};
bool consider_path(struct room *room, struct path *path);
void limit_to_path(struct room *room, const struct path *path);
static inline void consider_line(struct room *room, cycle first, cycle rate) {
    if (first > room->first || (first == room->first && rate > room->rate)) {
        room->first = first;
        room->rate = rate;
    }
}
static inline void limit_to_line(struct room *room, cycle first, cycle rate) {
    if (rate > room->rate) {
        cycle until = (room->first - first) / (rate - room->rate) + 1;
        room->count = until < room->count ? (uint32_t)until : room->count;
    }
}
void find_room(struct core *core, const struct pe *pe, const struct queue *queue, struct room *room);
bool has_full_ways(const struct core *core, const struct pe *pe, const struct queue *queue);
bool has_room(struct core *core, const struct pe *pe, const struct queue *queue, uint32_t count, cycle first);
bool find_credits(struct core *core, struct open *open);

/* multicast.c: sends that are handed over as there is room: by several ways, or to where senders meet */
void wait_for_path(struct core *core, struct path *full, struct multicast *multicast);
void multicast_advance(struct core *core, struct multicast *multicast);
void multicast_send(struct core *core, struct pe *pe, const struct queue *queue, const struct run *wavelets,
                    bool transforms, struct send **send);
/* Returns whether a wavelet of a run with a payload is marked as a control wavelet. */
static inline bool is_marked(const struct run *run, uint32_t k) {
    return (run->payload->words[k] & CONTROL_MARK) == CONTROL_MARK;
}
/* Returns whether a bit of a control wavelet keeps it from the compute engine. */
static inline bool is_ignored(const struct run *run, uint32_t k) {
    return run->control && run->payload->words[k] >> 24 & 1;
}
static inline bool is_multicast(const struct core *core, const struct pe *pe, const struct queue *queue) {
    uint32_t list = queue->ways[pe->unit], ways = 0;
    for (uint32_t k = core->list_first[list]; k < core->list_first[list + 1]; k++) {
        ways += core->ways[k].capacity > 0 ? 1 + core->ways[k].meets : 0;
    }
    return ways > 1;
}

/* runs.c */
struct payload *payload_of(struct core *core, const struct run *run);
void keep_run(struct core *core, struct run *run);
void widen_run(struct core *core, struct run *run);
void hold_payload(struct core *core, struct core *to, struct run *run);
void drop_run(struct core *core, struct run *run);

/* taking.c */
void take_header(struct core *core, struct open *open, struct run *run);
void take_elements(struct core *core, struct open *open, struct run **runs, int64_t most);
void send_half(struct core *core, struct open *open);
cycle line(const struct open *open, struct run **runs, int k, cycle *head);
int64_t pace(const struct open *open, struct run **runs, uint32_t without, int64_t count, cycle *begin, cycle *rate);

/* queues.c */
void arrive(struct core *core, struct pe *pe, uint32_t place, struct run *run);
void admit(struct core *core, struct pe *pe, uint32_t place, struct run *run);
void admit_first(struct core *core, struct arrival *arrival);
void deliver(struct core *core);
void deliver_at_border(struct core *core);
void go_on_later(struct core *core, struct arrival arrival);
/* Lets those go on for which credits have come while no operation was at work. */
static inline void settle_credits(struct core *core) {
    if (core->arriving.count > 0 && !core->at_work) {
        core->at_work = true;
        deliver(core);
        core->at_work = false;
    }
}
int receive(struct core *core, struct open *open); /* DONE_NOW, WAITS or WENT_WRONG, of one at its issue */
void poll(struct core *core, struct open *open, cycle time);
void take_in_turn(struct core *core, struct open *open);
void hand_over_later(struct core *core, struct pe *pe, uint32_t place, struct run *run);
void complete(struct core *core, struct open *open);
static inline cycle later(cycle a, cycle b) { return a > b ? a : b; }
static inline cycle head_time(const struct run *run) { return run->first + (cycle)run->taken * run->rate; }
/* Updates when the task of a queue can take the next wavelet. */
static inline void recount(struct pe *pe, uint32_t place) {
    const struct queue *queue = &pe->class->queues[place];
    if (queue->task != NO_TASK) {
        const struct run *first = inputs_of(pe)[place].first;
        bool starts = first != NULL && (first->control || pe->class->tasks[queue->task].type != LISTENER);
        set_active(pe, queue->task, starts ? head_time(first) : NEVER);
    }
}
/* Returns which of the queues of an operation one is. */
static inline int input_at(const struct open *open, uint32_t place) {
    int k = 0;
    while (open->queue[k] != place) {
        k++;
        assert(k < open->inputs);
    }
    return k;
}

/* routers.c */
struct router;
void prepare_switches(struct core *core, const struct core_input *input);
void free_switches(struct core *core);
bool has_switches(const struct core *core, int32_t color);
struct path *ramp_of(struct core *core, const struct pe *pe, const struct queue *queue);

/* switches.c */
void enter_router(struct core *core, struct pe *pe, const struct queue *queue, const struct run *run, bool advances,
                  struct send **send);
void router_decide(struct core *core, struct router *router, cycle now);
void router_changes(struct core *core, struct router *router, cycle now);

/* configuration.c */
void prepare_clocks(struct core *core);
void free_clocks(struct core *core);
void prepare_settings(struct core *core, const struct core_input *input);
void free_settings(struct core *core);
uint32_t control_mask(const struct core *core, const struct pe *pe);
uint32_t prefer(const struct core *core, const struct pe *pe, uint32_t first, cycle *time);
void prepare_flushes(struct core *core);
void free_flushes(struct core *core);
void look_at_queue(struct core *core, struct pe *pe, uint64_t number, cycle now);
void look_again(struct core *core, cycle now);
uint32_t teardown_task(const struct core *core, const struct pe *pe);
bool is_register(const struct core *core, int64_t address, uint32_t size);
bool read_configuration(struct core *core, struct pe *pe, uint32_t address, uint32_t task, uint32_t where,
                        uint16_t *value);
bool write_configuration(struct core *core, struct pe *pe, uint32_t address, uint32_t task, uint32_t where,
                         uint16_t value);
void router_goes_on(struct core *core, struct router *router);

/* directives.c */
void prepare_directives(struct core *core);
void free_directives(struct core *core);
bool directive(struct core *core, struct pe *pe, uint32_t row, uint32_t root, uint32_t count, uint32_t where);
void complete_directives(const struct core *core, struct finding *finding);

/* exceptions.c */
void set_exception_mask(struct pe *pe, int64_t mask);
bool check_exceptions(struct core *core, struct pe *pe, uint32_t row, const int64_t *registers, uint32_t where);
bool compute(struct core *core, struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
             struct operand *operands, uint32_t count, uint16_t *carry);

/* messages.c */
struct worm;
void prepare_networks(struct core *core, const struct core_input *input);
void free_networks(struct core *core);
void inject(struct core *core, struct pe *pe, const struct queue *queue, const struct sending *sending,
            const struct descriptor *stream, const struct run *run);
void message_moves(struct core *core, struct worm *worm, cycle time);
void piece_taken(struct core *core, const struct run *run, int64_t position, int64_t count, cycle time, cycle rate);
void piece_drop(struct core *core, struct piece *piece);
void check_cut(struct core *core, const struct open *open, const struct piece *piece);
void check_last(struct core *core, struct pe *pe, const struct piece *piece, uint32_t word);
bool message_of(const struct core *core, const struct send *send, uint32_t *place, uint32_t *count);

/* Lets those that have to know it know that wavelets of a run are taken from the next one on, the first at a time. */
static inline void run_taken(struct core *core, const struct run *run, uint32_t count, cycle time, cycle rate) {
    if (run->is_piece) {
        piece_taken(core, run, run->taken, count, time, rate);
    } else if (run->is_entered) {
        entry_taken(core, run->entry, time, rate, count);
    } else {
        path_taken(core, run->path, time, rate, count);
    }
}

/* trace.c: what is called where `traces` is set */
enum {
    TASK_STARTS, OPERATION_ISSUED, OPERATION_COMPLETED, TASK_ENDS, OPERATION_WAITED, WAVELETS_SENT, WAVELETS_TAKEN
};
struct trace_record {
    cycle cycle, last;
    int64_t elements;
    uint32_t pe, task, operation, where, microthread, event, queue;
};
void prepare_trace(struct core *core, const struct trace_input *input);
void free_trace(struct core *core);
uint64_t traced(struct core *core, struct trace_record *records, uint64_t room);
void trace_task(struct core *core, const struct pe *pe, uint32_t task, cycle time);
void trace_issue(struct core *core, const struct pe *pe, const struct operation *operation, uint32_t where, cycle time);
void trace_end(struct core *core, const struct pe *pe);
void trace_done(struct core *core, const struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
                cycle time, int64_t elements);
void trace_completion(struct core *core, const struct open *open);

/* statistics.c: what is called where `statistics` is set */
struct statistics_input;
void prepare_statistics(struct core *core, const struct statistics_input *input);
void free_statistics(struct core *core);
void count_start(struct core *core, const struct pe *pe, uint32_t where, cycle begin);
void count_computing(struct core *core, uint32_t where, cycle cycles);
void count_line_step(struct core *core, uint32_t where);
void count_issue(struct core *core, uint32_t where);
void count_in_memory(struct core *core, uint32_t where, cycle cycles, int64_t elements);
void count_send(struct core *core, const struct send *send, cycle cycles, int64_t elements);
void count_sent(struct core *core, const struct send *send);
void count_leaving(struct core *core, const struct pe *pe, uint32_t place, const struct run *run);
void count_passing(struct core *core, uint64_t color, uint32_t pe, int port, uint32_t count);
void count_carrying(struct core *core, uint64_t network, uint32_t pe, int port, uint32_t count);
void count_receive(struct core *core, const struct open *open, cycle setup);
void count_feed(struct core *core, const struct open *open, struct run **runs, int64_t count, cycle begin, cycle rate);
void count_one(struct core *core, const struct open *open, int k, const struct run *run, cycle time, cycle taken);
void count_stop(struct core *core, const struct open *open, cycle time);
void count_taking(struct core *core, const struct pe *pe, uint32_t place, const struct run *run, uint32_t count,
                  cycle time, cycle rate);
void count_taking_at_host(struct core *core, const struct pe *pe, uint32_t place, uint32_t count);

/* fifos.c */
enum { TEST_OR_SUSPEND, SUSPEND, TERMINATE, FAULT };
int64_t count_with_fifos(const struct pe *pe, const struct operation *operation, const struct operand_state *operands);
void look_at_fifos(struct core *core, struct open *open, struct run **runs, int64_t count);
bool has_elements(struct core *core, const struct open *open, int k);
cycle elements_at(struct core *core, const struct open *open, int k);
cycle ready_time(const struct open *open, int k);
int64_t taken_at_once(const struct open *open, int k);
int64_t elements_in_time(struct core *core, struct open *open, struct run **runs);
bool ends_without_elements(struct core *core, struct open *open);
void fifo_stop(struct core *core, struct open *open, int k, cycle time);
void leave_places(struct core *core, struct open *open, int64_t count, cycle begin, cycle rate);
void leave_elements(struct core *core, struct open *open, struct payload *payload, int64_t count, cycle begin,
                    cycle rate);
void prepare_fifos(struct core *core, struct class *class);
static inline uint32_t fifo_place(const struct class *class, uint32_t row, bool writes) {
    return class->source_count + 2 * (row - class->row->fifos) + writes;
}
/* Returns how many elements a wavelet of queue `k` of an operation carries; an entry of a FIFO is one. */
static inline uint32_t lanes_from(const struct open *open, int k) {
    const struct descriptor *stream = &open->operands[open->source[k]].descriptor;
    return open->source[k] > 0 && stream->type == QUEUE_RUN && stream->flags & PACKED ? 2 : 1;
}

/* Returns how many elements an operation takes at once. */
static inline uint32_t taken_together(const struct open *open) {
    uint32_t most = lanes_from(open, 0);
    for (int k = 0; k < open->inputs; k++) {
        most = open->steps[k] > most ? open->steps[k] : most;
    }
    return most;
}

static inline struct side *side_at(const struct pe *pe, uint32_t place) {
    return &sides_of(pe)[place - pe->class->source_count];
}

/* resources.c */
bool resource_use_early(struct core *core, struct pe *pe, uint32_t place, const struct operation *operation, uint32_t where,
                        cycle start, cycle end);
void resource_release_early(struct core *core, struct pe *pe, uint32_t place, cycle since, cycle end);
void resource_extend(struct pe *pe, uint32_t place, cycle end);
bool find_conflict(const struct core *core, cycle until, struct finding *found);
static inline uint32_t thread_place(const struct pe *pe, const struct operation *operation) {
    return pe->class->queue_count + operation->thread;
}
static inline struct resource *resource_of(const struct pe *pe, uint32_t place) {
    return &resources_of(pe)[place];
}
/* Returns a number for an operation of the class and its task: core.py sees to it that it fits. */
static inline uint32_t user_in(uint32_t without, const struct pe *pe) {
    _Static_assert((uint16_t)(NO_TASK + 1) == 0, "no task is the first of the users of an operation");
    return without + (uint16_t)(pe->task + 1);
}
static inline uint32_t user_without_task(const struct class *class, const struct operation *operation) {
    return operation->number * (class->task_count + 1);
}
static inline uint32_t user_of(const struct pe *pe, const struct operation *operation) {
    return user_in(user_without_task(pe->class, operation), pe);
}
/* Returns the end of a use that is open, which also says when it started. */
static inline cycle open_since(cycle start) { return NEVER + start; }
/* Uses a resource from `start` to `end`; returns false if another operation still does. */
static inline bool resource_use(struct core *core, struct pe *pe, uint32_t place, const struct operation *operation,
                                uint32_t where, cycle start, cycle end) {
    struct resource *resource = resource_of(pe, place);
    if (resource->ends > start) {
        return resource_use_early(core, pe, place, operation, where, start, end);
    }
    *resource = (struct resource){.ends = end, .user = user_of(pe, operation)};
    return true;
}
/* Ends the open use that started at `since`: a later one may end before it. */
static inline void resource_release(struct core *core, struct pe *pe, uint32_t place, cycle since, cycle end) {
    if (pe->early > 0) {
        resource_release_early(core, pe, place, since, end);
    } else {
        resource_of(pe, place)->ends = end;
    }
}

/* Tasks in the frequent case, where nothing waits behind anything: tasks.c has the others */

static inline struct activations *activations_of(const struct pe *pe, uint32_t task) {
    int place = pe->class->tasks[task].activations;
    return place < 0 ? NULL : &activations_at(pe)[place];
}

static inline struct unblockings *unblockings_of(const struct pe *pe, uint32_t task) {
    int place = pe->class->tasks[task].unblockings;
    return place < 0 ? NULL : &unblockings_at(pe)[place];
}

/* Notes in a mask of tasks that one operation more (1) or less (-1) may change a task, of `may` that still may. */
static inline void note_may(uint64_t *tasks, uint64_t bit, uint32_t may, int change) {
    if (change > 0) {
        *tasks |= bit;
    } else if (may == 0) {
        *tasks &= ~bit;
    }
}

static inline void may_activate(struct pe *pe, struct activations *state, uint64_t bit, int change) {
    state->may = (state->may + (uint32_t)change) & INT32_MAX;
    note_may(&pe->may_activate, bit, state->may, change);
}

static inline void may_unblock(struct pe *pe, struct unblockings *state, uint64_t bit, int change) {
    state->may += (uint32_t)change;
    note_may(&pe->may_unblock, bit, state->may, change);
}

/* Notes that a task may, or may no longer, be activated or unblocked by the end of one more operation. */
static inline void expect(struct pe *pe, uint16_t activate, uint16_t unblock, int change) {
    if (activate != NO_TASK) {
        struct activations *state = activations_of(pe, activate);
        assert(state != NULL);
        may_activate(pe, state, task_bit(activate), change);
    } else if (unblock != NO_TASK) {
        struct unblockings *state = unblockings_of(pe, unblock);
        assert(state != NULL);
        may_unblock(pe, state, task_bit(unblock), change);
    }
}

/* Notes that an operation whose end changes tasks has started (1) or ended (-1). */
static inline void expect_completion(struct pe *pe, const struct operation *operation, int change) {
    const struct completion *completion = &operation->completion;
    if (completion->known != 0 && completion->activates) {
        may_activate(pe, part_at(pe, completion->known), completion->bit, change);
    } else if (completion->known != 0) {
        may_unblock(pe, part_at(pe, completion->known), completion->bit, change);
    }
    if (operation->has_control) {
        expect(pe, operation->control_activate, operation->control_unblock, change);
    }
}

static inline void task_activate(struct core *core, struct pe *pe, uint32_t task, cycle time) {
    if (pe->tasks[task].active == NEVER && pe->class->tasks[task].activations < 0) {
        set_active(pe, task, time);
        touch(core, pe);
    } else {
        activate(core, pe, task, time, false);
    }
}

static inline void task_pick(struct core *core, struct pe *pe, uint32_t task, cycle time) {
    set_active(pe, task, NEVER);
    struct activations *state = activations_of(pe, task);
    if (state != NULL) {
        state->picked = time;
        if (pe->later != NULL) {
            activate_later(core, pe, task, time);
        }
    }
}

/* Notes that a task is blocked at a time; `place` is that of what is known of the completions that unblock it, or -1. */
static inline void block_at(struct core *core, struct pe *pe, uint32_t task, int place, cycle time) {
    struct task_state *times = &pe->tasks[task];
    times->unblocked = times->unblocked <= time ? NEVER : times->unblocked;
    if (place >= 0) {
        unblockings_at(pe)[place].blocked = time;
        if (pe->later != NULL) {
            unblock_later(core, pe, task, time);
        }
    }
}

/* Unblocks a task from a time on. `ahead`: a completion does it, which may be later than what the PE does next. */
static inline void task_unblock(struct core *core, struct pe *pe, uint32_t task, cycle time, bool ahead) {
    if (!(pe->class->tasks[task].flags & BLOCKABLE)) {
        return;
    }
    if (pe->tasks[task].unblocked == NEVER) {
        pe->tasks[task].unblocked = time;
    } else {
        unblock_again(core, pe, task, time, ahead);
    }
    touch(core, pe);
}

static inline void task_block(struct core *core, struct pe *pe, uint32_t task, cycle time) {
    if (!(pe->class->tasks[task].flags & BLOCKABLE)) {
        return;
    }
    block_at(core, pe, task, pe->class->tasks[task].unblockings, time);
}

/* Activates or unblocks a task by the end of an operation. It may be known only after the task was picked, or blocked, at
 * a later cycle: then it has had its effect before. */
static inline void task_complete(struct core *core, struct pe *pe, uint32_t task, cycle time, bool activates) {
    if (activates) {
        assert(activations_of(pe, task) != NULL);
        if (!(activations_of(pe, task)->picked > time)) {
            activate(core, pe, task, time, true);
        }
    } else {
        assert(unblockings_of(pe, task) != NULL);
        if (!(unblockings_of(pe, task)->blocked >= time)) {
            task_unblock(core, pe, task, time, true);
        }
    }
}

/* The same of the task that an operation names. */
static ALWAYS_INLINE void complete_task(struct core *core, struct pe *pe, const struct completion *completion, cycle time) {
    if (completion->activates) {
        const struct activations *known = part_at(pe, completion->known);
        if (!(known->picked > time)) {
            activate(core, pe, completion->task, time, true);
        }
        return;
    }
    const struct unblockings *known = part_at(pe, completion->known);
    if (known->blocked >= time || completion->is_void) {
        return;
    }
    struct task_state *state = part_at(pe, completion->state);
    if (state->unblocked == NEVER) {
        state->unblocked = time;
    } else {
        unblock_again(core, pe, completion->task, time, true);
    }
    touch(core, pe);
}

/* Lets the end of an operation at a time change the tasks that it names. */
static inline void signal_end(struct core *core, struct pe *pe, const struct operation *operation, cycle time,
                              bool by_control) {
    if (by_control && operation->control_activate != NO_TASK) {
        task_complete(core, pe, operation->control_activate, time, true);
    } else if (by_control && operation->control_unblock != NO_TASK) {
        task_complete(core, pe, operation->control_unblock, time, false);
    } else if (!by_control && operation->completion.known != 0) {
        complete_task(core, pe, &operation->completion, time);
    } else if (time > core->latest) {
        assert(by_control || (operation->activate == NO_TASK && operation->unblock == NO_TASK));
        core->latest = time;
    }
}

#endif
