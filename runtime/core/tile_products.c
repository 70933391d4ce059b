/* Matrix products: one product after the other, each rounded, and each sum. */
#include "tile_elements.h"
#include "tile_functions.h"

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
    uint8_t *found = scratch_for(call->of, number, (uint64_t)count_of(view) * 8 + 8), *at = found;
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
    uint8_t *total = adds ? matrix(call, 5, before, floats) : memset(scratch_for(call->of, 5, bytes), 0, bytes);
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

bool tile_matrix_multiply(struct tile_call *call) { return multiply_matrices(call, false); }
bool tile_matrix_multiply_add(struct tile_call *call) { return multiply_matrices(call, true); }
