/* Views of tiles: their rows, whether they overlap, and copies of their elements. */
#ifndef LOOM_TILE_VIEWS_H
#define LOOM_TILE_VIEWS_H

#include "chip.h"
#include "tile_formats.h"

/* The rows of a view, one after the other: their first elements. */
struct rows {
    int64_t index[TILE_DIMENSIONS], left;
    const struct tile_view *view;
    uint8_t *at;
};

struct rows rows_of(const struct tile_view *view);

static inline void next_row(struct rows *rows) {
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

static inline int64_t row_length(const struct tile_view *view) { return view->rank ? view->extents[view->rank - 1] : 1; }

static inline int64_t row_stride(const struct tile_view *view) { return view->rank ? view->strides[view->rank - 1] : 0; }

int64_t count_of(const struct tile_view *view);
bool is_contiguous(const struct tile_view *view);
bool have_one_shape(const struct tile_view *a, const struct tile_view *b);

/* Makes a view of a source repeated to the shape of a destination, aligned at the last dimension; false if that is not
 * so. */
bool fit_source(const struct tile_view *source, const struct tile_view *into, struct tile_view *fitted);

/* Returns one of the row's buffers, of at least so many bytes; what it held may be lost. The sources of a call that are
 * detached have those of their number. */
void *scratch_for(struct chip_row *row, int number, uint64_t bytes);

/* Copies elements of 1, 2, 4 or 8 bytes between strides in bytes. */
void copy_elements(uint8_t *to, int64_t to_stride, const uint8_t *from, int64_t from_stride, int64_t count,
                   int64_t size);

/* Lets a source have its elements elsewhere, contiguous. */
void detach_source(struct tile_call *call, int k);

/* Detaches the sources that what is written would change before they are read. */
void detach_sources(struct tile_call *call, bool in_step);

#endif
