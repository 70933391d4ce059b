/* Multicasts: a wavelet leaves when there is room for it on all its ways, so that the slowest receiver holds all back.
 *
 * What all ways have room for is handed over at once; the rest follows as credits come back. Which wavelets go together
 * makes no difference: each leaves at the larger of its own time and those of its credits. So it is with a single way to a
 * queue where senders meet, one of which may be the host.
 */
#include "machine.h"

/* Has a multicast, or a router, go on when a wavelet of a way is taken, behind what waits for that already. */
void wait_for_path(struct core *core, struct path *full, struct multicast *multicast) {
    struct multicast **last = &waiters_of(core, full)->multicasts;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    multicast->next = NULL;
    *last = multicast;
    core->multicasts_waiting++;
}

/* Sends some wavelets of a multicast; those that are marked as control wavelets without the mark. */
static void send_part(struct core *core, struct multicast *multicast, struct run *part) {
    struct sending sending = {.send = multicast->send};
    bool strips = multicast->transforms && part->control;
    if (strips) {
        strip_marks(core, part);
    }
    send_run(core, multicast->pe, multicast->queue, part, &sending);
    if (strips) {
        payload_drop(core, part->payload);
    }
}

/* The host as a sender, which no PE with a queue is */
#define HOST_ORIGIN UINT64_MAX

/* Hands over wavelets of the host that have room on its way. */
static void hand_over_from_host(struct core *core, struct pe *pe, uint32_t place, const struct run *wavelets,
                                struct path *path) {
    struct run *run = pool_take(core, &core->runs);
    *run = *wavelets;
    run->payload->references++;
    run->path = path;
    path_note(core, path, run->count, run->first + (cycle)(run->count - 1) * run->rate, NULL);
    arrive(core, pe, place, run);
}

/* Returns how many wavelets of a multicast are still at its sender. */
uint32_t not_handed_over(const struct multicast *multicast) {
    const struct run *run = &multicast->run;
    uint32_t left = 0;
    for (uint32_t k = run->taken; k < run->count; k++) {
        left += !is_ignored(run, k);
    }
    return left;
}

/* Returns for how many of some wavelets there is room, and when they leave. */
static struct room room_for(struct core *core, const struct multicast *multicast, uint32_t count) {
    const struct run *left = &multicast->run;
    cycle own = head_time(left);
    struct room room = {.count = count, .first = own, .rate = left->rate};
    if (multicast->host == NULL) {
        find_room(core, multicast->pe, multicast->queue, &room);
    } else if (consider_path(&room, multicast->host)) {
        limit_to_path(&room, multicast->host);
    }
    limit_to_line(&room, own, left->rate);
    return room;
}

/* Hands over what there is room for, and ends the send behind the last wavelet. */
void multicast_advance(struct core *core, struct multicast *multicast) {
    assert(core->at_work);
    if (multicast->router != NULL) {
        router_goes_on(core, multicast->router);
        return;
    }
    struct run *left = &multicast->run;
    while (left->taken < left->count) {
        uint32_t count = 0;
        if (multicast->transforms) {
            left->control = is_marked(left, left->taken);
        }
        if (is_ignored(left, left->taken)) {
            left->taken++;
            continue;
        }
        while (left->taken + count < left->count && !is_ignored(left, left->taken + count) &&
               (!multicast->transforms || is_marked(left, left->taken + count) == (bool)left->control)) {
            count++;
        }
        struct room room = room_for(core, multicast, count);
        if (room.count == 0) {
            wait_for_path(core, room.full, multicast);
            return;
        }
        struct run part = *left;
        part.at += (ptrdiff_t)left->taken * left->step;
        part.first = room.first;
        part.rate = (uint32_t)room.rate;
        part.count = room.count;
        part.taken = 0;
        left->taken += room.count;
        if (multicast->host == NULL) {
            send_part(core, multicast, &part);
        } else {
            hand_over_from_host(core, multicast->pe, core->queue_place[multicast->queue->number], &part, multicast->host);
        }
    }
    struct send *send = multicast->send;
    payload_drop(core, left->payload);
    pool_give(&core->multicasts, multicast);
    if (send != NULL) {
        send_accepted(core, send, send->done);
    }
}

/* Begins to hand a multicast over. */
static void begin(struct core *core, struct multicast *multicast) {
    bool at_work = core->at_work;
    core->at_work = true;
    multicast_advance(core, multicast);
    if (!at_work) {
        deliver(core);
        core->at_work = false;
    }
}

/* Sends a run by several ways; the send waits if there is no room for all of it. `transforms`: what is marked is sent as
 * control wavelets. */
void multicast_send(struct core *core, struct pe *pe, const struct queue *queue, const struct run *wavelets,
                    bool transforms, struct send **send) {
    keep_send(core, send);
    struct multicast *multicast = pool_take(core, &core->multicasts);
    *multicast = (struct multicast){.pe = pe, .queue = queue, .send = *send, .run = *wavelets,
                                     .transforms = transforms};
    multicast->run.payload = payload_of(core, wavelets);
    if (wavelets->payload == NULL) {
        multicast->run.at = (const uint8_t *)multicast->run.payload->words;
        multicast->run.step = multicast->run.size = 4;
    }
    (*send)->waiting++;
    begin(core, multicast);
}

/* Sends a run of the host by its way to a queue of a PE. */
void host_send(struct core *core, struct pe *pe, const struct way *way, const struct run *wavelets) {
    uint32_t place = core->queue_place[way->queue];
    const struct queue *queue = &pe->class->queues[place];
    spell_out(core, pe, place);
    struct path *path = path_at(core, &inputs_of(pe)[place], way, HOST_ORIGIN);
    if (queue->senders < 2) {
        hand_over_from_host(core, pe, place, wavelets, path);
        return;
    }
    struct multicast *multicast = pool_take(core, &core->multicasts);
    *multicast = (struct multicast){.host = path, .pe = pe, .queue = queue, .run = *wavelets};
    multicast->run.payload->references++;
    begin(core, multicast);
}

/* Returns how many wavelets for a queue the host still holds. */
uint32_t held_by_host(const struct input *input) {
    const struct path *path = input->path;
    while (path != NULL && path->origin != HOST_ORIGIN) {
        path = path->next;
    }
    if (path == NULL) {
        return 0;
    }
    uint32_t held = path->pending > path->capacity ? path->pending - path->capacity : 0;
    const struct multicast *multicast = path->waiters == NULL ? NULL : path->waiters->multicasts;
    for (; multicast != NULL; multicast = multicast->next) {
        held += not_handed_over(multicast);
    }
    return held;
}
