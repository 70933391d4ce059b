/* PEs: tasks, the record of a PE, tiles of the grid, and classes of PEs with the same programs. */
#ifndef LOOM_PES_H
#define LOOM_PES_H

#include "constants.h"

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
enum { MAX_MAY = (1 << 23) - 1, MAX_LOST = UINT8_MAX };

struct TIGHT activations {
    cycle picked;
    uint32_t may : 23, completed : 1; /* it is active by the end of an operation */
    uint32_t lost : 8;                /* activations of the task while it was active, MAX_LOST and more */
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
/* Offsets in bytes, from a PE, of what it has behind its tasks */
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
    uint32_t blockable;  /* microthreads that its code, or its start, may block, as bits */
    struct gate *gates;  /* of all units: those of the microthreads that may be blocked, and of all below them */
    struct datapath *datapaths; /* of each unit; NULL if they are all alike, and no microthread is blocked */
    uint32_t *unmasked;  /* of each unit, exceptions that stop it, as bits; NULL if nothing unmasks any */
    char *pes; /* the state of each PE, `pe_bytes` apart: a struct pe and its parts */
    uint64_t pe_bytes;
    struct parts parts;
    uint8_t *memory;
    uint16_t control_tasks[64]; /* by id */
};

#endif
