/* Tiles that are padded, put side by side, or filled with numbers counted from a first one. */
#include "tile_elements.h"
#include "tile_functions.h"

bool tile_pad(struct tile_call *call) {
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
    detach_sources(call, false);
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

bool tile_concatenate(struct tile_call *call) {
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
    detach_sources(call, false);
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

bool tile_count(struct tile_call *call) {
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
