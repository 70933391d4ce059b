/* Walks of several dimensions whose rows are short: boxes. Their elements are copied side by side for the kernel of rows, as
 * many whole rounds of the fastest dimensions at a time as there is room for, and back. A move needs no copies between.
 */
#include <string.h>

#include "kernels.h"

enum { SHORT_ROW = 32, ROOM = 256 /* elements */ };

/* What all operands have in common: the extents of those of several dimensions, fastest first; 1 behind them */
struct shape {
    uint32_t extents[MAX_DIMENSIONS];
    uint32_t dimensions, count;
};

/* The elements of an operand: how many bytes it is from one round of each dimension to the next */
struct box {
    uint8_t *at;
    int64_t advance[MAX_DIMENSIONS];
};

static struct box row_of(uint8_t *at, int64_t step, const struct shape *shape) {
    struct box box = {.at = at};
    for (uint32_t k = 0; k < shape->dimensions; k++) {
        box.advance[k] = step;
        step *= shape->extents[k];
    }
    return box;
}

/* Returns false if no operand has several dimensions and short rows, or they do not visit `count` elements. */
static bool find_shape(const struct operand *operands, int sources, uint32_t count, struct shape *shape) {
    for (int place = 0; place <= sources; place++) {
        const struct operand *operand = &operands[place];
        if (operand->dimensions == 1) {
            continue;
        }
        uint64_t all = 1;
        for (uint32_t k = 0; k < MAX_DIMENSIONS && all <= count; k++) {
            shape->extents[k] = k < operand->dimensions ? operand->extent[k] : 1;
            all *= shape->extents[k];
        }
        shape->dimensions = operand->dimensions;
        shape->count = count;
        return all == count && operand->extent[0] < SHORT_ROW;
    }
    return false;
}

/* Finds the box of an operand; returns false if it has other extents, or not all of its rounds are to come. */
static bool find_box(const struct operand *operand, const struct shape *shape, struct box *box) {
    if (operand->dimensions == 1) {
        *box = row_of(operand->at, operand->step[0], shape);
        return operand->extent[0] - operand->done[0] >= shape->count;
    }
    int64_t end = 0; /* from the first element of a round of a dimension to its last one */
    *box = (struct box){.at = operand->at};
    for (uint32_t k = 0; k < operand->dimensions; k++) {
        if (operand->extent[k] != shape->extents[k] || operand->done[k] != 0) {
            return false;
        }
        box->advance[k] = end + operand->step[k];
        end += (operand->extent[k] - 1) * box->advance[k];
    }
    return operand->dimensions == shape->dimensions;
}

/* The bytes of a box */
struct reach {
    uintptr_t lowest, behind;
    bool is_injective; /* it visits no byte twice, as far as its steps show */
};

static struct reach find_reach(const struct box *box, const struct shape *shape, uint8_t size) {
    int64_t low = 0, high = 0, span = size;
    bool is_injective = true;
    for (uint32_t k = 0; k < shape->dimensions; k++) {
        int64_t advance = box->advance[k], distance = advance < 0 ? -advance : advance;
        int64_t all = (shape->extents[k] - 1) * advance;
        is_injective &= distance >= span;
        span += all < 0 ? -all : all;
        low += all < 0 ? all : 0;
        high += all < 0 ? 0 : all;
    }
    return (struct reach){(uintptr_t)(box->at + low), (uintptr_t)(box->at + high) + size, is_injective};
}

static bool is_same(const struct box *a, const struct box *b, const struct shape *shape) {
    bool is_same = a->at == b->at;
    for (uint32_t k = 0; k < shape->dimensions; k++) {
        is_same &= a->advance[k] == b->advance[k];
    }
    return is_same;
}

/* Returns true if no element depends on one before it. */
static bool are_independent(const struct kernel *kernel, const struct box *boxes, const struct shape *shape) {
    struct reach to = find_reach(&boxes[0], shape, kernel->size[0]);
    for (int place = 1; place <= kernel->sources; place++) {
        struct reach from = find_reach(&boxes[place], shape, kernel->size[place]);
        if (from.behind > to.lowest && to.behind > from.lowest &&
            !(to.is_injective && kernel->size[place] == kernel->size[0] && is_same(&boxes[place], &boxes[0], shape))) {
            return false;
        }
    }
    return true;
}

/* Copies rows of elements side by side, most of them of few bytes. */
static inline void copy_rows(uint8_t *to, int64_t to_advance, const uint8_t *from, int64_t from_advance, size_t bytes,
                             uint32_t rows) {
#define ROWS(bytes)                                                                                                    \
    for (uint32_t k = 0; k < rows; k++, to += to_advance, from += from_advance) {                                      \
        memcpy(to, from, bytes);                                                                                       \
    }
    switch (bytes) {
    case 8: ROWS(8) break;
    case 16: ROWS(16) break;
    case 32: ROWS(32) break;
    default: ROWS(bytes) break;
    }
#undef ROWS
}

/* Copies the elements of the first `dimensions`, in plane after plane. */
static void copy(const struct box *to, const struct box *from, const struct shape *shape, uint32_t dimensions, uint8_t size) {
    const uint32_t *extents = shape->extents;
    uint32_t rows = dimensions > 1 ? extents[1] : 1, planes = dimensions > 2 ? extents[2] : 1;
    uint32_t cubes = dimensions > 3 ? extents[3] : 1;
    bool in_rows = to->advance[0] == size && from->advance[0] == size;
    for (uint32_t cube = 0; cube < cubes; cube++) {
        uint8_t *target = to->at + cube * to->advance[3];
        const uint8_t *source = from->at + cube * from->advance[3];
        for (uint32_t plane = 0; plane < planes; plane++, target += to->advance[2], source += from->advance[2]) {
            if (in_rows) {
                copy_rows(target, to->advance[1], source, from->advance[1], (size_t)extents[0] * size, rows);
                continue;
            }
            for (uint32_t row = 0; row < rows; row++) {
                uint8_t *into = target + row * to->advance[1];
                const uint8_t *out = source + row * from->advance[1];
                if (size == 2) {
                    copy_rows(into, to->advance[0], out, from->advance[0], 2, extents[0]);
                } else {
                    copy_rows(into, to->advance[0], out, from->advance[0], 4, extents[0]);
                }
            }
        }
    }
}

/* Computes the `count` elements of the first `dimensions`. */
static void compute_part(const struct kernel *kernel, const struct box *boxes, const struct shape *shape,
                         uint32_t dimensions, uint32_t count) {
    uint32_t room[1 + MAX_SOURCES][ROOM];
    struct box beside[1 + MAX_SOURCES];
    uint8_t *at[1 + MAX_SOURCES];
    ptrdiff_t steps[1 + MAX_SOURCES];
    for (int place = 0; place <= kernel->sources; place++) {
        const struct box *box = &boxes[place];
        uint8_t size = kernel->size[place];
        bool is_number = place > 0, is_row = true;
        beside[place] = row_of((uint8_t *)room[place], size, shape);
        for (uint32_t k = 0; k < dimensions; k++) {
            is_number &= box->advance[k] == 0;
            is_row &= box->advance[k] == beside[place].advance[k];
        }
        at[place] = is_number || is_row ? box->at : beside[place].at;
        steps[place] = is_number ? 0 : size;
        if (place > 0 && at[place] != box->at) {
            copy(&beside[place], box, shape, dimensions, size);
        }
    }
    kernel->row(at, steps, count);
    if (at[0] != boxes[0].at) {
        copy(&boxes[0], &beside[0], shape, dimensions, kernel->size[0]);
    }
}

static void compute(const struct kernel *kernel, const struct box *boxes, const struct shape *shape) {
    uint32_t dimensions = 1, part = shape->extents[0];
    while (dimensions < shape->dimensions && part * (uint64_t)shape->extents[dimensions] <= ROOM) {
        part *= shape->extents[dimensions++];
    }
    for (uint32_t done = 0; done < shape->count / part; done++) {
        struct box parts[1 + MAX_SOURCES];
        for (int place = 0; place <= kernel->sources; place++) {
            parts[place] = boxes[place];
            uint32_t rounds = done;
            for (uint32_t k = dimensions; k < shape->dimensions; k++) {
                parts[place].at += rounds % shape->extents[k] * boxes[place].advance[k];
                rounds /= shape->extents[k];
            }
        }
        compute_part(kernel, parts, shape, dimensions, part);
    }
}

bool apply_boxes(const struct kernel *kernel, struct operand *operands, uint32_t count) {
    struct shape shape;
    struct box boxes[1 + MAX_SOURCES];
    if (!find_shape(operands, kernel->sources, count, &shape)) {
        return false;
    }
    for (int place = 0; place <= kernel->sources; place++) {
        if (!find_box(&operands[place], &shape, &boxes[place])) {
            return false;
        }
    }
    if (!are_independent(kernel, boxes, &shape)) {
        return false;
    }
    if (kernel->is_move) {
        copy(&boxes[0], &boxes[1], &shape, shape.dimensions, kernel->size[0]);
    } else {
        compute(kernel, boxes, &shape);
    }
    for (int place = 0; place <= kernel->sources; place++) {
        struct operand *operand = &operands[place];
        uint32_t last = operand->dimensions - 1;
        if (last == 0) {
            operand->done[0] = operand->done[0] + count == operand->extent[0] ? 0 : operand->done[0] + count;
        }
        uint32_t rounds = last == 0 ? count : operand->extent[last];
        operand->at += rounds * boxes[place].advance[last];
    }
    return true;
}
