/* Operations with operands in data structure registers: held.c */
#ifndef LOOM_HELD_H
#define LOOM_HELD_H

#include "machine.h"

/* An operation in memory that takes operands out of the registers: the instructions before it that read these leave them
 * there. An operand has an offset in bytes from the first data structure register, the first register of the frame, or 0. */
struct held_place {
    uint64_t offset;
    uint64_t in_registers, in_frame; /* all bits set, or 0 */
};
struct held;
typedef cycle held_way(const struct core *core, const struct pe *pe, const struct held *held, int64_t *registers);
struct held {
    const struct application *application;
    held_way *compute; /* returns its cycles; -1, and has done nothing, if it is for others */
    struct held_place places[MAX_OPERANDS];
    uint32_t reads; /* into descriptors of the frame */
    struct {
        uint32_t row;
        uint16_t descriptor;
    } read[MAX_OPERANDS];
};

void prepare_held(struct core *core);

#endif
