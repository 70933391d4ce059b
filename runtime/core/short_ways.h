/* Short ways of operations, as the rest of the core uses them; quick.h has what they share. */
#ifndef LOOM_SHORT_WAYS_H
#define LOOM_SHORT_WAYS_H

#include "state.h"

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
/* short_moves.c: turns what waits in an input queue into the records that all code works on */
void spell_input(struct core *core, struct pe *pe, uint32_t place);
void spell_all(struct core *core);
static inline void spell_out(struct core *core, struct pe *pe, uint32_t place) {
    if (inputs_of(pe)[place].form != SPELLED_OUT) {
        spell_input(core, pe, place);
    }
}

/* held.c: the short way of operations in memory with operands in registers */
short_way compute_held;

#endif
