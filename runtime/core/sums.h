/* Operations one after the other that add to one destination, which are computed together: sums.c */
#ifndef LOOM_SUMS_H
#define LOOM_SUMS_H

#include "machine.h"

/* So many operations with the same price, one after the other */
struct alike {
    struct price price;
    int64_t count;
};

struct addend {
    struct operand_place vector, factor;
};

struct sum {
    const struct application *application; /* the first of the operations */
    sum_function *compute;
    uint32_t operations, addend_count, prices;
    bool has_base;
    struct operand_place to, base;
    struct addend addends[MAX_ADDENDS];
    struct alike alike[MAX_ADDENDS];
};

#endif
