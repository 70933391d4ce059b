/* The order in which PEs go on: partitions, epochs, phases, and events. */
#ifndef LOOM_ORDER_H
#define LOOM_ORDER_H

#include "state.h"

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
/* Returns true if something that comes to a PE has to wait until no other partition is at work: what follows from it may
 * change PEs of other partitions. */
static inline bool has_to_wait(const struct core *core, const struct pe *pe) {
    return core->is_parallel && core->tiles[pe->tile].is_border;
}

/* epochs.c */
void wait_for_epoch(struct core *core, struct pe *pe, cycle time);
/* Returns true if the PE at work has taken as many steps as it may: `pause` says where they end, or the budget does. */
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

#endif
