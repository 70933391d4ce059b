/* Descriptors at run time, and which of them operations take quickly. */
#ifndef LOOM_DESCRIPTORS_H
#define LOOM_DESCRIPTORS_H

#include "constants.h"

/* Words of a buffer in the memory of its class */
struct bounds {
    int32_t start;
    uint32_t words;
};

struct descriptor {
    int32_t address; /* in words; kept within +-2^30 */
    uint32_t row;    /* buffer (NO_ROW: all of memory), queue or FIFO */
    uint16_t extents[4];
    int16_t strides[4];
    uint8_t type, kind, dimensions, flags;
    union {
        uint16_t mark;  /* in the high halves of wavelets, if MARKED */
        uint16_t begin; /* the place at which a circular walk begins */
    };
    uint16_t held; /* 1 + place of the data structure register it was read from; 0: none */
    uint32_t load; /* row of the load that says how operations run, or NO_ROW */
    uint8_t shape; /* what `plain` is if its elements are where they belong */
    uint8_t plain; /* both are kept up to date by `note_plain` */
    uint8_t state; /* MARKED and the like */
    uint8_t loaded; /* what `plain` would be if it were not from a register; 0 of others */
    int32_t lowest, highest; /* of a PLAIN_WALK and what follows: words from its address to its lowest and its highest element */
};
/* Descriptors that operations take quickly (quick.c): elements side by side, inside of a buffer, 16 or 32 bits each, runs
 * of wavelets that carry nothing but one element, and other walks over such elements inside of a buffer. Those of elements
 * side by side are the words of one. */
enum {
    PLAIN_HALVES = 1, PLAIN_WORDS, PLAIN_RUN, PLAIN_SHARED_RUN /* of a class with datapaths */, PLAIN_WALK,
    PAIRED_HALVES, PAIRED_WORDS, /* walks of one dimension with a stride of 2 */
    PLAIN_RING, /* a circular walk, which only registers hold */
};
/* What the tables do not say: wavelets are marked; operations move the register on; the code does not say that the
 * register holds a FIFO */
enum { MARKED = 1, SAVES_ADDRESS = 2, HOLDS_FIFO = 4 };

#endif
