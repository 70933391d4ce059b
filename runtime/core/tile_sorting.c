/* Sorting: numbers of 64 bits, each with a key; NaN is the largest key, and zeros are equal. */
#include "tile_elements.h"
#include "tile_functions.h"

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
    detach_sources(call, false);
    int64_t length = row_length(into);
    struct pair *pairs = scratch_for(call->of, 3, (uint64_t)length * 2 * sizeof *pairs);
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

bool tile_sort_pairs(struct tile_call *call) { return sort_rows(call, true); }
bool tile_merge_pairs(struct tile_call *call) { return sort_rows(call, false); }
