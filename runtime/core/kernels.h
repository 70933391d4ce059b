/* DSD operations on operands: kernels of every row of operations/dsd_table.py, for all formats of 16-bit floats.
 *
 * A caller makes operands, has checked that what they visit is its own, and applies a kernel to as many elements as it
 * likes; operands go on where they are. Operations compute one element after the other: each sees what those before it
 * have written.
 */
#ifndef LOOM_KERNELS_H
#define LOOM_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core.h"

enum { MAX_DIMENSIONS = 4, MAX_SOURCES = 3 };

/* Elements in memory, fastest dimension first. A step is the distance in bytes from the last element of the faster
 * dimensions to the first of the next round (DSD-061, DSD-062). */
struct operand {
    uint8_t *at;                     /* the next element */
    int32_t step[MAX_DIMENSIONS];    /* in bytes */
    uint32_t extent[MAX_DIMENSIONS]; /* none is 0 */
    uint32_t done[MAX_DIMENSIONS];   /* rounds of each dimension that are complete */
    uint32_t dimensions;             /* from 1 */
};

/* Makes the operand of a descriptor: `at` is its first element, extents are outermost first, strides innermost first and
 * in elements of `size` bytes, as in the tables. No extent is 0. */
EXPORT void operand_walk(struct operand *operand, uint8_t *at, uint32_t size, uint32_t dimensions,
                         const uint16_t *extents, const int16_t *strides);

/* Makes the operand of elements side by side that begin again behind `places` of them, however often. */
EXPORT void operand_ring(struct operand *operand, uint8_t *at, uint32_t size, uint32_t places);

/* Makes an operand of any number of elements `step` bytes apart: 0 for a scalar, 4 for wavelets, which hold an element
 * of 16 bits in their low half, or 2 for elements of 16 bits side by side. */
EXPORT void operand_run(struct operand *operand, void *at, int32_t step);

/* Moves an operand on by `count` elements; one that is at its end begins its rounds again from where it is. */
EXPORT void operand_skip(struct operand *operand, uint64_t count);

/* Stores the offsets in bytes, from the first element, of the lowest and of the highest element of a descriptor. */
EXPORT void walk_reach(uint32_t size, uint32_t dimensions, const uint16_t *extents, const int16_t *strides,
                       int64_t *lowest, int64_t *highest);

/* Computes `count` elements; operand 0 is the destination, and the elements of an operand are `steps` bytes apart. */
typedef void run_function(uint8_t *const *at, const ptrdiff_t *steps, uint32_t count);

/* Computes sums of `count` floats of 32 bits side by side: those of a base, if there is one, to which the products of the
 * elements of vectors by their factors are added one after the other, each product and each sum rounded. Without a base
 * they begin with the first product. The base and the first vector may be the destination, of which others have nothing. */
typedef void sum_function(uint8_t *to, const uint8_t *base, const uint8_t *const *vectors, const uint32_t *factors,
                          uint32_t count);
enum { MAX_ADDENDS = 8 };

struct kernel {
    const char *computes;          /* the name of what it computes of an element */
    run_function *row;             /* of elements side by side, and scalars; it reads nothing that it writes, but in place */
    run_function *walk;            /* of any steps, one element after the other; NULL if there is no such kernel */
    run_function *pairs;           /* as `row`, of every second element; what is between is written with what it has. May be
                                    * NULL */
    uint8_t sources;               /* 1 to MAX_SOURCES; one more than its operation has if the last is a carry */
    uint8_t size[1 + MAX_SOURCES]; /* bytes of an element of each operand, the destination first */
    bool is_move;                  /* it computes nothing: bits stay as they are */
    bool is_staged;                /* `row` is so much faster that elements are copied side by side for it */
};

/* Returns the kernels for the instructions that this processor has, in the order of KERNELS. It asks the processor, which
 * takes a while: once is enough. */
EXPORT const struct kernel *loom_kernels(void);

/* Returns the kernels for the instructions that every processor of the family has. They compute the same. */
EXPORT const struct kernel *loom_baseline_kernels(void);

/* Returns the functions that sum vectors, from one to MAX_ADDENDS of them, of the processor or of every one. */
EXPORT sum_function *const *loom_sums(void);
EXPORT sum_function *const *loom_baseline_sums(void);

/* Returns the kernel of a row of the DSD table in a format of 16-bit floats (0 f16, 1 bf16, 2 cb16), NULL if there is
 * none. The format of an operation without such floats does not matter. */
EXPORT const struct kernel *kernel_of(const struct kernel *kernels, uint32_t row, uint32_t format);

/* Computes `count` elements that are `steps` bytes apart; at[0] is the destination. */
EXPORT void kernel_apply_lines(const struct kernel *kernel, uint8_t *const *at, const ptrdiff_t *steps, uint32_t count);

/* Computes `count` elements. operands[0] is the destination, the sources follow in the order of the table. Of a wavelet
 * that is a destination of 16 bits only the low half is written. */
EXPORT void kernel_apply(const struct kernel *kernel, struct operand *operands, uint32_t count);

/* As `kernel_apply`, of walks of several dimensions with short rows (boxes.c). Returns false, and has done nothing, if the
 * operands are others, or not all of their rounds are to come, or an element depends on one before it. */
bool apply_boxes(const struct kernel *kernel, struct operand *operands, uint32_t count);

#endif
