/* Switches, filters and color swaps: colors whose wavelets go from router to router. */
#ifndef LOOM_SWITCHES_H
#define LOOM_SWITCHES_H

#include "filters.h"
#include "machine.h"

enum { RAMP, NORTH, EAST, SOUTH, WEST, PORTS };
enum { POSITIONS = 4 };

static inline int opposite(int port) { return port == NORTH ? SOUTH : port == SOUTH ? NORTH : port == EAST ? WEST : EAST; }

/* The neighbor of a PE at a port, or -1 beyond the edge of the grid */
static inline int64_t neighbor(const struct core *core, uint32_t pe, int port) {
    uint32_t x = pe % core->width, y = pe / core->width;
    switch (port) {
    case NORTH: return y > 0 ? (int64_t)pe - core->width : -1;
    case EAST: return x + 1 < core->width ? (int64_t)pe + 1 : -1;
    case SOUTH: return y + 1 < core->height ? (int64_t)pe + core->width : -1;
    default: return x > 0 ? (int64_t)pe - 1 : -1;
    }
}

/* Wavelets on their way to a port of a router; wavelet k is there at `first` + k * `rate` */
struct passage {
    struct passage *next;
    struct router *to; /* while it is fresh */
    struct payload *payload;
    struct path *path; /* the link that they come by, or the way from their queue */
    const uint32_t *words;
    cycle first;
    uint32_t rate, count, hops;
    uint8_t port, control;
    uint8_t is_marker; /* it is not a wavelet, but moves the switch of the sender's router on */
};

/* What programs have made of the route of a color that changes, and its teardown phase; ports of all positions */
struct own_route {
    uint8_t receive[POSITIONS], transmit[POSITIONS];
    uint8_t sets[POSITIONS]; /* which of these a position names itself: SETS_RECEIVE, SETS_TRANSMIT */
    uint8_t ring, pop_mode;
    uint8_t is_torn; /* in a teardown phase: nothing passes */
    uint8_t selects; /* on WSE-2, positions that are not given whose registers name where the color comes from, as bits */
    uint16_t flags;  /* bits of the color's register that mean nothing here */
};
enum { SETS_RECEIVE = 1, SETS_TRANSMIT = 2 };

/* The router of a PE for one color */
struct router {
    struct switched *color;
    struct router *next; /* in the order in which they saw their first wavelet */
    uint32_t pe;
    uint8_t position, is_crowded;
    uint8_t is_full; /* it has chosen a wavelet for which there is no room: it passes nothing before that */
    cycle free;    /* when it can pass the next wavelet */
    cycle planned; /* when it chooses between ports, or NEVER */
    cycle due;     /* when what it then chooses came, or NEVER */
    struct own_route *own; /* of a color that changes, else NULL */
    struct passage *waiting[PORTS], *last[PORTS];
    struct path *links[PORTS]; /* to its ports, NULL before the first wavelet */
    struct path *ramps;        /* from the queues of its PE */
    struct path *down;         /* to those that read the color, by layer; `has_down` if they are made */
    bool has_down;
    struct filter filter; /* at its ramp */
    struct multicast waiter; /* its place among what waits for a way */
    struct path *full;       /* for that, if it is full */
    int64_t unread;            /* wavelets that came down a ramp that nothing reads */
    int64_t left_grid[PORTS]; /* wavelets of data that it has sent over the edge of the grid */
};

/* A color whose wavelets go from router to router: the arrays of runtime/fabric/model.py, and its routers by PE */
struct switched {
    struct switched_input row;
    struct switched *other; /* the color that it swaps with, or NULL */
    uint32_t where;
    struct router **routers, *first, *last;
};

struct switches {
    struct switched *colors;
    uint32_t count;
    struct switched **by_color; /* by row of the colors, NULL where wavelets have static ways */
    struct pool routers, passages, own_routes;
    uint32_t *torn_down; /* of each PE: colors that have been torn down since its PE was told, as bits; NULL if none changes */
    struct path **outlets; /* room for the ways that lead on from a router */
    struct passage *fresh, *last_fresh;
    struct router **stirred; /* routers whose switches have moved while something waited */
    uint64_t stirred_count, stirred_room;
    uint32_t most_hops;
};

/* routers.c */
struct router *router_at(struct core *core, struct switched *color, uint32_t pe);
uint32_t find_takers(struct core *core, struct switched *color, uint32_t pe, int port, struct router *found[2]);
uint32_t need_takers(struct core *core, struct switched *color, uint32_t pe, int port, cycle time,
                     struct router *found[2]);
uint8_t following(const struct core *core, const struct router *router);
uint32_t find_outlets(struct core *core, struct router *router, uint8_t outputs);
static inline uint8_t of_position(const struct core *core, const struct router *router, const uint8_t *array) {
    return array[(uint64_t)router->position * core->width * core->height + router->pe];
}

/* Returns the ports from which a router takes wavelets now. */
static inline uint8_t taken_ports(const struct core *core, const struct router *router) {
    if (router->own == NULL) {
        return of_position(core, router, router->color->row.receive);
    }
    return router->own->is_torn ? 0 : router->own->receive[router->position];
}

static inline bool takes(const struct core *core, const struct router *router, int port) {
    return taken_ports(core, router) >> port & 1;
}

/* Returns true if wavelets that come to a port have to wait, for the switch, for their time, or for room. */
static inline bool holds(const struct core *core, const struct router *router, int port) {
    return router->is_crowded || router->is_full || !takes(core, router, port);
}

#endif
