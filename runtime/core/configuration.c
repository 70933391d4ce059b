/* Configuration registers of PEs, which programs read and write as memory behind its end: views of the state of routers.
 *
 * runtime/reference/configuration.py and the registers of a router in runtime/reference/switches.py say the same.
 */
#include <stdlib.h>

#include "switches.h"

/* Bits of registers: targets/wavelets.py */
enum { PORT_BITS = PORTS, POP_MODE_SHIFT = 12, TEARDOWN_SHIFT = 14, RING_SHIFT = 12, POSITION_SHIFT = 13 };
enum { POSITION_BITS = 4, INPUT_SHIFT = 3, INVALID_PORT = 5, SETS_TRANSMIT_SHIFT = 10, SETS_RECEIVE_SHIFT = 11 };

static const uint8_t BIT_OF_PORT[PORTS] = {[WEST] = 0, [EAST] = 1, [SOUTH] = 2, [NORTH] = 3, [RAMP] = 4};

/* Returns whether an element at a byte address is a configuration register. */
bool is_register(const struct core *core, int64_t address, uint32_t size) {
    const struct registers_input *registers = &core->registers;
    return size == 2 && !(address & 1) && address >= 2 * (int64_t)registers->start &&
           address < 2 * (int64_t)registers->end;
}

/* Returns ports as registers have them. */
static uint16_t register_bits(uint8_t ports) {
    uint16_t bits = 0;
    for (int port = 0; port < PORTS; port++) {
        bits |= (uint16_t)((ports >> port & 1) << BIT_OF_PORT[port]);
    }
    return bits;
}

/* Returns the ports that the low bits of a register name. */
static uint8_t ports_of(uint32_t word) {
    uint8_t ports = 0;
    for (int port = 0; port < PORTS; port++) {
        ports |= (uint8_t)((word >> BIT_OF_PORT[port] & 1) << port);
    }
    return ports;
}

/* Finds the router of a PE that has a register, and which of its registers that is: 0 of the color, 1 of the switch, and
 * behind that its positions. Returns NULL if there is none. */
static struct router *find_router(struct core *core, const struct pe *pe, uint32_t address, uint32_t *place) {
    const struct registers_input *registers = &core->registers;
    for (*place = 0; core->switches != NULL && *place < 2 + registers->position_count; (*place)++) {
        uint32_t first = *place == 0   ? registers->colors
                         : *place == 1 ? registers->switches
                                       : registers->positions[*place - 2];
        if (address < first || address >= first + registers->colors_count) {
            continue;
        }
        for (uint32_t k = 0; k < core->switches->count; k++) {
            struct switched *color = &core->switches->colors[k];
            if (color->row.changes && core->tables.colors[color->row.color].number == address - first) {
                return router_at(core, color, pe->number);
            }
        }
    }
    return NULL;
}

/* Returns a position as the register of a switch has it on WSE-2. */
static uint16_t pack(const struct own_route *own, int place) {
    if (own->sets[place] == 0) {
        return (uint16_t)(INVALID_PORT | (own->selects >> place & 1) << INPUT_SHIFT);
    }
    bool is_input = own->sets[place] & SETS_RECEIVE;
    uint16_t bits = register_bits(is_input ? own->receive[place] : own->transmit[place]), number = 0;
    while (bits >> number > 1) {
        number++;
    }
    return (uint16_t)(is_input << INPUT_SHIFT | number);
}

static void unpack(struct own_route *own, int place, uint32_t word) {
    uint32_t number = word & ((1 << INPUT_SHIFT) - 1);
    uint8_t ports = number < INVALID_PORT ? ports_of(1u << number) : 0;
    own->sets[place] = ports == 0 ? 0 : word >> INPUT_SHIFT & 1 ? SETS_RECEIVE : SETS_TRANSMIT;
    own->receive[place] = own->transmit[place] = ports;
    own->selects = (uint8_t)((own->selects & ~(1u << place)) | (word >> INPUT_SHIFT & 1) << place);
}

static uint16_t read_router(const struct core *core, const struct router *router, uint32_t place) {
    const struct own_route *own = router->own;
    if (place == 0) {
        return (uint16_t)(register_bits(own->transmit[0]) | register_bits(own->receive[0]) << PORT_BITS |
                          own->pop_mode << POP_MODE_SHIFT | own->is_torn << TEARDOWN_SHIFT | own->flags);
    }
    if (place == 1) {
        uint16_t word = (uint16_t)(own->ring << RING_SHIFT | router->position << POSITION_SHIFT);
        for (int k = 1; core->registers.position_count == 0 && k < POSITIONS; k++) {
            word |= (uint16_t)(pack(own, k) << POSITION_BITS * (k - 1));
        }
        return word;
    }
    uint32_t k = place - 1;
    uint16_t word = 0;
    if (own->sets[k] & SETS_TRANSMIT) {
        word |= (uint16_t)(register_bits(own->transmit[k]) | 1 << SETS_TRANSMIT_SHIFT);
    }
    if (own->sets[k] & SETS_RECEIVE) {
        word |= (uint16_t)(register_bits(own->receive[k]) << PORT_BITS | 1 << SETS_RECEIVE_SHIFT);
    }
    return word;
}

/* Lets each position have of the one before what it does not name itself. */
static void follow(struct own_route *own) {
    uint8_t taken = own->receive[0], sent = own->transmit[0];
    for (int k = 1; k < POSITIONS; k++) {
        taken = own->sets[k] & SETS_RECEIVE ? own->receive[k] : taken;
        sent = own->sets[k] & SETS_TRANSMIT ? own->transmit[k] : sent;
        own->receive[k] = own->sets[k] != 0 ? taken : 0;
        own->transmit[k] = own->sets[k] != 0 ? sent : 0;
    }
}

/* Writes a register of a router; returns the position that its switch is set to and does not have, or 0. */
static uint32_t write_router(const struct core *core, struct router *router, uint32_t place, uint16_t word) {
    struct own_route *own = router->own;
    uint32_t missing = 0;
    if (place == 0) {
        own->transmit[0] = ports_of(word);
        own->receive[0] = ports_of(word >> PORT_BITS);
        own->pop_mode = word >> POP_MODE_SHIFT & 3;
        own->is_torn = word >> TEARDOWN_SHIFT & 1;
        own->flags = (uint16_t)(word & ~(((1 << 2 * PORT_BITS) - 1) | 3 << POP_MODE_SHIFT | 1 << TEARDOWN_SHIFT));
    } else if (place == 1) {
        own->ring = word >> RING_SHIFT & 1;
        for (int k = 1; core->registers.position_count == 0 && k < POSITIONS; k++) {
            unpack(own, k, (uint32_t)word >> POSITION_BITS * (k - 1));
        }
        router->position = word >> POSITION_SHIFT & (POSITIONS - 1);
        missing = router->position > 0 && own->sets[router->position] == 0 ? router->position : 0;
    } else {
        uint32_t k = place - 1;
        own->sets[k] = (uint8_t)((word >> SETS_TRANSMIT_SHIFT & 1) * SETS_TRANSMIT);
        own->sets[k] |= (uint8_t)((word >> SETS_RECEIVE_SHIFT & 1) * SETS_RECEIVE);
        own->transmit[k] = ports_of(word);
        own->receive[k] = ports_of(word >> PORT_BITS);
    }
    follow(own);
    return missing;
}

/* Queues */

struct look {
    struct pe *pe;
    uint64_t number; /* 1 + 8 of an output queue + id */
};
struct queue_flushes {
    uint8_t (*flushing)[2], (*flushed)[2]; /* of each PE, input and output queues, as bits */
    uint64_t looks;                        /* events in which queues are looked at */
    struct look *later;                    /* queues that are looked at when something else happens */
    uint64_t later_count, later_room;
};

void prepare_flushes(struct core *core) {
    bool is_ordered = false;
    for (uint32_t k = 0; k < core->tables.classes_count; k++) {
        is_ordered |= (core->tables.classes[k].flags & CLASS_ORDERED) != 0;
    }
    if (!is_ordered) {
        return;
    }
    uint64_t pes = (uint64_t)core->width * core->height;
    core->changes = true;
    core->flushes = core_allocate(core, 1, sizeof *core->flushes);
    core->flushes->flushing = core_allocate(core, pes, sizeof *core->flushes->flushing);
    core->flushes->flushed = core_allocate(core, pes, sizeof *core->flushes->flushed);
}

void free_flushes(struct core *core) {
    if (core->flushes != NULL) {
        free(core->flushes->flushing);
        free(core->flushes->flushed);
        free(core->flushes->later);
        free(core->flushes);
    }
}

/* Returns the local task that teardowns and flushed queues start, or NO_TASK. */
uint32_t teardown_task(const struct core *core, const struct pe *pe) {
    const struct class *class = pe->class;
    for (uint32_t task = 0; task < class->task_count; task++) {
        const struct task_row *row = class->tasks[task].row;
        if (row->type == LOCAL_TASK && row->number == (int32_t)core->registers.teardown_task) {
            return task;
        }
    }
    return NO_TASK;
}

/* Returns how many wavelets are in the input queues of an id that nothing at work has taken, and stores their room. */
static int64_t wavelets_in(const struct pe *pe, uint32_t id, cycle now, int64_t *room) {
    int64_t count = 0;
    *room = 0;
    for (uint32_t place = 0; place < pe->class->input_count; place++) {
        const struct queue *queue = &pe->class->queues[place];
        if (queue->row == NULL || !queue->is_input || queue->row->id != id) {
            continue;
        }
        *room += queue->room;
        for (const struct run *run = pe->inputs[place].first; run != NULL; run = run->next) {
            cycle head = run->first + (cycle)run->taken * run->rate;
            if (head <= now) {
                int64_t rate = run->rate > 0 ? run->rate : 1; /* of one wavelet it may be anything */
                int64_t there = (now - head) / rate + 1, left = run->count - run->taken;
                count += there < left ? there : left;
            }
        }
    }
    return count;
}

/* Returns whether no wavelet is in the queues of an id; of output queues, whether no operation sends. */
static bool is_empty(struct pe *pe, bool output, uint32_t id, cycle now) {
    int64_t room;
    if (!output) {
        return wavelets_in(pe, id, now, &room) == 0;
    }
    for (uint32_t place = pe->class->input_count; place < pe->class->queue_count; place++) {
        const struct queue *queue = &pe->class->queues[place];
        if (queue->row != NULL && queue->row->id == id && resource_of(pe, place)->ends > now) {
            return false;
        }
    }
    return true;
}

static uint16_t queue_status(const struct core *core, struct pe *pe, bool output) {
    uint16_t word = 0;
    for (uint32_t id = 0; id < (output ? core->registers.output_queues : core->registers.input_queues); id++) {
        int64_t room = 0;
        bool empty = is_empty(pe, output, id, pe->now), full = !empty;
        if (!output) {
            int64_t count = wavelets_in(pe, id, pe->now, &room);
            full = count > 0 && count >= room;
        }
        word |= (uint16_t)(empty << id | full << (id + 8));
    }
    return word;
}

static void look_behind(struct core *core, struct pe *pe, uint64_t number, cycle now) {
    cycle step = core->registers.flush_poll;
    core->flushes->looks++;
    schedule(core, (now / step + 1) * step, EVENT_ACCESS, pe->number, number, pe);
}

/* Looks at a queue that is to be flushed, and again later unless it is empty; when others happen, if none can now. */
static void look(struct core *core, struct pe *pe, uint64_t number, cycle now, bool others) {
    struct queue_flushes *flushes = core->flushes;
    bool output = number > 8;
    uint32_t id = (uint32_t)(number - 1) & 7;
    if (is_empty(pe, output, id, now)) {
        flushes->flushing[pe->number][output] &= (uint8_t) ~(1u << id);
        flushes->flushed[pe->number][output] |= (uint8_t)(1u << id);
        task_complete(core, pe, teardown_task(core, pe), now, true);
    } else if (others) {
        look_behind(core, pe, number, now);
    } else {
        grow(core, (void **)&flushes->later, &flushes->later_room, flushes->later_count + 1, sizeof *flushes->later);
        flushes->later[flushes->later_count++] = (struct look){.pe = pe, .number = number};
    }
}

void look_at_queue(struct core *core, struct pe *pe, uint64_t number, cycle now) {
    core->flushes->looks--;
    look(core, pe, number, now, core->heap_count > core->flushes->looks);
}

/* Looks at queues that are to be flushed behind a cycle, when the next thing happens. */
void look_again(struct core *core, cycle now) {
    struct queue_flushes *flushes = core->flushes;
    if (flushes == NULL) {
        return;
    }
    for (uint64_t k = 0; k < flushes->later_count; k++) {
        look_behind(core, flushes->later[k].pe, flushes->later[k].number, now);
    }
    flushes->later_count = 0;
}

/* Flushes a queue: its bit is set, and the task of teardowns is activated, once it is empty. */
static bool flush(struct core *core, struct pe *pe, bool output, uint32_t id, uint32_t task, uint32_t where) {
    struct queue_flushes *flushes = core->flushes;
    if (teardown_task(core, pe) == NO_TASK) {
        fail(core, pe, FLUSH_UNHANDLED, task, where, VALUES(id, output));
        return false;
    }
    if ((flushes->flushing[pe->number][output] | flushes->flushed[pe->number][output]) >> id & 1) {
        fail(core, pe, FLUSHED_TWICE, task, where, VALUES(id, output));
        return false;
    }
    flushes->flushing[pe->number][output] |= (uint8_t)(1u << id);
    look(core, pe, 1 + 8 * (uint64_t)output + id, pe->now, true); /* the task goes on */
    return true;
}

/* Filters */

enum { FILTER_WORDS = 4 };

static bool is_of_filter(const struct core *core, uint32_t address) {
    const struct registers_input *registers = &core->registers;
    return address >= registers->filters && address - registers->filters < FILTER_WORDS * registers->filter_count;
}

/* Finds the router of a PE with the filter that has a register; NULL if there is none, and then an error is noted. */
static struct router *find_filter(struct core *core, struct pe *pe, uint32_t address, uint32_t task, uint32_t where) {
    int32_t id = (int32_t)((address - core->registers.filters) / FILTER_WORDS);
    for (uint32_t k = 0; core->switches != NULL && k < core->switches->count; k++) {
        struct switched *color = &core->switches->colors[k];
        struct router *router = color->row.changes ? router_at(core, color, pe->number) : NULL;
        if (router != NULL && router->filter.kind != 0 && router->filter.kind != RANGE && router->filter.id == id) {
            return router;
        }
    }
    fail(core, pe, FILTER_MISSING, task, where, VALUES(id));
    return NULL;
}

static int32_t *field_of(const struct core *core, struct filter *filter, uint32_t address) {
    uint32_t field = (address - core->registers.filters) % FILTER_WORDS;
    return field == 0 ? &filter->limit : field == 1 ? &filter->most : field == 2 ? &filter->counter : NULL;
}

/* Reads the register of a PE at a word address; returns whether there is one, else an error is noted. */
bool read_configuration(struct core *core, struct pe *pe, uint32_t address, uint32_t task, uint32_t where,
                        uint16_t *value) {
    uint32_t half = address - core->registers.teardown_pending, place;
    if (half < 2) {
        uint32_t *all = core->switches != NULL ? core->switches->torn_down : NULL;
        uint32_t *torn_down = all != NULL ? &all[pe->number] : NULL;
        *value = torn_down == NULL ? 0 : (uint16_t)(*torn_down >> WORD_BITS * half);
        if (torn_down != NULL) {
            *torn_down &= ~((uint32_t)WORD_MASK << WORD_BITS * half);
        }
        return true;
    }
    uint32_t of_queues = address - core->registers.queues;
    if (core->flushes != NULL && of_queues < 4) {
        *value = of_queues < 2 ? queue_status(core, pe, of_queues == 1)
                               : core->flushes->flushed[pe->number][of_queues - 2];
        return true;
    }
    if (is_of_filter(core, address)) {
        struct router *filtering = find_filter(core, pe, address, task, where);
        const int32_t *field = filtering == NULL ? NULL : field_of(core, &filtering->filter, address);
        *value = field == NULL ? 0 : (uint16_t)*field;
        return filtering != NULL;
    }
    const struct router *router = find_router(core, pe, address, &place);
    if (router == NULL) {
        fail(core, pe, REGISTER_UNKNOWN, task, where, VALUES(address));
        return false;
    }
    *value = read_router(core, router, place);
    return true;
}

/* Writes the register of a PE at a word address; returns whether it can be, else an error is noted. */
bool write_configuration(struct core *core, struct pe *pe, uint32_t address, uint32_t task, uint32_t where,
                         uint16_t value) {
    uint32_t place, of_queues = address - core->registers.queues;
    if (core->flushes != NULL && of_queues >= 2 && of_queues < 4) {
        core->flushes->flushed[pe->number][of_queues - 2] &= (uint8_t)value;
        return true;
    }
    if (core->flushes != NULL && of_queues >= 4 && of_queues < 6) {
        return flush(core, pe, of_queues == 5, value & 7, task, where);
    }
    if (is_of_filter(core, address)) {
        struct router *filtering = find_filter(core, pe, address, task, where);
        int32_t *field = filtering == NULL ? NULL : field_of(core, &filtering->filter, address);
        if (field != NULL) {
            *field = value;
        }
        if (filtering != NULL) {
            router_changes(core, filtering, pe->now);
        }
        return filtering != NULL;
    }
    struct router *router = find_router(core, pe, address, &place);
    if (router == NULL) {
        fail(core, pe, REGISTER_UNKNOWN, task, where, VALUES(address));
        return false;
    }
    uint32_t missing = write_router(core, router, place, value);
    if (missing > 0) {
        fail(core, pe, SWITCH_POSITION_MISSING, task, where, VALUES((int64_t)router->color->row.color, missing));
        return false;
    }
    router_changes(core, router, pe->now);
    return true;
}
