/* Packed bits: a byte for eight elements of a row, its lowest bit for the first of them. */
#include "tile_arithmetic.h"
#include "tile_elements.h"
#include "tile_functions.h"

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
    detach_sources(call, false);
    struct tile_view other;
    fit_source(b, a, &other);
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

bool tile_compare_equal(struct tile_call *call) { return compare(call, EQUAL); }
bool tile_compare_unequal(struct tile_call *call) { return compare(call, UNEQUAL); }
bool tile_compare_less(struct tile_call *call) { return compare(call, LESS); }
bool tile_compare_at_most(struct tile_call *call) { return compare(call, AT_MOST); }
bool tile_compare_greater(struct tile_call *call) { return compare(call, GREATER); }
bool tile_compare_at_least(struct tile_call *call) { return compare(call, AT_LEAST); }

bool tile_select(struct tile_call *call) {
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
    detach_sources(call, false);
    struct tile_view fitted[2];
    struct rows rows[2];
    for (int k = 0; k < 2; k++) {
        adopt_type(call, k + 1);
        fit_source(&call->sources[k + 1], into, &fitted[k]);
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
