/* Moves between memory and queues, in short: what moves.c and short_moves.c share. */
#ifndef LOOM_MOVES_H
#define LOOM_MOVES_H

#include "quick.h"

/* Of a send: when its first and its last wavelet leave by themselves, and it ends if nothing holds it back */
struct move_times {
    cycle first, leaves, end;
};

/* Returns the times of a move to a queue whose first wavelet leaves at a time. */
static inline struct move_times times_from(const struct application *application, cycle first, uint32_t count) {
    cycle leaves = first + (cycle)(count - 1) * application->operation->plain_rate;
    return (struct move_times){first, leaves, leaves + application->behind};
}

/* Returns when a move to a queue ends whose last wavelet may leave at a time, as `send_ends` has it. */
static inline cycle end_of_move(const struct application *application, const struct move_times *times, cycle room) {
    cycle end = room + application->tail;
    return end > times->end ? end : times->end;
}

static inline const struct application *application_of(const struct short_move *move) {
    return move->by->slot.application;
}

/* Returns the way at a place among all ways. Places count words of 4 bytes, and from 1 on. */
static inline const struct way *way_at(const struct core *core, uint32_t place) {
    return (const struct way *)(const void *)((const uint32_t *)(const void *)core->ways + place - 1);
}
enum { WORDS_OF_WAY = sizeof(struct way) / sizeof(uint32_t) };

/* Returns the way by which the wavelets of a short move have come. */
static inline const struct way *way_of(const struct core *core, const struct input *input) {
    if (input->way != 0) {
        return way_at(core, input->way);
    }
    const struct output *output = part_at(input->move.from, application_of(&input->move)->at.output);
    return way_at(core, output->way);
}

/* Returns the times of a send that waits in short, and has come by a way. */
static inline struct move_times times_in_short(const struct input *input, const struct way *way) {
    return times_from(application_of(&input->move), input->move.time - way->latency, input->count);
}

/* Returns the row of the task that has issued a short move. */
static inline uint32_t task_row(const struct pe *pe, uint16_t task) {
    return task == NO_TASK ? NO_ROW : pe->class->tasks[task].number;
}

/* Takes a short move out of its queue, which has nothing then. */
static inline void end_short(struct core *core, struct input *input) {
    assert(input->form != SPELLED_OUT);
    input->form = SPELLED_OUT;
    input->first = input->last = NULL;
    input->waiting = NULL;
    core->short_moves--;
}

#endif
