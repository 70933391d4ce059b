/* Kernels of the DSD table, compiled for each set of instructions that VARIANT names.
 *
 * Every kernel has two loops. The row goes over elements side by side and is made into vectors, by the compiler or, for
 * f16 where the processor converts it, here. The walk takes any steps, one element after the other. Most have a third one,
 * of pairs, which computes every second element of a row: vectors have the elements between too, which keep what they have.
 */
#include "kernels.h"

#include "floats.h"
#include "kernel_table.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define STEPWISE _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#define STEPWISE _Pragma("GCC unroll 1")
#endif

/* Kinds of elements */

typedef uint16_t element_i16;
typedef uint32_t element_i32;
typedef uint32_t element_f32;
typedef uint16_t element_f16;
typedef uint16_t element_bf16;
typedef uint16_t element_cb16;

/* An element of 32 bits may be at an odd word. */
#define ELEMENT(K)                                                                                                     \
    static inline element_##K load_##K(const uint8_t *at) {                                                            \
        element_##K bits;                                                                                              \
        memcpy(&bits, at, sizeof bits);                                                                                \
        return bits;                                                                                                   \
    }                                                                                                                  \
    static inline void store_##K(uint8_t *at, element_##K bits) { memcpy(at, &bits, sizeof bits); }

ELEMENT(i16)
ELEMENT(i32)
ELEMENT(f32)
ELEMENT(f16)
ELEMENT(bf16)
ELEMENT(cb16)

static inline float value_i16(uint16_t bits) { return (float)(int16_t)bits; }

#define SIZE(K) ((ptrdiff_t)sizeof(element_##K))
#define SIGN(K) ((element_##K)1 << (8 * SIZE(K) - 1))

/* What is computed of one element: of kind D from kinds A, B and C. Words are unsigned and wrap. */

#define compute_move(D, A, a) (a)
#define compute_add(D, A, B, a, b) (element_##D)((a) + (b))
#define compute_subtract(D, A, B, a, b) (element_##D)((a) - (b))
#define compute_and(D, A, B, a, b) (element_##D)((a) & (b))
#define compute_or(D, A, B, a, b) (element_##D)((a) | (b))
#define compute_xor(D, A, B, a, b) (element_##D)((a) ^ (b))
#define compute_shift_left(D, A, B, a, b) (element_##D)((b) > 15 ? 0 : (uint32_t)(a) << ((b) & 15))
#define compute_shift_right_logical(D, A, B, a, b) (element_##D)((b) > 15 ? 0 : (a) >> ((b) & 15))
#define compute_shift_right_arithmetic(D, A, B, a, b) (element_##D)((int16_t)(a) >> ((b) > 15 ? 15 : (b)))
#define compute_count_leading_zeros(D, A, a) (element_##D)((a) == 0 ? 16 : __builtin_clz(a) - 16)
#define compute_count_trailing_zeros(D, A, a) (element_##D)((a) == 0 ? 16 : __builtin_ctz(a))
#define compute_population_count(D, A, a) (element_##D) __builtin_popcount(a)
#define compute_add_floats(D, A, B, a, b) bits_##D(value_##A(a) + value_##B(b))
#define compute_subtract_floats(D, A, B, a, b) bits_##D(value_##A(a) - value_##B(b))
#define compute_multiply(D, A, B, a, b) bits_##D(value_##A(a) * value_##B(b))
#define compute_maximum(D, A, B, a, b) (value_##B(b) > value_##A(a) || value_##A(a) != value_##A(a) ? (b) : (a))
#define compute_absolute(D, A, a) (element_##D)((a) & (SIGN(D) - 1))
#define compute_negate(D, A, a) (element_##D)((a) ^ SIGN(D))
#define compute_convert(D, A, a) bits_##D(value_##A(a))
#define compute_convert_to_integer(D, A, a) nearest_word(value_##A(a))
#define compute_normalize(D, A, a) narrow_##D(significand((double)value_##A(a)))
#define compute_scale(D, A, B, a, b) narrow_##D(ldexp((double)value_##A(a), limited((int16_t)(b))))
/* The product is rounded before it is added; one of two 16-bit floats is exact in f32. */
#define compute_multiply_add(D, A, B, C, a, b, c)                                                                      \
    bits_##D(value_##A(a) + value_##D(bits_##D(value_##B(b) * value_##C(c))))

/* Returns the nearest word, to even on a tie, saturated; 0 for a NaN. Adding 1.5 * 2^23 leaves no bits of a fraction. */
static inline uint16_t nearest_word(float value) {
    value = value > 32767 ? 32767 : value;
    value = value < -32768 ? -32768 : value;
    value = value != value ? 0 : value;
    return (uint16_t)(bits_f32(value + 0x1.8p23f) - 0x4B400000);
}

/* Returns an exponent beyond which every number is 0 or infinite. */
static inline int limited(int16_t exponent) { return exponent < -400 ? -400 : exponent > 400 ? 400 : exponent; }

/* Returns a number divided by the power of two that leaves at least 1 and less than 2 of it; 0, infinities and NaNs as they
 * are. */
static inline double significand(double value) {
    int exponent;
    return value == 0 || !isfinite(value) ? value : 2 * frexp(value, &exponent);
}

/* Loops. `at` and `steps` are those of run_function. */

#define JOIN(a, b, c) a##_##b##_##c
#define NAME_(kind, number, variant) JOIN(kind, number, variant)
#define NAME(kind, number) NAME_(kind, number, VARIANT)
#define FUNCTION(kind, number)                                                                                         \
    static void NAME(kind, number)(uint8_t *const *at, const ptrdiff_t *steps, uint32_t count)

#define LOAD(K, place) load_##K(at[place] + k * steps[place])
#define SIDE_BY_SIDE(K, place) load_##K(source##place + k * SIZE(K))
#define EACH for (ptrdiff_t k = 0; k < (ptrdiff_t)count; k++)

#define WALK1(number, compute, D, A)                                                                                   \
    FUNCTION(walk, number) { EACH store_##D(at[0] + k * steps[0], compute_##compute(D, A, LOAD(A, 1))); }
#define WALK2(number, compute, D, A, B)                                                                                \
    FUNCTION(walk, number) {                                                                                           \
        EACH {                                                                                                         \
            element_##A a = LOAD(A, 1);                                                                                \
            element_##B b = LOAD(B, 2);                                                                                \
            store_##D(at[0] + k * steps[0], compute_##compute(D, A, B, a, b));                                         \
        }                                                                                                              \
    }
#define WALK3(number, compute, D, A, B, C)                                                                             \
    FUNCTION(walk, number) {                                                                                           \
        EACH {                                                                                                         \
            element_##A a = LOAD(A, 1);                                                                                \
            element_##B b = LOAD(B, 2);                                                                                \
            element_##C c = LOAD(C, 3);                                                                                \
            store_##D(at[0] + k * steps[0], compute_##compute(D, A, B, C, a, b, c));                                   \
        }                                                                                                              \
    }

/* The rows. A source is side by side or, with step 0, a scalar; the loop is there for each choice that occurs. */

#define ROW(D, value) INDEPENDENT EACH store_##D(destination + k * SIZE(D), value);

#define ROW1(number, compute, D, A)                                                                                    \
    FUNCTION(row, number) {                                                                                            \
        uint8_t *destination = at[0];                                                                                  \
        const uint8_t *source1 = at[1];                                                                                \
        if (steps[1] == 0) {                                                                                           \
            element_##A a = load_##A(source1);                                                                         \
            element_##D result = compute_##compute(D, A, a);                                                           \
            ROW(D, result)                                                                                             \
        } else {                                                                                                       \
            INDEPENDENT EACH {                                                                                         \
                element_##A a = SIDE_BY_SIDE(A, 1);                                                                    \
                store_##D(destination + k * SIZE(D), compute_##compute(D, A, a));                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
#define ROW2(number, compute, D, A, B)                                                                                 \
    FUNCTION(row, number) {                                                                                            \
        uint8_t *destination = at[0];                                                                                  \
        const uint8_t *source1 = at[1], *source2 = at[2];                                                              \
        if (steps[1] == 0) {                                                                                           \
            element_##A a = load_##A(source1);                                                                         \
            if (steps[2] == 0) {                                                                                       \
                element_##B b = load_##B(source2);                                                                     \
                element_##D result = compute_##compute(D, A, B, a, b);                                                 \
                ROW(D, result)                                                                                         \
                return;                                                                                                \
            }                                                                                                          \
            INDEPENDENT EACH {                                                                                         \
                element_##B b = SIDE_BY_SIDE(B, 2);                                                                    \
                store_##D(destination + k * SIZE(D), compute_##compute(D, A, B, a, b));                                \
            }                                                                                                          \
        } else if (steps[2] == 0) {                                                                                    \
            element_##B b = load_##B(source2);                                                                         \
            INDEPENDENT EACH {                                                                                         \
                element_##A a = SIDE_BY_SIDE(A, 1);                                                                    \
                store_##D(destination + k * SIZE(D), compute_##compute(D, A, B, a, b));                                \
            }                                                                                                          \
        } else {                                                                                                       \
            INDEPENDENT EACH {                                                                                         \
                element_##A a = SIDE_BY_SIDE(A, 1);                                                                    \
                element_##B b = SIDE_BY_SIDE(B, 2);                                                                    \
                store_##D(destination + k * SIZE(D), compute_##compute(D, A, B, a, b));                                \
            }                                                                                                          \
        }                                                                                                              \
    }
/* The last source of three is a scalar (DSD table); with any other choice the walk does it. */
#define ROW3(number, compute, D, A, B, C)                                                                              \
    FUNCTION(row, number) {                                                                                            \
        if (steps[1] == 0 || steps[2] == 0 || steps[3] != 0) {                                                         \
            NAME(walk, number)(at, steps, count);                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
        uint8_t *destination = at[0];                                                                                  \
        const uint8_t *source1 = at[1], *source2 = at[2];                                                              \
        element_##C c = load_##C(at[3]);                                                                               \
        INDEPENDENT EACH {                                                                                             \
            element_##A a = SIDE_BY_SIDE(A, 1);                                                                        \
            element_##B b = SIDE_BY_SIDE(B, 2);                                                                        \
            store_##D(destination + k * SIZE(D), compute_##compute(D, A, B, C, a, b, c));                              \
        }                                                                                                              \
    }

/* The pairs. The first source is not a scalar, nor is the second of three; with any other choice the walk does it. Blocks are
 * computed whole, and the elements between keep what they have. What does not fill a block ends with the last element: no
 * byte behind that is touched. */

enum { BLOCK = 32 }; /* bytes of the destination */

#define BLOCKS(size, ...)                                                                                              \
    typedef uint##size##_t block##size __attribute__((vector_size(BLOCK)));                                            \
    static inline void store_block##size(uint8_t *at, const uint##size##_t *computed) {                                \
        const block##size evens = {__VA_ARGS__};                                                                       \
        block##size between, block;                                                                                    \
        memcpy(&between, at, sizeof between);                                                                          \
        memcpy(&block, computed, sizeof block);                                                                        \
        block = (block & evens) | (between & ~evens);                                                                  \
        memcpy(at, &block, sizeof block);                                                                              \
    }

#define EVEN16 UINT16_MAX, 0
#define EVEN32 UINT32_MAX, 0
BLOCKS(16, EVEN16, EVEN16, EVEN16, EVEN16, EVEN16, EVEN16, EVEN16, EVEN16)
BLOCKS(32, EVEN32, EVEN32, EVEN32, EVEN32)

#define store_block_i16 store_block16
#define store_block_f16 store_block16
#define store_block_bf16 store_block16
#define store_block_cb16 store_block16
#define store_block_i32 store_block32
#define store_block_f32 store_block32

#define PAIRS(D, LOADS, value)                                                                                         \
    const uint32_t in_block = BLOCK / SIZE(D), elements = 2 * count - 1, blocks = elements / in_block;                 \
    ptrdiff_t k = 0;                                                                                                   \
    for (uint32_t done = 0; done < blocks; done++) {                                                                   \
        element_##D block[BLOCK / SIZE(D)];                                                                            \
        for (uint32_t place = 0; place < in_block; place++, k++) {                                                     \
            LOADS                                                                                                      \
            block[place] = value;                                                                                      \
        }                                                                                                              \
        store_block_##D(destination + (k - in_block) * SIZE(D), block);                                                \
    }                                                                                                                  \
    STEPWISE for (; k < (ptrdiff_t)elements; k += 2) {                                                                 \
        LOADS                                                                                                          \
        store_##D(destination + k * SIZE(D), value);                                                                   \
    }

#define LOADS1(A) element_##A a = SIDE_BY_SIDE(A, 1);
#define LOADS2(A, B)                                                                                                   \
    element_##A a = SIDE_BY_SIDE(A, 1);                                                                                \
    element_##B b = SIDE_BY_SIDE(B, 2);

#define PAIRS1(number, compute, D, A)                                                                                  \
    FUNCTION(pairs, number) {                                                                                          \
        if (steps[1] == 0) {                                                                                           \
            NAME(walk, number)(at, steps, count);                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
        uint8_t *destination = at[0];                                                                                  \
        const uint8_t *source1 = at[1];                                                                                \
        PAIRS(D, LOADS1(A), compute_##compute(D, A, a))                                                                \
    }
#define PAIRS2(number, compute, D, A, B)                                                                               \
    FUNCTION(pairs, number) {                                                                                          \
        if (steps[1] == 0) {                                                                                           \
            NAME(walk, number)(at, steps, count);                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
        uint8_t *destination = at[0];                                                                                  \
        const uint8_t *source1 = at[1], *source2 = at[2];                                                              \
        if (steps[2] == 0) {                                                                                           \
            element_##B b = load_##B(source2);                                                                         \
            PAIRS(D, LOADS1(A), compute_##compute(D, A, B, a, b))                                                      \
        } else {                                                                                                       \
            PAIRS(D, LOADS2(A, B), compute_##compute(D, A, B, a, b))                                                   \
        }                                                                                                              \
    }
#define PAIRS3(number, compute, D, A, B, C)                                                                            \
    FUNCTION(pairs, number) {                                                                                          \
        if (steps[1] == 0 || steps[2] == 0 || steps[3] != 0) {                                                         \
            NAME(walk, number)(at, steps, count);                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
        uint8_t *destination = at[0];                                                                                  \
        const uint8_t *source1 = at[1], *source2 = at[2];                                                              \
        element_##C c = load_##C(at[3]);                                                                               \
        PAIRS(D, LOADS2(A, B), compute_##compute(D, A, B, C, a, b, c))                                                 \
    }

#define KERNEL1(...) WALK1(__VA_ARGS__) ROW1(__VA_ARGS__)
#define KERNEL2(...) WALK2(__VA_ARGS__) ROW2(__VA_ARGS__)
#define KERNEL3(...) WALK3(__VA_ARGS__) ROW3(__VA_ARGS__)
#define PAIRED1(...) KERNEL1(__VA_ARGS__) PAIRS1(__VA_ARGS__)
#define PAIRED2(...) KERNEL2(__VA_ARGS__) PAIRS2(__VA_ARGS__)
#define PAIRED3(...) KERNEL3(__VA_ARGS__) PAIRS3(__VA_ARGS__)
#define MOVE1 PAIRED1

#if defined(__F16C__)

/* Rows of f16 and f32, eight elements at a time. A last part of fewer goes through a copy of eight. */

enum { LANES = 8 };

static inline __m256 lanes_f32(const uint8_t *at) { return _mm256_loadu_ps((const float *)(const void *)at); }
static inline __m256 lanes_f16(const uint8_t *at) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)at));
}
static inline void put_lanes_f32(uint8_t *at, __m256 values) { _mm256_storeu_ps((float *)(void *)at, values); }
static inline void put_lanes_f16(uint8_t *at, __m256 values) {
    _mm_storeu_si128((__m128i *)(void *)at, _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
}
static inline __m256 rounded_f32(__m256 values) { return values; }
static inline __m256 rounded_f16(__m256 values) {
    return _mm256_cvtph_ps(_mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
}

#define lanes_convert(D, a, b, c) (a)
#define lanes_add_floats(D, a, b, c) _mm256_add_ps(a, b)
#define lanes_subtract_floats(D, a, b, c) _mm256_sub_ps(a, b)
#define lanes_multiply(D, a, b, c) _mm256_mul_ps(a, b)
#define lanes_multiply_add(D, a, b, c) _mm256_add_ps(a, rounded_##D(_mm256_mul_ps(b, c)))

#define FETCH(K, place) (steps[place] ? lanes_##K(at[place] + k * SIZE(K)) : scalar##place)
#define FETCH_LAST(K, place)                                                                                           \
    if (steps[place]) {                                                                                                \
        memcpy(last, at[place] + k * SIZE(K), rest * sizeof(element_##K));                                             \
        scalar##place = lanes_##K(last);                                                                               \
    }

#define LANES_ROW(number, compute, sources, D, A, B, C)                                                                \
    FUNCTION(row, number) {                                                                                            \
        __m256 scalar1 = _mm256_set1_ps(value_##A(load_##A(at[1])));                                                   \
        __m256 scalar2 = _mm256_set1_ps(sources > 1 ? value_##B(load_##B(at[sources > 1 ? 2 : 1])) : 0);               \
        __m256 scalar3 = _mm256_set1_ps(sources > 2 ? value_##C(load_##C(at[sources > 2 ? 3 : 1])) : 0);               \
        ptrdiff_t k = 0;                                                                                               \
        for (; k + LANES <= (ptrdiff_t)count; k += LANES) {                                                            \
            __m256 a = FETCH(A, 1);                                                                                    \
            __m256 b = sources > 1 ? FETCH(B, 2) : scalar2;                                                            \
            __m256 c = sources > 2 ? FETCH(C, 3) : scalar3;                                                            \
            (void)b, (void)c;                                                                                          \
            put_lanes_##D(at[0] + k * SIZE(D), lanes_##compute(D, a, b, c));                                           \
        }                                                                                                              \
        size_t rest = count - (size_t)k;                                                                               \
        if (rest) {                                                                                                    \
            uint8_t last[LANES * sizeof(float)] = {0};                                                                 \
            FETCH_LAST(A, 1)                                                                                           \
            if (sources > 1) {                                                                                         \
                FETCH_LAST(B, 2)                                                                                       \
            }                                                                                                          \
            if (sources > 2) {                                                                                         \
                FETCH_LAST(C, 3)                                                                                       \
            }                                                                                                          \
            put_lanes_##D(last, lanes_##compute(D, scalar1, scalar2, scalar3));                                        \
            memcpy(at[0] + k * SIZE(D), last, rest * sizeof(element_##D));                                             \
        }                                                                                                              \
    }

#define HALF1(number, compute, D, A) WALK1(number, compute, D, A) LANES_ROW(number, compute, 1, D, A, A, A)
#define HALF2(number, compute, D, A, B) WALK2(number, compute, D, A, B) LANES_ROW(number, compute, 2, D, A, B, A)
#define HALF3(number, compute, D, A, B, C)                                                                             \
    WALK3(number, compute, D, A, B, C) LANES_ROW(number, compute, 3, D, A, B, C)

#else

#define HALF1 KERNEL1
#define HALF2 KERNEL2
#define HALF3 KERNEL3

#endif

/* Sums of words in which each gets the carry of the one before. The last operand has the carry, and keeps that of the last
 * sum: an operation may be computed in parts. */
#define CARRY2(number, compute, D, A, B)                                                                               \
    FUNCTION(walk, number) {                                                                                           \
        uint32_t sum = (uint32_t)load_i16(at[3]) << 16;                                                                \
        EACH {                                                                                                         \
            sum = (sum >> 16) + LOAD(A, 1) + LOAD(B, 2);                                                               \
            store_##D(at[0] + k * steps[0], (element_##D)sum);                                                         \
        }                                                                                                              \
        store_i16(at[3], (uint16_t)(sum >> 16));                                                                       \
    }

KERNELS(KERNEL1, KERNEL2, KERNEL3, PAIRED1, PAIRED2, PAIRED3, HALF1, HALF2, HALF3, MOVE1, CARRY2)

#define ENTRY(number, compute, count, ...)                                                                             \
    [number] = {.computes = compute, .row = NAME(row, number), .walk = NAME(walk, number), .sources = count, __VA_ARGS__},
#define PAIRS_OF(number) .pairs = NAME(pairs, number)
#define ENTRY1(number, compute, D, A) ENTRY(number, #compute, 1, .size = {SIZE(D), SIZE(A)})
#define ENTRY2(number, compute, D, A, B) ENTRY(number, #compute, 2, .size = {SIZE(D), SIZE(A), SIZE(B)})
#define ENTRY3(number, compute, D, A, B, C) ENTRY(number, #compute, 3, .size = {SIZE(D), SIZE(A), SIZE(B), SIZE(C)})
#define PAIRED_ENTRY1(number, compute, D, A) ENTRY(number, #compute, 1, PAIRS_OF(number), .size = {SIZE(D), SIZE(A)})
#define PAIRED_ENTRY2(number, compute, D, A, B)                                                                        \
    ENTRY(number, #compute, 2, PAIRS_OF(number), .size = {SIZE(D), SIZE(A), SIZE(B)})
#define PAIRED_ENTRY3(number, compute, D, A, B, C)                                                                     \
    ENTRY(number, #compute, 3, PAIRS_OF(number), .size = {SIZE(D), SIZE(A), SIZE(B), SIZE(C)})
#define HALF_ENTRY1(number, compute, D, A) ENTRY(number, #compute, 1, .is_staged = true, .size = {SIZE(D), SIZE(A)})
#define HALF_ENTRY2(number, compute, D, A, B)                                                                          \
    ENTRY(number, #compute, 2, .is_staged = true, .size = {SIZE(D), SIZE(A), SIZE(B)})
#define HALF_ENTRY3(number, compute, D, A, B, C)                                                                       \
    ENTRY(number, #compute, 3, .is_staged = true, .size = {SIZE(D), SIZE(A), SIZE(B), SIZE(C)})
#define MOVE_ENTRY1(number, compute, D, A)                                                                             \
    ENTRY(number, #compute, 1, PAIRS_OF(number), .is_move = true, .size = {SIZE(D), SIZE(A)})
#define CARRY_ENTRY2(number, compute, D, A, B)                                                                         \
    [number] = {.computes = #compute, .row = NAME(walk, number), .walk = NAME(walk, number), .sources = 3,             \
                .size = {SIZE(D), SIZE(A), SIZE(B), SIZE(i16)}},

const struct kernel NAME(kernels, of)[DSD_FORMATS * DSD_ROWS] = {
    KERNELS(ENTRY1, ENTRY2, ENTRY3, PAIRED_ENTRY1, PAIRED_ENTRY2, PAIRED_ENTRY3, HALF_ENTRY1, HALF_ENTRY2, HALF_ENTRY3, MOVE_ENTRY1, CARRY_ENTRY2)
};

/* Sums of vectors */

#define VECTOR(n)                                                                                                      \
    const uint8_t *vector##n = vectors[n];                                                                             \
    const element_f32 factor##n = factors[n];
#define VECTORS1 VECTOR(0)
#define VECTORS2 VECTORS1 VECTOR(1)
#define VECTORS3 VECTORS2 VECTOR(2)
#define VECTORS4 VECTORS3 VECTOR(3)
#define VECTORS5 VECTORS4 VECTOR(4)
#define VECTORS6 VECTORS5 VECTOR(5)
#define VECTORS7 VECTORS6 VECTOR(6)
#define VECTORS8 VECTORS7 VECTOR(7)

#define ADDEND(n) sum = compute_multiply_add(f32, f32, f32, f32, sum, load_f32(vector##n + 4 * k), factor##n);
#define BEHIND1
#define BEHIND2 ADDEND(1)
#define BEHIND3 BEHIND2 ADDEND(2)
#define BEHIND4 BEHIND3 ADDEND(3)
#define BEHIND5 BEHIND4 ADDEND(4)
#define BEHIND6 BEHIND5 ADDEND(5)
#define BEHIND7 BEHIND6 ADDEND(6)
#define BEHIND8 BEHIND7 ADDEND(7)

#define SUM(n)                                                                                                         \
    static void NAME(sum, n)(uint8_t *to, const uint8_t *base, const uint8_t *const *vectors, const uint32_t *factors, \
                             uint32_t count) {                                                                         \
        VECTORS##n                                                                                                     \
        if (base == NULL) {                                                                                            \
            INDEPENDENT EACH {                                                                                         \
                element_f32 sum = compute_multiply(f32, f32, f32, load_f32(vector0 + 4 * k), factor0);                 \
                BEHIND##n                                                                                              \
                store_f32(to + 4 * k, sum);                                                                            \
            }                                                                                                          \
        } else {                                                                                                       \
            INDEPENDENT EACH {                                                                                         \
                element_f32 sum = load_f32(base + 4 * k);                                                              \
                ADDEND(0)                                                                                              \
                BEHIND##n                                                                                              \
                store_f32(to + 4 * k, sum);                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }

SUM(1) SUM(2) SUM(3) SUM(4) SUM(5) SUM(6) SUM(7) SUM(8)

sum_function *const NAME(sums, of)[MAX_ADDENDS] = {
    NAME(sum, 1), NAME(sum, 2), NAME(sum, 3), NAME(sum, 4), NAME(sum, 5), NAME(sum, 6), NAME(sum, 7), NAME(sum, 8),
};
