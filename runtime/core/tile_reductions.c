/* Rows reduced to one element. */
#include "tile_arithmetic.h"
#include "tile_elements.h"
#include "tile_functions.h"

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
            case SUM: total = sum_of_integers(total, values[k]); break;
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
    detach_sources(call, false);
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

bool tile_row_sum(struct tile_call *call) { return reduce_rows(call, SUM); }
bool tile_row_product(struct tile_call *call) { return reduce_rows(call, PRODUCT); }
bool tile_row_maximum(struct tile_call *call) { return reduce_rows(call, MAXIMUM); }
bool tile_row_minimum(struct tile_call *call) { return reduce_rows(call, MINIMUM); }
bool tile_row_maximum_place(struct tile_call *call) { return reduce_rows(call, MAXIMUM_PLACE); }
bool tile_row_minimum_place(struct tile_call *call) { return reduce_rows(call, MINIMUM_PLACE); }
