/* Filters: which of the wavelets that a router sends down its ramp come to the compute engine of the PE.
 *
 * A wavelet is compared with the numbers of the filter first, and counted then. runtime/reference/filters.py says the same.
 */
#include "filters.h"

static int32_t at_least_zero(int32_t number) { return number < 0 ? 0 : number; }

struct filter make_filter(const struct switched_input *color, uint64_t pe, uint64_t pes) {
    if (color->filter_kind == NULL || color->filter_kind[pe] == 0) {
        return (struct filter){0};
    }
    const int32_t *numbers = color->filter_numbers + pe;
    struct filter filter = {
        .kind = color->filter_kind[pe], .flags = color->filter_flags[pe], .id = numbers[FILTER_ID * pes],
        .counter = at_least_zero(numbers[INIT_COUNTER * pes]), .limit = numbers[LIMIT1 * pes],
        .then = numbers[LIMIT2 * pes], .most = at_least_zero(numbers[MAX_COUNTER * pes]),
        .low = at_least_zero(numbers[MIN_INDEX * pes]), .high = at_least_zero(numbers[MAX_INDEX * pes])};
    if (filter.kind != SPARSE_COUNTER) { /* only a sparse counter is another one without its limits */
        filter.limit = at_least_zero(filter.limit);
        filter.then = at_least_zero(filter.then);
    }
    return filter;
}

static bool passes(const struct filter *filter, uint32_t word, bool control) {
    if (filter->kind == RANGE) {
        int32_t index = (int32_t)(word >> 16);
        return control || (filter->low <= index && index <= filter->high);
    }
    if (filter->kind == SPARSE_COUNTER && filter->limit < 0) {
        return true;
    }
    if (filter->flags & FILTER_CONTROL) {
        return control && filter->counter == filter->most;
    }
    return filter->counter <= filter->most;
}

static void step_counter(struct filter *filter) {
    if (filter->counter < filter->limit) {
        filter->counter++;
    } else if (filter->kind == COUNTER) {
        filter->counter = 0;
    } else if (filter->limit >= 0) {
        filter->counter = 0;
        filter->limit = filter->then;
        filter->then = -1;
    }
}

static bool counts(const struct filter *filter, bool control) {
    return filter->kind != RANGE && filter->flags & (control ? COUNT_CONTROL : COUNT_DATA);
}

/* Counts wavelets that have been compared. */
void filter_count(struct filter *filter, bool control, uint32_t count) {
    for (uint32_t k = 0; counts(filter, control) && k < count; k++) {
        step_counter(filter);
    }
}

/* Returns true if the first wavelet passes, and stores of how many, from the first on, the same is true. */
bool filter_first(const struct filter *filter, const uint32_t *words, bool control, uint32_t *count) {
    struct filter trial = *filter;
    bool verdict = passes(&trial, words[0], control);
    for (uint32_t k = 0; k < *count; k++) {
        if (passes(&trial, words[k], control) != verdict) {
            *count = k;
            break;
        }
        if (counts(&trial, control)) {
            step_counter(&trial);
        }
    }
    return verdict;
}
