/* Configuration registers of PEs, which programs read and write as memory behind its end: which are where.
 *
 * runtime/reference/configuration.py says the same.
 */
#include "configuration.h"

/* Returns true if an element at a byte address is a configuration register. */
bool is_register(const struct core *core, int64_t address, uint32_t size) {
    const struct registers_input *registers = &core->registers;
    return size == 2 && !(address & 1) && address >= 2 * (int64_t)registers->start &&
           address < 2 * (int64_t)registers->end;
}

/* Returns true if a register is the priority of an input queue's microthread: writing it changes nothing. */
static bool is_queue_priority(const struct core *core, uint32_t address) {
    return address - core->registers.queue_priorities < core->registers.queue_priority_count;
}

/* Reads the register of a PE at a word address; returns true if there is one, else an error is noted. */
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
    if (is_of_clock(core, address)) {
        *value = read_clock(core, pe, address);
        return true;
    }
    if (is_setting(core, address)) {
        *value = read_setting(core, pe, address);
        return true;
    }
    uint32_t of_queues = address - core->registers.queues;
    if (core->flushes != NULL && of_queues < 4) {
        *value = of_queues < 2 ? queue_status(core, pe, of_queues == 1)
                               : core->flushes->flushed[pe->number][of_queues - 2];
        return true;
    }
    if (is_queue_priority(core, address)) {
        *value = 0;
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

/* Writes the register of a PE at a word address; returns true if it can be, else an error is noted. */
bool write_configuration(struct core *core, struct pe *pe, uint32_t address, uint32_t task, uint32_t where,
                         uint16_t value) {
    uint32_t place, of_queues = address - core->registers.queues;
    if (is_of_clock(core, address)) {
        write_clock(core, pe, address, value);
        return true;
    }
    if (is_setting(core, address)) {
        write_setting(core, pe, address, value);
        return true;
    }
    if (core->flushes != NULL && of_queues >= 2 && of_queues < 4) {
        core->flushes->flushed[pe->number][of_queues - 2] &= (uint8_t)value;
        return true;
    }
    if (core->flushes != NULL && of_queues >= 4 && of_queues < 6) {
        return flush(core, pe, of_queues == 5, value & 7, task, where);
    }
    if (is_queue_priority(core, address)) {
        return true;
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
