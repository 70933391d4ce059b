/* Moves between memory and queues, in short: what moves.c and short_moves.c share. */
#ifndef LOOM_MOVES_H
#define LOOM_MOVES_H

#include "quick.h"

/* Of a send: when it was issued, its last wavelet leaves of itself, and it ends if nothing holds it back; cycles from the
 * second to the third, if that is not before it */
struct move_times {
    cycle issued, leaves, end, tail;
};

/* Returns the times of a move to a queue whose last wavelet leaves at a time. */
static inline struct move_times times_behind(const struct application *application, cycle leaves, uint32_t count) {
    cycle issued = leaves - (cycle)(count - 1) * application->operation->plain_rate - application->before;
    cycle behind = application->behind;
    return (struct move_times){issued, leaves, leaves + behind, behind > 0 ? behind : 0};
}

/* Returns the times of a move to a queue. */
static inline struct move_times times_of(const struct application *application, cycle issued, uint32_t count) {
    cycle leaves = issued + application->before + (cycle)(count - 1) * application->operation->plain_rate;
    cycle behind = application->behind;
    return (struct move_times){issued, leaves, leaves + behind, behind > 0 ? behind : 0};
}

static inline const struct application *application_of(const struct core *core, const struct short_move *move) {
    return &core->applications[move->application];
}

/* Returns the way by which the wavelets of a short move have come. */
static inline const struct way *way_of(const struct core *core, const struct input *input) {
    if (input->way != 0) {
        return &core->ways[input->way - 1];
    }
    const struct output *output = part_at(input->move.from, application_of(core, &input->move)->at.output);
    return &core->ways[output->way - 1];
}

/* Returns when the last wavelet of a send that waits in short, and has come by a way, leaves of itself. */
static inline cycle leaves_in_short(const struct core *core, const struct input *input, const struct way *way) {
    cycle rate = application_of(core, &input->move)->operation->plain_rate;
    return input->move.time - way->latency + (cycle)(input->count - 1) * rate;
}

/* Returns the row of the task that has issued a short move. */
static inline uint32_t task_row(const struct pe *pe, uint16_t task) {
    return task == NO_TASK ? NO_ROW : pe->class->tasks[task].number;
}

/* Returns where a receive in short puts what comes. */
static inline const struct descriptor *destination_of(const struct core *core, const struct short_move *move) {
    return move->payload != NULL
               ? (const struct descriptor *)(void *)move->payload->words
               : (const struct descriptor *)(void *)operand_at(application_of(core, move), NULL, 0);
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
