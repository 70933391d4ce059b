/* Filters: which of the wavelets that a router sends down its ramp come to the compute engine. */
#ifndef LOOM_FILTERS_H
#define LOOM_FILTERS_H

#include "machine.h"

/* By number of runtime/reference/filters.py */
enum { COUNTER = 1, SPARSE_COUNTER, RANGE };
enum { COUNT_DATA = 1, COUNT_CONTROL = 2, FILTER_CONTROL = 4 };

/* The numbers of a filter as they are in arrays, by number of FILTER_NUMBERS */
enum { FILTER_ID, INIT_COUNTER, LIMIT1, LIMIT2, MAX_COUNTER, MIN_INDEX, MAX_INDEX };

struct filter {
    uint8_t kind; /* 0 if there is none */
    uint8_t flags;
    int32_t id, counter;
    int32_t limit; /* where the counter starts again; -1 if a sparse counter lets everything pass */
    int32_t then;  /* of a sparse counter the limit after this one, else -1 */
    int32_t most;  /* the counter up to which wavelets pass */
    int32_t low, high;
};

struct filter make_filter(const struct switched_input *color, uint64_t pe, uint64_t pes);
bool filter_first(const struct filter *filter, const uint32_t *words, bool control, uint32_t *count);
void filter_count(struct filter *filter, bool control, uint32_t count);

#endif
