/* Copies, which convert, round, clip or add. */
#include "tile_arithmetic.h"
#include "tile_elements.h"
#include "tile_functions.h"

enum { ROUND_NONE, ROUND_RINT, ROUND_FLOOR, ROUND_CEIL, ROUND_TRUNC, ROUND_AWAY, ROUND_ODD };

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
            total = sum_of_integers(total, more);
            write_integers(place, size, 1, element, &total);
        }
    }
}

bool tile_copy(struct tile_call *call) {
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
    detach_sources(call, alike);
    int64_t length = row_length(into), stride = row_stride(into);
    uint8_t *values = accumulates ? scratch_for(call->of, 3, (uint64_t)length * 8) : NULL;
    struct tile_view shaped = *into;
    if (!alike) {
        /* In the order of rows, whatever the shape. */
        if (!is_contiguous(source)) {
            detach_source(call, 0);
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
