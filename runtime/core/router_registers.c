/* Configuration registers of colors, switches and their positions: views of the state of a router.
 *
 * The registers of a router in runtime/reference/switches.py say the same.
 */
#include "configuration.h"

/* Bits of registers: targets/wavelets.py */
enum { PORT_BITS = PORTS, POP_MODE_SHIFT = 12, TEARDOWN_SHIFT = 14, RING_SHIFT = 12, POSITION_SHIFT = 13 };
enum { POSITION_BITS = 4, INPUT_SHIFT = 3, INVALID_PORT = 5, SETS_TRANSMIT_SHIFT = 10, SETS_RECEIVE_SHIFT = 11 };

static const uint8_t BIT_OF_PORT[PORTS] = {[WEST] = 0, [EAST] = 1, [SOUTH] = 2, [NORTH] = 3, [RAMP] = 4};

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
struct router *find_router(struct core *core, const struct pe *pe, uint32_t address, uint32_t *place) {
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

/* Returns what a register of a router holds. */
uint16_t read_router(const struct core *core, const struct router *router, uint32_t place) {
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
uint32_t write_router(const struct core *core, struct router *router, uint32_t place, uint16_t word) {
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
