/* Statistics of a run: what is called where `statistics` is set.
 *
 * An element waits from when its operation is ready for it until it is taken. It waits for the queue whose wavelet, or
 * credit, is the last to be there; of several in one cycle for the first of the operation's operands.
 */
#include "statistics.h"
#include "priorities.h"

#include <stdlib.h>

/* Tasks */

void count_start(struct core *core, const struct pe *pe, uint32_t where, cycle begin) {
    core->statistics->counts.pes[pe->number].idle += begin - pe->clock;
    count_computing(core, where, core->timing.task_start);
}

void count_computing(struct core *core, uint32_t where, cycle cycles) {
    core->statistics->counts.lines[where].cycles += cycles;
}

void count_line_step(struct core *core, uint32_t where) { core->statistics->counts.lines[where].steps++; }

/* Operations */

void count_issue(struct core *core, uint32_t where) { core->statistics->counts.lines[where].issued++; }

void count_in_memory(struct core *core, uint32_t where, cycle cycles, int64_t elements) {
    struct line_counts *line = &core->statistics->counts.lines[where];
    line->cycles += cycles;
    line->elements += (uint64_t)elements;
}

/* Counts the cycles of some elements of an operation. */
static void count_work(struct core *core, const struct pe *pe, uint32_t where, bool is_sync, cycle cycles,
                       int64_t elements) {
    struct line_counts *line = &core->statistics->counts.lines[where];
    if (is_sync) {
        line->cycles += cycles;
    } else {
        core->statistics->counts.pes[pe->number].background += cycles;
    }
    line->elements += (uint64_t)elements;
}

static void count_wait(struct core *core, const struct waiter *who, uint32_t place, cycle cycles) {
    struct cell_counts *cell = &core->statistics->counts.cells[cell_of(core, who->pe, place)];
    if (who->is_sync) {
        cell->waited += cycles;
        core->statistics->counts.lines[who->where].waited += cycles;
    } else {
        cell->waited_in_background += cycles;
    }
}

/* Counts, and traces, that an element waits for a queue. */
static void note_wait(struct core *core, const struct waiter *who, uint32_t place, cycle ready, cycle until) {
    count_wait(core, who, place, until - ready);
    if (core->traces) {
        trace_wait(core, who, place, ready, until);
    }
}

/* Counts, and traces, that an element waits for its microthread to be unblocked. */
static void note_blocked(struct core *core, const struct waiter *who, cycle ready, cycle until) {
    core->statistics->counts.pes[who->pe->number].blocked += until - ready;
    if (core->traces) {
        trace_blocked(core, who, ready, until);
    }
}

static struct waiter waiter_of(const struct open *open) {
    return (struct waiter){.pe = open->pe, .operation = open->operation, .where = open->where, .task = open->task,
                           .is_sync = open->is_sync, .rate = open->rate};
}

/* Notes how far an operation is that its task waits for. */
static void reach(struct core *core, const struct pe *pe, bool is_sync, cycle time) {
    if (is_sync) {
        core->statistics->counts.pes[pe->number].reached = time;
    }
}

/* Sending */

/* Counts a send of some elements, and its cycles if nothing holds it back. */
void count_send(struct core *core, const struct send *send, cycle cycles, int64_t elements) {
    count_work(core, send->pe, send->where, send->is_sync, cycles, elements);
    if (!send->is_sync) {
        count_computing(core, send->where, core->timing.async_issue);
    }
    reach(core, send->pe, send->is_sync, send->unheld);
}

/* Counts the end of a send, which full ways may have held back. */
void count_sent(struct core *core, const struct send *send) {
    if (send->done > send->unheld) {
        struct waiter who = {.pe = send->pe, .operation = send->operation, .where = send->where, .task = send->task,
                             .is_sync = send->is_sync, .rate = 1};
        cycle until = send->unheld + send->blocked < send->done ? send->unheld + send->blocked : send->done;
        if (until > send->unheld) {
            note_blocked(core, &who, send->unheld, until);
        }
        if (send->done > until) {
            note_wait(core, &who, core->queue_place[send->queue], until, send->done);
        }
        reach(core, send->pe, send->is_sync, send->done);
    }
}

/* Counts wavelets that leave an output queue. */
void count_leaving(struct core *core, const struct pe *pe, uint32_t place, const struct run *run) {
    struct cell_counts *cell = &core->statistics->counts.cells[cell_of(core, pe, place)];
    cell->sent += run->count;
    for (uint32_t k = 0; run->control && k < run->count; k++) {
        cell->ignored += run->payload->words[k] >> 24 & 1;
    }
    if (core->traces) {
        trace_wavelets(core, pe, place, run->count, run->first, run->rate);
    }
}

/* Counts wavelets of a color with switches, by its number among these, that leave a router by a port. */
void count_passing(struct core *core, uint64_t color, uint32_t pe, int port, uint32_t count) {
    uint64_t pes = (uint64_t)core->width * core->height;
    core->statistics->counts.routers[(color * pes + pe) * 5 + (uint32_t)port] += count;
}

/* Counts wavelets of a message that take a link. */
void count_carrying(struct core *core, uint64_t network, uint32_t pe, int port, uint32_t count) {
    uint64_t pes = (uint64_t)core->width * core->height;
    core->statistics->counts.messages[(network * pes + pe) * 5 + (uint32_t)port] += count;
}

/* Receiving */

/* Counts the issue of an operation on queues. */
void count_receive(struct core *core, const struct open *open, cycle setup) {
    count_computing(core, open->where, open->is_sync ? setup : core->timing.async_issue);
    reach(core, open->pe, open->is_sync, open->time);
}

static uint32_t output_of(const struct core *core, const struct open *open) {
    const struct descriptor *to = &open->operands[0].descriptor;
    return to->type == QUEUE_RUN ? core->queue_place[to->row] : open->queue[0];
}

/* Returns the place of the queue whose wavelet was the last to be there for the element of a number; NO_ROW if that came
 * before its microthread was unblocked. */
static uint32_t awaited(const struct core *core, const struct open *open, struct run **runs, int64_t number,
                        cycle taken) {
    for (int k = 0; k < open->inputs; k++) {
        cycle head, theirs = line(open, runs, k, &head);
        if (head + number * theirs == taken) {
            return open->queue[k];
        }
    }
    bool is_unblocked = open->shares && unblocked_from(open->pe, open->operation) == taken;
    return is_unblocked ? NO_ROW : output_of(core, open);
}

static void count_waits(struct core *core, const struct open *open, struct run **runs, int64_t count, cycle begin,
                        cycle rate) {
    struct waiter who = waiter_of(open);
    cycle each = rate - open->rate;
    bool is_single = open->inputs == 1 && !open->is_forwarder; /* it takes no turns */
    if (is_single && !core->traces) {
        cycle all = begin - open->time + (count - 1) * each;
        if (all > 0) {
            count_wait(core, &who, open->queue[0], all);
        }
        return;
    }
    for (int64_t k = 0; k < (each > 0 ? count : 1); k++) {
        cycle until = begin + k * rate, ready = k == 0 ? open->time : until - each;
        if (until > ready) {
            uint32_t place = is_single ? open->queue[0] : awaited(core, open, runs, k, until);
            if (place == NO_ROW) {
                note_blocked(core, &who, ready, until);
            } else {
                note_wait(core, &who, place, ready, until);
            }
        }
    }
}

/* Counts elements that an operation takes: one every `rate` cycles from `begin` on. */
void count_feed(struct core *core, const struct open *open, struct run **runs, int64_t count, cycle begin, cycle rate) {
    count_work(core, open->pe, open->where, open->is_sync, count * open->rate, count);
    count_waits(core, open, runs, count, begin, rate);
    reach(core, open->pe, open->is_sync, begin + (count - 1) * rate + open->rate);
    for (int k = 0; k < open->inputs; k++) {
        uint32_t own = lanes_from(open, k);
        count_taking(core, open->pe, open->queue[k], runs[k], (uint32_t)((count + own - 1) / own), begin, rate * own);
    }
}

/* Counts a wavelet of queue `k` that is not an element: the operation waits until `time`, and takes it at `taken`. */
void count_one(struct core *core, const struct open *open, int k, const struct run *run, cycle time, cycle taken) {
    if (time > open->time) {
        struct waiter who = waiter_of(open);
        note_wait(core, &who, open->queue[k], open->time, time);
    }
    count_work(core, open->pe, open->where, open->is_sync, open->rate, 0);
    reach(core, open->pe, open->is_sync, time + open->rate);
    count_taking(core, open->pe, open->queue[k], run, 1, taken, 1);
}

/* Counts that an operation ends because a FIFO has nothing for it when all else is there. */
void count_stop(struct core *core, const struct open *open, cycle time) {
    if (time <= open->time) {
        return;
    }
    uint32_t place = output_of(core, open);
    for (int k = 0; k < open->inputs; k++) {
        const struct run *run = inputs_of(open->pe)[open->queue[k]].first;
        if (!(open->polls >> k & 1) && run != NULL && head_time(run) == time) {
            place = open->queue[k];
            break;
        }
    }
    struct waiter who = waiter_of(open);
    note_wait(core, &who, place, open->time, time);
    reach(core, open->pe, open->is_sync, time);
}

/* Fill of queues */

static struct takes *piece_at(const struct fill *fill, uint32_t k) {
    return &fill->pieces[(fill->first + k) % fill->room];
}

/* Adds when a wavelet was taken. */
static void add_take(struct core *core, struct fill *fill, cycle time) {
    fill->wavelets++;
    struct takes *last = fill->count == 0 ? NULL : piece_at(fill, fill->count - 1);
    if (last != NULL && last->count == 1 && time - last->first < UINT32_MAX) {
        last->rate = (uint32_t)(time - last->first);
        last->count = 2;
        return;
    }
    if (last != NULL && last->count > 1 && time == last->first + (cycle)last->count * last->rate) {
        last->count++;
        return;
    }
    if (fill->count == fill->room) {
        uint32_t room = fill->room == 0 ? 2 : 2 * fill->room;
        struct payload *block = payload_take(core, room * (sizeof(struct takes) / 4));
        struct takes *pieces = (struct takes *)(void *)block->words;
        for (uint32_t k = 0; k < fill->count; k++) {
            pieces[k] = *piece_at(fill, k);
        }
        if (fill->block != NULL) {
            payload_drop(core, fill->block);
        }
        fill->block = block;
        fill->pieces = pieces;
        fill->first = 0;
        fill->room = room;
    }
    *piece_at(fill, fill->count++) = (struct takes){.first = time, .count = 1};
}

/* Returns how many wavelets of a piece were taken up to a time. */
static uint32_t taken_until(const struct takes *piece, cycle time) {
    if (piece->first > time) {
        return 0;
    }
    if (piece->count == 1 || piece->rate == 0) {
        return piece->count;
    }
    cycle count = (time - piece->first) / piece->rate + 1;
    return count < piece->count ? (uint32_t)count : piece->count;
}

static void forget_takes(struct fill *fill, cycle time) {
    while (fill->count > 0) {
        struct takes *piece = piece_at(fill, 0);
        uint32_t gone = taken_until(piece, time);
        fill->wavelets -= gone;
        if (gone < piece->count) {
            piece->first += (cycle)gone * piece->rate;
            piece->count -= gone;
            return;
        }
        fill->first = (fill->first + 1) % fill->room;
        fill->count--;
    }
}

/* Counts wavelets that are taken of a run, from the next one on: one every `rate` cycles from a time on. */
void count_taking(struct core *core, const struct pe *pe, uint32_t place, const struct run *run, uint32_t count,
                  cycle time, cycle rate) {
    if (place >= pe->class->source_count) {
        return; /* an end of a FIFO */
    }
    uint64_t number = cell_of(core, pe, place);
    struct cell_counts *cell = &core->statistics->counts.cells[number];
    struct fill *fill = &core->statistics->fills[number];
    cell->taken += count;
    if (core->traces) {
        trace_wavelets(core, pe, place, count, time, rate);
    }
    for (uint32_t k = 0; k < count; k++) {
        cycle there = later(head_time(run) + (cycle)k * run->rate, fill->last_there);
        cycle taken = later(later(time + k * rate, fill->last_taken), there);
        fill->last_there = there;
        fill->last_taken = taken;
        add_take(core, fill, taken);
        forget_takes(fill, there);
        if (fill->wavelets > cell->peak) {
            cell->peak = fill->wavelets;
            cell->peak_cycle = there;
        }
    }
}

/* Counts wavelets that the host takes. */
void count_taking_at_host(struct core *core, const struct pe *pe, uint32_t place, uint32_t count) {
    core->statistics->counts.cells[cell_of(core, pe, place)].taken += count;
}

/* Finds the most wavelets that were in a queue with one of those which nothing has taken. */
static void fill_of_left(const struct fill *fill, const struct run *run, struct cell_counts *cell) {
    cycle there = fill->last_there;
    int64_t left = 0, taken = 0; /* of the pieces before `piece`, and of it `part` */
    uint32_t piece = 0, part = 0;
    for (; run != NULL; run = run->next) {
        for (uint32_t k = run->taken; k < run->count; k++) {
            there = later(there, run->first + (cycle)k * run->rate);
            left++;
            for (; piece < fill->count; piece++, part = 0) {
                const struct takes *takes = piece_at(fill, piece);
                uint32_t gone = taken_until(takes, there);
                taken += gone - part;
                part = gone;
                if (gone < takes->count) {
                    break;
                }
            }
            int64_t most = left + fill->wavelets - taken;
            if (most > cell->peak) {
                cell->peak = most;
                cell->peak_cycle = there;
            }
        }
    }
}

/* Reading */

/* Completes a copy of the counters: how far PEs are, and the fill of queues with what is left in them. */
void core_statistics(const struct core *core, struct pe_counts *pes, struct cell_counts *cells) {
    for (uint32_t c = 0; c < core->class_count; c++) {
        const struct class *class = &core->classes[c];
        for (uint32_t unit = 0; unit < class->units; unit++) {
            const struct pe *pe = pe_at(class, unit);
            pes[pe->number].reached = pe->is_busy ? later(pe->now, pes[pe->number].reached) : pe->clock;
            for (uint32_t place = 0; place < class->source_count; place++) {
                uint64_t number = cell_of(core, pe, place);
                if (!class->queues[place].is_sink) {
                    fill_of_left(&core->statistics->fills[number], inputs_of(pe)[place].first, &cells[number]);
                }
            }
        }
    }
}

void prepare_statistics(struct core *core, const struct statistics_input *input) {
    if (input == NULL) {
        return;
    }
    struct statistics *statistics = core_allocate(core, 1, sizeof *statistics);
    core->statistics = statistics;
    statistics->counts = *input;
    statistics->fills = core_allocate(core, (uint64_t)input->first[core->class_count], sizeof *statistics->fills);
}

void free_statistics(struct core *core) {
    if (core->statistics != NULL) {
        free(core->statistics->fills);
        free(core->statistics);
    }
}
