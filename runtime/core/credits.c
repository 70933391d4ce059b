/* Credits: a way holds so many wavelets, and returns a credit for each that its receiver takes.
 *
 * Wavelet k of a way leaves at the larger of its own time and take(k - capacity) + back. Wavelets are handed over at
 * once all the same: a way holds what is on it there and back, so that a credit which is late delays no wavelet that
 * its receiver could have taken sooner. What credits decide is when the send ends. The record of a way is at its
 * receiver, where wavelets are taken.
 */
#include "moves.h"

/* Returns an origin in another order than that in which senders come, which would make the tree of ways a list. */
static uint64_t mixed(uint64_t origin) { return (origin ^ origin >> 32) * 0x9E3779B97F4A7C15; }

/* Returns the record of the way of a sender that is not the first, made if need be. */
static struct path *other_path(struct core *core, struct input *input, const struct way *way, uint64_t origin) {
    struct other_path *root = (struct other_path *)(void *)input->path->next, **link = &root;
    uint64_t key = mixed(origin);
    while (*link != NULL) {
        struct other_path *other = *link;
        if (other->path.origin == origin) {
            return &other->path;
        }
        link = key < mixed(other->path.origin) ? &other->before : &other->behind;
    }
    struct path **list = root == NULL ? &input->path->next : &root->path.next;
    struct other_path *made = pool_take(core, &core->paths);
    *made = (struct other_path){
        .path = {.next = *list, .origin = origin, .capacity = way->capacity, .back = way->back}};
    *list = &made->path;
    *link = made;
    return &made->path;
}

/* Returns the record of a way at its receiver. */
struct path *path_at(struct core *core, struct input *input, const struct way *way, uint64_t origin) {
    struct path *path = input->path;
    if (path != NULL) {
        return path->origin == origin ? path : other_path(core, input, way, origin);
    }
    path = pool_take(core, &core->paths);
    *path = (struct path){.origin = origin, .capacity = way->capacity, .back = way->back, .last = input->taken};
    if (input->form == SHORT_WAVELETS || input->form == SHORT_SEND) {
        path->pending = input->count;
        path->leaves = times_in_short(input, way).leaves;
    }
    input->path = path;
    return path;
}

struct path *path_of(struct core *core, const struct way *way, const struct pe *pe, uint64_t origin) {
    struct pe *to = core->pe_of[(int64_t)pe->number + way->offset];
    return path_at(core, &inputs_of(to)[core->queue_place[way->queue]], way, origin);
}

/* Finds the next credits of a way, and when they are back; the rate is 0 if they were long ago. */
void next_credits(const struct path *path, struct takes *credits) {
    uint32_t number = path->pending < path->capacity ? path->capacity - path->pending : 0;
    const struct takes *takes = &path->last;
    const struct older_takes *older = path->older;
    for (uint32_t k = older == NULL ? 0 : older->count;; k--) {
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
        takes = &older->takes[(older->first + k - 1) % older->room];
    }
}

/* Puts a send into the pool: it may have to wait. */
void keep_send(struct core *core, struct send **send) {
    if (!(*send)->is_pooled) {
        core = core_of(core, (*send)->pe);
        struct send *pooled = pool_take(core, &core->send_pool);
        *pooled = **send;
        pooled->is_pooled = true;
        *send = pooled;
    }
}

/* Returns when the last but `number` - 1 of the wavelets that have been taken was; -1 if long ago. */
cycle taken_at(const struct takes *last, const struct older_takes *older, uint64_t number) {
    if (number <= last->count) {
        return last->first + (cycle)(last->count - number) * last->rate;
    }
    number -= last->count;
    for (uint32_t k = older == NULL ? 0 : older->count; k-- > 0;) {
        const struct takes *takes = &older->takes[(older->first + k) % older->room];
        if (number <= takes->count) {
            return takes->first + (cycle)(takes->count - number) * takes->rate;
        }
        number -= takes->count;
    }
    return -1;
}

/* Notes that a run is handed over, of a send if that may have to wait for its last wavelet to leave, at `leaves`. */
void path_note(struct core *core, struct path *path, uint32_t count, cycle leaves, struct send **send) {
    path->pending += count;
    path->leaves = leaves;
    if (send == NULL) {
        return;
    }
    if (path->pending > path->capacity) {
        keep_send(core, send);
        bool is_own = !(*send)->is_claiming;
        struct claim *claim = is_own ? &(*send)->claim : pool_take(core, &core->claims);
        *claim = (struct claim){.send = *send, .ahead = path->pending - path->capacity - 1, .is_own = is_own};
        (*send)->is_claiming = true;
        struct claim **last = &path->claims; /* sends end in the order in which they have started */
        while (*last != NULL) {
            last = &(*last)->next;
        }
        *last = claim;
        (*send)->waiting++;
        return;
    }
    if (path->last.count > 0) {
        cycle time = taken_at(&path->last, path->older, path->capacity + 1 - path->pending);
        if (time >= 0) {
            (*send)->done = send_ends(*send, time + path->back);
        }
    }
}

/* The same of a run that is handed over to a queue; returns the record of its way, NULL if that is never full. */
struct path *path_send(struct core *core, struct input *input, const struct way *way, uint64_t origin, uint32_t count,
                       cycle leaves, struct send **send) {
    if (way->capacity == 0) {
        return NULL;
    }
    struct path *path = path_at(core, input, way, origin);
    path_note(core, path, count, leaves, send);
    return path;
}

/* Makes the ring of a way larger. */
static struct older_takes *widen_ring(struct core *core, struct older_takes *full) {
    uint32_t room = full == NULL ? 2 : 2 * full->room;
    struct payload *block = payload_take(core, (sizeof *full + room * sizeof(struct takes)) / 4);
    struct older_takes *older = (struct older_takes *)(void *)block->words;
    *older = (struct older_takes){.room = room};
    if (full != NULL) {
        older->sum = full->sum;
        older->count = full->count;
        for (uint32_t k = 0; k < full->count; k++) {
            older->takes[k] = full->takes[(full->first + k) % full->room];
        }
        payload_drop(core, (struct payload *)(void *)((char *)full - offsetof(struct payload, words)));
    }
    return older;
}

/* Keeps the last takes while a credit for them may still be late, and not more of them than the way holds. */
static void keep_takes(struct core *core, struct path *path) {
    cycle end = path->last.first + (cycle)(path->last.count - 1) * path->last.rate;
    struct older_takes *older = path->older;
    if (path->last.count == 0 || end + path->back + core->timing.inject <= path->leaves) {
        if (older != NULL) {
            older->count = older->sum = 0; /* whatever is sent from now on ends later */
        }
        return;
    }
    while (older != NULL && older->count > 0 &&
           older->sum + path->last.count - older->takes[older->first].count >= path->capacity) {
        older->sum -= older->takes[older->first].count;
        older->first = (older->first + 1) % older->room;
        older->count--;
    }
    if (older == NULL || older->count == older->room) {
        path->older = older = widen_ring(core, older);
    }
    older->takes[(older->first + older->count++) % older->room] = path->last;
    older->sum += path->last.count;
}

/* Notes when wavelets of a way are taken. */
void note_takes(struct core *core, struct path *path, cycle first, cycle rate, uint32_t count) {
    struct takes *last = &path->last;
    cycle step = last->count == 1 ? first - last->first : last->rate;
    if (last->count > 0 && (count == 1 || rate == step) && step > 0 && step < UINT32_MAX &&
        first == last->first + (cycle)last->count * step) {
        last->rate = (uint32_t)step; /* they go on at the same pace */
        if (last->count >= MAX_TAKES) {
            last->first += (cycle)(MAX_TAKES / 2) * step; /* more than any way holds are left */
            last->count -= MAX_TAKES / 2;
        }
        last->count += count;
    } else {
        keep_takes(core, path);
        *last = (struct takes){.first = first, .rate = (uint32_t)rate, .count = count};
    }
}

/* Returns what waits for room on a way. */
struct waiters *waiters_of(struct core *core, struct path *path) {
    if (path->waiters == NULL) {
        path->waiters = pool_take(core, &core->waiters);
        *path->waiters = (struct waiters){0};
    }
    return path->waiters;
}

/* Has a PE look again at a queue when a wavelet of a way is taken. */
void hold_pe(struct core *core, struct path *path, struct pe *pe, uint32_t place) {
    struct waiters *waiters = waiters_of(core, path);
    core->multicasts_waiting += waiters->held == NULL;
    waiters->held = pe;
    waiters->held_place = place;
}

/* Lets what waits for room on a way go on. */
static void wake(struct core *core, struct path *path) {
    struct waiters waiters = *path->waiters;
    pool_give(&core->waiters, path->waiters);
    path->waiters = NULL;
    if (waiters.held != NULL) {
        core->multicasts_waiting--;
        go_on_later(core_of(core, waiters.held), (struct arrival){.pe = waiters.held, .place = waiters.held_place});
    }
    while (waiters.multicasts != NULL) {
        struct multicast *multicast = waiters.multicasts;
        waiters.multicasts = multicast->next;
        core->multicasts_waiting--;
        struct core *its = multicast->pe == NULL ? core : core_of(core, multicast->pe); /* NULL: a router waits */
        go_on_later(its, (struct arrival){.multicast = multicast});
    }
}

/* Ends the sends that waited for wavelets of a way to be taken, and lets those go on that waited for room. */
void return_credits(struct core *core, struct path *path, cycle first, cycle rate, uint32_t count) {
    if (path->waiters != NULL) {
        wake(core, path);
    }
    for (struct claim **link = &path->claims, *claim; (claim = *link) != NULL;) {
        if (claim->ahead >= count) {
            claim->ahead -= count;
            link = &claim->next;
            continue;
        }
        *link = claim->next;
        struct send *send = claim->send;
        cycle time = send_ends(send, first + (cycle)claim->ahead * rate + path->back);
        if (!claim->is_own) {
            pool_give(&core->claims, claim);
        }
        send_accepted(core, send, time);
    }
}
