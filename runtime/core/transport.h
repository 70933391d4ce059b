/* Wavelets from a send to who takes them: credits, room, multicast, and queues. */
#ifndef LOOM_TRANSPORT_H
#define LOOM_TRANSPORT_H

#include "routing.h"
#include "tasks.h"

/* Returns the cycles from when an operation takes an element until the wavelet made of it leaves. */
static inline cycle cycles_to_pass_on(const struct core *core) { return core->timing.inject + core->timing.forward; }

struct sending {
    const struct operation *operation;
    uint32_t task, where;
    bool is_last;
    struct send *send; /* that may have to wait; NULL of an operation that receives */
};

/* sending.c */
void transmit(struct core *core, struct pe *pe, struct sending *sending, const struct descriptor *stream,
              struct run *wavelets);
void send_run(struct core *core, struct pe *pe, const struct queue *queue, const struct run *wavelets,
              struct sending *sending);
void strip_marks(struct core *core, struct run *run);

/* credits.c */
struct path *path_send(struct core *core, struct input *input, const struct way *way, uint64_t origin, uint32_t count,
                       cycle leaves, struct send **send);
void path_note(struct core *core, struct path *path, uint32_t count, cycle leaves, struct send **send);
struct path *path_at(struct core *core, struct input *input, const struct way *way, uint64_t origin);
struct path *path_of(struct core *core, const struct way *way, const struct pe *pe, uint64_t origin);
void next_credits(const struct path *path, struct takes *credits);
cycle taken_at(const struct takes *last, const struct older_takes *older, uint64_t number);
enum { MAX_TAKES = 1 << 30 }; /* of one pace that are remembered, far more than a way holds */
void note_takes(struct core *core, struct path *path, cycle first, cycle rate, uint32_t count);
void return_credits(struct core *core, struct path *path, cycle first, cycle rate, uint32_t count);
/* Notes that wavelets of a way are taken. */
static inline void path_taken(struct core *core, struct path *path, cycle first, cycle rate, uint32_t count) {
    if (path == NULL) {
        return;
    }
    assert(path->pending >= count);
    path->pending -= count;
    struct takes *last = &path->last;
    if (count == 1 && last->rate > 0 && first == last->first + (cycle)last->count * last->rate && last->count > 1 &&
        last->count < MAX_TAKES) {
        last->count++; /* as note_takes has it */
    } else {
        note_takes(core, path, first, rate, count);
    }
    if (path->claims != NULL || path->waiters != NULL) {
        return_credits(core, path, first, rate, count);
    }
}
void keep_send(struct core *core, struct send **send);
struct waiters *waiters_of(struct core *core, struct path *path);
void hold_pe(struct core *core, struct path *path, struct pe *pe, uint32_t place);
/* Returns when a send ends if there is no room for its last wavelet before a time. */
static inline cycle send_ends(const struct send *send, cycle time) {
    return time + send->tail > send->done ? time + send->tail : send->done;
}
static inline uint64_t origin_by(const struct way *way, const struct pe *pe, const struct queue *queue) {
    return (uint64_t)way->port << 60 | (uint64_t)pe->number << 32 | queue->number;
}

/* entry.c */
void enter_queue(struct core *core, struct pe *pe, uint32_t place, struct run *run);
void entry_taken(struct core *core, struct entry *entry, cycle first, cycle rate, uint32_t count);

/* room.c */
struct room {
    uint32_t count;    /* wavelets that may leave */
    cycle first, rate; /* when the first of them does, and the cycles between two */
    struct path *full; /* a way without room, if there is none for any */
};
bool consider_path(struct room *room, struct path *path);
void limit_to_path(struct room *room, const struct path *path);
static inline void consider_line(struct room *room, cycle first, cycle rate) {
    if (first > room->first || (first == room->first && rate > room->rate)) {
        room->first = first;
        room->rate = rate;
    }
}
static inline void limit_to_line(struct room *room, cycle first, cycle rate) {
    if (rate > room->rate) {
        cycle until = (room->first - first) / (rate - room->rate) + 1;
        room->count = until < room->count ? (uint32_t)until : room->count;
    }
}
void find_room(struct core *core, const struct pe *pe, const struct queue *queue, struct room *room);
bool has_full_ways(const struct core *core, const struct pe *pe, const struct queue *queue);
bool has_room(struct core *core, const struct pe *pe, const struct queue *queue, uint32_t count, cycle first);
bool find_credits(struct core *core, struct open *open);

/* multicast.c: sends that are handed over as there is room: by several ways, or to where senders meet */
void wait_for_path(struct core *core, struct path *full, struct multicast *multicast);
void multicast_advance(struct core *core, struct multicast *multicast);
uint32_t not_handed_over(const struct multicast *multicast);
void host_send(struct core *core, struct pe *pe, const struct way *way, const struct run *wavelets);
uint32_t held_by_host(const struct input *input);
void multicast_send(struct core *core, struct pe *pe, const struct queue *queue, const struct run *wavelets,
                    bool transforms, struct send **send);
/* Returns true if a wavelet of a run with a payload is marked as a control wavelet. */
static inline bool is_marked(const struct run *run, uint32_t k) {
    return (run->payload->words[k] & CONTROL_MARK) == CONTROL_MARK;
}
/* Returns true if a bit of a control wavelet keeps it from the compute engine. */
static inline bool is_ignored(const struct run *run, uint32_t k) {
    return run->control && run->payload->words[k] >> 24 & 1;
}
static inline bool is_multicast(const struct core *core, const struct pe *pe, const struct queue *queue) {
    uint32_t list = queue->ways[pe->unit], ways = 0;
    for (uint32_t k = core->list_first[list]; k < core->list_first[list + 1]; k++) {
        ways += core->ways[k].capacity > 0 ? 1 + core->ways[k].meets : 0;
    }
    return ways > 1;
}

/* runs.c */
struct payload *payload_of(struct core *core, const struct run *run);
void keep_run(struct core *core, struct run *run);
void widen_run(struct core *core, struct run *run);
void hold_payload(struct core *core, struct core *to, struct run *run);
void drop_run(struct core *core, struct run *run);

/* queues.c */
void arrive(struct core *core, struct pe *pe, uint32_t place, struct run *run);
void admit(struct core *core, struct pe *pe, uint32_t place, struct run *run);
void admit_first(struct core *core, struct arrival *arrival);
void deliver(struct core *core);
void deliver_at_border(struct core *core);
void go_on_later(struct core *core, struct arrival arrival);
/* Resumes operations for which credits have come while none was at work. */
static inline void settle_credits(struct core *core) {
    if (core->arriving.count > 0 && !core->at_work) {
        core->at_work = true;
        deliver(core);
        core->at_work = false;
    }
}
int receive(struct core *core, struct open *open); /* DONE_NOW, WAITS or WENT_WRONG, of one at its issue */
void poll(struct core *core, struct open *open, cycle time);
void take_in_turn(struct core *core, struct open *open);
void hand_over_later(struct core *core, struct pe *pe, uint32_t place, struct run *run);
void complete(struct core *core, struct open *open);
static inline cycle later(cycle a, cycle b) { return a > b ? a : b; }
static inline cycle head_time(const struct run *run) { return run->first + (cycle)run->taken * run->rate; }
/* Updates when the task of a queue can take the next wavelet. */
static inline void recount(struct pe *pe, uint32_t place) {
    const struct queue *queue = &pe->class->queues[place];
    if (queue->task != NO_TASK) {
        const struct run *first = inputs_of(pe)[place].first;
        bool starts = first != NULL && (first->control || pe->class->tasks[queue->task].type != LISTENER);
        set_active(pe, queue->task, starts ? head_time(first) : NEVER);
    }
}
/* Returns which of the queues of an operation one is. */
static inline int input_at(const struct open *open, uint32_t place) {
    int k = 0;
    while (open->queue[k] != place) {
        k++;
        assert(k < open->inputs);
    }
    return k;
}

/* Notes, for whoever sent them, that the next wavelets of a run are taken, the first at a time. */
static inline void run_taken(struct core *core, const struct run *run, uint32_t count, cycle time, cycle rate) {
    if (run->is_piece) {
        piece_taken(core, run, run->taken, count, time, rate);
    } else if (run->is_entered) {
        entry_taken(core, run->entry, time, rate, count);
    } else {
        path_taken(core, run->path, time, rate, count);
    }
}

#endif
