/* Clocks of PEs, which instructions start and read. In configuration registers they are three words, the low one first,
 * and one that programs write to let the clock run, which it always does.
 */
#include <stdlib.h>

#include "configuration.h"
#include "execution.h"

enum { CLOCK_WORDS = 3 };

struct pe_clock {
    cycle origin; /* when it would show 0 */
    uint16_t control;
    bool is_started; /* by an instruction */
};

/* Memory that no PE touches costs nothing. */
void prepare_clocks(struct core *core) {
    core->clocks = core_allocate(core, (uint64_t)core->width * core->height, sizeof *core->clocks);
}

void free_clocks(struct core *core) { free(core->clocks); }

cycle clock_shows(const struct core *core, const struct pe *pe, cycle now) {
    return now - core->clocks[pe->number].origin;
}

/* Lets the clock count from 0, if it has not been started or if it is to be reset. */
void set_clock(struct core *core, const struct pe *pe, cycle now, bool resets) {
    struct pe_clock *clock = &core->clocks[pe->number];
    if (resets || !clock->is_started) {
        clock->origin = now;
        clock->is_started = true;
    }
}

bool is_of_clock(const struct core *core, uint32_t address) {
    return address - core->registers.clock <= CLOCK_WORDS;
}

uint16_t read_clock(const struct core *core, const struct pe *pe, uint32_t address) {
    const struct pe_clock *clock = &core->clocks[pe->number];
    uint32_t word = address - core->registers.clock;
    return word == CLOCK_WORDS ? clock->control : (uint16_t)((uint64_t)(pe->now - clock->origin) >> WORD_BITS * word);
}

void write_clock(struct core *core, const struct pe *pe, uint32_t address, uint16_t value) {
    struct pe_clock *clock = &core->clocks[pe->number];
    uint32_t word = address - core->registers.clock;
    if (word == CLOCK_WORDS) {
        clock->control = value;
        return;
    }
    uint64_t mask = (uint64_t)WORD_MASK << WORD_BITS * word, whole = ((uint64_t)1 << WORD_BITS * CLOCK_WORDS) - 1;
    uint64_t shown = (uint64_t)(pe->now - clock->origin) & whole;
    clock->origin = pe->now - (cycle)((shown & ~mask) | ((uint64_t)value << WORD_BITS * word));
}
