/* Message networks: a message travels as a worm, and takes each link of its way for the whole message.
 *
 * Where a link is taken the head waits, and the worm with it, in the order of arrival. A worm has a clock of its own,
 * which stalls while the worm does: what happens to it follows from when its head comes to its links, and its lag is
 * all that it has waited. Its wavelets are given to the receiver's queue at once, with the times at which they come if
 * nothing holds them back; what takes them later makes room. runtime/reference/messages.py says the same, and says more.
 */
#include <stdlib.h>

#include "messages.h"
#include "records.h"
#include "switches.h"

enum { IN_FRONT = 2 }; /* wavelets in front of the elements: the address and the header */
enum { RELEASE, HEAD }; /* what happens to a worm at a link, the first before the second if both do in one cycle */

/* Worms are in blocks of payloads, which count who knows of them. */

static struct payload *block_of(struct worm *worm) {
    return (struct payload *)(void *)((char *)worm - offsetof(struct payload, words));
}

static void keep_worm(struct worm *worm) { block_of(worm)->references++; }

static void drop_worm(struct core *core, struct worm *worm) {
    if (block_of(worm)->references == 1) {
        payload_drop(core, worm->payload);
    }
    payload_drop(core, block_of(worm));
}

/* Time */

static cycle last_of(const struct worm *worm) { return IN_FRONT + (cycle)(worm->count - 1) * worm->rate; }

/* Returns a time of a worm's own as a cycle of the machine. */
static cycle when(const struct worm *worm, cycle time) {
    return worm->start + time + worm->lag + (time >= worm->stops && worm->is_known ? worm->pause : 0);
}

/* Returns what happens next to a worm, of its own time, and where; NEVER if nothing does. */
static cycle next_event(const struct worm *worm, int *kind, uint32_t *leg) {
    cycle head = worm->heads < worm->legs ? worm->way[worm->heads].head : NEVER;
    cycle release = worm->releases < worm->legs ? worm->way[worm->releases].head + last_of(worm) + 1 : NEVER;
    *kind = release <= head ? RELEASE : HEAD;
    *leg = release <= head ? worm->releases : worm->heads;
    return release <= head ? release : head;
}

/* What a PE that picks a task sends because of it comes no earlier than this much later. */
static cycle ahead(const struct core *core) { return core->timing.inject - 1; }

/* Orders what happens next to a worm, unless it stalls. */
static void plan(struct core *core, struct worm *worm) {
    int kind;
    uint32_t number;
    cycle time = next_event(worm, &kind, &number);
    if (worm->is_planned || time == NEVER || (time >= worm->stops && !worm->is_known)) {
        return;
    }
    const struct leg *leg = &worm->way[number];
    uint64_t order = (uint64_t)kind << 62 | (uint64_t)leg->link->port << 58 | (uint64_t)leg->came_by << 54;
    worm->is_planned = true;
    core->runs_due++;
    schedule(core, when(worm, time) - ahead(core), EVENT_MESSAGE, leg->link->pe, order | core->networks->events++, worm);
}

/* Lets the message at a receiver's ramp go on once it is known when its last wavelet has room. */
static void go_on(struct core *core, struct inbox *inbox) {
    struct worm *worm = inbox->worm;
    if (worm == NULL) {
        return;
    }
    int64_t needed = inbox->given - 1 - inbox->room;
    if (needed < inbox->taken) {
        cycle room = 0; /* of what is no longer known: for long */
        for (uint64_t k = inbox->first; k < inbox->count; k++) {
            const struct taking *taking = &inbox->times[k];
            if (taking->first <= needed && needed < taking->first + taking->count) {
                room = taking->time + (needed - taking->first) * taking->rate;
                break;
            }
        }
        inbox->worm = NULL;
        cycle last = when(worm, worm->way[worm->legs - 1].head + last_of(worm)); /* never before the stop */
        worm->pause = room > last ? room - last : 0;
        worm->is_known = true;
    }
    plan(core, worm);
}

/* Arriving */

static void give(struct core *core, struct worm *worm, struct inbox *inbox, struct payload *payload,
                 const uint32_t *words, uint32_t count, cycle first, cycle rate, int64_t number, bool is_end) {
    struct piece *piece = pool_take(core, &core->networks->pieces);
    *piece = (struct piece){.worm = worm, .inbox = inbox, .first = number};
    keep_worm(worm);
    payload->references++;
    struct run *run = pool_take(core, &core->runs);
    *run = (struct run){.payload = payload, .at = (const uint8_t *)words, .piece = piece, .is_piece = true, .step = 4,
                        .size = 4, .first = first, .rate = (uint32_t)rate, .count = count,
                        .sender = NO_ROW, .control = is_end};
    admit(core, core->pe_of[worm->target], inbox->place, run);
}

static struct inbox *inbox_of(struct core *core, struct network *network, uint32_t target) {
    struct inbox *inbox = network->inboxes[target];
    if (inbox == NULL) {
        inbox = network->inboxes[target] = core_allocate(core, 1, sizeof *inbox);
        inbox->place = core->queue_place[network->readers[target]];
        inbox->room = core->pe_of[target]->class->queues[inbox->place].room;
    }
    return inbox;
}

/* Gives a message whose head is at the receiver's ramp to its queue. */
static void reach(struct core *core, struct worm *worm) {
    struct inbox *inbox = inbox_of(core, worm->network, worm->target);
    int64_t count = worm->count, before = inbox->given, fit = inbox->room - (before - inbox->taken);
    cycle at = worm->way[worm->legs - 1].head, first = when(worm, at) + core->timing.ramp;
    worm->is_delivered = true;
    inbox->given += 1 + count;
    /* It stalls at the first wavelet that finds no room. */
    cycle fits = fit < IN_FRONT ? fit + 1 : IN_FRONT + (fit - 1) * worm->rate;
    fits = fits < 1 ? 1 : fits;
    worm->stops = at + (fits < last_of(worm) ? fits : last_of(worm));
    inbox->worm = worm;
    uint32_t front = worm->count - 1, beside = worm->rate == 1 ? front : 0;
    struct payload *head = payload_take(core, 1 + beside);
    head->words[0] = worm->header;
    memcpy(head->words + 1, worm->words, (size_t)beside * sizeof *worm->words);
    give(core, worm, inbox, head, head->words, 1 + beside, first + 1, 1, before, false);
    payload_drop(core, head);
    if (front > beside) {
        give(core, worm, inbox, worm->payload, worm->words, front, first + IN_FRONT, worm->rate, before + 1, false);
    }
    give(core, worm, inbox, worm->payload, worm->words + front, 1, first + last_of(worm), 1, before + count, true);
    go_on(core, inbox);
}

/* Notes that wavelets of a run are taken, from one of them on. */
void piece_taken(struct core *core, const struct run *run, int64_t position, int64_t count, cycle time, cycle rate) {
    struct inbox *inbox = run->piece->inbox;
    struct taking taking = {.first = run->piece->first + position, .count = count, .time = time, .rate = rate};
    inbox->taken = taking.first + count;
    if (inbox->first > 16 && 2 * inbox->first > inbox->count) {
        inbox->count -= inbox->first;
        memmove(inbox->times, inbox->times + inbox->first, inbox->count * sizeof *inbox->times);
        inbox->first = 0;
    }
    grow(core, (void **)&inbox->times, &inbox->room_for_times, inbox->count + 1, sizeof *inbox->times);
    inbox->times[inbox->count++] = taking;
    while (inbox->count - inbox->first > 1 && inbox->times[inbox->first + 1].first < inbox->taken - inbox->room) {
        inbox->first++;
    }
    go_on(core, inbox);
}

void piece_drop(struct core *core, struct piece *piece) {
    drop_worm(core, piece->worm);
    pool_give(&core->networks->pieces, piece);
}

/* Warns if an operation takes 16 bits of each element of a message, and some have more. */
void check_cut(struct core *core, const struct open *open, const struct piece *piece) {
    const struct worm *worm = piece->worm;
    uint32_t first = 0;
    int64_t large = 0;
    for (uint32_t k = 0; k < worm->count; k++) {
        if (worm->words[k] > WORD_MASK && large++ == 0) {
            first = worm->words[k];
        }
    }
    if (large > 0) {
        warn(core, open->pe, ELEMENTS_CUT, open->task, open->where,
             VALUES(open->operation->number, worm->source, large, first));
    }
}

/* Warns if the last wavelet of a message, which starts no data task, is more than padding (LIB-032). */
void check_last(struct core *core, struct pe *pe, const struct piece *piece, uint32_t word) {
    bool is_single = piece->worm->count == 1;
    if (word != 0 || is_single) {
        warn(core, pe, LAST_ELEMENT_LOST, NO_ROW, piece->worm->where, VALUES(word, is_single));
    }
}

/* Events */

/* Lets the head of a worm take a link. */
static void take_link(struct core *core, struct worm *worm, uint32_t leg) {
    const struct link *link = worm->way[leg].link;
    worm->way[leg].link->holder = worm;
    if (core->statistics != NULL) {
        uint64_t network = (uint64_t)(worm->network - core->networks->all);
        count_carrying(core, network, link->pe, link->port, worm->count + (link->port == RAMP ? 1 : IN_FRONT));
    }
    if (leg + 1 == worm->legs) {
        reach(core, worm);
    }
}

static void leave_network(struct core *core, struct worm *worm) {
    struct network *network = worm->network;
    *(worm->previous == NULL ? &network->first : &worm->previous->next) = worm->next;
    *(worm->next == NULL ? &network->last : &worm->next->previous) = worm->previous;
    drop_worm(core, worm);
}

/* Lets go of a link behind the last wavelet of a worm; the next in line takes it. */
static void release_link(struct core *core, struct worm *worm, uint32_t leg, cycle now) {
    struct link *link = worm->way[leg].link;
    link->holder = NULL;
    if (leg == 0 && worm->send != NULL) {
        struct send *send = worm->send;
        worm->send = NULL;
        send_accepted(core, send, now - 1 + worm->rate);
    }
    if (leg + 1 == worm->legs) {
        leave_network(core, worm);
    }
    struct worm *following = link->waiting;
    if (following != NULL) {
        uint32_t at = following->waits_at;
        cycle lag = now - following->start - following->way[at].head;
        link->waiting = following->behind;
        following->waits_at = NO_ROW;
        following->lag = lag > following->lag ? lag : following->lag;
        take_link(core, following, at);
        plan(core, following);
    }
}

static void wait_for_link(struct worm *worm, uint32_t leg) {
    struct link *link = worm->way[leg].link;
    worm->waits_at = leg;
    worm->behind = NULL;
    *(link->waiting == NULL ? &link->waiting : &link->last_waiting->behind) = worm;
    link->last_waiting = worm;
}

/* Lets what is next happen to a worm. */
void message_moves(struct core *core, struct worm *worm, cycle time) {
    assert(!core->at_work);
    core->runs_due--;
    core->at_work = true;
    int kind;
    uint32_t leg;
    keep_worm(worm);
    next_event(worm, &kind, &leg);
    worm->is_planned = false;
    *(kind == HEAD ? &worm->heads : &worm->releases) += 1;
    bool waits = false;
    if (kind == RELEASE) {
        release_link(core, worm, leg, time + ahead(core));
    } else if (worm->way[leg].link->holder == NULL) {
        take_link(core, worm, leg);
    } else {
        wait_for_link(worm, leg);
        waits = true;
    }
    if (!waits) {
        plan(core, worm);
    }
    drop_worm(core, worm);
    deliver(core);
    core->at_work = false;
}

/* Sending */

static int way_out(const struct core *core, uint32_t from, uint32_t to) {
    uint32_t x = from % core->width, y = from / core->width, to_x = to % core->width, to_y = to / core->width;
    return x != to_x ? x < to_x ? EAST : WEST : y != to_y ? y < to_y ? SOUTH : NORTH : RAMP;
}

static struct link *link_at(struct core *core, struct network *network, uint32_t pe, int port) {
    struct link *links = network->links[pe];
    if (links == NULL) {
        links = network->links[pe] = core_allocate(core, PORTS, sizeof *links);
        for (int k = 0; k < PORTS; k++) {
            links[k].pe = pe;
            links[k].port = (uint8_t)k;
        }
    }
    return &links[port];
}

/* Returns a worm from one PE to another, with the links between them: along the row first. */
static struct worm *make_worm(struct core *core, struct network *network, uint32_t source, uint32_t target) {
    uint32_t across = source % core->width, down = source / core->width;
    uint32_t legs = 1 + (uint32_t)abs((int)(target % core->width) - (int)across) +
                    (uint32_t)abs((int)(target / core->width) - (int)down);
    struct payload *block = payload_take(core, (sizeof(struct worm) + legs * sizeof(struct leg)) / 4);
    struct worm *worm = (struct worm *)(void *)block->words;
    *worm = (struct worm){.network = network, .source = source, .target = target, .legs = legs, .stops = NEVER,
                          .waits_at = NO_ROW};
    uint32_t pe = source;
    int port = RAMP;
    cycle time = 0;
    for (uint32_t k = 0; k < legs; k++) {
        int out = way_out(core, pe, target);
        worm->way[k] = (struct leg){link_at(core, network, pe, out), time, (uint8_t)port};
        if (out != RAMP) {
            time += core->timing.hop + (port != RAMP && port != opposite(out) ? core->timing.turn : 0);
            pe = (uint32_t)neighbor(core, pe, out);
            port = opposite(out);
        }
    }
    assert(pe == target);
    return worm;
}

/* Sends off a message that is there as a whole, as if it had been at the time of the first of its elements. */
static void depart(struct core *core, struct pe *pe, struct network *network, const struct sending *sending,
                   const struct begun *begun, const struct run *elements) {
    uint32_t operation = sending->operation->number;
    if (begun->count != IN_FRONT || elements->count == 0) {
        fail(core, pe, MESSAGE_WITHOUT_FRONT, sending->task, sending->where,
             VALUES(operation, (int64_t)begun->count + elements->count));
        return;
    }
    uint32_t row = begun->front[0] >> WORD_BITS, column = begun->front[0] & WORD_MASK;
    if (row >= core->height || column >= core->width) {
        fail(core, pe, MESSAGE_OFF_GRID, sending->task, sending->where, VALUES(column, row));
        return;
    }
    uint32_t target = row * core->width + column;
    if (network->readers[target] < 0) {
        fail(core, pe, MESSAGE_TO_NOBODY, sending->task, sending->where, VALUES(column, row, network->color));
        return;
    }
    struct worm *worm = make_worm(core, network, pe->number, target);
    worm->payload = payload_of(core, elements);
    worm->words = elements->payload == NULL ? worm->payload->words : (const uint32_t *)(const void *)elements->at;
    worm->count = elements->count;
    worm->header = begun->front[1];
    worm->start = elements->first;
    worm->rate = elements->rate;
    worm->send = sending->send;
    worm->where = sending->where;
    worm->previous = network->last;
    *(network->last == NULL ? &network->first : &network->last->next) = worm;
    network->last = worm;
    plan(core, worm);
}

/* Takes wavelets of a queue; the message leaves when its end is among them. */
void inject(struct core *core, struct pe *pe, const struct queue *queue, const struct sending *sending,
            const struct descriptor *stream, const struct run *run) {
    struct network *network = &core->networks->all[queue->network - 1];
    struct begun *begun = &network->begun[pe->number];
    if (stream->flags & CONTROL_WAVELETS || (stream->flags & MESSAGE && sending->is_last)) {
        struct begun whole = *begun;
        begun->count = 0;
        depart(core, pe, network, sending, &whole, run);
        return;
    }
    for (uint32_t k = 0; k < run->count && begun->count + k < IN_FRONT; k++) {
        uint32_t *word = &begun->front[begun->count + k];
        *word = 0;
        memcpy(word, run->at + (ptrdiff_t)k * run->step, run->size);
    }
    begun->count += run->count;
}

/* Creation */

void prepare_networks(struct core *core, const struct core_input *input) {
    uint32_t count = (uint32_t)core->tables.networks_count;
    if (count == 0) {
        return;
    }
    struct networks *networks = core->networks = core_allocate(core, 1, sizeof *networks);
    uint64_t pes = (uint64_t)core->width * core->height;
    networks->pieces.size = sizeof(struct piece);
    networks->all = core_allocate(core, count, sizeof *networks->all);
    networks->count = count;
    for (uint32_t k = 0; k < count; k++) {
        struct network *network = &networks->all[k];
        network->color = core->tables.networks[k].color;
        network->readers = input->network_readers + k * pes;
        network->links = core_allocate(core, pes, sizeof *network->links);
        network->inboxes = core_allocate(core, pes, sizeof *network->inboxes);
        network->begun = core_allocate(core, pes, sizeof *network->begun);
    }
}

void free_networks(struct core *core) {
    struct networks *networks = core->networks;
    for (uint32_t k = 0; networks != NULL && k < networks->count; k++) {
        struct network *network = &networks->all[k];
        for (uint64_t pe = 0; network->begun != NULL && pe < (uint64_t)core->width * core->height; pe++) {
            free(network->links[pe]);
            if (network->inboxes[pe] != NULL) {
                free(network->inboxes[pe]->times);
                free(network->inboxes[pe]);
            }
        }
        free(network->links);
        free(network->inboxes);
        free(network->begun);
    }
    if (networks != NULL) {
        pool_free_all(&networks->pieces);
        free(networks->all);
        free(networks);
    }
}

/* State at rest: records of runtime/reports/rest.py */

/* Returns the message at a receiver's ramp that a message waits for, in the end; it may be itself. */
static const struct worm *blocker_of(const struct worm *worm) {
    while (worm->waits_at != NO_ROW && worm->way[worm->waits_at].link->holder != NULL) {
        worm = worm->way[worm->waits_at].link->holder;
    }
    return worm;
}

/* Stores the messages that have not left; returns how many there are. */
uint64_t core_messages(const struct core *core, struct message_record *records, uint64_t room) {
    uint64_t found = 0;
    for (uint32_t k = 0; core->networks != NULL && k < core->networks->count; k++) {
        for (const struct worm *worm = core->networks->all[k].first; worm != NULL; worm = worm->next, found++) {
            if (found >= room) {
                continue;
            }
            struct message_record *record = &records[found];
            *record = (struct message_record){.network = k, .source = worm->source, .target = worm->target,
                                              .elements = worm->count, .delivered = worm->is_delivered,
                                              .blocker = blocker_of(worm)->target, .at = NO_ROW,
                                              .holder_source = NO_ROW, .holder_target = NO_ROW};
            const struct link *link = worm->waits_at == NO_ROW ? NULL : worm->way[worm->waits_at].link;
            if (link != NULL && link->holder != NULL) {
                record->at = link->pe;
                record->port = link->port;
                record->holder_source = link->holder->source;
                record->holder_target = link->holder->target;
            }
        }
    }
    return found;
}

/* Stores the place of the message of a send among those, and its elements; returns false if it has left. */
bool message_of(const struct core *core, const struct send *send, uint32_t *place, uint32_t *count) {
    *place = 0;
    for (uint32_t k = 0; core->networks != NULL && k < core->networks->count; k++) {
        for (const struct worm *worm = core->networks->all[k].first; worm != NULL; worm = worm->next, ++*place) {
            if (worm->send == send) {
                *count = worm->count;
                return true;
            }
        }
    }
    return false;
}
