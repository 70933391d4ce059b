/* Priorities of operations that share the datapath of a PE: priorities.c */
#ifndef LOOM_PRIORITIES_H
#define LOOM_PRIORITIES_H

#include "machine.h"

enum { HELD_SENDS = UINT16_MAX + 1 }; /* in place of a queue: the sends of a PE that take turns */

void make_priority_pools(struct core *core);
void prepare_priorities(struct core *core, const struct core_input *input, struct class *class);

void set_main_level(struct pe *pe, uint8_t level);
bool has_turns(const struct pe *pe);
bool is_blocked(const struct pe *pe, const struct operation *operation);
uint32_t blocked_at(const struct pe *pe, const struct operation *operation);
bool change_microthread(struct core *core, struct pe *pe, int64_t number, bool blocks, uint32_t where);
bool is_never_held(const struct pe *pe, const struct operation *operation);

/* What is called only where the PEs of a class have datapaths: operations have several levels, or microthreads are blocked */
bool is_gated(const struct pe *pe, const struct operation *operation);
cycle unblocked_from(const struct pe *pe, const struct operation *operation);
void send_when_unblocked(struct core *core, struct send *send, const struct operand_state *operands, int64_t count,
                         cycle begins, cycle rate, cycle ending);
bool may_be_held(const struct pe *pe, const struct operation *operation);
void note_work(struct core *core, struct pe *pe, const struct operation *operation, cycle first, cycle rate, cycle cost,
               int64_t count);
void begin_to_receive(struct core *core, struct open *open, cycle issued);
void end_to_receive(struct core *core, struct open *open);
bool sends_in_turns(struct core *core, struct pe *pe, const struct operation *operation, cycle issued, cycle begins,
                    cycle rate, int64_t count, const struct queue *queue);
void send_in_turns(struct core *core, struct send *send, const struct descriptor *stream, struct payload *payload,
                   int64_t count, cycle begins, cycle rate, cycle ending);
void await_turn(struct core *core, struct turn *turn);
void await_room(struct core *core, const struct pe *pe);
bool is_turn_due(const struct turn *turn, uint64_t number, cycle time);
void take_turn(struct core *core, struct turn *turn, cycle time);

#endif
