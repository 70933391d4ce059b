/* What the library exports. Python's side is library.py. */
#ifndef LOOM_CORE_H
#define LOOM_CORE_H

#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* Returns the hash of the sources that the library is built from. */
EXPORT const char *loom_sources(void);

/* Returns the result, as a register holds it, of a scalar operation of the tables on registers b, c and a, or 0 if there
 * is none with this number. */
EXPORT int64_t loom_scalar(uint32_t number, int64_t a, int64_t b, int64_t c);



/* A machine: machine.h. Made from arrays that outlive it. */
struct core;
struct core_input;
struct finding;
EXPORT struct core *core_create(const struct core_input *input);
EXPORT void core_destroy(struct core *core);

/* Runs until nothing can happen any more, an error, or more than `steps` steps in all; or until there have been very
 * many calls, or runs that go from one operation to the next, which count no steps. */
enum { CORE_DONE, CORE_BUDGET, CORE_ERROR, CORE_NO_MEMORY, CORE_CALLS };
EXPORT int core_run(struct core *core, uint64_t steps);

EXPORT void core_launch(struct core *core, uint32_t row, const int64_t *arguments, int64_t time);
EXPORT uint32_t core_active(const struct core *core, uint32_t row);
EXPORT void core_send(struct core *core, uint64_t pes, const uint32_t *numbers, const uint32_t *queues,
                      const uint32_t *words, uint32_t count, const int64_t *first, const uint32_t *capacities,
                      uint32_t back);
EXPORT void core_unsent(const struct core *core, uint32_t class_number, uint32_t queue, int64_t *result);
EXPORT void core_backlog(const struct core *core, uint32_t class_number, uint32_t queue, int64_t *result);
EXPORT void core_take(struct core *core, uint64_t pes, const uint32_t *numbers, const uint32_t *queues, uint32_t count,
                      uint32_t *words);
EXPORT void core_clocks(const struct core *core, int64_t *clocks);
EXPORT int64_t core_reached(const struct core *core);
EXPORT void core_counts(const struct core *core, int64_t *counts);
EXPORT void core_error(const struct core *core, struct finding *finding);
EXPORT uint64_t core_warnings(struct core *core, struct finding *findings);
EXPORT bool core_limit(struct core *core, uint64_t steps);
EXPORT void core_prints(const struct core *core, int64_t *words);
EXPORT void core_place(const struct core *core, uint32_t *place);

/* Records of runtime/trace_lines.py: without an array for them, core_traced notes what has not ended and returns how many
 * have been noted; with one it stores those that are kept, and forgets them unless they are the last of more. */
struct trace_record;
EXPORT uint64_t core_trace_length(const struct core *core);
EXPORT uint64_t core_traced(struct core *core, struct trace_record *records, uint64_t room);

/* Returns false if there may be records of runtime/reports/rest.py. */
EXPORT bool core_is_clear(const struct core *core);

/* Completes copies of counters: statistics.h. */
struct pe_counts;
struct cell_counts;
EXPORT void core_statistics(const struct core *core, struct pe_counts *pes, struct cell_counts *cells);

/* Records of runtime/reports/rest.py; each call returns how many there are, and stores those for which there is room. */
struct wait_record;
struct task_record;
struct queued_record;
struct wavelets_record;
EXPORT uint64_t core_waits(const struct core *core, struct wait_record *records, uint64_t room);
EXPORT uint64_t core_tasks(const struct core *core, struct task_record *records, uint64_t room);
EXPORT uint64_t core_lost(const struct core *core, struct wavelets_record *records, uint64_t room);
EXPORT uint64_t core_queued(const struct core *core, struct queued_record *records, uint64_t room);
EXPORT uint64_t core_sent(const struct core *core, struct wavelets_record *records, uint64_t room);
struct at_router_record;
EXPORT uint64_t core_routers(const struct core *core, struct at_router_record *records, uint64_t room, uint32_t what);
struct message_record;
EXPORT uint64_t core_messages(const struct core *core, struct message_record *records, uint64_t room);

/* For tests: the bytes of a record that C and Python share, 0 behind the last; the name of an instruction. */
EXPORT uint64_t core_sizes(uint32_t number);
EXPORT const char *core_instruction(uint32_t number);

#endif
