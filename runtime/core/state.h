/* The state of a machine, as one partition of it sees it. */
#ifndef LOOM_STATE_H
#define LOOM_STATE_H

#include "events.h"
#include "findings.h"
#include "inputs.h"
#include "instructions.h"
#include "pes.h"
#include "queues.h"
#include "waiting.h"

/* Growing arrays of records that Python reads */
struct log {
    int64_t *words;
    uint64_t count, room;
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
    const uint32_t *blockable;
    uint32_t microthreads; /* that a PE of the target has */

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
    bool is_observed; /* more is recorded of operations than what they do: none takes a short way */
    bool is_strict;   /* PEs go on in the order of time: of messages, or as programs may change routes */
    bool runs_signals; /* tasks that have nothing but signals are run apart from the others */
    bool tells_tasks; /* more is recorded of tasks than what they do */
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

    /* What is counted and reported */
    uint64_t steps, budget, pause, wavelets, task_runs, certain, ordered;
    cycle latest, last_clock; /* ends of operations, and of tasks */
    struct finding error;      /* the first so far */
    bool is_failing;           /* the task or operation at work has met one */
    cycle at;                  /* when what is at work happens, of operations that take elements; else -1 */
    struct finding *warnings;  /* that are not reported yet */
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

/* Returns true if the task or operation at work has met an error, which others have not. */
static inline bool has_failed(const struct core *core) { return core->is_failing; }

#endif
