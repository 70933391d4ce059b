/* Trace: what PEs do and when, as records that Python writes out and takes away after each slice of a run. */
#include "partitions.h"

_Static_assert(sizeof(struct trace_record) % sizeof(int64_t) == 0, "records are whole words of a log");

static void note(struct core *core, const struct trace_record *record) {
    const uint64_t words = sizeof *record / sizeof(int64_t);
    struct log *log = &core->trace;
    grow(core, (void **)&log->words, &log->room, log->count + words, sizeof(int64_t));
    memcpy(log->words + log->count, record, sizeof *record);
    log->count += words;
}

void trace_task(struct core *core, const struct pe *pe, uint32_t task, cycle time) {
    note(core, &(struct trace_record){.cycle = time, .pe = pe->number, .task = task, .operation = NO_ROW,
                                      .microthread = NO_ROW, .event = TASK_STARTS});
}

/* Records that the task of a PE ends. */
void trace_end(struct core *core, const struct pe *pe) {
    note(core, &(struct trace_record){.cycle = pe->now, .pe = pe->number, .task = running_task(pe), .operation = NO_ROW,
                                      .microthread = NO_ROW, .event = TASK_ENDS});
}

static struct trace_record record_of(const struct pe *pe, const struct operation *operation, uint32_t task,
                                     uint32_t where, cycle time) {
    return (struct trace_record){.cycle = time, .pe = pe->number, .task = task, .operation = operation->number,
                                 .where = where, .microthread = operation->is_async ? operation->thread : NO_ROW};
}

void trace_issue(struct core *core, const struct pe *pe, const struct operation *operation, uint32_t where,
                 cycle time) {
    struct trace_record record = record_of(pe, operation, running_task(pe), where, time);
    record.event = OPERATION_ISSUED;
    note(core, &record);
}

/* Records that an operation has done its elements; of one that sends, they are wavelets. */
void trace_done(struct core *core, const struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
                cycle time, int64_t elements) {
    struct trace_record record = record_of(pe, operation, task, where, time);
    record.elements = elements;
    record.event = OPERATION_COMPLETED;
    note(core, &record);
}

void trace_completion(struct core *core, const struct open *open) {
    trace_done(core, open->pe, open->operation, open->task, open->where, open->time, open->count);
}

/* From now on, records what PEs do. */
void core_trace(struct core *core) {
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        core->partitions->cores[k]->traces = true;
    }
}

/* Returns how many records there are; stores them all, and forgets them, if there is room. */
uint64_t core_traced(struct core *core, struct trace_record *records, uint64_t room) {
    uint64_t count = 0;
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        count += core->partitions->cores[k]->trace.count * sizeof(int64_t) / sizeof *records;
    }
    for (uint32_t k = 0; k < core->partitions->count && count > 0 && count <= room; k++) {
        struct log *trace = &core->partitions->cores[k]->trace;
        if (trace->count > 0) {
            memcpy(records, trace->words, trace->count * sizeof(int64_t));
            records += trace->count * sizeof(int64_t) / sizeof *records;
            trace->count = 0;
        }
    }
    return count;
}
