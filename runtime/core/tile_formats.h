/* Elements of tiles: reading, writing and rounding them, by the number of their type in runtime/tables/instructions.py.
 *
 * Floats are read as they are, as float; integers as int64_t, those of 64 bits without a sign as the bits of one.
 */
#ifndef LOOM_TILE_FORMATS_H
#define LOOM_TILE_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

#include "floats.h"

enum {
    E_F32, E_F16, E_BF16, E_E4M3, E_E5M2, E_I64, E_I32, E_I16, E_I8, E_U64, E_U32, E_U16, E_U8, E_F64, E_I1, E_INDEX
};

static inline bool is_float_element(int element) { return element <= E_E5M2; }

static inline int64_t element_bytes(int element) {
    static const uint8_t bytes[] = {4, 2, 2, 1, 1, 8, 4, 2, 1, 8, 4, 2, 1, 8, 8, 8};
    return bytes[element];
}

static inline float value_e5m2(uint8_t bits) { return value_f16((uint16_t)(bits << 8)); }

static inline uint8_t bits_e5m2(float value) {
    uint16_t bits = narrowed(value, 2, 0x7C, 0x7E, 113u << 23, 143u << 23, 112u << 23, 134u << 23);
    return (uint8_t)((bits & 0x7F) | (bits & HALF_SIGN) >> 8);
}

/* It has no infinity: beyond the largest number, 448, there is a NaN alone. */
enum { E4M3_NAN = 0x7F };

static inline float value_e4m3(uint8_t bits) {
    uint32_t magnitude = bits & 0x7Fu;
    uint32_t wide = bits_f32(value_f32(magnitude << 20) * 0x1p120f);
    wide |= magnitude == E4M3_NAN ? 0x7FC00000u : 0;
    return value_f32(wide | (uint32_t)(bits & 0x80u) << 24);
}

static inline uint8_t bits_e4m3(float value) {
    uint16_t bits = narrowed(value, 3, E4M3_NAN, E4M3_NAN, 121u << 23, 136u << 23, 120u << 23, 141u << 23);
    uint16_t magnitude = bits & 0x7FFF;
    return (uint8_t)((magnitude > E4M3_NAN ? E4M3_NAN : magnitude) | (bits & HALF_SIGN) >> 8);
}

/* Returns the nearest float of a type, as its bits. */
static inline uint32_t nearest_bits(double value, int element) {
    switch (element) {
    case E_F32: return narrow_f32(value);
    case E_F16: return bits_f16(odd_float(value));
    case E_BF16: return bits_bf16(odd_float(value));
    case E_E4M3: return bits_e4m3(odd_float(value));
    default: return bits_e5m2(odd_float(value));
    }
}

static inline float value_of_bits(uint32_t bits, int element) {
    switch (element) {
    case E_F32: return value_f32(bits);
    case E_F16: return value_f16((uint16_t)bits);
    case E_BF16: return value_bf16((uint16_t)bits);
    case E_E4M3: return value_e4m3((uint8_t)bits);
    default: return value_e5m2((uint8_t)bits);
    }
}

/* Returns an integer with the upper bits that its type has not room for cut off. */
static inline int64_t wrapped(int64_t value, int element) {
    switch (element) {
    case E_I32: return (int32_t)value;
    case E_I16: return (int16_t)value;
    case E_I8: return (int8_t)value;
    case E_U32: return (uint32_t)value;
    case E_U16: return (uint16_t)value;
    case E_U8: return (uint8_t)value;
    default: return value;
    }
}

/* Returns the nearest double of an integer that is odd if it is not exact, so that rounding it once more rounds once. */
static inline double double_of_integer(int64_t value, int element) {
    if (element == E_U64) {
        uint64_t bits = (uint64_t)value;
        bool is_wide = bits > UINT64_C(1) << 53;
        return (double)(is_wide ? (bits & ~UINT64_C(0x7FF)) | (bits & 0x7FF ? 0x800 : 0) : bits);
    }
    bool is_wide = value > INT64_C(1) << 53 || value < -(INT64_C(1) << 53);
    return (double)(is_wide ? (value & ~INT64_C(0x7FF)) | (value & 0x7FF ? 0x800 : 0) : value);
}

static inline bool is_unsigned_element(int element) { return element >= E_U64 && element <= E_U8; }

static inline double least_of(int element) {
    return is_unsigned_element(element) ? 0 : -ldexp(1, (int)(8 * element_bytes(element)) - 1);
}

static inline int64_t largest_integer(int element) {
    int bits = (int)(8 * element_bytes(element));
    return is_unsigned_element(element) ? (int64_t)(UINT64_MAX >> (64 - bits)) : INT64_MAX >> (64 - bits);
}

/* Returns a double as an integer, without its fraction; one that is too large is held at the limit, NaN is 0. */
static inline int64_t held_integer(double value, int element) {
    int bits = (int)(8 * element_bytes(element));
    double least = least_of(element);
    if (value != value) {
        return 0;
    }
    if (value < least) {
        return is_unsigned_element(element) ? 0 : INT64_MIN >> (64 - bits);
    }
    double limit = ldexp(1, is_unsigned_element(element) ? bits : bits - 1);
    if (value >= limit - (bits < 53 ? 1 : 0)) {
        return largest_integer(element);
    }
    return element == E_U64 ? (int64_t)(uint64_t)value : (int64_t)value;
}

#endif
