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

/* Walks of several dimensions, whose runs are short: their elements are copied side by side first. */

enum { SHORT_RUN = 32 };

/* Stores the lowest and highest byte of the next `count` elements of an operand that is at its start, and returns whether
 * it visits no byte twice, as far as its steps show. */
static bool find_reach(const struct operand *operand, uint8_t size, uint32_t count, uintptr_t *lowest, uintptr_t *behind) {
    int64_t low = 0, high = 0, end = 0, span = size, rounds = count;
    bool is_injective = true;
    for (uint32_t k = 0; k < operand->dimensions; k++) {
        int64_t extent = rounds < operand->extent[k] ? rounds : operand->extent[k];
        int64_t advance = end + operand->step[k], reach = (extent - 1) * advance, width = reach < 0 ? -reach : reach;
        is_injective &= extent == 1 || (advance < 0 ? -advance : advance) >= span;
        *(reach < 0 ? &low : &high) += reach;
        end += reach;
        span += width;
        rounds = (rounds + operand->extent[k] - 1) / operand->extent[k];
    }
    *lowest = (uintptr_t)(operand->at + low);
    *behind = (uintptr_t)(operand->at + high) + size;
    return is_injective;
}

static bool is_same_walk(const struct operand *a, const struct operand *b) {
    if (a->at != b->at || a->dimensions != b->dimensions) {
        return false;
    }
    for (uint32_t k = 0; k < a->dimensions; k++) {
        if (a->step[k] != b->step[k] || a->extent[k] != b->extent[k]) {
            return false;
        }
    }
    return true;
}

/* Returns whether operands at their start have short runs, and no element depends on one before it. */
static bool gathers(const struct kernel *kernel, const struct operand *operands, uint32_t count) {
    bool is_short = false;
    for (uint32_t place = 0; place <= kernel->sources; place++) {
        const struct operand *operand = &operands[place];
        is_short |= operand->extent[0] < SHORT_RUN && operand->extent[0] < count;
        for (uint32_t k = 0; k < operand->dimensions; k++) {
            if (operand->done[k] != 0) {
                return false;
            }
        }
    }
    if (!is_short) {
        return false;
    }
    uintptr_t low, behind, lowest, highest;
    bool is_injective = find_reach(&operands[0], kernel->size[0], count, &lowest, &highest);
    for (uint32_t source = 1; source <= kernel->sources; source++) {
        const struct operand *operand = &operands[source];
        find_reach(operand, kernel->size[source], count, &low, &behind);
        if (behind > lowest && highest > low &&
            !(is_injective && kernel->size[source] == kernel->size[0] && is_same_walk(operand, &operands[0]))) {
            return false;
        }
    }
    return true;
}

/* Copies runs of elements side by side, `to_step` and `from_step` bytes apart; most are of few bytes. */
static void copy_runs(uint8_t *to, ptrdiff_t to_step, const uint8_t *from, ptrdiff_t from_step, size_t bytes,
                      uint32_t runs) {
#define RUNS(bytes)                                                                                                    \
    for (uint32_t k = 0; k < runs; k++, to += to_step, from += from_step) {                                            \
        memcpy(to, from, bytes);                                                                                       \
    }
    switch (bytes) {
    case 8: RUNS(8) break;
    case 16: RUNS(16) break;
    case 32: RUNS(32) break;
    default: RUNS(bytes) break;
    }
#undef RUNS
}

/* Copies the next `count` elements of an operand to where they are side by side, or back, and moves it on. */
static void gather(struct operand *operand, uint8_t *beside, uint8_t size, uint32_t count, bool is_back) {
    int32_t step = operand->step[0];
    uint32_t left = operand->extent[0] - operand->done[0];
    while (count) {
        uint32_t part = left < count ? left : count;
        if (step == size) {
            /* Runs of the second dimension are equally far apart. */
            uint32_t runs = 1;
            ptrdiff_t bytes = (ptrdiff_t)part * size, apart = 0;
            if (part == operand->extent[0] && operand->dimensions > 1) {
                uint32_t whole = count / part, more = operand->extent[1] - operand->done[1];
                runs = whole < more ? whole : more;
                apart = bytes - step + operand->step[1];
            }
            copy_runs(is_back ? operand->at : beside, is_back ? apart : bytes, is_back ? beside : operand->at,
                      is_back ? bytes : apart, (size_t)bytes, runs);
            operand->at += (ptrdiff_t)(runs - 1) * apart;
            if (runs > 1) {
                operand->done[1] += runs - 1;
            }
            beside += (ptrdiff_t)(runs - 1) * bytes;
            count -= (runs - 1) * part;
        } else if (is_back) {
            copy(operand->at, step, beside, size, size, part);
        } else {
            copy(beside, size, operand->at, step, size, part);
        }
        go_on(operand, part);
        beside += part * size;
        count -= part;
        left = operand->extent[0] - operand->done[0];
    }
}

static void apply_gathered(const struct kernel *kernel, struct operand *operands, uint32_t count) {
    uint32_t copies[1 + MAX_SOURCES][STAGED];
    while (count) {
        uint32_t part = count < STAGED ? count : STAGED;
        uint8_t *at[1 + MAX_SOURCES];
        ptrdiff_t step[1 + MAX_SOURCES];
        for (uint32_t place = 0; place <= kernel->sources; place++) {
            struct operand *operand = &operands[place];
            uint8_t size = kernel->size[place];
            bool is_run = operand->extent[0] >= part && operand->extent[0] - operand->done[0] >= part;
            step[place] = size;
            if (is_run && (operand->step[0] == size || (place && operand->step[0] == 0))) {
                at[place] = operand->at;
                step[place] = operand->step[0];
                go_on(operand, part);
                continue;
            }
            at[place] = (uint8_t *)copies[place];
            if (place) {
                gather(operand, at[place], size, part, false);
            }
        }
        kernel->row(at, step, part);
        if (at[0] == (uint8_t *)copies[0]) {
            gather(&operands[0], at[0], kernel->size[0], part, true);
        }
        count -= part;
    }
}

void kernel_apply(const struct kernel *kernel, struct operand *operands, uint32_t count) {
    if (gathers(kernel, operands, count)) {
        apply_gathered(kernel, operands, count);
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

#else

const struct kernel *loom_kernels(void) { return kernels_of_baseline; }

#endif

const struct kernel *loom_baseline_kernels(void) { return kernels_of_baseline; }

const struct kernel *kernel_of(const struct kernel *kernels, uint32_t row, uint32_t format) {
    if (row >= DSD_ROWS || format >= DSD_FORMATS) {
        return NULL;
    }
    const struct kernel *kernel = &kernels[format * DSD_ROWS + row];
    kernel = kernel->walk ? kernel : &kernels[row];
    return kernel->walk ? kernel : NULL;
}
