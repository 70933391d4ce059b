/* Descriptors at work: their elements in memory, their registers, and which of them operations take quickly. */
#ifndef LOOM_WALKS_H
#define LOOM_WALKS_H

#include "state.h"

/* memory.c */
bool check_walk(struct core *core, struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
                const struct descriptor *walk, int64_t low, int64_t high);
bool is_inside(const struct core *core, const struct pe *pe, const struct descriptor *walk);
static inline uint32_t kind_bytes(uint8_t kind) {
    static const uint8_t bytes[] = {1, 1, 2, 4, 8, 8, 2, 2, 4};
    return bytes[kind];
}
int64_t walk_count(const struct descriptor *walk);
bool fits(struct core *core, struct pe *pe, const struct operation *operation, uint32_t where,
          struct operand_state *operands, uint32_t instruction);
int64_t until_round(const struct operand_state *state, int64_t low, int64_t count);

/* registers.c */
void place_registers(struct core *core);
void load_register(struct core *core, struct pe *pe, uint32_t row, const struct descriptor *descriptor);
uint32_t read_register(struct core *core, struct pe *pe, uint32_t row, struct descriptor *descriptor);
const struct operation *from_registers(struct core *core, struct pe *pe, const struct operation *operation,
                                       struct operand_state *operands, uint32_t where);
void move_registers(const struct core *core, struct pe *pe, const struct operation *operation,
                    const struct operand_state *operands, int64_t count);
void note_held(const struct core *core, const struct pe *pe, struct descriptor *held);
void leave_register(const struct core *core, const struct pe *pe, const struct descriptor *walk, int64_t count);
void end_early(const struct core *core, struct open *open);
int64_t walk_offset(const struct descriptor *walk, int64_t k);
static inline bool is_circular(const struct descriptor *stream) {
    return stream->type == MEMORY_WALK && stream->flags & CIRCULAR;
}
/* Returns a walk behind `count` elements, by a step of its slowest dimension (DSR-067). */
struct descriptor walk_behind(const struct descriptor *walk, int64_t count);
/* Returns an address that a descriptor can hold: one far beyond memory is no less outside. */
static inline int32_t within(int64_t address) {
    const int64_t most = 1 << 30;
    return (int32_t)(address > most ? most : address < -most ? -most : address);
}
void set_completion(const struct core *core, struct operation *operation, const uint32_t *tasks);
void set_settings(const struct tables *tables, struct operation *operation, const uint32_t *tasks, uint16_t thread);

/* Notes the reach of a walk whose elements are not side by side, and whether it can be PLAIN_WALK or PAIRED. */
void note_walk(struct descriptor *walk);
/* Returns true if all elements of such a walk are in its buffer, and none of 32 bits is at an odd word. */
bool is_within_buffer(const struct core *core, const struct descriptor *walk);
/* Notes that the place of a descriptor has changed, or how many elements it has. */
static inline void note_place(const struct core *core, struct descriptor *stream) {
    stream->plain = stream->shape;
    if (stream->shape == PLAIN_HALVES || stream->shape == PLAIN_WORDS) {
        const struct bounds *bounds = &core->bounds[stream->row];
        uint64_t into = (uint32_t)(stream->address - bounds->start); /* far beyond the end if it is before the start */
        bool is_odd = stream->address & (stream->shape - 1);
        if (is_odd || into + (uint64_t)stream->extents[0] * stream->shape > bounds->words) {
            stream->plain = 0;
        }
    } else if (stream->shape >= PLAIN_WALK && !is_within_buffer(core, stream)) {
        stream->plain = 0;
    }
    if (stream->held != 0) {
        stream->loaded = stream->plain;
        stream->plain = 0;
    }
}
/* Notes what a descriptor is, wherever its elements are. */
static inline void note_shape(const struct core *core, struct descriptor *stream) {
    stream->shape = 0;
    if (stream->type == QUEUE_RUN) {
        uint32_t owner = core->tables.queues[stream->row].owner;
        bool shares = core->levels[owner] != 0 || core->blockable[owner] != 0;
        stream->shape = stream->flags == 0 && stream->state == 0 && stream->held == 0 ? PLAIN_RUN + shares : 0;
    } else if (stream->type == MEMORY_WALK && stream->dimensions == 1 && stream->strides[0] == 1 &&
               stream->extents[0] != POINTER_EXTENT && !is_circular(stream)) {
        stream->shape = kind_bytes(stream->kind) == 4 ? PLAIN_WORDS : kind_bytes(stream->kind) == 2 ? PLAIN_HALVES : 0;
    } else if (stream->type == MEMORY_WALK && (stream->held != 0 || !is_circular(stream))) {
        note_walk(stream);
    }
}
static inline void note_plain(const struct core *core, struct descriptor *stream) {
    note_shape(core, stream);
    if (stream->type == MEMORY_WALK && stream->row == NO_ROW) {
        stream->shape = 0;
    }
    note_place(core, stream);
}

#endif
