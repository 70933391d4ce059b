/* What is written down of a run: traces and statistics. */
#ifndef LOOM_OBSERVERS_H
#define LOOM_OBSERVERS_H

#include "state.h"

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

#endif
