/* Operands, and kernels applied to them run by run. */
#include <assert.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "kernel_table.h"
#include "kernels.h"

/* Operands */

void operand_walk(struct operand *operand, uint8_t *at, uint32_t size, uint32_t dimensions, const uint16_t *extents,
                  const int16_t *strides) {
    assert(dimensions >= 1 && dimensions <= MAX_DIMENSIONS);
    *operand = (struct operand){.at = at};
    uint32_t used = 0;
    for (uint32_t k = 0; k < dimensions; k++) {
        uint32_t extent = extents[dimensions - 1 - k];
        int32_t step = strides[k] * (int32_t)size;
        assert(extent > 0);
        if (extent == 1) {
            continue; /* never stepped */
        }
        if (used && operand->step[used - 1] == step && operand->extent[used - 1] * (uint64_t)extent < UINT32_MAX) {
            operand->extent[used - 1] *= extent; /* the faster dimension goes on */
            continue;
        }
        operand->step[used] = step;
        operand->extent[used++] = extent;
    }
    if (!used) {
        operand->extent[used++] = 1;
    }
    operand->dimensions = used;
}

void operand_ring(struct operand *operand, uint8_t *at, uint32_t size, uint32_t places) {
    int32_t step = (int32_t)size;
    *operand = (struct operand){.at = at, .step = {step, step - (int32_t)places * step}, .extent = {places, UINT32_MAX},
                                .dimensions = 2};
}

void operand_run(struct operand *operand, void *at, int32_t step) {
    *operand = (struct operand){.at = at, .step = {step}, .extent = {UINT32_MAX}, .dimensions = 1};
}

/* Returns how far one round of dimension `k` after another is, in bytes: a walk is linear in its rounds. */
static int64_t advance_of(const struct operand *operand, uint32_t k) {
    int64_t back = 0;
    for (uint32_t faster = 0; faster < k; faster++) {
        back += (operand->extent[faster] - 1) * advance_of(operand, faster);
    }
    return back + operand->step[k];
}

void operand_skip(struct operand *operand, uint64_t count) {
    uint64_t carry = count;
    int64_t offset = 0;
    for (uint32_t k = 0; k < operand->dimensions; k++) {
        uint64_t rounds = operand->done[k] + carry;
        bool last = k == operand->dimensions - 1;
        uint32_t done = (uint32_t)(rounds % operand->extent[k]);
        offset += ((last ? (int64_t)rounds : (int64_t)done) - (int64_t)operand->done[k]) * advance_of(operand, k);
        operand->done[k] = done;
        carry = rounds / operand->extent[k];
    }
    operand->at += offset;
}

void walk_reach(uint32_t size, uint32_t dimensions, const uint16_t *extents, const int16_t *strides, int64_t *lowest,
                int64_t *highest) {
    int64_t end = 0; /* the last element visited so far */
    *lowest = *highest = 0;
    for (uint32_t k = 0; k < dimensions; k++) {
        uint32_t extent = extents[dimensions - 1 - k];
        int64_t reach = (int64_t)(extent - 1) * (end + strides[k] * (int64_t)size);
        *(reach < 0 ? lowest : highest) += reach;
        end += reach;
    }
}

/* Moves an operand on by elements that do not go beyond its run of the fastest dimension. */
static void go_on(struct operand *operand, uint32_t count) {
    operand->at += (ptrdiff_t)count * operand->step[0];
    operand->done[0] += count;
    for (uint32_t k = 0; operand->done[k] == operand->extent[k]; k++) {
        operand->done[k] = 0;
        if (k == operand->dimensions - 1) {
            break;
        }
        operand->at += operand->step[k + 1] - operand->step[k];
        operand->done[k + 1]++;
    }
}

/* Lines: elements that a kernel can take at one step each */

enum { STAGED = 64 };

/* Returns true if the bytes of a source are apart from those of the destination, or the same ones element for element. */
static inline bool is_independent(const struct kernel *kernel, uint8_t *const *at, const ptrdiff_t *steps, uint32_t source,
                                  uint32_t count) {
    ptrdiff_t to_reach = steps[0] * (ptrdiff_t)(count - 1), reach = steps[source] * (ptrdiff_t)(count - 1);
    const uint8_t *to_low = at[0] + (to_reach < 0 ? to_reach : 0), *low = at[source] + (reach < 0 ? reach : 0);
    ptrdiff_t behind = low - to_low;
    return behind >= (to_reach < 0 ? -to_reach : to_reach) + kernel->size[0] ||
           -behind >= (reach < 0 ? -reach : reach) + kernel->size[source] ||
           (at[0] == at[source] && steps[0] == steps[source] && kernel->size[0] == kernel->size[source]);
}

static void copy(uint8_t *to, ptrdiff_t to_step, const uint8_t *from, ptrdiff_t from_step, uint8_t size, uint32_t count) {
    if (size == 2) {
        for (ptrdiff_t k = 0; k < (ptrdiff_t)count; k++) {
            memcpy(to + k * to_step, from + k * from_step, 2);
        }
    } else {
        for (ptrdiff_t k = 0; k < (ptrdiff_t)count; k++) {
            memcpy(to + k * to_step, from + k * from_step, 4);
        }
    }
}

/* Computes lines that are not all side by side: those that are not go through copies that are. */
static void apply_staged(const struct kernel *kernel, uint8_t *const *lines, const ptrdiff_t *steps, uint32_t count) {
    uint32_t copies[1 + MAX_SOURCES][STAGED];
    for (uint32_t done = 0; done < count; done += STAGED) {
        uint32_t part = count - done < STAGED ? count - done : STAGED;
        uint8_t *from[1 + MAX_SOURCES], *at[1 + MAX_SOURCES];
        ptrdiff_t step[1 + MAX_SOURCES];
        for (uint32_t place = 0; place <= kernel->sources; place++) {
            uint8_t size = kernel->size[place];
            bool staged = steps[place] != size && !(place && steps[place] == 0);
            from[place] = lines[place] + (ptrdiff_t)done * steps[place];
            at[place] = staged ? (uint8_t *)copies[place] : from[place];
            step[place] = staged ? size : steps[place];
            if (staged && place) {
                copy(at[place], size, from[place], steps[place], size, part);
            }
        }
        kernel->row(at, step, part);
        if (at[0] != from[0]) {
            copy(from[0], steps[0], at[0], kernel->size[0], kernel->size[0], part);
        }
    }
}

void kernel_apply_lines(const struct kernel *kernel, uint8_t *const *at, const ptrdiff_t *steps, uint32_t count) {
    bool independent = count > 2 && steps[0] != 0, side_by_side = steps[0] == kernel->size[0];
    bool in_pairs = kernel->pairs && steps[0] == 2 * kernel->size[0];
    for (uint32_t source = 1; source <= kernel->sources && independent; source++) {
        ptrdiff_t step = steps[source];
        independent = is_independent(kernel, at, steps, source, count);
        side_by_side = side_by_side && (step == kernel->size[source] || step == 0);
        in_pairs = in_pairs && (step == 2 * kernel->size[source] || step == 0);
    }
    if (!independent) {
        kernel->walk(at, steps, count);
    } else if (side_by_side) {
        kernel->row(at, steps, count);
    } else if (in_pairs) {
        kernel->pairs(at, steps, count);
    } else if (kernel->is_staged) {
        apply_staged(kernel, at, steps, count);
    } else {
        kernel->walk(at, steps, count);
    }
}

void kernel_apply(const struct kernel *kernel, struct operand *operands, uint32_t count) {
    if (apply_boxes(kernel, operands, count)) {
        return;
    }
    while (count) {
        uint32_t part = count;
        uint8_t *at[1 + MAX_SOURCES];
        ptrdiff_t steps[1 + MAX_SOURCES];
        for (uint32_t place = 0; place <= kernel->sources; place++) {
            struct operand *operand = &operands[place];
            uint32_t left = operand->extent[0] - operand->done[0];
            part = part < left ? part : left;
            at[place] = operand->at;
            steps[place] = operand->step[0];
        }
        assert(part > 0);
        kernel_apply_lines(kernel, at, steps, part);
        for (uint32_t place = 0; place <= kernel->sources; place++) {
            go_on(&operands[place], part);
        }
        count -= part;
    }
}

/* Kernels */

extern const struct kernel kernels_of_baseline[], kernels_of_avx2[];
extern sum_function *const sums_of_baseline[], *const sums_of_avx2[];

#if defined(__x86_64__)

/* Returns true if the processor has AVX2 and F16C, and the system saves their registers. */
static bool has_avx2(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (bit_OSXSAVE | bit_AVX | bit_F16C)) != (bit_OSXSAVE | bit_AVX | bit_F16C)) {
        return false;
    }
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
}

const struct kernel *loom_kernels(void) { return has_avx2() ? kernels_of_avx2 : kernels_of_baseline; }
sum_function *const *loom_sums(void) { return has_avx2() ? sums_of_avx2 : sums_of_baseline; }

#else

const struct kernel *loom_kernels(void) { return kernels_of_baseline; }
sum_function *const *loom_sums(void) { return sums_of_baseline; }

#endif

const struct kernel *loom_baseline_kernels(void) { return kernels_of_baseline; }
sum_function *const *loom_baseline_sums(void) { return sums_of_baseline; }

const struct kernel *kernel_of(const struct kernel *kernels, uint32_t row, uint32_t format) {
    if (row >= DSD_ROWS || format >= DSD_FORMATS) {
        return NULL;
    }
    const struct kernel *kernel = &kernels[format * DSD_ROWS + row];
    kernel = kernel->walk ? kernel : &kernels[row];
    return kernel->walk ? kernel : NULL;
}
