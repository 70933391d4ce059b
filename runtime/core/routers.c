/* Routers of colors whose wavelets go from router to router: what they take and send, their ways, and their state at
 * rest.
 */
#include <stdlib.h>

#include "records.h"
#include "switches.h"

/* Makes what programs may change of a router, as it is at the start. */
static struct own_route *make_own_route(struct core *core, const struct switched_input *row, uint32_t pe) {
    uint64_t pes = (uint64_t)core->width * core->height;
    struct own_route *own = pool_take(core, &core->switches->own_routes);
    *own = (struct own_route){.ring = row->ring[pe], .pop_mode = row->pop_mode[pe], .is_torn = row->teardown[pe]};
    for (uint64_t k = 0; k < POSITIONS; k++) {
        own->receive[k] = row->receive[k * pes + pe];
        own->transmit[k] = row->transmit[k * pes + pe];
        own->sets[k] = row->sets[k * pes + pe];
    }
    return own;
}

struct router *router_at(struct core *core, struct switched *color, uint32_t pe) {
    struct router *router = color->routers[pe];
    if (router == NULL) {
        router = color->routers[pe] = pool_take(core, &core->switches->routers);
        *router = (struct router){.color = color, .pe = pe, .position = color->row.current[pe], .planned = NEVER,
                                  .due = NEVER, .waiter.router = router,
                                  .filter = make_filter(&color->row, pe, (uint64_t)core->width * core->height)};
        if (color->row.changes) {
            router->own = make_own_route(core, &color->row, pe);
        }
        router->is_crowded = of_position(core, router, color->row.crowded);
        if (color->first == NULL) {
            color->first = router;
        } else {
            color->last->next = router;
        }
        color->last = router;
    }
    return router;
}

/* Returns true if the router of a color takes what comes to a port of a PE on the color that it swaps with. */
static bool swaps(const struct switched *color, uint32_t pe, int port) {
    return color->row.swap != NULL && color->row.swap[pe] >> port & 1;
}

/* Finds the routers of a PE that take what comes to a port on a color, its own first; returns how many they are. */
uint32_t find_takers(struct core *core, struct switched *color, uint32_t pe, int port, struct router *found[2]) {
    uint32_t count = 0;
    if (!swaps(color, pe, port)) {
        found[count++] = router_at(core, color, pe);
    }
    if (color->other != NULL && swaps(color->other, pe, port)) {
        found[count++] = router_at(core, color->other, pe);
    }
    return count;
}

/* The same; that there is none is an error. */
uint32_t need_takers(struct core *core, struct switched *color, uint32_t pe, int port, cycle time,
                            struct router *found[2]) {
    uint32_t count = find_takers(core, color, pe, port, found);
    if (count == 0) {
        struct finding finding = {.code = COLOR_NOT_TAKEN, .pe = pe, .task = NO_ROW, .where = color->where, .cycle = time,
                                  .values = {(int64_t)color->row.color, port, color->row.other}};
        note_error(core, &finding);
    }
    return count;
}

/* Returns true if a switch has a position. */
static bool has_position(const struct core *core, const struct router *router, uint8_t position) {
    if (position == 0 || position >= POSITIONS) {
        return position == 0;
    }
    if (router->own != NULL) {
        return router->own->sets[position] != 0;
    }
    return router->color->row.valid[(uint64_t)position * core->width * core->height + router->pe];
}

/* Returns the next position of a switch. */
uint8_t following(const struct core *core, const struct router *router) {
    uint8_t then = router->position + 1;
    if (has_position(core, router, then)) {
        return then;
    }
    bool ring = router->own != NULL ? router->own->ring : router->color->row.ring[router->pe];
    return ring ? 0 : router->position;
}

/* Ways */

static struct path *make_path(struct core *core, cycle capacity) {
    struct path *path = pool_take(core, &core->paths);
    *path = (struct path){.capacity = (uint32_t)capacity, .back = (uint32_t)core->timing.hop};
    return path;
}

/* Makes the ways down the ramp of a router, to each queue that reads the color. */
static void make_down(struct core *core, struct router *router) {
    const struct switched_input *row = &router->color->row;
    struct path **end = &router->down;
    for (uint32_t layer = 0; layer < row->layers; layer++) {
        int32_t queue = row->readers[(uint64_t)layer * core->width * core->height + router->pe];
        if (queue >= 0) {
            const struct queue *reader = &core->pe_of[router->pe]->class->queues[core->queue_place[queue]];
            cycle least = core->timing.ramp + core->timing.hop;
            *end = make_path(core, reader->room > least ? reader->room : least);
            (*end)->origin = (uint64_t)queue;
            end = &(*end)->next;
        }
    }
    router->has_down = true;
}

/* Finds the ways by which wavelets leave a router through some ports; returns how many they are. */
uint32_t find_outlets(struct core *core, struct router *router, uint8_t outputs) {
    struct path **outlets = core->switches->outlets;
    uint32_t found = 0;
    if (outputs >> RAMP & 1) {
        if (!router->has_down) {
            make_down(core, router);
        }
        for (struct path *path = router->down; path != NULL; path = path->next) {
            outlets[found++] = path;
        }
    }
    for (int out = NORTH; out < PORTS; out++) {
        int64_t there = outputs >> out & 1 ? neighbor(core, router->pe, out) : -1;
        if (there < 0) {
            continue;
        }
        struct router *takers[2];
        uint32_t count = find_takers(core, router->color, (uint32_t)there, opposite(out), takers);
        for (uint32_t k = 0; k < count; k++) {
            struct path **link = &takers[k]->links[opposite(out)];
            if (*link == NULL) {
                uint64_t pes = (uint64_t)core->width * core->height;
                *link = make_path(core, takers[k]->color->row.held[(uint64_t)opposite(out) * pes + takers[k]->pe]);
            }
            outlets[found++] = *link;
        }
    }
    return found;
}

/* Returns true if a color, by its row or -1, has a switch somewhere. */
bool has_switches(const struct core *core, int32_t color) {
    return core->switches != NULL && color >= 0 && core->switches->by_color[color] != NULL;
}

/* Returns what is on the way from a queue to the router of its PE; NULL if its color has no switches. */
struct path *ramp_of(struct core *core, const struct pe *pe, const struct queue *queue) {
    if (!has_switches(core, queue->colors[pe->unit])) {
        return NULL;
    }
    struct switched *color = core->switches->by_color[queue->colors[pe->unit]];
    if (color->row.senders[pe->number] == 0) {
        return NULL;
    }
    struct router *router = router_at(core, color, pe->number);
    for (struct path *path = router->ramps; path != NULL; path = path->next) {
        if (path->origin == queue->number) {
            return path;
        }
    }
    cycle words = core->tables.queues[queue->number].room, back = core->timing.hop;
    struct path *path = make_path(core, words > back ? words : back);
    path->origin = queue->number;
    path->next = router->ramps;
    router->ramps = path;
    return path;
}

/* Creation */

void prepare_switches(struct core *core, const struct core_input *input) {
    if (input->switched_count == 0) {
        return;
    }
    struct switches *switches = core->switches = core_allocate(core, 1, sizeof *switches);
    uint64_t pes = (uint64_t)core->width * core->height, most = 0;
    switches->routers.size = sizeof(struct router);
    switches->passages.size = sizeof(struct passage);
    switches->own_routes.size = sizeof(struct own_route);
    switches->most_hops = (uint32_t)(16 * pes + 64);
    switches->colors = core_allocate(core, input->switched_count, sizeof *switches->colors);
    switches->count = input->switched_count;
    switches->by_color = core_allocate(core, core->tables.colors_count, sizeof *switches->by_color);
    for (uint32_t k = 0; k < switches->count; k++) {
        struct switched *color = &switches->colors[k];
        color->row = input->switched[k];
        color->where = core->tables.colors[color->row.color].where;
        color->routers = core_allocate(core, pes, sizeof *color->routers);
        switches->by_color[color->row.color] = color;
        most = color->row.layers > most ? color->row.layers : most;
        core->changes |= color->row.changes != 0;
    }
    if (core->changes) {
        switches->torn_down = core_allocate(core, pes, sizeof *switches->torn_down);
    }
    for (uint32_t k = 0; k < switches->count; k++) {
        int64_t other = switches->colors[k].row.other;
        switches->colors[k].other = other < 0 ? NULL : switches->by_color[other];
    }
    switches->outlets = core_allocate(core, 2 * PORTS + most, sizeof *switches->outlets);
}

void free_switches(struct core *core) {
    struct switches *switches = core->switches;
    if (switches == NULL) {
        return;
    }
    for (uint32_t k = 0; k < switches->count && switches->colors != NULL; k++) {
        free(switches->colors[k].routers);
    }
    pool_free_all(&switches->routers);
    pool_free_all(&switches->passages);
    pool_free_all(&switches->own_routes);
    free(switches->torn_down);
    free(switches->colors);
    free(switches->by_color);
    free(switches->stirred);
    free(switches->outlets);
    free(switches);
}

/* State at rest: records of runtime/reports/rest.py, by color, router and port */

enum { WAITING, DOWN_RAMP, OFF_GRID };

static int64_t left_at(const struct router *router, int port, uint32_t what) {
    int64_t count = 0;
    switch (what) {
    case DOWN_RAMP: return port == RAMP ? router->unread : 0;
    case OFF_GRID: return router->left_grid[port];
    default:
        for (const struct passage *run = router->waiting[port]; run != NULL; run = run->next) {
            count += run->is_marker ? 0 : run->count;
        }
        return count;
    }
}

/* The position of a switch as records have it; POSITIONS is a teardown phase. */
static uint32_t position_at_rest(const struct router *router) {
    return router->own != NULL && router->own->is_torn ? POSITIONS : router->position;
}

/* Stores wavelets that wait at routers (0), came down a ramp that nothing reads (1), or have left the grid (2); returns
 * how many records there are. */
uint64_t core_routers(const struct core *core, struct at_router_record *records, uint64_t room, uint32_t what) {
    uint64_t found = 0;
    for (uint32_t k = 0; core->switches != NULL && k < core->switches->count; k++) {
        for (const struct router *router = core->switches->colors[k].first; router != NULL; router = router->next) {
            for (int port = 0; port < PORTS; port++) {
                int64_t count = left_at(router, port, what);
                if (count > 0 && found < room) {
                    records[found] = (struct at_router_record){.color = (uint32_t)router->color->row.color,
                                                               .pe = router->pe, .port = (uint32_t)port,
                                                               .position = position_at_rest(router),
                                                               .taken = taken_ports(core, router), .count = count};
                }
                found += count > 0;
            }
        }
    }
    return found;
}
