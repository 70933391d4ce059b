/* Multicasts: a wavelet leaves when there is room for it on all its ways, so that the slowest receiver holds all back.
 *
 * What all ways have room for is handed over at once; the rest follows as credits come back. Which wavelets go together
 * makes no difference: each leaves at the larger of its own time and those of its credits.
 */
#include "machine.h"

/* Has a multicast, or a router, go on when a wavelet of a way is taken. */
void wait_for_path(struct core *core, struct path *full, struct multicast *multicast) {
    struct waiters *waiters = waiters_of(core, full);
    multicast->next = waiters->multicasts;
    waiters->multicasts = multicast;
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
        cycle own = head_time(left);
        struct room room = {.count = count, .first = own, .rate = left->rate};
        find_room(core, multicast->pe, multicast->queue, &room);
        limit_to_line(&room, own, left->rate);
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
        send_part(core, multicast, &part);
    }
    struct send *send = multicast->send;
    payload_drop(core, left->payload);
    pool_give(&core->multicasts, multicast);
    send_accepted(core, send, send->done);
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
    bool at_work = core->at_work;
    core->at_work = true;
    multicast_advance(core, multicast);
    if (!at_work) {
        deliver(core);
        core->at_work = false;
    }
}
