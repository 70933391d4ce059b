/* What an element of a DSD operation costs, and so many of them: targets.model.Timing.element_cycles and pace. */
#ifndef LOOM_ELEMENT_PRICE_H
#define LOOM_ELEMENT_PRICE_H

#include "machine.h"

/* Returns the price with operands in memory of which the widest stride is `widest`, -1 without any. The destination of a
 * reduction has the stride 0. */
static inline struct price element_price(const struct core *core, const struct operation *operation, int64_t widest,
                                         bool is_reduction) {
    int64_t numerator = operation->numerator, denominator = operation->denominator;
    if (is_reduction && !operation->is_move && core->timing.reduction * denominator > numerator) {
        numerator = core->timing.reduction;
        denominator = 1;
    }
    int64_t whole = core->timing.read_words, read = (widest < 0 ? 1 : widest) * operation->words;
    read = read < whole ? read : whole;
    if (read * denominator > numerator * whole) {
        numerator = read;
        denominator = whole;
    }
    bool is_power = (denominator & (denominator - 1)) == 0;
    uint8_t shift = is_power ? (uint8_t)__builtin_ctzll((uint64_t)denominator) : NO_SHIFT;
    return (struct price){numerator, denominator, shift};
}

static inline cycle price_times(const struct price *price, int64_t count) {
    int64_t cycles = count * price->numerator + price->denominator - 1;
    return price->shift != NO_SHIFT ? cycles >> price->shift : cycles / price->denominator;
}

/* Returns the whole cycles from an element to the next of an operation that sends or receives. */
static inline cycle pace_of(struct price price) {
    cycle pace = (2 * price.numerator + price.denominator - 1) / (2 * price.denominator);
    return pace < 1 ? 1 : pace;
}

#endif
