/* Functions of an element of each source, repeated to the shape of the destination. */
#include "tile_arithmetic.h"
#include "tile_elements.h"
#include "tile_functions.h"

static inline bool is_aligned(const uint8_t *at) { return ((uintptr_t)at & 3) == 0; }

typedef void of_floats(float *out, const float *a, const float *b, int64_t count);
typedef void of_integers(int64_t *out, const int64_t *a, const int64_t *b, int64_t count, int element);

static bool elementwise(struct tile_call *call, of_floats *floats, of_integers *integers) {
    struct tile_view *into = &call->destination, fitted[2];
    for (int k = 0; k < call->count; k++) {
        if (!fit_source(&call->sources[k], into, &fitted[k])) {
            return false;
        }
    }
    if (into->at == NULL) {
        return true;
    }
    detach_sources(call, true);
    struct rows rows[2];
    for (int k = 0; k < call->count; k++) {
        fit_source(&call->sources[k], into, &fitted[k]);
        rows[k] = rows_of(&fitted[k]);
    }
    int64_t length = row_length(into), stride = row_stride(into);
    int element = into->element;
    for (struct rows out = rows_of(into); out.left > 0; next_row(&out)) {
        for (int64_t first = 0; first < length; first += CHUNK) {
            int64_t count = length - first < CHUNK ? length - first : CHUNK;
            if (is_float_element(element)) {
                float values[3][CHUNK];
                const float *operands[2] = {values[0], values[1]};
                for (int k = 0; k < call->count; k++) {
                    int64_t step = row_stride(&fitted[k]);
                    const uint8_t *at = rows[k].at + first * step;
                    if (fitted[k].element == E_F32 && element == E_F32 && step == 4 && is_aligned(at)) {
                        operands[k] = (const float *)(const void *)at;
                    } else {
                        read_as_floats(values[k], at, step, count, fitted[k].element, element);
                    }
                }
                if (element == E_F32 && stride == 4 && is_aligned(out.at)) {
                    floats((float *)(void *)(out.at + first * 4), operands[0], operands[1], count);
                } else {
                    floats(values[2], operands[0], operands[1], count);
                    write_floats(out.at + first * stride, stride, count, element, values[2]);
                }
            } else {
                int64_t values[3][CHUNK];
                for (int k = 0; k < call->count; k++) {
                    int64_t step = row_stride(&fitted[k]);
                    read_as_integers(values[k], rows[k].at + first * step, step, count, fitted[k].element, element);
                }
                integers(values[2], values[0], values[1], count, element);
                write_integers(out.at + first * stride, stride, count, element, values[2]);
            }
        }
        for (int k = 0; k < call->count; k++) {
            next_row(&rows[k]);
        }
    }
    return true;
}

#define FLOATS(name, expression)                                                                                       \
    static void name##_floats(float *out, const float *a, const float *b, int64_t count) {                             \
        (void)a;                                                                                                       \
        (void)b;                                                                                                       \
        for (int64_t k = 0; k < count; k++) {                                                                          \
            out[k] = expression;                                                                                       \
        }                                                                                                              \
    }
#define INTEGERS(name, expression)                                                                                     \
    static void name##_integers(int64_t *out, const int64_t *a, const int64_t *b, int64_t count, int element) {        \
        (void)a;                                                                                                       \
        (void)b;                                                                                                       \
        (void)element;                                                                                                 \
        for (int64_t k = 0; k < count; k++) {                                                                          \
            out[k] = (int64_t)(expression);                                                                            \
        }                                                                                                              \
    }
#define FUNCTION(name)                                                                                                 \
    bool tile_##name(struct tile_call *call) { return elementwise(call, name##_floats, name##_integers); }

static inline int64_t quotient(int64_t a, int64_t b, int element) {
    if (b == 0) {
        return 0;
    }
    if (element == E_U64) {
        return (int64_t)((uint64_t)a / (uint64_t)b);
    }
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static inline float floored_remainder(float a, float b) {
    float rest = fmodf(a, b);
    return rest != 0 && (a >= 0) != (b >= 0) ? rest + b : rest;
}

static inline int64_t remainder_of_integers(int64_t a, int64_t b, int element) {
    if (b == 0 || b == -1) {
        return element == E_U64 && b == -1 && a != -1 ? a : 0;
    }
    return element == E_U64 ? (int64_t)((uint64_t)a % (uint64_t)b) : a % b;
}

static inline int64_t floored_remainder_of_integers(int64_t a, int64_t b, int element) {
    int64_t rest = remainder_of_integers(a, b, element);
    return rest != 0 && element != E_U64 && (a >= 0) != (b >= 0) ? rest + b : rest;
}

static inline int64_t power_of_integers(int64_t base, int64_t exponent, int element) {
    if (element != E_U64 && exponent < 0) {
        return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? -1 : 0;
    }
    uint64_t result = 1, factor = (uint64_t)base;
    for (uint64_t left = (uint64_t)exponent; left > 0; left >>= 1) {
        result *= left & 1 ? factor : 1;
        factor *= factor;
    }
    return (int64_t)result;
}

/* Shifts by a negative number, or by as many bits as there are, leave none: zeros, or the sign. */
static inline uint64_t shifted_left(int64_t value, int64_t by, int element) {
    return by < 0 || by >= 8 * element_bytes(element) ? 0 : (uint64_t)value << by;
}

static inline int64_t shifted_right(int64_t value, int64_t by, int element) {
    bool is_far = by < 0 || by >= 8 * element_bytes(element);
    if (element == E_U64) {
        return is_far ? 0 : (int64_t)((uint64_t)value >> by);
    }
    return value >> (is_far ? 63 : by);
}

/* Returns a double, a NaN without its sign, which the C library leaves open. */
static inline double unsigned_nan(double value) { return value != value ? (double)NAN : value; }

FLOATS(fill, a[k])
INTEGERS(fill, a[k])
FUNCTION(fill)
FLOATS(add, a[k] + b[k])
INTEGERS(add, sum_of_integers(a[k], b[k]))
FUNCTION(add)
FLOATS(subtract, a[k] - b[k])
INTEGERS(subtract, (uint64_t)a[k] - (uint64_t)b[k])
FUNCTION(subtract)
FLOATS(multiply, a[k] * b[k])
INTEGERS(multiply, (uint64_t)a[k] * (uint64_t)b[k])
FUNCTION(multiply)
FLOATS(divide, a[k] / b[k])
INTEGERS(divide, quotient(a[k], b[k], element))
FUNCTION(divide)
FLOATS(maximum, larger_float(a[k], b[k]))
INTEGERS(maximum, larger_integer(a[k], b[k], element))
FUNCTION(maximum)
FLOATS(minimum, smaller_float(a[k], b[k]))
INTEGERS(minimum, smaller_integer(a[k], b[k], element))
FUNCTION(minimum)
FLOATS(remainder, floored_remainder(a[k], b[k]))
INTEGERS(remainder, floored_remainder_of_integers(a[k], b[k], element))
FUNCTION(remainder)
FLOATS(truncated_remainder, fmodf(a[k], b[k]))
INTEGERS(truncated_remainder, remainder_of_integers(a[k], b[k], element))
FUNCTION(truncated_remainder)
FLOATS(power, (float)unsigned_nan(pow((double)a[k], (double)b[k])))
INTEGERS(power, power_of_integers(a[k], b[k], element))
FUNCTION(power)
FLOATS(leak, a[k] > 0 ? a[k] : a[k] * b[k])
INTEGERS(leak, is_less(0, a[k], element) ? (uint64_t)a[k] : (uint64_t)a[k] * (uint64_t)b[k])
FUNCTION(leak)
/* Floats have no bits to combine; a forged program that asks for it gets zeros. */
FLOATS(bit_and, 0.0f)
INTEGERS(bit_and, a[k] & b[k])
FUNCTION(bit_and)
FLOATS(bit_or, 0.0f)
INTEGERS(bit_or, a[k] | b[k])
FUNCTION(bit_or)
FLOATS(bit_xor, 0.0f)
INTEGERS(bit_xor, a[k] ^ b[k])
FUNCTION(bit_xor)
FLOATS(shift_left, 0.0f)
INTEGERS(shift_left, shifted_left(a[k], b[k], element))
FUNCTION(shift_left)
FLOATS(shift_right, 0.0f)
INTEGERS(shift_right, shifted_right(a[k], b[k], element))
FUNCTION(shift_right)
FLOATS(negate, value_f32(bits_f32(a[k]) ^ F32_SIGN))
INTEGERS(negate, 0 - (uint64_t)a[k])
FUNCTION(negate)
FLOATS(square_root, sqrtf(a[k]))
FLOATS(reciprocal, 1.0f / a[k])
/* Integers have neither; a forged program that asks for them gets zeros. */
INTEGERS(square_root, 0)
INTEGERS(reciprocal, 0)
FUNCTION(square_root)
FUNCTION(reciprocal)

/* Functions of the C library in double precision, rounded once. */
static bool of_library(struct tile_call *call, double (*function)(double)) {
    struct tile_view *into = &call->destination, fitted;
    if (!fit_source(&call->sources[0], into, &fitted)) {
        return false;
    }
    if (into->at == NULL) {
        return true;
    }
    detach_sources(call, true);
    fit_source(&call->sources[0], into, &fitted);
    int64_t length = row_length(into), stride = row_stride(into), step = row_stride(&fitted);
    int element = is_float_element(into->element) ? into->element : E_F32;
    struct rows rows = rows_of(&fitted);
    for (struct rows out = rows_of(into); out.left > 0; next_row(&out), next_row(&rows)) {
        for (int64_t k = 0; k < length; k++) {
            float operand;
            int64_t integer = 0;
            read_as_floats(&operand, rows.at + k * step, step, 1, fitted.element, element);
            uint32_t bits = nearest_bits(unsigned_nan(function((double)operand)), element);
            if (is_float_element(into->element)) {
                memcpy(out.at + k * stride, &bits, (size_t)element_bytes(element));
            } else {
                write_integers(out.at + k * stride, stride, 1, into->element, &integer);
            }
        }
    }
    return true;
}

bool tile_exponential(struct tile_call *call) { return of_library(call, exp); }
bool tile_logarithm(struct tile_call *call) { return of_library(call, log); }
