/* Limits and numbers of the core. */
#ifndef LOOM_CONSTANTS_H
#define LOOM_CONSTANTS_H

#include <assert.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core.h"
#include "kernels.h"
#include "tables.h"

/* SELDOM: kept out of line, so that the frequent code that calls it has more registers. ALWAYS_INLINE: small, with arguments
 * that are mostly known where it is called. */
#define SELDOM __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))

typedef int64_t cycle; /* a time, or a number of cycles */

/* For records that each PE has many of: without padding to align their cycles */
#define TIGHT __attribute__((packed, aligned(4)))
struct pe;

#define NEVER ((cycle)1 << 62)

enum {
    WORD_MASK = 0xFFFF,
    WORD_BITS = 16,
    POINTER_EXTENT = 0xFFFF, /* length of the walk that is a pointer to a scalar */
    ENDLESS_EXTENT = 0x7FFF, /* extent of a run of wavelets that never ends, as programs write it */
    MAX_OPERANDS = 1 + MAX_SOURCES,
    LEVELS = 5, /* of priority: targets.model.LEVELS */
    MASKED_TASKS = 64, /* the first tasks of a class, which are bits of a word; others are looked for one by one */
    MAX_REGISTER_FILES = 3,
    MAX_STACK_WORDS = 1 << 24,
    MAX_WALK = 1 << 22, /* elements of the longest walk */
    MAX_WARNINGS = 1 << 12, /* without a source place */
    MAX_CALLS_AT_A_TIME = 1 << 20, /* until the core returns to its host: calls count no steps */
    MAX_MOVES_AT_A_TIME = 1 << 20, /* the same of runs that operations wait for */
    LINE = 64,      /* bytes of a cache line */
    TILE = 8,       /* columns and rows of a tile */
    TILES_WIDE = 8, /* tiles of a column of them, which come before those of the next column */
    EPOCH = 1 << 16, /* the most cycles that a PE is ahead of another */
};
#define CONTROL_MARK UINT32_C(0xC0000000) /* targets.wavelets.CONTROL_MARK */
#define UNBOUNDED ((int64_t)1 << 40) /* elements of an operation that never ends */

#endif
