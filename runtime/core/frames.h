/* Frames of the task that runs, on the core's stack. */
#ifndef LOOM_FRAMES_H
#define LOOM_FRAMES_H

#include "machine.h"

static inline uint64_t words_between(const struct core *core, const struct frame *frame) {
    return (uint64_t)((const uint64_t *)frame - core->stack);
}

static inline struct descriptor *descriptors_of(struct frame *frame) {
    return (struct descriptor *)(registers_of(frame) + frame->use->body->registers);
}

/* Makes the stack longer; `core->frame` goes along. */
void widen_stack(struct core *core, uint64_t words);

/* Makes the frame of a use at a place of the stack, with its numbers. */
static inline struct frame *make_frame(struct core *core, uint64_t at, const struct use *use) {
    uint64_t end = at + FRAME_WORDS + use->size + NUMBERS_AT_ONCE;
    if (end > core->stack_words) {
        widen_stack(core, end);
    }
    struct frame *frame = (struct frame *)(core->stack + at);
    frame->use = use;
    int64_t *numbers = registers_of(frame);
    for (uint32_t k = 0; k < use->number_count; k += NUMBERS_AT_ONCE) {
        memcpy(numbers + k, use->numbers + k, NUMBERS_AT_ONCE * sizeof *numbers);
    }
    return frame;
}

static inline void enter_task(struct core *core, struct pe *pe, uint32_t task, const struct use *use) {
    core->frame = NULL;
    struct frame *frame = core->frame = make_frame(core, 0, use);
    frame->pc = use->code;
    frame->caller = 0;
    frame->calls = 0;
    frame->stack = 0;
    pe->task = (uint16_t)task;
}

#endif
