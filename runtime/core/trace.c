/* Trace: what PEs do and when, as records that Python takes away after a run, or the last ones of which a ring keeps. */
#include <stdlib.h>

#include "statistics.h"

/* Wavelets of one queue: `count`, one every `rate` cycles from `first` on */
struct wavelets {
    cycle first, rate;
    int64_t count; /* 0: none */
};

/* A wait of an operation for a queue: that of its elements one after the other */
struct wait {
    cycle first, until, goes_on;
    int64_t cycles; /* 0: none */
    const struct operation *operation;
    uint32_t task, where;
};

struct trace {
    uint64_t events;      /* bits, by number */
    uint64_t ring;      /* the most records that are kept; 0: all */
    uint64_t count, room; /* records noted, and the room for them */
    struct trace_record *records;
    struct wavelets *wavelets; /* by cell */
    struct wait *waits;
};

enum { MAX_STEP = 16 }; /* cycles between two wavelets of a record */
#define FIFO_BIT (1u << 31)
#define WRITES_BIT (1u << 30)

static void note(struct core *core, const struct trace_record *record) {
    struct trace *trace = core->trace;
    if (!(trace->events >> record->event & 1)) {
        return;
    }
    uint64_t at = trace->count++;
    if (trace->ring > 0) {
        trace->records[at % trace->ring] = *record;
        return;
    }
    grow(core, (void **)&trace->records, &trace->room, trace->count, sizeof *record);
    trace->records[at] = *record;
}

static struct trace_record record_at(const struct pe *pe, cycle time, uint32_t task, uint32_t event) {
    return (struct trace_record){.cycle = time, .last = time, .pe = pe->number, .task = task, .operation = NO_ROW,
                                 .microthread = NO_ROW, .event = event, .queue = NO_ROW};
}

void trace_task(struct core *core, const struct pe *pe, uint32_t task, cycle time) {
    struct trace_record record = record_at(pe, time, task, TASK_STARTS);
    note(core, &record);
}

/* Records that the task of a PE ends. */
void trace_end(struct core *core, const struct pe *pe) {
    struct trace_record record = record_at(pe, pe->now, running_task(pe), TASK_ENDS);
    note(core, &record);
}

static struct trace_record record_of(const struct pe *pe, const struct operation *operation, uint32_t task,
                                     uint32_t where, cycle time, uint32_t event) {
    struct trace_record record = record_at(pe, time, task, event);
    record.operation = operation->number;
    record.where = where;
    record.microthread = operation->is_async ? operation->thread : NO_ROW;
    return record;
}

void trace_issue(struct core *core, const struct pe *pe, const struct operation *operation, uint32_t where,
                 cycle time) {
    struct trace_record record = record_of(pe, operation, running_task(pe), where, time, OPERATION_ISSUED);
    note(core, &record);
}

/* Records that an operation has done its elements; of one that sends, they are wavelets. */
void trace_done(struct core *core, const struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
                cycle time, int64_t elements) {
    struct trace_record record = record_of(pe, operation, task, where, time, OPERATION_COMPLETED);
    record.elements = elements;
    note(core, &record);
}

void trace_completion(struct core *core, const struct open *open) {
    trace_done(core, open->pe, open->operation, open->task, open->where, open->time, open->count);
}

/* Queues: what statistics know */

static uint32_t queue_at(const struct class *class, uint32_t place) {
    const struct queue *queue = &class->queues[place];
    return queue->fifo == NULL ? queue->number : queue->number | FIFO_BIT | (queue->writes ? WRITES_BIT : 0);
}

static void end_wavelets(struct core *core, const struct pe *pe, uint32_t place, struct wavelets *wavelets) {
    if (wavelets->count > 0) {
        bool is_input = pe->class->queues[place].is_input;
        struct trace_record record = record_at(pe, wavelets->first, NO_ROW, is_input ? WAVELETS_TAKEN : WAVELETS_SENT);
        record.last += (wavelets->count - 1) * wavelets->rate;
        record.elements = wavelets->count;
        record.queue = queue_at(pe->class, place);
        note(core, &record);
        wavelets->count = 0;
    }
}

/* Records that wavelets leave an output queue, or are taken from an input queue. */
void trace_wavelets(struct core *core, const struct pe *pe, uint32_t place, uint32_t count, cycle first, cycle rate) {
    if (!(core->trace->events & (1 << WAVELETS_SENT | 1 << WAVELETS_TAKEN))) {
        return;
    }
    struct wavelets *wavelets = &core->trace->wavelets[cell_of(core, pe, place)];
    for (uint32_t k = 0; k < count; k++) {
        cycle time = first + k * rate;
        if (wavelets->count == 1 && time >= wavelets->first && time - wavelets->first <= MAX_STEP) {
            wavelets->rate = time - wavelets->first;
            wavelets->count = 2;
        } else if (wavelets->count > 1 && time == wavelets->first + wavelets->count * wavelets->rate) {
            wavelets->count++;
        } else {
            end_wavelets(core, pe, place, wavelets);
            *wavelets = (struct wavelets){.first = time, .count = 1};
        }
    }
}

static void end_wait(struct core *core, const struct pe *pe, uint32_t place, struct wait *wait) {
    if (wait->cycles > 0) {
        struct trace_record record =
            record_of(pe, wait->operation, wait->task, wait->where, wait->first, OPERATION_WAITED);
        record.last = wait->until;
        record.elements = wait->cycles;
        record.queue = queue_at(pe->class, place);
        note(core, &record);
        wait->cycles = 0;
    }
}

/* Records that an element waits for a queue; its operation is ready for the next one `rate` cycles later. */
void trace_wait(struct core *core, const struct waiter *who, uint32_t place, cycle ready, cycle until) {
    if (!(core->trace->events >> OPERATION_WAITED & 1)) {
        return;
    }
    struct wait *wait = &core->trace->waits[cell_of(core, who->pe, place)];
    const struct operation *before = wait->operation, *now = who->operation;
    if (wait->cycles > 0 && wait->goes_on == ready && before->number == now->number && wait->task == who->task &&
        wait->where == who->where && before->is_async == now->is_async && before->thread == now->thread) {
        wait->until = until;
        wait->goes_on = until + who->rate;
        wait->cycles += until - ready;
        return;
    }
    end_wait(core, who->pe, place, wait);
    *wait = (struct wait){.first = ready, .until = until, .goes_on = until + who->rate, .cycles = until - ready,
                          .operation = who->operation, .task = who->task, .where = who->where};
}

/* Records that an element waits for its microthread to be unblocked. */
void trace_blocked(struct core *core, const struct waiter *who, cycle ready, cycle until) {
    struct trace_record record = record_of(who->pe, who->operation, who->task, who->where, ready, OPERATION_WAITED);
    record.last = until;
    record.elements = until - ready;
    note(core, &record);
}

/* Creation and reading */

void prepare_trace(struct core *core, const struct trace_input *input) {
    if (input == NULL) {
        return;
    }
    struct trace *trace = core_allocate(core, 1, sizeof *trace);
    core->trace = trace;
    core->traces = true;
    trace->events = input->events;
    trace->ring = input->ring;
    if (input->ring > 0) {
        trace->records = core_allocate(core, input->ring, sizeof *trace->records);
    }
    if (core->statistics != NULL) {
        uint64_t cells = (uint64_t)core->statistics->counts.first[core->class_count];
        trace->wavelets = core_allocate(core, cells, sizeof *trace->wavelets);
        trace->waits = core_allocate(core, cells, sizeof *trace->waits);
    }
}

void free_trace(struct core *core) {
    if (core->trace != NULL) {
        free(core->trace->records);
        free(core->trace->wavelets);
        free(core->trace->waits);
        free(core->trace);
    }
}

/* Records what has not ended yet. */
static void end_all(struct core *core) {
    for (uint32_t c = 0; core->trace->waits != NULL && c < core->class_count; c++) {
        const struct class *class = &core->classes[c];
        for (uint32_t unit = 0; unit < class->units; unit++) {
            const struct pe *pe = pe_at(class, unit);
            for (uint32_t place = 0; place < class->queue_count; place++) {
                uint64_t cell = cell_of(core, pe, place);
                end_wavelets(core, pe, place, &core->trace->wavelets[cell]);
                end_wait(core, pe, place, &core->trace->waits[cell]);
            }
        }
    }
}

uint64_t core_trace_length(const struct core *core) { return core->trace->count; }

/* Stores the records that are kept, if there is room, and forgets them unless it is a ring; returns how many have been
 * noted. */
uint64_t traced(struct core *core, struct trace_record *records, uint64_t room) {
    struct trace *trace = core->trace;
    if (records == NULL) {
        end_all(core);
        return trace->count;
    }
    uint64_t kept = trace->ring > 0 && trace->count > trace->ring ? trace->ring : trace->count;
    if (kept <= room) {
        memcpy(records, trace->records, kept * sizeof *records);
        trace->count = trace->ring > 0 ? trace->count : 0;
    }
    return kept;
}
