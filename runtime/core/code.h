/* The code of a use, prepared for the interpreter. */
#ifndef LOOM_CODE_H
#define LOOM_CODE_H

#include "control.h"
#include "machine.h"

void prepare_code(const struct core *core, bool counts, const struct use *use, const union slot *slots,
                  struct instruction *code);
uint32_t prepare_signals(struct use *use, struct signal *signals);
void choose_short_ways(struct core *core);
void join_instructions(struct core *core);
void join_loops(struct core *core);

/* Returns the register that gets whether an operation has not been stopped, or NO_REGISTER. */
static inline uint16_t result_of(const struct instruction *applied) {
    return applied->op == I_send_move || applied->op == I_receive_move ? NO_REGISTER : applied->b;
}

#endif
