#include "tile_views.h"

int64_t count_of(const struct tile_view *view) {
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
bool is_contiguous(const struct tile_view *view) {
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

bool have_one_shape(const struct tile_view *a, const struct tile_view *b) {
    return a->rank == b->rank && memcmp(a->extents, b->extents, (size_t)a->rank * sizeof(int64_t)) == 0;
}

struct rows rows_of(const struct tile_view *view) {
    struct rows rows = {.view = view, .at = view->at, .left = 1};
    for (int k = 0; k < view->rank; k++) {
        rows.left *= k < view->rank - 1 ? view->extents[k] : 1;
        rows.left *= view->extents[k] == 0 ? 0 : 1;
    }
    return rows;
}

void *scratch_for(struct chip_row *row, int number, uint64_t bytes) {
    if (row->scratch_bytes[number] < bytes) {
        free(row->scratch[number]);
        row->scratch[number] = NULL;
        row->scratch_bytes[number] = 0;
        row->scratch[number] = row_allocate(row, bytes, 1);
        row->scratch_bytes[number] = bytes;
    }
    return row->scratch[number];
}

void copy_elements(uint8_t *to, int64_t to_stride, const uint8_t *from, int64_t from_stride, int64_t count,
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

/* Writes the elements of a view contiguously. */
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

void detach_source(struct tile_call *call, int k) {
    struct tile_view *view = &call->sources[k];
    int64_t size = element_bytes(view->element);
    uint8_t *bytes = scratch_for(call->of, k, (uint64_t)(count_of(view) * size) + 1);
    pack(view, bytes);
    view->at = bytes;
    for (int d = view->rank; d-- > 0;) {
        view->strides[d] = size;
        size *= view->extents[d];
    }
}

void detach_sources(struct tile_call *call, bool in_step) {
    for (int k = 0; k < call->count; k++) {
        struct tile_view *view = &call->sources[k];
        if (view->rank == 0 || view->at == NULL || call->destination.at == NULL) {
            continue;
        }
        if (overlap(view, &call->destination) &&
            !(in_step && are_same(view, &call->destination) && is_nested(view))) {
            detach_source(call, k);
        }
    }
}

bool fit_source(const struct tile_view *source, const struct tile_view *into, struct tile_view *fitted) {
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
