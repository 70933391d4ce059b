/* Functions on tiles: runtime/reference/tile_functions.py says what each computes.
 *
 * Elements are computed row by row, in buffers of floats or of integers of 64 bits, in the type of the destination.
 * A new function is a row of operations/tile_functions.py and a `tile_NAME` here.
 */
#include "chip.h"
#include "tile_formats.h"
#include "tile_table.h"

enum { CHUNK = 256 };

enum { ROUND_NONE, ROUND_RINT, ROUND_FLOOR, ROUND_CEIL, ROUND_TRUNC, ROUND_AWAY, ROUND_ODD };

/* Views */

static int64_t count_of(const struct tile_view *view) {
    int64_t count = 1;
    for (int k = 0; k < view->rank; k++) {
        count *= view->extents[k];
    }
    return count;
}

/* Returns true if an element's place is beyond those of all before it, in the order of rows. */
static bool is_nested(const struct tile_view *view) {
    int64_t reach = element_bytes(view->element);
    for (int k = view->rank; k-- > 0;) {
        if (view->extents[k] > 1) {
            if (view->strides[k] < reach) {
                return false;
            }
            reach += (view->extents[k] - 1) * view->strides[k];
        }
    }
    return true;
}

/* Returns true if the elements of a view are side by side, in the order of rows. */
static bool is_contiguous(const struct tile_view *view) {
    int64_t size = element_bytes(view->element);
    for (int k = view->rank; k-- > 0;) {
        if (view->extents[k] > 1 && view->strides[k] != size) {
            return false;
        }
        size *= view->extents[k];
    }
    return true;
}

static void bounds(const struct tile_view *view, const uint8_t **low, const uint8_t **end) {
    *low = view->at;
    *end = view->at + element_bytes(view->element);
    for (int k = 0; k < view->rank; k++) {
        int64_t reach = (view->extents[k] - 1) * view->strides[k];
        *(reach < 0 ? low : end) += reach;
    }
}

static bool overlap(const struct tile_view *a, const struct tile_view *b) {
    const uint8_t *a_low, *a_end, *b_low, *b_end;
    bounds(a, &a_low, &a_end);
    bounds(b, &b_low, &b_end);
    return a_low < b_end && b_low < a_end;
}

static bool are_same(const struct tile_view *a, const struct tile_view *b) {
    if (a->at != b->at || a->rank != b->rank || a->element != b->element) {
        return false;
    }
    for (int k = 0; k < a->rank; k++) {
        if (a->extents[k] != b->extents[k] || (a->extents[k] > 1 && a->strides[k] != b->strides[k])) {
            return false;
        }
    }
    return true;
}

static bool have_one_shape(const struct tile_view *a, const struct tile_view *b) {
    return a->rank == b->rank && memcmp(a->extents, b->extents, (size_t)a->rank * sizeof(int64_t)) == 0;
}

/* The rows of a view, one after the other: their first elements. */
struct rows {
    int64_t index[TILE_DIMENSIONS], left;
    const struct tile_view *view;
    uint8_t *at;
};

static struct rows rows_of(const struct tile_view *view) {
    struct rows rows = {.view = view, .at = view->at, .left = 1};
    for (int k = 0; k < view->rank; k++) {
        rows.left *= k < view->rank - 1 ? view->extents[k] : 1;
        rows.left *= view->extents[k] == 0 ? 0 : 1;
    }
    return rows;
}

static void next_row(struct rows *rows) {
    const struct tile_view *view = rows->view;
    rows->left--;
    for (int k = view->rank - 1; k-- > 0;) {
        rows->at += view->strides[k];
        if (++rows->index[k] < view->extents[k]) {
            return;
        }
        rows->at -= view->extents[k] * view->strides[k];
        rows->index[k] = 0;
    }
}

static int64_t row_length(const struct tile_view *view) { return view->rank ? view->extents[view->rank - 1] : 1; }

static int64_t row_stride(const struct tile_view *view) { return view->rank ? view->strides[view->rank - 1] : 0; }

static void *scratch(struct chip_row *row, int number, uint64_t bytes) {
    if (row->scratch_bytes[number] < bytes) {
        free(row->scratch[number]);
        row->scratch[number] = NULL;
        row->scratch_bytes[number] = 0;
        row->scratch[number] = row_allocate(row, bytes, 1);
        row->scratch_bytes[number] = bytes;
    }
    return row->scratch[number];
}

/* Copies between strides */

static void copy_elements(uint8_t *to, int64_t to_stride, const uint8_t *from, int64_t from_stride, int64_t count,
                          int64_t size) {
    if (to_stride == size && from_stride == size) {
        memcpy(to, from, (size_t)(count * size));
        return;
    }
#define MOVE(T)                                                                                                        \
    for (int64_t k = 0; k < count; k++) {                                                                              \
        T value;                                                                                                       \
        memcpy(&value, from + k * from_stride, sizeof(T));                                                             \
        memcpy(to + k * to_stride, &value, sizeof(T));                                                                 \
    }
    switch (size) {
    case 1: MOVE(uint8_t) break;
    case 2: MOVE(uint16_t) break;
    case 4: MOVE(uint32_t) break;
    default: MOVE(uint64_t) break;
    }
#undef MOVE
}

/* Writes the elements of a view one behind the other. */
static void pack(const struct tile_view *view, uint8_t *to) {
    int64_t size = element_bytes(view->element), length = row_length(view);
    if (is_contiguous(view) && view->at != NULL) {
        memcpy(to, view->at, (size_t)(count_of(view) * size));
        return;
    }
    for (struct rows rows = rows_of(view); rows.left > 0; next_row(&rows)) {
        copy_elements(to, size, rows.at, row_stride(view), length, size);
        to += length * size;
    }
}

uint8_t *packed_elements(struct chip_row *row, const struct tile_view *view) {
    uint8_t *bytes = row_allocate(row, (uint64_t)(count_of(view) * element_bytes(view->element)) + 1, 1);
    pack(view, bytes);
    return bytes;
}

/* Lets a source have its elements elsewhere, one behind the other. */
static void detach(struct tile_call *call, int k) {
    struct tile_view *view = &call->sources[k];
    int64_t size = element_bytes(view->element);
    uint8_t *bytes = scratch(call->of, k, (uint64_t)(count_of(view) * size) + 1);
    pack(view, bytes);
    view->at = bytes;
    for (int d = view->rank; d-- > 0;) {
        view->strides[d] = size;
        size *= view->extents[d];
    }
}

/* Detaches the sources that what is written would change before they are read. */
static void detach_all(struct tile_call *call, bool in_step) {
    for (int k = 0; k < call->count; k++) {
        struct tile_view *view = &call->sources[k];
        if (view->rank == 0 || view->at == NULL || call->destination.at == NULL) {
            continue;
        }
        if (overlap(view, &call->destination) &&
            !(in_step && are_same(view, &call->destination) && is_nested(view))) {
            detach(call, k);
        }
    }
}

/* Reading and writing rows */

static void read_floats(float *out, const uint8_t *at, int64_t stride, int64_t count, int element) {
#define READ(T, value_of)                                                                                              \
    for (int64_t k = 0; k < count; k++) {                                                                              \
        T bits;                                                                                                        \
        memcpy(&bits, at + k * stride, sizeof bits);                                                                   \
        out[k] = value_of(bits);                                                                                       \
    }
    switch (element) {
    case E_F32:
        if (stride == 4) {
            memcpy(out, at, (size_t)count * 4);
        } else {
            READ(uint32_t, value_f32)
        }
        break;
    case E_F16: READ(uint16_t, value_f16) break;
    case E_BF16: READ(uint16_t, value_bf16) break;
    case E_E4M3: READ(uint8_t, value_e4m3) break;
    default: READ(uint8_t, value_e5m2) break;
    }
}

static void read_integers(int64_t *out, const uint8_t *at, int64_t stride, int64_t count, int element) {
#define SAME(bits) (int64_t)(bits)
    switch (element) {
    case E_I32: READ(int32_t, SAME) break;
    case E_I16: READ(int16_t, SAME) break;
    case E_I8: READ(int8_t, SAME) break;
    case E_U32: READ(uint32_t, SAME) break;
    case E_U16: READ(uint16_t, SAME) break;
    case E_U8: READ(uint8_t, SAME) break;
    default: READ(int64_t, SAME) break;
    }
#undef SAME
#undef READ
}

static void write_floats(uint8_t *at, int64_t stride, int64_t count, int element, const float *values) {
#define WRITE(T, bits_of)                                                                                              \
    for (int64_t k = 0; k < count; k++) {                                                                              \
        T bits = bits_of(values[k]);                                                                                   \
        memcpy(at + k * stride, &bits, sizeof bits);                                                                   \
    }
    switch (element) {
    case E_F32:
        if (stride == 4) {
            memcpy(at, values, (size_t)count * 4);
        } else {
            WRITE(uint32_t, bits_f32)
        }
        break;
    case E_F16: WRITE(uint16_t, bits_f16) break;
    case E_BF16: WRITE(uint16_t, bits_bf16) break;
    case E_E4M3: WRITE(uint8_t, bits_e4m3) break;
    default: WRITE(uint8_t, bits_e5m2) break;
    }
}

static void write_integers(uint8_t *at, int64_t stride, int64_t count, int element, const int64_t *values) {
    switch (element_bytes(element)) {
    case 1: WRITE(uint8_t, (uint8_t)) break;
    case 2: WRITE(uint16_t, (uint16_t)) break;
    case 4: WRITE(uint32_t, (uint32_t)) break;
    default: WRITE(uint64_t, (uint64_t)) break;
    }
#undef WRITE
}

static double load_double(const uint8_t *at, int element) {
    double value;
    if (element == E_F64) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    float narrow;
    read_floats(&narrow, at, 4, 1, element);
    return (double)narrow;
}

static bool is_floating(int element) { return is_float_element(element) || element == E_F64; }

/* Reads elements of any type as floats of another, rounded to it. */
static void read_as_floats(float *out, const uint8_t *at, int64_t stride, int64_t count, int element, int as) {
    if (element == as || (as == E_F32 && is_float_element(element))) {
        read_floats(out, at, stride, count, element);
        return;
    }
    for (int64_t k = 0; k < count; k++) {
        double value;
        if (is_floating(element)) {
            value = load_double(at + k * stride, element);
        } else {
            int64_t integer;
            read_integers(&integer, at + k * stride, stride, 1, element);
            value = double_of_integer(integer, element);
        }
        out[k] = value_of_bits(nearest_bits(value, as), as);
    }
}

/* Reads elements of any type as integers of another: floats without their fraction, integers without upper bits. */
static void read_as_integers(int64_t *out, const uint8_t *at, int64_t stride, int64_t count, int element, int as) {
    if (is_floating(element)) {
        for (int64_t k = 0; k < count; k++) {
            out[k] = held_integer(trunc(load_double(at + k * stride, element)), as);
        }
        return;
    }
    read_integers(out, at, stride, count, element);
    if (element != as) {
        for (int64_t k = 0; k < count; k++) {
            out[k] = wrapped(out[k], as);
        }
    }
}

/* Element by element */

/* Returns a source repeated to the shape of the destination, aligned at the last dimension; false if that is not so. */
static bool fit(const struct tile_view *source, const struct tile_view *into, struct tile_view *fitted) {
    if (source->rank > into->rank) {
        return false;
    }
    *fitted = *into;
    fitted->at = source->at;
    fitted->element = source->element;
    int extra = into->rank - source->rank;
    for (int k = 0; k < into->rank; k++) {
        int64_t extent = k < extra ? 1 : source->extents[k - extra];
        if (extent != 1 && extent != into->extents[k]) {
            return false;
        }
        fitted->strides[k] = k < extra || extent == 1 ? 0 : source->strides[k - extra];
    }
    return true;
}

static inline bool is_aligned(const uint8_t *at) { return ((uintptr_t)at & 3) == 0; }

typedef void of_floats(float *out, const float *a, const float *b, int64_t count);
typedef void of_integers(int64_t *out, const int64_t *a, const int64_t *b, int64_t count, int element);

static bool elementwise(struct tile_call *call, of_floats *floats, of_integers *integers) {
    struct tile_view *into = &call->destination, fitted[2];
    for (int k = 0; k < call->count; k++) {
        if (!fit(&call->sources[k], into, &fitted[k])) {
            return false;
        }
    }
    if (into->at == NULL) {
        return true;
    }
    detach_all(call, true);
    struct rows rows[2];
    for (int k = 0; k < call->count; k++) {
        fit(&call->sources[k], into, &fitted[k]);
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
    static bool tile_##name(struct tile_call *call) { return elementwise(call, name##_floats, name##_integers); }

static inline int64_t quotient(int64_t a, int64_t b, int element) {
    if (b == 0) {
        return 0;
    }
    if (element == E_U64) {
        return (int64_t)((uint64_t)a / (uint64_t)b);
    }
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static inline bool is_less(int64_t a, int64_t b, int element) {
    return element == E_U64 ? (uint64_t)a < (uint64_t)b : a < b;
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
INTEGERS(add, (uint64_t)a[k] + (uint64_t)b[k])
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
FLOATS(maximum, a[k] > b[k] || a[k] != a[k] ? a[k] : b[k])
INTEGERS(maximum, is_less(b[k], a[k], element) ? a[k] : b[k])
FUNCTION(maximum)
FLOATS(minimum, a[k] < b[k] || a[k] != a[k] ? a[k] : b[k])
INTEGERS(minimum, is_less(a[k], b[k], element) ? a[k] : b[k])
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
    if (!fit(&call->sources[0], into, &fitted)) {
        return false;
    }
    if (into->at == NULL) {
        return true;
    }
    detach_all(call, true);
    fit(&call->sources[0], into, &fitted);
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

static bool tile_exponential(struct tile_call *call) { return of_library(call, exp); }
static bool tile_logarithm(struct tile_call *call) { return of_library(call, log); }

/* Copies */

static double whole(double value, int rounding) {
    switch (rounding) {
    case ROUND_FLOOR: return floor(value);
    case ROUND_CEIL: return ceil(value);
    case ROUND_TRUNC: return trunc(value);
    case ROUND_AWAY: return value < 0 ? ceil(value - 0.5) : floor(value + 0.5);
    default: return rint(value);
    }
}

static uint32_t sign_of(int element) { return 1u << (8 * element_bytes(element) - 1); }

/* The largest number of a type, or infinity where it has one. */
static uint32_t top_of(int element) {
    switch (element) {
    case E_F32: return 0x7F800000;
    case E_F16: return 0x7C00;
    case E_BF16: return 0x7F80;
    case E_E4M3: return 0x7E;
    default: return 0x7C;
    }
}

static double largest_of(int element) {
    return (double)value_of_bits(element == E_E4M3 ? 0x7E : top_of(element) - 1, element);
}

/* Returns the next float from one towards the upper or lower end of its type, as bits; a NaN stays one. */
static uint32_t next_float(uint32_t bits, bool up, int element) {
    uint32_t sign = sign_of(element), magnitude = bits & (sign - 1), top = top_of(element);
    bool is_negative = bits & sign;
    if (magnitude > top || (magnitude == top && is_negative != up)) {
        return bits;
    }
    if (magnitude == 0) {
        return up ? 1 : sign | 1;
    }
    return is_negative == up ? bits - 1 : bits + 1;
}

/* Returns a number as a float of another type, rounded as asked, as bits. */
static uint32_t rounded_bits(double exact, int element, int rounding, bool saturates) {
    if (saturates && exact == exact) {
        double largest = largest_of(element);
        exact = exact > largest ? largest : exact < -largest ? -largest : exact;
    }
    uint32_t nearest = nearest_bits(exact, element);
    if (rounding == ROUND_NONE || rounding == ROUND_RINT) {
        return nearest;
    }
    double back = (double)value_of_bits(nearest, element);
    if (rounding == ROUND_AWAY) {
        uint32_t away = next_float(nearest, !(exact < 0), element);
        double beyond = (double)value_of_bits(away, element);
        return fabs(back) < fabs(exact) && beyond - exact == exact - back ? away : nearest;
    }
    bool towards_zero = rounding == ROUND_TRUNC || rounding == ROUND_ODD;
    bool down = back > exact && (rounding == ROUND_FLOOR || (towards_zero && exact > 0));
    bool up = back < exact && (rounding == ROUND_CEIL || (towards_zero && exact < 0));
    uint32_t result = down ? next_float(nearest, false, element) : up ? next_float(nearest, true, element) : nearest;
    return rounding == ROUND_ODD && back != exact && exact == exact ? result | 1 : result;
}

static int64_t clipped(int64_t value, int from, int to) {
    if (from == E_U64 || to == E_U64) {
        if (from == E_U64) {
            uint64_t high = (uint64_t)largest_integer(to);
            return (uint64_t)value > high ? (int64_t)high : value;
        }
        return value < 0 ? 0 : value;
    }
    int64_t high = largest_integer(to), low = is_unsigned_element(to) ? 0 : -high - 1;
    return value > high ? high : value < low ? low : value;
}

/* Converts one element to another type, into `out`. */
static void convert_element(const struct tile_apply_row *row, const uint8_t *at, int from, int to, uint8_t *out) {
    bool relu = row->options & RELU, saturates = row->options & SATURATES;
    int rounding = row->rounding;
    uint32_t bits;
    int64_t integer;
    if (is_float_element(from)) {
        double value = load_double(at, from);
        value = relu && !(value > 0 || value != value) ? 0 : value;
        if (is_float_element(to)) {
            bool is_whole = from == to && rounding != ROUND_NONE;
            bits = from == to ? nearest_bits(is_whole ? whole(value, rounding) : value, to)
                              : rounded_bits(value, to, rounding, saturates);
            memcpy(out, &bits, (size_t)element_bytes(to));
            return;
        }
        bool wraps = row->options & WRAPS && element_bytes(to) < 8;
        integer = held_integer(whole(value, rounding), wraps ? E_I64 : to);
    } else {
        read_integers(&integer, at, 8, 1, from);
        integer = relu && from != E_U64 && integer < 0 ? 0 : integer;
        if (is_float_element(to)) {
            bits = rounded_bits(double_of_integer(integer, from), to, rounding, saturates);
            memcpy(out, &bits, (size_t)element_bytes(to));
            return;
        }
        integer = saturates && from != to ? clipped(integer, from, to) : integer;
    }
    write_integers(out, 8, 1, to, &integer);
}

/* Converts a row of elements. */
static void convert_row(const struct tile_apply_row *row, const uint8_t *at, int64_t stride, int64_t count, int from,
                        int to, uint8_t *out, int64_t out_stride) {
    bool is_plain = !(row->options & (RELU | SATURATES | WRAPS)) && row->rounding <= ROUND_RINT;
    if (from == to && !(row->options & RELU) && (row->rounding == ROUND_NONE || !is_float_element(to))) {
        copy_elements(out, out_stride, at, stride, count, element_bytes(to));
        return;
    }
    if (is_plain && from != to && is_float_element(from) && is_float_element(to)) {
        float values[CHUNK];
        for (int64_t first = 0; first < count; first += CHUNK) {
            int64_t some = count - first < CHUNK ? count - first : CHUNK;
            read_floats(values, at + first * stride, stride, some, from);
            write_floats(out + first * out_stride, out_stride, some, to, values);
        }
        return;
    }
    for (int64_t k = 0; k < count; k++) {
        convert_element(row, at + k * stride, from, to, out + k * out_stride);
    }
}

/* Adds elements one after the other, since their places may overlap. */
static void accumulate_row(uint8_t *at, int64_t stride, int64_t count, int element, const uint8_t *values) {
    int64_t size = element_bytes(element);
    for (int64_t k = 0; k < count; k++) {
        uint8_t *place = at + k * stride;
        if (is_float_element(element)) {
            float total, more;
            read_floats(&total, place, size, 1, element);
            read_floats(&more, values + k * size, size, 1, element);
            total += more;
            write_floats(place, size, 1, element, &total);
        } else {
            int64_t total, more;
            read_integers(&total, place, size, 1, element);
            read_integers(&more, values + k * size, size, 1, element);
            total = (int64_t)((uint64_t)total + (uint64_t)more);
            write_integers(place, size, 1, element, &total);
        }
    }
}

static bool tile_copy(struct tile_call *call) {
    struct tile_view *into = &call->destination, *source = &call->sources[0];
    bool alike = have_one_shape(source, into);
    if (!alike && ((source->rank == into->rank && !(call->row->options & RESHAPES)) ||
                   count_of(source) != count_of(into))) {
        return false;
    }
    if (into->at == NULL) {
        return true;
    }
    int from = source->element, to = into->element;
    bool accumulates = call->row->options & ACCUMULATES;
    bool is_same_bits = from == to && !accumulates && !(call->row->options & RELU) &&
                        (call->row->rounding == ROUND_NONE || !is_float_element(to));
    if (is_same_bits && is_contiguous(into) && is_contiguous(source)) {
        memmove(into->at, source->at, (size_t)(count_of(into) * element_bytes(to)));
        return true;
    }
    detach_all(call, alike);
    int64_t length = row_length(into), stride = row_stride(into);
    uint8_t *values = accumulates ? scratch(call->of, 3, (uint64_t)length * 8) : NULL;
    struct tile_view shaped = *into;
    if (!alike) {
        /* In the order of rows, whatever the shape. */
        if (!is_contiguous(source)) {
            detach(call, 0);
        }
        int64_t size = element_bytes(from);
        for (int k = shaped.rank; k-- > 0;) {
            shaped.strides[k] = size;
            size *= shaped.extents[k];
        }
        shaped.at = source->at;
        shaped.element = from;
        source = &shaped;
    }
    struct rows rows = rows_of(source);
    for (struct rows out = rows_of(into); out.left > 0; next_row(&out), next_row(&rows)) {
        if (accumulates) {
            convert_row(call->row, rows.at, row_stride(source), length, from, to, values, element_bytes(to));
            accumulate_row(out.at, stride, length, to, values);
        } else {
            convert_row(call->row, rows.at, row_stride(source), length, from, to, out.at, stride);
        }
    }
    return true;
}

/* Rows */

static void write_typed_float(uint8_t *at, int element, float value) {
    if (is_float_element(element)) {
        write_floats(at, 0, 1, element, &value);
    } else {
        int64_t integer = held_integer(trunc((double)value), element);
        write_integers(at, 0, 1, element, &integer);
    }
}

static void write_typed_integer(uint8_t *at, int element, int64_t value, int from) {
    if (is_float_element(element)) {
        float nearest = value_of_bits(nearest_bits(double_of_integer(value, from), element), element);
        write_floats(at, 0, 1, element, &nearest);
    } else {
        write_integers(at, 0, 1, element, &value);
    }
}

enum reduction { SUM, PRODUCT, MAXIMUM, MINIMUM, MAXIMUM_PLACE, MINIMUM_PLACE };

/* Reduces a row of floats; writes the place of what is found, or 0. */
static float reduce_floats(enum reduction how, struct rows *rows, int64_t length, int64_t step, int64_t *place) {
    float total = 0, values[CHUNK];
    *place = 0;
    for (int64_t first = 0; first < length; first += CHUNK) {
        int64_t count = length - first < CHUNK ? length - first : CHUNK, k = 0;
        read_floats(values, rows->at + first * step, step, count, rows->view->element);
        total = first == 0 ? values[k++] : total;
        switch (how) {
        case SUM:
            for (; k < count; k++) {
                total += values[k];
            }
            break;
        case PRODUCT:
            for (; k < count; k++) {
                total *= values[k];
            }
            break;
        case MAXIMUM:
            for (; k < count; k++) {
                total = total > values[k] || total != total ? total : values[k];
            }
            break;
        case MINIMUM:
            for (; k < count; k++) {
                total = total < values[k] || total != total ? total : values[k];
            }
            break;
        default:
            for (; k < count; k++) {
                if (how == MAXIMUM_PLACE ? values[k] > total : values[k] < total) {
                    total = values[k];
                    *place = first + k;
                }
            }
        }
    }
    return total;
}

/* The same of integers. */
static int64_t reduce_integers(enum reduction how, struct rows *rows, int64_t length, int64_t step, int64_t *place) {
    int64_t total = 0, values[CHUNK];
    int element = rows->view->element;
    *place = 0;
    for (int64_t first = 0; first < length; first += CHUNK) {
        int64_t count = length - first < CHUNK ? length - first : CHUNK, k = 0;
        read_integers(values, rows->at + first * step, step, count, element);
        total = first == 0 ? values[k++] : total;
        for (; k < count; k++) {
            bool is_more = is_less(total, values[k], element), is_fewer = is_less(values[k], total, element);
            switch (how) {
            case SUM: total = (int64_t)((uint64_t)total + (uint64_t)values[k]); break;
            case PRODUCT: total = (int64_t)((uint64_t)total * (uint64_t)values[k]); break;
            default:
                if (how == MAXIMUM || how == MAXIMUM_PLACE ? is_more : is_fewer) {
                    total = values[k];
                    *place = first + k;
                }
            }
        }
    }
    return total;
}

static bool reduce_rows(struct tile_call *call, enum reduction how) {
    struct tile_view *into = &call->destination, *source = &call->sources[0];
    if (source->at == NULL) {
        return true; /* as on the cores, where idle lanes repeat kernels with empty tiles */
    }
    int64_t length = row_length(source), place;
    if (count_of(source) / length != count_of(into)) {
        return false;
    }
    detach_all(call, false);
    int64_t step = row_stride(source), out_length = row_length(into), out_stride = row_stride(into), at_column = 0;
    struct rows out = rows_of(into);
    for (struct rows rows = rows_of(source); rows.left > 0; next_row(&rows)) {
        uint8_t *at = out.at + at_column * out_stride;
        if (is_float_element(source->element)) {
            float total = reduce_floats(how, &rows, length, step, &place);
            if (how < MAXIMUM_PLACE) {
                write_typed_float(at, into->element, total);
            }
        } else {
            int64_t total = reduce_integers(how, &rows, length, step, &place);
            if (how < MAXIMUM_PLACE) {
                write_typed_integer(at, into->element, total, source->element == E_U64 ? E_U64 : E_I64);
            }
        }
        if (how >= MAXIMUM_PLACE) {
            write_typed_integer(at, into->element, place, E_I64);
        }
        if (++at_column == out_length) {
            at_column = 0;
            next_row(&out);
        }
    }
    return true;
}

static bool tile_row_sum(struct tile_call *call) { return reduce_rows(call, SUM); }
static bool tile_row_product(struct tile_call *call) { return reduce_rows(call, PRODUCT); }
static bool tile_row_maximum(struct tile_call *call) { return reduce_rows(call, MAXIMUM); }
static bool tile_row_minimum(struct tile_call *call) { return reduce_rows(call, MINIMUM); }
static bool tile_row_maximum_place(struct tile_call *call) { return reduce_rows(call, MAXIMUM_PLACE); }
static bool tile_row_minimum_place(struct tile_call *call) { return reduce_rows(call, MINIMUM_PLACE); }

/* Tiles of several shapes */

/* Writes elements of any type to a row of another. */
static void write_typed(uint8_t *at, int64_t stride, int64_t count, int element, const uint8_t *from,
                        int64_t from_stride, int from_element) {
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t some = count - first < CHUNK ? count - first : CHUNK;
        if (is_float_element(element)) {
            float values[CHUNK];
            read_as_floats(values, from + first * from_stride, from_stride, some, from_element, element);
            write_floats(at + first * stride, stride, some, element, values);
        } else {
            int64_t values[CHUNK];
            read_as_integers(values, from + first * from_stride, from_stride, some, from_element, element);
            write_integers(at + first * stride, stride, some, element, values);
        }
    }
}

static bool tile_pad(struct tile_call *call) {
    struct tile_view *into = &call->destination, *source = &call->sources[0];
    int rank = source->rank;
    if (rank < 2 || rank != into->rank) {
        return false;
    }
    for (int k = 0; k < rank; k++) {
        if (k < rank - 2 ? source->extents[k] != into->extents[k] : source->extents[k] > into->extents[k]) {
            return false;
        }
    }
    if (into->at == NULL) {
        return true;
    }
    detach_all(call, false);
    int64_t value = call->row->value, length = row_length(into), stride = row_stride(into);
    int of_value = call->row->options & VALUE_IS_FLOAT ? E_F64 : E_I64;
    for (struct rows out = rows_of(into); out.left > 0; next_row(&out)) {
        write_typed(out.at, stride, length, into->element, (const uint8_t *)&value, 0, of_value);
    }
    struct tile_view inside = *into;
    memcpy(inside.extents, source->extents, sizeof inside.extents);
    struct rows rows = rows_of(source);
    for (struct rows out = rows_of(&inside); out.left > 0; next_row(&out), next_row(&rows)) {
        write_typed(out.at, stride, row_length(source), into->element, rows.at, row_stride(source), source->element);
    }
    return true;
}

static bool tile_concatenate(struct tile_call *call) {
    struct tile_view *into = &call->destination, *a = &call->sources[0], *b = &call->sources[1];
    int rank = into->rank;
    if (a->rank != rank || b->rank != rank || row_length(a) + row_length(b) != row_length(into)) {
        return false;
    }
    for (int k = 0; k < rank - 1; k++) {
        if (a->extents[k] != b->extents[k] || a->extents[k] != into->extents[k]) {
            return false;
        }
    }
    if (into->at == NULL) {
        return true;
    }
    detach_all(call, false);
    for (int k = 0; k < 2; k++) {
        const struct tile_view *source = &call->sources[k];
        struct tile_view part = *into;
        part.at += k * row_length(a) * row_stride(into);
        part.extents[rank - 1] = row_length(source);
        struct rows rows = rows_of(source);
        for (struct rows out = rows_of(&part); out.left > 0; next_row(&out), next_row(&rows)) {
            write_typed(out.at, row_stride(into), row_length(source), into->element, rows.at, row_stride(source),
                        source->element);
        }
    }
    return true;
}

/* Counting */

static bool tile_count(struct tile_call *call) {
    struct tile_view *into = &call->destination;
    if (call->sources[0].rank > 0 || call->sources[1].rank > 0) {
        return false;
    }
    if (into->at == NULL) {
        return true;
    }
    int64_t first, step, length = row_length(into), place = 0;
    read_as_integers(&first, call->sources[0].at, 8, 1, call->sources[0].element, E_I64);
    read_as_integers(&step, call->sources[1].at, 8, 1, call->sources[1].element, E_I64);
    for (struct rows out = rows_of(into); out.left > 0; next_row(&out)) {
        for (int64_t k = 0; k < length; k++, place++) {
            int64_t value = (int64_t)((uint64_t)first + (uint64_t)place * (uint64_t)step);
            write_typed_integer(out.at + k * row_stride(into), into->element, value, E_I64);
        }
    }
    return true;
}

/* Packed bits: a byte for eight elements of a row, its lowest bit for the first of them. */

static bool is_packed(const struct tile_view *packed, const struct tile_view *of) {
    if (packed->rank != of->rank || packed->rank == 0 || element_bytes(packed->element) != 1 ||
        is_float_element(packed->element)) {
        return false;
    }
    for (int k = 0; k < of->rank - 1; k++) {
        if (packed->extents[k] != of->extents[k]) {
            return false;
        }
    }
    return packed->extents[of->rank - 1] == (of->extents[of->rank - 1] + 7) / 8;
}

enum comparison { EQUAL, UNEQUAL, LESS, AT_MOST, GREATER, AT_LEAST };

static inline bool holds(enum comparison how, bool is_equal, bool less, bool greater) {
    switch (how) {
    case EQUAL: return is_equal;
    case UNEQUAL: return !is_equal;
    case LESS: return less;
    case AT_MOST: return less || is_equal;
    case GREATER: return greater;
    default: return greater || is_equal;
    }
}

static bool compare(struct tile_call *call, enum comparison how) {
    struct tile_view *into = &call->destination, *a = &call->sources[0], *b = &call->sources[1];
    if (!is_packed(into, a) || (b->rank > 0 && !have_one_shape(a, b))) {
        return false;
    }
    if (into->at == NULL) {
        return true;
    }
    detach_all(call, false);
    struct tile_view other;
    fit(b, a, &other);
    int64_t length = row_length(a);
    int element = a->element;
    struct rows out = rows_of(into), right = rows_of(&other);
    for (struct rows left = rows_of(a); left.left > 0; next_row(&left), next_row(&right), next_row(&out)) {
        for (int64_t first = 0; first < length; first += CHUNK) {
            int64_t count = length - first < CHUNK ? length - first : CHUNK;
            uint8_t bits[CHUNK / 8] = {0};
            const uint8_t *at_left = left.at + first * row_stride(a);
            const uint8_t *at_right = right.at + first * row_stride(&other);
            if (is_float_element(element)) {
                float x[CHUNK], y[CHUNK];
                read_floats(x, at_left, row_stride(a), count, element);
                read_as_floats(y, at_right, row_stride(&other), count, b->element, element);
                for (int64_t k = 0; k < count; k++) {
                    bits[k / 8] |= (uint8_t)(holds(how, x[k] == y[k], x[k] < y[k], x[k] > y[k]) << k % 8);
                }
            } else {
                int64_t x[CHUNK], y[CHUNK];
                read_integers(x, at_left, row_stride(a), count, element);
                read_as_integers(y, at_right, row_stride(&other), count, b->element, element);
                for (int64_t k = 0; k < count; k++) {
                    bool less = is_less(x[k], y[k], element), greater = is_less(y[k], x[k], element);
                    bits[k / 8] |= (uint8_t)(holds(how, x[k] == y[k], less, greater) << k % 8);
                }
            }
            copy_elements(out.at + first / 8 * row_stride(into), row_stride(into), bits, 1, (count + 7) / 8, 1);
        }
    }
    return true;
}

static bool tile_compare_equal(struct tile_call *call) { return compare(call, EQUAL); }
static bool tile_compare_unequal(struct tile_call *call) { return compare(call, UNEQUAL); }
static bool tile_compare_less(struct tile_call *call) { return compare(call, LESS); }
static bool tile_compare_at_most(struct tile_call *call) { return compare(call, AT_MOST); }
static bool tile_compare_greater(struct tile_call *call) { return compare(call, GREATER); }
static bool tile_compare_at_least(struct tile_call *call) { return compare(call, AT_LEAST); }

/* Gives a source the type of the destination, elsewhere if it has another. */
static void adopt_type(struct tile_call *call, int k) {
    struct tile_view *view = &call->sources[k];
    int element = call->destination.element;
    int64_t size = element_bytes(element), length = row_length(view);
    if (view->element == element) {
        return;
    }
    uint8_t *bytes = scratch(call->of, 3 + k, (uint64_t)(count_of(view) * size) + 1), *at = bytes;
    for (struct rows rows = rows_of(view); rows.left > 0; next_row(&rows)) {
        write_typed(at, size, length, element, rows.at, row_stride(view), view->element);
        at += length * size;
    }
    view->at = bytes;
    view->element = element;
    for (int d = view->rank; d-- > 0;) {
        view->strides[d] = size;
        size *= view->extents[d];
    }
}

static bool tile_select(struct tile_call *call) {
    struct tile_view *into = &call->destination, *mask = &call->sources[0];
    for (int k = 1; k < 3; k++) {
        if (call->sources[k].rank > 0 && !have_one_shape(into, &call->sources[k])) {
            return false;
        }
    }
    if (!is_packed(mask, into)) {
        return false;
    }
    if (into->at == NULL) {
        return true;
    }
    detach_all(call, false);
    struct tile_view fitted[2];
    struct rows rows[2];
    for (int k = 0; k < 2; k++) {
        adopt_type(call, k + 1);
        fit(&call->sources[k + 1], into, &fitted[k]);
        rows[k] = rows_of(&fitted[k]);
    }
    int64_t length = row_length(into), size = element_bytes(into->element);
    struct rows bits = rows_of(mask);
    for (struct rows out = rows_of(into); out.left > 0; next_row(&out), next_row(&bits)) {
        for (int64_t k = 0; k < length; k++) {
            int chosen = !(bits.at[k / 8 * row_stride(mask)] >> k % 8 & 1);
            const uint8_t *from = rows[chosen].at + k * row_stride(&fitted[chosen]);
            copy_elements(out.at + k * row_stride(into), size, from, size, 1, size);
        }
        next_row(&rows[0]);
        next_row(&rows[1]);
    }
    return true;
}

/* Indices: elements of a tile, counted row by row. */

static uint8_t *element_at(const struct tile_view *view, int64_t place) {
    uint8_t *at = view->at;
    for (int k = view->rank; k-- > 0;) {
        at += place % view->extents[k] * view->strides[k];
        place /= view->extents[k];
    }
    return at;
}

/* Returns false, and ends the run, if an index is not below a count. */
static bool are_below(struct tile_call *call, const struct tile_view *indices, int64_t count) {
    for (struct rows rows = rows_of(indices); rows.left > 0; next_row(&rows)) {
        for (int64_t k = 0; k < row_length(indices); k++) {
            int64_t place;
            read_integers(&place, rows.at + k * row_stride(indices), 8, 1, indices->element);
            if (place < 0 || place >= count) {
                fail_core(call->of, CHIP_INDEX_OUTSIDE, NO_ROW, CHIP_VALUES(call->number, place, count));
                call->has_failed = true;
                return false;
            }
        }
    }
    return true;
}

/* What combines an element that is there with another one; NULL where it is replaced. */
struct combination {
    void (*of_floats)(float *out, const float *a, const float *b, int64_t count);
    void (*of_integers)(int64_t *out, const int64_t *a, const int64_t *b, int64_t count, int element);
};

static void combine(const struct combination *how, uint8_t *entry, const uint8_t *at, int element) {
    int64_t size = element_bytes(element);
    if (is_float_element(element)) {
        float before, value;
        read_floats(&before, entry, size, 1, element);
        read_floats(&value, at, size, 1, element);
        how->of_floats(&before, &before, &value, 1);
        write_floats(entry, size, 1, element, &before);
    } else {
        int64_t before, value;
        read_integers(&before, entry, size, 1, element);
        read_integers(&value, at, size, 1, element);
        how->of_integers(&before, &before, &value, 1, element);
        write_integers(entry, size, 1, element, &before);
    }
}

/* Moves elements from indices, or to them, where `how` may combine them with what is there. */
static bool move_indexed(struct tile_call *call, bool gathers, const struct combination *how) {
    struct tile_view *into = &call->destination, *from = &call->sources[0], *indices = &call->sources[1];
    const struct tile_view *table = gathers ? from : into, *line = gathers ? into : from;
    if (from->rank == 0 || indices->rank == 0 || is_float_element(indices->element) ||
        !have_one_shape(indices, line)) {
        return false;
    }
    if (indices->at == NULL || !are_below(call, indices, count_of(table))) {
        return true;
    }
    detach_all(call, false);
    adopt_type(call, 0);
    int64_t length = row_length(line), size = element_bytes(into->element);
    bool is_flat = is_contiguous(table);
    struct rows places = rows_of(indices);
    for (struct rows rows = rows_of(line); rows.left > 0; next_row(&rows), next_row(&places)) {
        for (int64_t k = 0; k < length; k++) {
            int64_t place;
            read_integers(&place, places.at + k * row_stride(indices), 8, 1, indices->element);
            uint8_t *at = rows.at + k * row_stride(line);
            uint8_t *entry = is_flat ? table->at + place * size : element_at(table, place);
            if (how != NULL) {
                combine(how, entry, at, into->element);
                continue;
            }
            copy_elements(gathers ? at : entry, size, gathers ? entry : at, size, 1, size);
        }
    }
    return true;
}

static bool tile_gather(struct tile_call *call) { return move_indexed(call, true, NULL); }
static bool tile_scatter(struct tile_call *call) { return move_indexed(call, false, NULL); }

static bool tile_scatter_add(struct tile_call *call) {
    return move_indexed(call, false, &(struct combination){add_floats, add_integers});
}

static bool tile_scatter_maximum(struct tile_call *call) {
    return move_indexed(call, false, &(struct combination){maximum_floats, maximum_integers});
}

static bool tile_scatter_minimum(struct tile_call *call) {
    return move_indexed(call, false, &(struct combination){minimum_floats, minimum_integers});
}

/* Sorting: numbers of 64 bits, each with a key; NaN is the largest key, and zeros are equal. */

struct pair {
    int64_t key;
    uint64_t number;
};

static bool is_before(const struct pair *a, const struct pair *b, bool by_number) {
    return a->key != b->key ? a->key > b->key : by_number && a->number < b->number;
}

static void sort(struct pair *pairs, struct pair *other, int64_t count, bool by_number) {
    struct pair *from = pairs, *to = other;
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t first = 0; first < count; first += 2 * width) {
            int64_t middle = first + width < count ? first + width : count;
            int64_t end = first + 2 * width < count ? first + 2 * width : count;
            for (int64_t a = first, b = middle, k = first; k < end; k++) {
                bool takes_b = a == middle || (b < end && is_before(&from[b], &from[a], by_number));
                to[k] = takes_b ? from[b++] : from[a++];
            }
        }
        struct pair *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != pairs) {
        memcpy(pairs, from, (size_t)count * sizeof *pairs);
    }
}

static int64_t key_of_float(float value) {
    if (value != value) {
        return INT64_MAX;
    }
    int32_t bits = (int32_t)bits_f32(value == 0 ? 0.0f : value);
    return bits < 0 ? (int64_t)(bits ^ INT32_MAX) : (int64_t)bits;
}

static bool sort_rows(struct tile_call *call, bool by_number) {
    struct tile_view *into = &call->destination, *numbers = &call->sources[0], *keys = &call->sources[1];
    if (into->rank == 0 || !have_one_shape(into, numbers) || !have_one_shape(into, keys) ||
        element_bytes(into->element) != 8 || into->element != numbers->element) {
        return false;
    }
    if (into->at == NULL) {
        return true;
    }
    detach_all(call, false);
    int64_t length = row_length(into);
    struct pair *pairs = scratch(call->of, 3, (uint64_t)length * 2 * sizeof *pairs);
    struct rows rows = rows_of(numbers), by = rows_of(keys);
    for (struct rows out = rows_of(into); out.left > 0; next_row(&out), next_row(&rows), next_row(&by)) {
        for (int64_t k = 0; k < length; k++) {
            const uint8_t *at = by.at + k * row_stride(keys);
            if (is_float_element(keys->element)) {
                float value;
                read_floats(&value, at, 4, 1, keys->element);
                pairs[k].key = key_of_float(value);
            } else {
                read_integers(&pairs[k].key, at, 8, 1, keys->element);
                pairs[k].key = keys->element == E_U64 ? (int64_t)((uint64_t)pairs[k].key ^ UINT64_C(1) << 63)
                                                      : pairs[k].key;
            }
            memcpy(&pairs[k].number, rows.at + k * row_stride(numbers), 8);
        }
        sort(pairs, pairs + length, length, by_number);
        for (int64_t k = 0; k < length; k++) {
            memcpy(out.at + k * row_stride(into), &pairs[k].number, 8);
        }
    }
    return true;
}

static bool tile_sort_pairs(struct tile_call *call) { return sort_rows(call, true); }
static bool tile_merge_pairs(struct tile_call *call) { return sort_rows(call, false); }

/* Matrix products: one product after the other, each rounded, and each sum. */

static void add_products(float *restrict total, const float *restrict left, const float *restrict right,
                         int64_t inner, int64_t columns) {
    int64_t k = 0;
    for (; k + 4 <= inner; k += 4) {
        const float *b = right + k * columns;
        float a0 = left[k], a1 = left[k + 1], a2 = left[k + 2], a3 = left[k + 3];
        for (int64_t n = 0; n < columns; n++) {
            float sum = total[n] + a0 * b[n];
            sum = sum + a1 * b[columns + n];
            sum = sum + a2 * b[2 * columns + n];
            total[n] = sum + a3 * b[3 * columns + n];
        }
    }
    for (; k < inner; k++) {
        const float *b = right + k * columns;
        float a0 = left[k];
        for (int64_t n = 0; n < columns; n++) {
            total[n] = total[n] + a0 * b[n];
        }
    }
}

static void add_integer_products(int64_t *restrict total, const int64_t *restrict left,
                                 const int64_t *restrict right, int64_t inner, int64_t columns) {
    for (int64_t k = 0; k < inner; k++) {
        uint64_t a = (uint64_t)left[k];
        for (int64_t n = 0; n < columns; n++) {
            total[n] = (int64_t)((uint64_t)total[n] + a * (uint64_t)right[k * columns + n]);
        }
    }
}

/* Returns the elements of a matrix, row by row, as floats or as integers of 64 bits. */
static void *matrix(struct tile_call *call, int number, const struct tile_view *view, bool floats) {
    int64_t columns = view->extents[1];
    uint8_t *found = scratch(call->of, number, (uint64_t)count_of(view) * 8 + 8), *at = found;
    for (struct rows rows = rows_of(view); rows.left > 0; next_row(&rows)) {
        if (floats) {
            read_as_floats((float *)(void *)at, rows.at, row_stride(view), columns, view->element, E_F32);
        } else {
            read_as_integers((int64_t *)(void *)at, rows.at, row_stride(view), columns, view->element, E_I64);
        }
        at += columns * (floats ? 4 : 8);
    }
    return found;
}

static bool multiply_matrices(struct tile_call *call, bool adds) {
    struct tile_view *into = &call->destination, *left = &call->sources[adds], *right = &call->sources[adds + 1];
    const struct tile_view *before = adds ? &call->sources[0] : into;
    if (into->rank != 2 || left->rank != 2 || right->rank != 2 || left->extents[1] != right->extents[0] ||
        into->extents[0] != left->extents[0] || into->extents[1] != right->extents[1] ||
        !have_one_shape(before, into)) {
        return false;
    }
    if (into->at == NULL) {
        return true;
    }
    bool floats = is_float_element(into->element);
    int64_t inner = left->extents[1], columns = into->extents[1];
    const uint8_t *a = matrix(call, 3, left, floats), *b = matrix(call, 4, right, floats);
    uint64_t bytes = (uint64_t)count_of(into) * 8 + 8;
    uint8_t *total = adds ? matrix(call, 5, before, floats) : memset(scratch(call->of, 5, bytes), 0, bytes);
    int64_t size = floats ? 4 : 8;
    for (struct rows out = rows_of(into); out.left > 0; next_row(&out)) {
        if (floats) {
            add_products((float *)(void *)total, (const float *)(const void *)a, (const float *)(const void *)b, inner,
                         columns);
            write_floats(out.at, row_stride(into), columns, into->element, (const float *)(const void *)total);
        } else {
            add_integer_products((int64_t *)(void *)total, (const int64_t *)(const void *)a,
                                 (const int64_t *)(const void *)b, inner, columns);
            write_integers(out.at, row_stride(into), columns, into->element, (const int64_t *)(const void *)total);
        }
        a += inner * size;
        total += columns * size;
    }
    return true;
}

static bool tile_matrix_multiply(struct tile_call *call) { return multiply_matrices(call, false); }
static bool tile_matrix_multiply_add(struct tile_call *call) { return multiply_matrices(call, true); }

bool compute_tiles(struct tile_call *call) {
    switch (call->row->function) {
#define CALL(number, name)                                                                                             \
    case number: return tile_##name(call);
        TILE_FUNCTIONS(CALL)
#undef CALL
    default: abort(); /* checked tables have no other */
    }
}
