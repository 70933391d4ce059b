/* Multicasts: a wavelet leaves when there is room for it on all its ways, so that the slowest receiver holds all back.
 *
 * What all ways have room for is handed over at once; the rest follows as credits come back. Which wavelets go together
 * makes no difference: each leaves at the larger of its own time and those of its credits.
 */
#include "machine.h"

static bool is_ignored(const struct run *run, uint32_t k) {
    return run->control && run->payload->words[k] >> 24 & 1;
}

/* Finds how many of `count` wavelets leave by all ways of a queue, the first of them when, and one every how many cycles;
 * `first` and `rate` are those of the wavelets themselves. If there is no room for any, `full` is a way without. */
uint32_t room(struct core *core, const struct pe *pe, const struct queue *queue, uint32_t count, cycle *first,
              cycle *rate, struct path **full) {
    uint32_t list = queue->ways[pe->unit];
    struct takes credits;
    cycle own = *first, pace = *rate;
    for (uint32_t k = core->list_first[list]; k < core->list_first[list + 1]; k++) {
        const struct way *way = &core->ways[k];
        if (way->capacity == 0) {
            continue;
        }
        struct path *path = path_of(core, way, pe, origin_by(way, pe, queue));
        next_credits(path, &credits);
        if (credits.count == 0) {
            *full = path;
            return 0;
        }
        count = credits.count < count ? credits.count : count;
        if (credits.rate > 0 && (credits.first > *first || (credits.first == *first && credits.rate > *rate))) {
            *first = credits.first;
            *rate = credits.rate;
        }
    }
    if (pace > *rate) {
        cycle until = (*first - own) / (pace - *rate) + 1;
        count = until < count ? (uint32_t)until : count;
    }
    for (uint32_t k = core->list_first[list]; k < core->list_first[list + 1]; k++) {
        const struct way *way = &core->ways[k];
        if (way->capacity == 0) {
            continue;
        }
        next_credits(path_of(core, way, pe, origin_by(way, pe, queue)), &credits);
        if ((cycle)credits.rate > *rate) {
            cycle until = (*first - credits.first) / ((cycle)credits.rate - *rate) + 1;
            count = until < count ? (uint32_t)until : count;
        }
    }
    return count;
}

/* Finds the next credits of an operation that sends what it takes; returns false if there are none, and has it go on
 * when there may be. */
bool find_credits(struct core *core, struct open *open) {
    const struct descriptor *stream = &open->operands[0].descriptor;
    struct pe *pe = open->pe;
    const struct queue *queue = &pe->class->queues[core->queue_place[stream->row]];
    uint32_t lanes = stream->flags & PACKED ? 2 : 1;
    struct path *full = NULL;
    cycle first = -UNBOUNDED, rate = 0;
    uint32_t count = room(core, pe, queue, UINT32_MAX, &first, &rate, &full);
    if (count == 0) {
        core->multicasts_waiting += full->held == NULL;
        full->held = pe;
        full->held_place = open->queue[0];
        return false;
    }
    open->credits = (int64_t)count * lanes;
    open->credit_rate = rate / lanes;
    if (rate % lanes != 0) {
        open->credits = lanes;
        open->credit_rate = 0;
    }
    open->credit_first = first - core->timing.inject;
    return true;
}

/* Hands over what there is room for, and ends the send behind the last wavelet. */
void multicast_advance(struct core *core, struct multicast *multicast) {
    assert(core->at_work);
    struct run *left = &multicast->run;
    while (left->taken < left->count) {
        uint32_t count = 0;
        while (left->taken < left->count && is_ignored(left, left->taken)) {
            left->taken++;
        }
        while (left->taken + count < left->count && !is_ignored(left, left->taken + count)) {
            count++;
        }
        if (count == 0) {
            break;
        }
        cycle first = head_time(left), rate = left->rate;
        struct path *full = NULL;
        count = room(core, multicast->pe, multicast->queue, count, &first, &rate, &full);
        if (count == 0) {
            multicast->next = full->waiting;
            full->waiting = multicast;
            core->multicasts_waiting++;
            return;
        }
        struct run part = *left;
        part.at += (ptrdiff_t)left->taken * left->step;
        part.first = first;
        part.rate = (uint32_t)rate;
        part.count = count;
        part.taken = 0;
        left->taken += count;
        multicast->leaves = first + (count - 1) * rate;
        struct sending sending = {.send = NULL};
        send_run(core, multicast->pe, multicast->queue, &part, &sending);
    }
    struct send *send = multicast->send;
    cycle done = multicast->leaves + send->tail;
    payload_drop(core, left->payload);
    pool_give(&core->multicasts, multicast);
    send_accepted(core, send, done > send->done ? done : send->done);
}

/* Returns whether there is room for some wavelets on all ways, and no credit for them comes after `first`. */
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

/* Sends a run by several ways; the send waits if there is no room for all of it. */
void multicast_send(struct core *core, struct pe *pe, const struct queue *queue, const struct run *wavelets,
                    struct send **send) {
    keep_send(core, send);
    struct multicast *multicast = pool_take(core, &core->multicasts);
    *multicast = (struct multicast){.pe = pe, .queue = queue, .send = *send, .run = *wavelets};
    multicast->run.payload = payload_of(core, wavelets);
    if (wavelets->payload == NULL) {
        multicast->run.at = (const uint8_t *)multicast->run.payload->words;
        multicast->run.step = multicast->run.size = 4;
    }
    (*send)->waiting++;
    bool at_work = core->at_work;
    core->at_work = true;
    multicast_advance(core, multicast);
    if (!at_work) {
        deliver(core);
        core->at_work = false;
    }
}
