/* What functions on tiles have in common: integers without a sign are the bits of an int64_t, and a NaN wins. */
#ifndef LOOM_TILE_ARITHMETIC_H
#define LOOM_TILE_ARITHMETIC_H

#include "tile_formats.h"

static inline bool is_less(int64_t a, int64_t b, int element) {
    return element == E_U64 ? (uint64_t)a < (uint64_t)b : a < b;
}

static inline float larger_float(float a, float b) { return a > b || a != a ? a : b; }

static inline float smaller_float(float a, float b) { return a < b || a != a ? a : b; }

static inline int64_t larger_integer(int64_t a, int64_t b, int element) { return is_less(b, a, element) ? a : b; }

static inline int64_t smaller_integer(int64_t a, int64_t b, int element) { return is_less(a, b, element) ? a : b; }

static inline int64_t sum_of_integers(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

#endif
