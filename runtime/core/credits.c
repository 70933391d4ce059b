/* Credits: a way holds so many wavelets, and returns a credit for each that its receiver takes.
 *
 * Wavelet k of a way leaves at the larger of its own time and take(k - capacity) + back. Wavelets are handed over at
 * once all the same: a way holds what is on it there and back, so that a credit which is late delays no wavelet that
 * its receiver could have taken sooner. What credits decide is when the send ends. The record of a way is at its
 * receiver, where wavelets are taken.
 */
#include "machine.h"

/* Returns the record of a way at its receiver. */
static inline struct path *path_at(struct core *core, struct input *input, const struct way *way, uint64_t origin) {
    for (struct path *path = input->paths; path != NULL; path = path->next) {
        if (path->origin == origin) {
            return path;
        }
    }
    struct path *path = pool_take(core, &core->paths);
    *path = (struct path){.next = input->paths, .origin = origin, .capacity = way->capacity, .back = way->back};
    input->paths = path;
    return path;
}

struct path *path_of(struct core *core, const struct way *way, const struct pe *pe, uint64_t origin) {
    struct pe *to = core->pe_of[(int64_t)pe->number + way->offset];
    return path_at(core, &to->inputs[core->queue_place[way->queue]], way, origin);
}

/* Finds the next credits of a way, and when they are back; the rate is 0 if they were long ago. */
void next_credits(const struct path *path, struct takes *credits) {
    uint32_t number = path->pending < path->capacity ? path->capacity - path->pending : 0;
    const struct takes *takes = &path->last;
    for (uint32_t k = path->older_count;; k--) {
        if (number <= takes->count) {
            cycle first = takes->first + (cycle)(takes->count - number) * takes->rate + path->back;
            *credits = (struct takes){.first = first, .rate = takes->rate > 0 ? takes->rate : 1, .count = number};
            return;
        }
        number -= takes->count;
        if (k == 0) {
            *credits = (struct takes){.count = number};
            return;
        }
        takes = &path->older[(path->older_first + k - 1) % path->older_room];
    }
}

/* Puts a send into the pool: it may have to wait. */
void keep_send(struct core *core, struct send **send) {
    if (!(*send)->is_pooled) {
        struct send *pooled = pool_take(core, &core->send_pool);
        *pooled = **send;
        pooled->is_pooled = true;
        *send = pooled;
    }
}

/* Returns when the last but `number` - 1 of the wavelets that have been taken was; -1 if long ago. */
static cycle taken_at(const struct path *path, uint64_t number) {
    if (number <= path->last.count) {
        return path->last.first + (cycle)(path->last.count - number) * path->last.rate;
    }
    number -= path->last.count;
    for (uint32_t k = path->older_count; k-- > 0;) {
        const struct takes *takes = &path->older[(path->older_first + k) % path->older_room];
        if (number <= takes->count) {
            return takes->first + (cycle)(takes->count - number) * takes->rate;
        }
        number -= takes->count;
    }
    return -1;
}

/* Notes that a run is handed over, of a send if that may have to wait for its last wavelet to leave, at `leaves`. */
struct path *path_send(struct core *core, struct input *input, const struct way *way, uint64_t origin, uint32_t count,
                       cycle leaves, struct send **send) {
    if (way->capacity == 0) {
        return NULL;
    }
    struct path *path = path_at(core, input, way, origin);
    path->pending += count;
    path->leaves = leaves;
    if (send == NULL) {
        return path;
    }
    if (path->pending > path->capacity) {
        keep_send(core, send);
        struct claim *claim = pool_take(core, &core->claims);
        *claim = (struct claim){.next = path->claims, .send = *send, .ahead = path->pending - path->capacity - 1};
        path->claims = claim;
        (*send)->waiting++;
        return path;
    }
    if (path->last.count > 0) {
        cycle time = taken_at(path, path->capacity + 1 - path->pending);
        cycle done = time + path->back + (*send)->tail;
        if (time >= 0 && done > (*send)->done) {
            (*send)->done = done;
        }
    }
    return path;
}

/* Keeps the last takes while a credit for them may still be late, and not more of them than the way holds. */
static void keep_takes(struct core *core, struct path *path) {
    cycle end = path->last.first + (cycle)(path->last.count - 1) * path->last.rate;
    if (path->last.count == 0 || end + path->back <= path->leaves) {
        path->older_count = 0; /* whatever is sent from now on leaves later */
        path->older_sum = 0;
        return;
    }
    while (path->older_count > 0 &&
           path->older_sum + path->last.count - path->older[path->older_first].count >= path->capacity) {
        path->older_sum -= path->older[path->older_first].count;
        path->older_first = (path->older_first + 1) % path->older_room;
        path->older_count--;
    }
    if (path->older_count == path->older_room) {
        uint32_t room = path->older_room == 0 ? 2 : 2 * path->older_room;
        struct payload *block = payload_take(core, room * (sizeof(struct takes) / 4));
        struct takes *older = (struct takes *)(void *)block->words;
        for (uint32_t k = 0; k < path->older_count; k++) {
            older[k] = path->older[(path->older_first + k) % path->older_room];
        }
        if (path->block != NULL) {
            payload_drop(core, path->block);
        }
        path->block = block;
        path->older = older;
        path->older_first = 0;
        path->older_room = room;
    }
    path->older[(path->older_first + path->older_count++) % path->older_room] = path->last;
    path->older_sum += path->last.count;
}

/* Notes that wavelets of a way are taken, and ends the sends that waited for it. */
void path_taken(struct core *core, struct path *path, cycle first, cycle rate, uint32_t count) {
    if (path == NULL) {
        return;
    }
    assert(path->pending >= count);
    path->pending -= count;
    struct takes *last = &path->last;
    cycle step = last->count == 1 ? first - last->first : last->rate;
    if (last->count > 0 && (count == 1 || rate == step) && step > 0 && step < UINT32_MAX &&
        first == last->first + (cycle)last->count * step) {
        last->rate = (uint32_t)step; /* they go on at the same pace */
        last->count += count;
    } else {
        keep_takes(core, path);
        *last = (struct takes){.first = first, .rate = (uint32_t)rate, .count = count};
    }
    if (path->held != NULL) {
        core->multicasts_waiting--;
        go_on_later(core, (struct arrival){.pe = path->held, .place = path->held_place});
        path->held = NULL;
    }
    while (path->waiting != NULL) {
        struct multicast *multicast = path->waiting;
        path->waiting = multicast->next;
        core->multicasts_waiting--;
        go_on_later(core, (struct arrival){.multicast = multicast});
    }
    for (struct claim **link = &path->claims, *claim; (claim = *link) != NULL;) {
        if (claim->ahead >= count) {
            claim->ahead -= count;
            link = &claim->next;
            continue;
        }
        *link = claim->next;
        struct send *send = claim->send;
        cycle time = first + (cycle)claim->ahead * rate + path->back + send->tail;
        pool_give(&core->claims, claim);
        send_accepted(core, send, time);
    }
}
