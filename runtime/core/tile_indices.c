/* Elements moved by indices of tiles, which count the elements of a tile row by row. */
#include "tile_arithmetic.h"
#include "tile_elements.h"
#include "tile_functions.h"

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

/* What is written where there is an element already. */
enum combination { REPLACED, ADDED, LARGER, SMALLER };

static float combined_floats(enum combination how, float before, float value) {
    switch (how) {
    case ADDED: return before + value;
    case LARGER: return larger_float(before, value);
    default: return smaller_float(before, value);
    }
}

static int64_t combined_integers(enum combination how, int64_t before, int64_t value, int element) {
    switch (how) {
    case ADDED: return sum_of_integers(before, value);
    case LARGER: return larger_integer(before, value, element);
    default: return smaller_integer(before, value, element);
    }
}

static void combine(enum combination how, uint8_t *entry, const uint8_t *at, int element) {
    int64_t size = element_bytes(element);
    if (is_float_element(element)) {
        float before, value;
        read_floats(&before, entry, size, 1, element);
        read_floats(&value, at, size, 1, element);
        before = combined_floats(how, before, value);
        write_floats(entry, size, 1, element, &before);
    } else {
        int64_t before, value;
        read_integers(&before, entry, size, 1, element);
        read_integers(&value, at, size, 1, element);
        before = combined_integers(how, before, value, element);
        write_integers(entry, size, 1, element, &before);
    }
}

/* Moves elements from indices, or to them, where `how` may combine them with what is there. */
static bool move_indexed(struct tile_call *call, bool gathers, enum combination how) {
    struct tile_view *into = &call->destination, *from = &call->sources[0], *indices = &call->sources[1];
    const struct tile_view *table = gathers ? from : into, *line = gathers ? into : from;
    if (from->rank == 0 || indices->rank == 0 || is_float_element(indices->element) ||
        !have_one_shape(indices, line)) {
        return false;
    }
    if (indices->at == NULL || !are_below(call, indices, count_of(table))) {
        return true;
    }
    detach_sources(call, false);
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
            if (how != REPLACED) {
                combine(how, entry, at, into->element);
                continue;
            }
            copy_elements(gathers ? at : entry, size, gathers ? entry : at, size, 1, size);
        }
    }
    return true;
}

bool tile_gather(struct tile_call *call) { return move_indexed(call, true, REPLACED); }
bool tile_scatter(struct tile_call *call) { return move_indexed(call, false, REPLACED); }
bool tile_scatter_add(struct tile_call *call) { return move_indexed(call, false, ADDED); }
bool tile_scatter_maximum(struct tile_call *call) { return move_indexed(call, false, LARGER); }
bool tile_scatter_minimum(struct tile_call *call) { return move_indexed(call, false, SMALLER); }
