/* Formats of floats: f64, f32, f16, bf16 and cb16, each kept as its bits.
 *
 * value_K(bits) is the number, exactly; bits_K(float) is the nearest one, to even on a tie, beyond the largest an
 * infinity; narrow_K(double) is the same from a double, rounded once. A NaN stays a NaN of the same sign. Loops over
 * these are made into vectors, so they choose by conditional expressions and not by jumps.
 */
#ifndef LOOM_FLOATS_H
#define LOOM_FLOATS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define F64_SIGN 0x8000000000000000u
#define F32_SIGN 0x80000000u
#define HALF_SIGN 0x8000u

enum { F32_INFINITY = 0x7F800000, CB16_INFINITY = 0x7E00, CB16_NAN = 0x7F00 };

static inline double value_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t narrow_f64(double value) { return bits_f64(value); }

static inline float value_f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint32_t narrow_f32(double value) { return bits_f32((float)value); }

/* Returns a double as a float rounded to odd: one that is not exact has its last bit set, so that rounding it once more,
 * to a format with at least two bits less, gives what rounding the double gives. */
static inline float odd_float(double value) {
    float nearest = (float)value;
    uint32_t bits = bits_f32(nearest);
    if ((double)nearest != value && value == value && !(bits & 1)) {
        bits += fabs((double)nearest) < fabs(value) ? 1 : UINT32_MAX;
    }
    return value_f32(bits);
}

/* The three formats of 16 bits have a sign, `16 - 1 - mantissa` bits of exponent, and a mantissa, as f32 has: shifted
 * left by 23 - mantissa they are an f32 whose exponent is off by a constant, which one exact multiplication mends. */
static inline float widened(uint16_t bits, int mantissa, uint32_t infinity, float scale) {
    uint32_t magnitude = (uint32_t)(bits & 0x7FFF);
    uint32_t wide = bits_f32(value_f32(magnitude << (23 - mantissa)) * scale);
    wide |= magnitude >= infinity ? (uint32_t)F32_INFINITY : 0;
    return value_f32(wide | (uint32_t)(bits & HALF_SIGN) << 16);
}

/* `normal` is the least normal number of the format as an f32, `beyond` the first power of two above its numbers,
 * `rebias` the difference of the biases in the place of the exponent; 1.0 in the place of the format's least step is
 * `magic`: adding it rounds a subnormal. */
static inline uint16_t narrowed(float value, int mantissa, uint16_t infinity, uint16_t quiet, uint32_t normal,
                                uint32_t beyond, uint32_t rebias, uint32_t magic) {
    const int cut = 23 - mantissa;
    uint32_t bits = bits_f32(value), magnitude = bits & ~F32_SIGN;
    uint32_t rounded = (magnitude - rebias + ((1u << (cut - 1)) - 1) + ((magnitude >> cut) & 1)) >> cut;
    uint32_t subnormal = bits_f32(value_f32(magnitude) + value_f32(magic)) - magic;
    uint32_t result = magnitude < normal ? subnormal : rounded;
    result = magnitude >= beyond ? infinity : result;
    result = magnitude > (uint32_t)F32_INFINITY ? quiet : result;
    return (uint16_t)(result | (bits >> 16 & HALF_SIGN));
}

static inline float value_f16(uint16_t bits) { return widened(bits, 10, 0x7C00, 0x1p112f); }

static inline uint16_t bits_f16(float value) {
    return narrowed(value, 10, 0x7C00, 0x7E00, 113u << 23, 143u << 23, 112u << 23, 126u << 23);
}

static inline float value_cb16(uint16_t bits) { return widened(bits, 9, CB16_INFINITY, 0x1p85f); }

static inline uint16_t bits_cb16(float value) {
    return narrowed(value, 9, CB16_INFINITY, CB16_NAN, 86u << 23, 148u << 23, 85u << 23, 100u << 23);
}

static inline float value_bf16(uint16_t bits) { return value_f32((uint32_t)bits << 16); }

static inline uint16_t bits_bf16(float value) {
    uint32_t bits = bits_f32(value);
    uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & ~F32_SIGN) > (uint32_t)F32_INFINITY ? bits >> 16 | 0x40 : rounded);
}

static inline uint16_t narrow_f16(double value) { return bits_f16(odd_float(value)); }
static inline uint16_t narrow_bf16(double value) { return bits_bf16(odd_float(value)); }
static inline uint16_t narrow_cb16(double value) { return bits_cb16(odd_float(value)); }

#endif
