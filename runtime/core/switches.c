/* Switches, filters and color swaps: wavelets of some colors go from router to router.
 *
 * Control wavelets move the switches of the routers that they pass. Each router takes wavelets from the ports of its
 * position, the others wait until its switch moves. What it does next depends on the order of the wavelets on each link
 * alone, so it does it at once, and times follow from time stamps. Only where a router takes a color from several ports
 * does time decide: it then waits in the order of events. runtime/reference/switches.py says the same, and says more.
 */
#include "switches.h"

/* Control wavelets: eight commands of three bits, a code and a bit that keeps it from the compute engine, the first in
 * bits 22 to 24, the second from bit 25, and on through bits 28, 29 and 0 to 15. */
enum { COMMANDS = 8, COMMAND_BITS = 3, COMMANDS_SHIFT = 22, HIGH_COMMANDS = 8, LOW_COMMANDS = 16 };
enum { NOP, ADVANCE, RESET, TEARDOWN_COMMAND };
enum { IGNORED = 4 };
enum { NO_POP, ALWAYS_POP, POP_ON_ADVANCE, POP_ON_ADVANCE_NOP };

/* Returns a control wavelet without its first command; an ignored no-operation comes in behind the last. */
static uint32_t popped(uint32_t word) {
    const uint32_t high = (1u << HIGH_COMMANDS) - 1, low = (1u << LOW_COMMANDS) - 1;
    uint32_t commands = (word >> COMMANDS_SHIFT & high) | (word & low) << HIGH_COMMANDS;
    commands = commands >> COMMAND_BITS | (uint32_t)(IGNORED | NOP) << COMMAND_BITS * (COMMANDS - 1);
    uint32_t kept = word & ~(high << COMMANDS_SHIFT | low);
    return kept | (commands & high) << COMMANDS_SHIFT | commands >> HIGH_COMMANDS;
}

/* Passages */

/* Returns the wavelets from `low` up to `high`. */
static struct passage cut(const struct passage *run, uint32_t low, uint32_t high) {
    struct passage part = *run;
    part.words += run->payload == NULL ? 0 : low;
    part.first += (cycle)low * run->rate;
    part.count = high - low;
    return part;
}

/* Returns a record of its own for some wavelets. */
static struct passage *keep_passage(struct core *core, const struct passage *run) {
    struct passage *kept = pool_take(core, &core->switches->passages);
    *kept = *run;
    kept->next = NULL;
    if (kept->payload != NULL) {
        kept->payload->references++;
    }
    return kept;
}

static void drop_passage(struct core *core, struct passage *run) {
    if (run->payload != NULL) {
        payload_drop(core, run->payload);
    }
    pool_give(&core->switches->passages, run);
}

static void send_on(struct core *core, struct router *to, int port, const struct passage *run) {
    struct switches *switches = core->switches;
    struct passage *fresh = keep_passage(core, run);
    fresh->to = to;
    fresh->port = (uint8_t)port;
    if (switches->fresh == NULL) {
        switches->fresh = fresh;
    } else {
        switches->last_fresh->next = fresh;
    }
    switches->last_fresh = fresh;
}

static void wait_behind(struct router *router, int port, struct passage *run) {
    run->next = NULL;
    if (router->waiting[port] == NULL) {
        router->waiting[port] = run;
    } else {
        router->last[port]->next = run;
    }
    router->last[port] = run;
}

static struct passage *take_waiting(struct router *router, int port) {
    struct passage *run = router->waiting[port];
    router->waiting[port] = run->next;
    if (run->next == NULL) {
        router->last[port] = NULL;
    }
    return run;
}

static void put_back(struct router *router, int port, struct passage *run) {
    run->next = router->waiting[port];
    router->waiting[port] = run;
    if (run->next == NULL) {
        router->last[port] = run;
    }
}

/* Switches */

static void stir(struct core *core, struct router *router) {
    struct switches *switches = core->switches;
    grow(core, (void **)&switches->stirred, &switches->stirred_room, switches->stirred_count + 1, sizeof router);
    switches->stirred[switches->stirred_count++] = router;
}

static void move(struct core *core, struct router *router, uint32_t code) {
    uint8_t then = code == ADVANCE ? following(core, router) : code == RESET ? 0 : router->position;
    if (then == router->position) {
        return;
    }
    router->position = then;
    router->is_crowded = of_position(core, router, router->color->row.crowded);
    for (int port = 0; port < PORTS; port++) {
        if (router->waiting[port] != NULL) {
            stir(core, router);
            return;
        }
    }
}

/* Time decides */

/* Returns the port at which the wavelet came first that time decides about, and stores when; NEVER if there is none. A
 * link keeps its order; what several queues of a PE send goes by time. */
static int decision(const struct core *core, const struct router *router, cycle *time) {
    int best = RAMP;
    *time = NEVER;
    for (int port = 0; router->is_crowded && port < PORTS; port++) {
        if (router->waiting[port] == NULL || !takes(core, router, port)) {
            continue;
        }
        cycle first = router->waiting[port]->first;
        for (const struct passage *run = router->waiting[port]; port == RAMP && run != NULL; run = run->next) {
            first = run->first < first ? run->first : first;
        }
        if (first < *time) {
            *time = first;
            best = port;
        }
    }
    return best;
}

/* Has a router choose, at a cycle, what came first, at a time. */
static void plan_at(struct core *core, struct router *router, cycle time, cycle at) {
    router->due = time;
    router->planned = at;
    core->runs_due++;
    schedule(core, at, EVENT_ROUTER, router->pe, (uint64_t)router->color->row.color, router);
}

/* Has a router choose when nothing earlier can reach it. */
static void plan(struct core *core, struct router *router) {
    cycle time;
    decision(core, router, &time);
    if (time < NEVER && time != router->due && !router->is_full) {
        plan_at(core, router, time, time);
    }
}

/* Passing a router */

static void fail_at(struct core *core, const struct router *router, uint32_t code, cycle time) {
    struct finding finding = {.code = code, .pe = router->pe, .task = NO_ROW, .where = router->color->where,
                              .cycle = time, .values = {(int64_t)router->color->row.color}};
    note_error(core, &finding);
}

/* Gives wavelets to the queues at the end of the ramp. */
static void come_down(struct core *core, struct router *router, const struct passage *run) {
    for (struct path *path = router->down; path != NULL; path = path->next) {
        struct run *made = pool_take(core, &core->runs);
        *made = (struct run){.payload = run->payload, .at = (const uint8_t *)run->words, .step = 4, .size = 4,
                             .first = run->first + core->timing.ramp, .rate = run->rate, .count = run->count,
                             .sender = NO_ROW, .control = run->control, .path = path};
        run->payload->references++;
        arrive(core, core->pe_of[router->pe], core->queue_place[path->origin], made);
    }
    if (router->down == NULL) {
        router->unread += run->count;
    }
}

static void hop(struct core *core, struct router *router, int port, int out, const struct passage *run) {
    int64_t there = neighbor(core, router->pe, out);
    if (there < 0) {
        router->left_grid[out] += run->control ? 0 : run->count;
        return;
    }
    bool turns = port != RAMP && port != opposite(out);
    struct passage on = *run;
    on.first += core->timing.hop + (turns ? core->timing.turn : 0);
    on.hops++;
    struct router *takers[2];
    uint32_t count = need_takers(core, router->color, (uint32_t)there, opposite(out), on.first, takers);
    for (uint32_t k = 0; k < count; k++) {
        on.path = takers[k]->links[opposite(out)];
        send_on(core, takers[k], opposite(out), &on);
    }
}

/* Returns true if a router takes the first command off a control wavelet that passes. */
static bool pops(const struct core *core, const struct router *router, uint32_t code) {
    uint8_t mode = router->own != NULL ? router->own->pop_mode : router->color->row.pop_mode[router->pe];
    bool moves = code == ADVANCE && following(core, router) != router->position;
    return mode == ALWAYS_POP || (mode >= POP_ON_ADVANCE && moves) || (mode == POP_ON_ADVANCE_NOP && code == NOP);
}

/* Returns the ports by which a router sends wavelets now, as bits. */
static uint8_t sent_ports(const struct core *core, const struct router *router) {
    return router->own != NULL ? router->own->transmit[router->position]
                               : of_position(core, router, router->color->row.transmit);
}

/* Returns true if a router sends data, or a control wavelet, down its ramp, as far as a filter lets it pass. */
static bool comes_to_ramp(const struct core *core, const struct router *router, const struct passage *run) {
    bool ignored = run->control && *run->words >> (COMMANDS_SHIFT + COMMAND_BITS - 1) & 1;
    return sent_ports(core, router) >> RAMP & 1 && !ignored;
}

/* Returns the ports by which the first wavelets of a run leave a router, as bits; stores how many leave by the same. */
static uint8_t exits_of(const struct core *core, const struct router *router, int port, const struct passage *run,
                        uint32_t *count) {
    uint8_t outputs = sent_ports(core, router) & (uint8_t) ~(1 << RAMP);
    *count = run->count;
    if (comes_to_ramp(core, router, run)) {
        bool passes = router->filter.kind == 0 || filter_first(&router->filter, run->words, run->control, count);
        outputs |= (uint8_t)(passes << RAMP);
    }
    /* Back by the port that it came by goes only what came on another color. */
    const uint8_t *swap = router->color->row.swap;
    bool goes_back = port == RAMP || (swap != NULL && swap[router->pe] >> port & 1);
    return goes_back ? outputs : outputs & (uint8_t) ~(1 << port);
}

/* Begins a teardown phase at a router, and tells its PE. */
static void tear_down(struct core *core, struct router *router, cycle now) {
    router->own->is_torn = true;
    struct pe *pe = core->pe_of[router->pe];
    if (pe == NULL) {
        return;
    }
    uint32_t task = teardown_task(core, pe);
    if (task == NO_TASK) {
        fail_at(core, router, TEARDOWN_UNHANDLED, now);
        return;
    }
    core->switches->torn_down[router->pe] |= 1u << core->tables.colors[router->color->row.color].number;
    task_complete(core, pe, task, now + core->timing.ramp, true);
}

/* Sends wavelets on from a router when it is there for them, and obeys them. */
static void pass_at(struct core *core, struct router *router, int port, uint8_t outputs, const struct passage *run) {
    if (run->hops > core->switches->most_hops) {
        fail_at(core, router, SWITCHES_LOOP, run->first);
        return;
    }
    router->free = run->first + (cycle)(run->count - 1) * run->rate + 1;
    struct passage on = *run;
    struct payload *made = NULL;
    uint32_t code = 0;
    if (run->control) {
        uint32_t word = *run->words;
        code = word >> COMMANDS_SHIFT & (IGNORED - 1);
        if (code == TEARDOWN_COMMAND && router->own == NULL) {
            fail_at(core, router, TEARDOWN, run->first);
            return;
        }
        if (pops(core, router, code)) {
            made = payload_take(core, 1);
            made->words[0] = popped(word);
            on.payload = made;
            on.words = made->words;
        }
    }
    for (int out = 0; out < PORTS; out++) {
        if (!(outputs >> out & 1)) {
            continue;
        }
        if (core->statistics != NULL) {
            count_passing(core, (uint64_t)(router->color - core->switches->colors), router->pe, out, on.count);
        }
        if (out == RAMP) {
            come_down(core, router, &on);
        } else {
            hop(core, router, port, out, &on);
        }
    }
    if (run->control && code == TEARDOWN_COMMAND) {
        tear_down(core, router, run->first);
    } else if (run->control) {
        move(core, router, code);
    }
    if (made != NULL) {
        payload_drop(core, made);
    }
}

/* Finds how many of the first `count` wavelets may go by the first `ways` outlets, and when; if none may, the router goes
 * on when there may be room. */
static bool find_router_room(struct core *core, struct router *router, const struct passage *run, uint32_t count,
                             uint32_t ways, struct room *room) {
    struct path **outlets = core->switches->outlets;
    *room = (struct room){.count = count, .first = run->first, .rate = run->rate};
    consider_line(room, router->free, 1);
    for (uint32_t k = 0; k < ways; k++) {
        if (!consider_path(room, outlets[k])) {
            router->is_full = true;
            router->full = room->full;
            wait_for_path(core, room->full, &router->waiter);
            return false;
        }
    }
    limit_to_line(room, run->first, run->rate);
    limit_to_line(room, router->free, 1);
    for (uint32_t k = 0; k < ways; k++) {
        limit_to_path(room, outlets[k]);
    }
    return true;
}

/* Lets data, or one control wavelet, pass as far as there is room; wavelets leave in order, one a cycle at most. Returns
 * whether all have passed; else `run` is what is left, and the router goes on when there may be room. */
static bool pass(struct core *core, struct router *router, int port, struct passage *run) {
    if (run->is_marker) {
        router->free = run->first > router->free ? run->first : router->free;
        move(core, router, ADVANCE);
        return true;
    }
    while (run->count > 0) {
        uint32_t alike;
        uint8_t outputs = exits_of(core, router, port, run, &alike);
        uint32_t ways = find_outlets(core, router, outputs);
        struct path **outlets = core->switches->outlets;
        struct room room;
        if (!find_router_room(core, router, run, alike, ways, &room)) {
            return false;
        }
        struct passage part = cut(run, 0, room.count);
        part.first = room.first;
        part.rate = (uint32_t)room.rate;
        for (uint32_t k = 0; k < ways; k++) {
            path_note(core, outlets[k], room.count, room.first + (cycle)(room.count - 1) * room.rate, NULL);
        }
        path_taken(core, run->path, room.first, room.rate, room.count);
        if (router->filter.kind != 0 && comes_to_ramp(core, router, run)) {
            filter_count(&router->filter, run->control, room.count);
        }
        pass_at(core, router, port, outputs, &part);
        *run = cut(run, room.count, run->count);
    }
    return true;
}

/* Lets wavelets pass that are theirs alone, as far as there is room, and of control wavelets only the first; returns the
 * others, or NULL. */
static struct passage *go(struct core *core, struct router *router, int port, struct passage *run) {
    if (run->control && run->count > 1) {
        struct passage first = cut(run, 0, 1);
        if (pass(core, router, port, &first)) {
            *run = cut(run, 1, run->count);
        }
        return run;
    }
    if (!pass(core, router, port, run)) {
        return run;
    }
    drop_passage(core, run);
    return NULL;
}

/* Passes what waits at a router whose switch has moved, as far as it takes it now. */
static void release(struct core *core, struct router *router) {
    for (int port = 0; port < PORTS; port++) {
        while (router->waiting[port] != NULL && !holds(core, router, port)) {
            struct passage *run = take_waiting(router, port);
            bool control = run->control;
            struct passage *rest = go(core, router, port, run);
            if (rest != NULL) {
                put_back(router, port, rest);
            }
            if (control) {
                stir(core, router); /* the switch may have moved: look again */
                break;
            }
        }
    }
    plan(core, router);
}

/* Lets wavelets go on until none can. What comes to queues is handed over behind it. */
static void settle(struct core *core) {
    struct switches *switches = core->switches;
    bool was_at_work = core->at_work;
    core->at_work = true;
    while (switches->stirred_count > 0 || switches->fresh != NULL) {
        if (switches->stirred_count > 0) {
            release(core, switches->stirred[--switches->stirred_count]);
            continue;
        }
        struct passage *run = switches->fresh;
        struct router *router = run->to;
        int port = run->port;
        switches->fresh = run->next;
        run->next = NULL;
        if (holds(core, router, port) || router->waiting[port] != NULL) {
            wait_behind(router, port, run);
            plan(core, router);
            continue;
        }
        struct passage *rest = go(core, router, port, run);
        if (rest != NULL) {
            wait_behind(router, port, rest);
            stir(core, router);
        }
    }
    if (!was_at_work) {
        deliver(core);
        core->at_work = false;
    }
}

/* Lets what there was no room for pass when there may be some. */
void router_goes_on(struct core *core, struct router *router) {
    router->is_full = false;
    stir(core, router);
    settle(core);
}

/* Lets a router whose registers have been written at a time look again at what waits. */
void router_changes(struct core *core, struct router *router, cycle now) {
    struct waiters *waiters = router->is_full ? router->full->waiters : NULL;
    struct multicast **at = waiters == NULL ? NULL : &waiters->multicasts;
    while (at != NULL && *at != NULL && *at != &router->waiter) {
        at = &(*at)->next;
    }
    if (at != NULL && *at != NULL) { /* else it goes on soon: a wavelet has been taken */
        *at = (*at)->next;
        core->multicasts_waiting--;
        router->is_full = false;
    }
    router->free = now + 1 > router->free ? now + 1 : router->free;
    stir(core, router);
    settle(core);
}

/* Sends wavelets of a PE into its router, if their color has switches; where they `advance` it, its switch moves on
 * behind the last one. A `send` may have to wait for its last wavelet to leave. */
void enter_router(struct core *core, struct pe *pe, const struct queue *queue, const struct run *run, bool advances,
                  struct send **send) {
    struct path *ramp = ramp_of(core, pe, queue);
    if (ramp == NULL) {
        return;
    }
    struct payload *payload = payload_of(core, run);
    struct passage sent = {.payload = payload, .first = run->first, .rate = run->rate, .count = run->count,
                           .control = run->control, .path = ramp};
    path_note(core, ramp, run->count, run->first + (cycle)(run->count - 1) * run->rate, send);
    sent.words = payload == run->payload ? (const uint32_t *)(const void *)run->at : payload->words;
    struct router *takers[2];
    struct switched *color = core->switches->by_color[queue->colors[pe->unit]];
    uint32_t count = need_takers(core, color, pe->number, RAMP, run->first, takers);
    for (uint32_t k = 0; k < count; k++) {
        send_on(core, takers[k], RAMP, &sent);
        sent.path = NULL; /* the first router alone returns the credit */
        if (advances) {
            struct passage marker = {.first = run->first + (cycle)(run->count - 1) * run->rate + 1, .rate = 1, .count = 1,
                                     .control = true, .is_marker = true};
            send_on(core, takers[k], RAMP, &marker);
        }
    }
    payload_drop(core, payload);
    settle(core);
}

/* Lets the wavelet pass that a router chooses at a time; of those that came in one cycle that of the first port. */
void router_decide(struct core *core, struct router *router, cycle now) {
    core->runs_due--;
    if (router->planned != now) {
        return;
    }
    cycle time, due = router->due;
    router->planned = router->due = NEVER;
    int port = decision(core, router, &time);
    if (time != due || router->is_full) {
        return;
    }
    struct passage **link = &router->waiting[port], *before = NULL;
    while ((*link)->first != time) {
        before = *link;
        link = &before->next;
    }
    struct passage *run = *link, one = cut(run, 0, 1);
    if (router->own != NULL && !run->is_marker) {
        /* It passes by the routes of the cycle in which it does. */
        struct room room;
        uint32_t alike, ways = find_outlets(core, router, exits_of(core, router, port, &one, &alike));
        if (!find_router_room(core, router, &one, alike, ways, &room)) {
            return;
        }
        if (room.first > now) {
            plan_at(core, router, time, room.first);
            return;
        }
    }
    if (!pass(core, router, port, &one)) {
        return;
    }
    if (run->count > 1) {
        *run = cut(run, 1, run->count);
    } else {
        *link = run->next;
        if (router->last[port] == run) {
            router->last[port] = before;
        }
        drop_passage(core, run);
    }
    stir(core, router);
    settle(core);
}
