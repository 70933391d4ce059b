/* Room on the ways of an output queue, and on the links of a router: for how many wavelets there is some, and when the
 * credits for them are back. A wavelet leaves at the largest of its own time and those of its credits, so each of these is
 * a line, a first time and a rate: the largest is found first, and then for how many wavelets it is the largest. */
#include "machine.h"

/* Considers a way; returns true if there is room. */
bool consider_path(struct room *room, struct path *path) {
    struct takes credits;
    next_credits(path, &credits);
    if (credits.count == 0) {
        room->count = 0;
        room->full = path;
        return false;
    }
    room->count = credits.count < room->count ? credits.count : room->count;
    if (credits.rate > 0) {
        consider_line(room, credits.first, credits.rate);
    }
    return true;
}

void limit_to_path(struct room *room, const struct path *path) {
    struct takes credits;
    next_credits(path, &credits);
    if (credits.rate > 0) {
        limit_to_line(room, credits.first, credits.rate);
    }
}

/* Finds the room on all ways of a queue: `room` has the most wavelets, and their own time and rate, which are to limit it
 * afterwards. */
void find_room(struct core *core, const struct pe *pe, const struct queue *queue, struct room *room) {
    struct path *ramp = ramp_of(core, pe, queue);
    if (ramp != NULL && !consider_path(room, ramp)) {
        return;
    }
    uint32_t list = queue->ways[pe->unit], first = core->list_first[list], behind = core->list_first[list + 1];
    for (uint32_t k = first; k < behind; k++) {
        const struct way *way = &core->ways[k];
        if (way->capacity > 0 && !consider_path(room, path_of(core, way, pe, origin_by(way, pe, queue)))) {
            return;
        }
    }
    if (ramp != NULL) {
        limit_to_path(room, ramp);
    }
    for (uint32_t k = first; k < behind; k++) {
        const struct way *way = &core->ways[k];
        if (way->capacity > 0) {
            limit_to_path(room, path_of(core, way, pe, origin_by(way, pe, queue)));
        }
    }
}

/* Returns true if some way of a queue may be full. */
bool has_full_ways(const struct core *core, const struct pe *pe, const struct queue *queue) {
    uint32_t list = queue->ways[pe->unit];
    for (uint32_t k = core->list_first[list]; k < core->list_first[list + 1]; k++) {
        if (core->ways[k].capacity > 0) {
            return true;
        }
    }
    return has_switches(core, queue->colors[pe->unit]);
}

/* Returns true if there is room for some wavelets on all ways, and no credit for them comes after `first`. */
bool has_room(struct core *core, const struct pe *pe, const struct queue *queue, uint32_t count, cycle first) {
    uint32_t list = queue->ways[pe->unit];
    for (uint32_t k = core->list_first[list]; k < core->list_first[list + 1]; k++) {
        const struct way *way = &core->ways[k];
        if (way->capacity == 0) {
            continue;
        }
        const struct path *path = path_of(core, way, pe, origin_by(way, pe, queue));
        const struct takes *last = &path->last;
        if (path->pending + count > path->capacity ||
            (last->count > 0 && last->first + (cycle)(last->count - 1) * last->rate + path->back > first)) {
            return false;
        }
    }
    return true;
}

/* Considers the credits for the next wavelets of a way that leave at once, one every `rate` cycles; returns true if there is
 * room for all. */
static bool consider_at_once(struct room *room, struct path *path, uint32_t wanted, cycle rate) {
    if (path->pending + wanted > path->capacity) {
        room->full = path;
        return false;
    }
    for (uint32_t k = 0; k < wanted; k++) {
        cycle time = taken_at(&path->last, path->older, path->capacity - path->pending - k);
        if (time >= 0 && time + path->back - (cycle)k * rate > room->first) {
            room->first = time + path->back - (cycle)k * rate;
        }
    }
    return true;
}

/* Finds from when on some wavelets may leave at once, one every `rate` cycles; returns false if there is no room for all. */
static bool find_room_at_once(struct core *core, const struct pe *pe, const struct queue *queue, uint32_t wanted, cycle rate,
                              struct room *room) {
    *room = (struct room){.count = wanted, .first = -UNBOUNDED};
    struct path *ramp = ramp_of(core, pe, queue);
    if (ramp != NULL && !consider_at_once(room, ramp, wanted, rate)) {
        return false;
    }
    uint32_t list = queue->ways[pe->unit];
    for (uint32_t k = core->list_first[list]; k < core->list_first[list + 1]; k++) {
        const struct way *way = &core->ways[k];
        if (way->capacity > 0 &&
            !consider_at_once(room, path_of(core, way, pe, origin_by(way, pe, queue)), wanted, rate)) {
            return false;
        }
    }
    return true;
}

/* Finds the next credits of an operation that sends what it takes; returns false if there are none, and has it go on
 * when there may be. */
bool find_credits(struct core *core, struct open *open) {
    const struct descriptor *stream = &open->operands[0].descriptor;
    struct pe *pe = open->pe;
    const struct queue *queue = &pe->class->queues[core->queue_place[stream->row]];
    uint32_t lanes = stream->flags & PACKED ? 2 : 1;
    struct room room = {.count = UINT32_MAX, .first = -UNBOUNDED};
    find_room(core, pe, queue, &room);
    uint32_t taken = lanes_from(open, 0);
    if (taken > lanes && room.count > 0) {
        int64_t left = open->count - open->position;
        uint32_t wanted = left < taken ? (uint32_t)left : taken;
        /* Credits for the values of a wavelet may be parts of several takes, or slower than they leave. */
        if ((room.count < wanted || room.rate > open->rate) &&
            !find_room_at_once(core, pe, queue, wanted, open->rate, &room)) {
            room.count = 0;
        }
    }
    if (room.count == 0) {
        hold_pe(core, room.full, pe, open->queue[0]);
        return false;
    }
    open->credits = (int64_t)room.count * lanes - open->has_half;
    open->credit_rate = room.rate / lanes;
    if (room.rate % lanes != 0) {
        open->credits = lanes - open->has_half;
        open->credit_rate = 0;
    }
    open->credit_first = room.first - cycles_to_pass_on(core);
    return true;
}
