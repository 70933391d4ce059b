/* Scalar operations: a function for each row of scalar_table.h, named as the row.
 *
 * Integers of kind iN are intN_t (`index` is an int64_t), a truth value is a bool, floats are their bits: uint64_t for
 * f64, uint32_t for f32, uint16_t for f16, bf16 and cb16. Assigned to a register of type int64_t, a result is as registers hold it, and a
 * register passed as an argument is read at the width of the operand. Every function is total: a division by 0, which
 * check_divisor has to refuse before, is 0.
 *
 * operations/integers.py says what integers do. Floats are rounded to nearest even once for each operation; functions
 * of `math` are libm's in double, rounded once. The bits of a NaN that is computed are not defined.
 */
#ifndef LOOM_SCALAR_H
#define LOOM_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

#include "floats.h"

/* Integers */

#define INTEGER(K, T, U, BITS)                                                                                         \
    static inline T addi_##K(T a, T b) { return (T)((uint64_t)a + (uint64_t)b); }                                      \
    static inline T subi_##K(T a, T b) { return (T)((uint64_t)a - (uint64_t)b); }                                      \
    static inline T muli_##K(T a, T b) { return (T)((uint64_t)a * (uint64_t)b); }                                      \
    static inline T divsi_##K(T a, T b) { return (T)(b == 0 ? 0 : b == -1 ? (T)(0 - (uint64_t)a) : a / b); }           \
    static inline T remsi_##K(T a, T b) { return (T)(b == 0 || b == -1 ? 0 : a % b); }                                 \
    static inline T divui_##K(T a, T b) { return (T)(b == 0 ? 0 : (U)a / (U)b); }                                      \
    static inline T remui_##K(T a, T b) { return (T)(b == 0 ? 0 : (U)a % (U)b); }                                      \
    static inline T floordivsi_##K(T a, T b) {                                                                         \
        return (T)((uint64_t)divsi_##K(a, b) - (remsi_##K(a, b) != 0 && (a < 0) != (b < 0)));                          \
    }                                                                                                                  \
    static inline T ceildivsi_##K(T a, T b) {                                                                          \
        return (T)((uint64_t)divsi_##K(a, b) + (remsi_##K(a, b) != 0 && (a < 0) == (b < 0)));                          \
    }                                                                                                                  \
    static inline T ceildivui_##K(T a, T b) { return (T)((uint64_t)divui_##K(a, b) + (remui_##K(a, b) != 0)); }        \
    static inline T andi_##K(T a, T b) { return (T)(a & b); }                                                          \
    static inline T ori_##K(T a, T b) { return (T)(a | b); }                                                           \
    static inline T xori_##K(T a, T b) { return (T)(a ^ b); }                                                          \
    static inline T shli_##K(T a, T b) { return (T)((U)b >= BITS ? 0 : (uint64_t)a << (U)b); }                         \
    static inline T shrsi_##K(T a, T b) { return (T)(a >> ((U)b >= BITS ? BITS - 1 : (U)b)); }                         \
    static inline T shrui_##K(T a, T b) { return (T)((U)b >= BITS ? 0 : (U)a >> (U)b); }                               \
    static inline T minsi_##K(T a, T b) { return b < a ? b : a; }                                                      \
    static inline T maxsi_##K(T a, T b) { return b > a ? b : a; }                                                      \
    static inline T minui_##K(T a, T b) { return (U)b < (U)a ? b : a; }                                                \
    static inline T maxui_##K(T a, T b) { return (U)b > (U)a ? b : a; }                                                \
    static inline T absi_##K(T a) { return (T)(a < 0 ? 0 - (uint64_t)a : (uint64_t)a); }                               \
    static inline T ctpop_##K(T a) { return (T)__builtin_popcountll((U)a); }                                           \
    static inline T ctlz_##K(T a) { return (T)(a == 0 ? BITS : __builtin_clzll((U)a) - (64 - BITS)); }                 \
    static inline T cttz_##K(T a) { return (T)(a == 0 ? BITS : __builtin_ctzll((U)a)); }                               \
    COMPARISONS(K, T, T, U)

#define COMPARISONS(K, T, S, U)                                                                                        \
    static inline bool cmpi_eq_##K(T a, T b) { return a == b; }                                                        \
    static inline bool cmpi_ne_##K(T a, T b) { return a != b; }                                                        \
    static inline bool cmpi_slt_##K(T a, T b) { return (S)a < (S)b; }                                                  \
    static inline bool cmpi_sle_##K(T a, T b) { return (S)a <= (S)b; }                                                 \
    static inline bool cmpi_sgt_##K(T a, T b) { return (S)a > (S)b; }                                                  \
    static inline bool cmpi_sge_##K(T a, T b) { return (S)a >= (S)b; }                                                 \
    static inline bool cmpi_ult_##K(T a, T b) { return (U)a < (U)b; }                                                  \
    static inline bool cmpi_ule_##K(T a, T b) { return (U)a <= (U)b; }                                                 \
    static inline bool cmpi_ugt_##K(T a, T b) { return (U)a > (U)b; }                                                  \
    static inline bool cmpi_uge_##K(T a, T b) { return (U)a >= (U)b; }

INTEGER(i8, int8_t, uint8_t, 8)
INTEGER(i16, int16_t, uint16_t, 16)
INTEGER(i32, int32_t, uint32_t, 32)
INTEGER(i64, int64_t, uint64_t, 64)
INTEGER(index, int64_t, uint64_t, 64)

/* Truth values: a true one is -1 if it is read as signed, and a result has its lowest bit. */

static inline bool addi_i1(bool a, bool b) { return a ^ b; }
static inline bool subi_i1(bool a, bool b) { return a ^ b; }
static inline bool muli_i1(bool a, bool b) { return a & b; }
static inline bool divsi_i1(bool a, bool b) { return a & b; }
static inline bool divui_i1(bool a, bool b) { return a & b; }
static inline bool remsi_i1(bool a, bool b) { return (void)a, (void)b, false; }
static inline bool remui_i1(bool a, bool b) { return (void)a, (void)b, false; }
static inline bool floordivsi_i1(bool a, bool b) { return a & b; }
static inline bool ceildivsi_i1(bool a, bool b) { return a & b; }
static inline bool ceildivui_i1(bool a, bool b) { return a & b; }
static inline bool andi_i1(bool a, bool b) { return a & b; }
static inline bool ori_i1(bool a, bool b) { return a | b; }
static inline bool xori_i1(bool a, bool b) { return a ^ b; }
static inline bool shli_i1(bool a, bool b) { return a & !b; }
static inline bool shrsi_i1(bool a, bool b) { return (void)b, a; }
static inline bool shrui_i1(bool a, bool b) { return a & !b; }
static inline bool minsi_i1(bool a, bool b) { return a | b; }
static inline bool maxsi_i1(bool a, bool b) { return a & b; }
static inline bool minui_i1(bool a, bool b) { return a & b; }
static inline bool maxui_i1(bool a, bool b) { return a | b; }
static inline bool absi_i1(bool a) { return a; }

/* The sign of a truth value as a signed number, -1 or 0, so that COMPARISONS can cast to it. */
#define SIGNED_TRUTH -(int)
#define COMPARE_SIGNED(name, comparison)                                                                               \
    static inline bool cmpi_##name##_i1(bool a, bool b) { return SIGNED_TRUTH a comparison SIGNED_TRUTH b; }
#define COMPARE_UNSIGNED(name, comparison)                                                                             \
    static inline bool cmpi_##name##_i1(bool a, bool b) { return a comparison b; }
COMPARE_UNSIGNED(eq, ==)
COMPARE_UNSIGNED(ne, !=)
COMPARE_SIGNED(slt, <)
COMPARE_SIGNED(sle, <=)
COMPARE_SIGNED(sgt, >)
COMPARE_SIGNED(sge, >=)
COMPARE_UNSIGNED(ult, <)
COMPARE_UNSIGNED(ule, <=)
COMPARE_UNSIGNED(ugt, >)
COMPARE_UNSIGNED(uge, >=)

/* Conversions of integers. One that widens a truth value as signed makes a true one -1. */

#define WIDENS(A, TA, UA, B, TB)                                                                                       \
    static inline TB extsi_##A##_##B(TA a) { return a; }                                                               \
    static inline TB extui_##A##_##B(TA a) { return (TB)(UA)a; }                                                       \
    static inline TA trunci_##B##_##A(TB a) { return (TA)a; }
#define WIDENS_TRUTH(B, TB)                                                                                            \
    static inline TB extsi_i1_##B(bool a) { return (TB)-(TB)a; }                                                       \
    static inline TB extui_i1_##B(bool a) { return a; }                                                                \
    static inline bool trunci_##B##_i1(TB a) { return a & 1; }
#define CASTS(A, TA)                                                                                                   \
    static inline int64_t index_cast_##A##_index(TA a) { return a; }                                                   \
    static inline TA index_cast_index_##A(int64_t a) { return (TA)a; }

WIDENS_TRUTH(i8, int8_t)
WIDENS_TRUTH(i16, int16_t)
WIDENS_TRUTH(i32, int32_t)
WIDENS_TRUTH(i64, int64_t)
WIDENS(i8, int8_t, uint8_t, i16, int16_t)
WIDENS(i8, int8_t, uint8_t, i32, int32_t)
WIDENS(i8, int8_t, uint8_t, i64, int64_t)
WIDENS(i16, int16_t, uint16_t, i32, int32_t)
WIDENS(i16, int16_t, uint16_t, i64, int64_t)
WIDENS(i32, int32_t, uint32_t, i64, int64_t)
CASTS(i8, int8_t)
CASTS(i16, int16_t)
CASTS(i32, int32_t)
CASTS(i64, int64_t)
static inline int64_t index_cast_i1_index(bool a) { return -(int64_t)a; }
static inline bool index_cast_index_i1(int64_t a) { return a & 1; }

/* Floats */

/* Returns a * b + c of f32 or less, rounded to odd. The product is exact; what the sum loses, as two-sum finds it
 * exactly, decides the last bit. */
static inline double fused(double a, double b, double c) {
    double product = a * b, sum = product + c, part = sum - product;
    double lost = (product - (sum - part)) + (c - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (isfinite(sum) && lost != 0 && !(bits & 1)) {
        bits += (lost > 0) == (sum > 0) ? 1 : UINT64_MAX;
    }
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

#define MATH(K, T, name, call)                                                                                         \
    static inline T name##_##K(T a) { return narrow_##K(call((double)value_##K(a))); }

static inline double reciprocal_root(double a) { return 1 / sqrt(a); }

/* Powers of and with signaling NaNs are those with others. */
static inline double quieted(double a) { return isnan(a) ? (double)NAN : a; }
static inline double power(double a, double b) { return pow(quieted(a), quieted(b)); }

/* V is float, or double for f64. The lesser of two zeros is -(-x - y), which is -0.0 if one is. */
#define FLOAT(K, T, V, SIGN)                                                                                           \
    static inline T addf_##K(T a, T b) { return bits_##K(value_##K(a) + value_##K(b)); }                               \
    static inline T subf_##K(T a, T b) { return bits_##K(value_##K(a) - value_##K(b)); }                               \
    static inline T mulf_##K(T a, T b) { return bits_##K(value_##K(a) * value_##K(b)); }                               \
    static inline T divf_##K(T a, T b) { return bits_##K(value_##K(a) / value_##K(b)); }                               \
    static inline T negf_##K(T a) { return (T)(a ^ SIGN); }                                                            \
    static inline T absf_##K(T a) { return (T)(a & ~SIGN); }                                                           \
    static inline T copysign_##K(T a, T b) { return (T)((a & ~SIGN) | (b & SIGN)); }                                   \
    static inline T remf_##K(T a, T b) { return narrow_##K(fmod((double)value_##K(a), (double)value_##K(b))); }        \
    static inline T maximumf_##K(T a, T b) {                                                                           \
        V x = value_##K(a), y = value_##K(b);                                                                          \
        return x == 0 && y == 0 ? bits_##K(x + y) : x > y || x != x ? a : b;                                           \
    }                                                                                                                  \
    static inline T minimumf_##K(T a, T b) {                                                                           \
        V x = value_##K(a), y = value_##K(b);                                                                          \
        return x == 0 && y == 0 ? bits_##K(-(-x - y)) : x < y || x != x ? a : b;                                       \
    }                                                                                                                  \
    static inline T maxnumf_##K(T a, T b) {                                                                            \
        V x = value_##K(a), y = value_##K(b);                                                                          \
        return y > x || x != x ? b : a;                                                                                \
    }                                                                                                                  \
    static inline T minnumf_##K(T a, T b) {                                                                            \
        V x = value_##K(a), y = value_##K(b);                                                                          \
        return y < x || x != x ? b : a;                                                                                \
    }                                                                                                                  \
    static inline T atan2_##K(T a, T b) { return narrow_##K(atan2((double)value_##K(a), (double)value_##K(b))); }      \
    static inline T powf_##K(T a, T b) { return narrow_##K(power((double)value_##K(a), (double)value_##K(b))); }       \
    MATH(K, T, sqrt, sqrt)                                                                                             \
    MATH(K, T, cbrt, cbrt)                                                                                             \
    MATH(K, T, rsqrt, reciprocal_root)                                                                                 \
    MATH(K, T, exp, exp)                                                                                               \
    MATH(K, T, exp2, exp2)                                                                                             \
    MATH(K, T, expm1, expm1)                                                                                           \
    MATH(K, T, log, log)                                                                                               \
    MATH(K, T, log2, log2)                                                                                             \
    MATH(K, T, log10, log10)                                                                                           \
    MATH(K, T, log1p, log1p)                                                                                           \
    MATH(K, T, sin, sin)                                                                                               \
    MATH(K, T, cos, cos)                                                                                               \
    MATH(K, T, tan, tan)                                                                                               \
    MATH(K, T, asin, asin)                                                                                             \
    MATH(K, T, acos, acos)                                                                                             \
    MATH(K, T, atan, atan)                                                                                             \
    MATH(K, T, sinh, sinh)                                                                                             \
    MATH(K, T, cosh, cosh)                                                                                             \
    MATH(K, T, tanh, tanh)                                                                                             \
    MATH(K, T, asinh, asinh)                                                                                           \
    MATH(K, T, acosh, acosh)                                                                                           \
    MATH(K, T, atanh, atanh)                                                                                           \
    MATH(K, T, erf, erf)                                                                                               \
    MATH(K, T, floor, floor)                                                                                           \
    MATH(K, T, ceil, ceil)                                                                                             \
    MATH(K, T, trunc, trunc)                                                                                           \
    MATH(K, T, round, round)                                                                                           \
    MATH(K, T, roundeven, rint)                                                                                        \
    FLOAT_COMPARISONS(K, T)                                                                                            \
    FLOAT_CONVERSIONS(K, T, i8, int8_t, uint8_t, 8)                                                                    \
    FLOAT_CONVERSIONS(K, T, i16, int16_t, uint16_t, 16)                                                                \
    FLOAT_CONVERSIONS(K, T, i32, int32_t, uint32_t, 32)                                                                \
    FLOAT_CONVERSIONS(K, T, i64, int64_t, uint64_t, 64)                                                                \
    FLOAT_CONVERSIONS(K, T, index, int64_t, uint64_t, 64)                                                              \
    static inline bool fptosi_##K##_i1(T a) { return float_to_truth((double)value_##K(a)); }                           \
    static inline bool fptoui_##K##_i1(T a) { return float_to_truth((double)value_##K(a)); }                           \
    static inline T sitofp_i1_##K(bool a) { return bits_##K(a ? -1.0f : 0.0f); }                                       \
    static inline T uitofp_i1_##K(bool a) { return bits_##K(a ? 1.0f : 0.0f); }

/* Predicates that begin with o are false if an operand is a NaN, those that begin with u are true. */
#define FLOAT_COMPARISONS(K, T)                                                                                        \
    static inline bool cmpf_uno_##K(T a, T b) { return isunordered(value_##K(a), value_##K(b)); }                      \
    static inline bool cmpf_ord_##K(T a, T b) { return !cmpf_uno_##K(a, b); }                                          \
    static inline bool cmpf_oeq_##K(T a, T b) { return value_##K(a) == value_##K(b); }                                 \
    static inline bool cmpf_ogt_##K(T a, T b) { return value_##K(a) > value_##K(b); }                                  \
    static inline bool cmpf_oge_##K(T a, T b) { return value_##K(a) >= value_##K(b); }                                 \
    static inline bool cmpf_olt_##K(T a, T b) { return value_##K(a) < value_##K(b); }                                  \
    static inline bool cmpf_ole_##K(T a, T b) { return value_##K(a) <= value_##K(b); }                                 \
    static inline bool cmpf_une_##K(T a, T b) { return !cmpf_oeq_##K(a, b); }                                          \
    static inline bool cmpf_ule_##K(T a, T b) { return !cmpf_ogt_##K(a, b); }                                          \
    static inline bool cmpf_ult_##K(T a, T b) { return !cmpf_oge_##K(a, b); }                                          \
    static inline bool cmpf_uge_##K(T a, T b) { return !cmpf_olt_##K(a, b); }                                          \
    static inline bool cmpf_ugt_##K(T a, T b) { return !cmpf_ole_##K(a, b); }                                          \
    static inline bool cmpf_one_##K(T a, T b) { return cmpf_une_##K(a, b) && cmpf_ord_##K(a, b); }                     \
    static inline bool cmpf_ueq_##K(T a, T b) { return cmpf_oeq_##K(a, b) || cmpf_uno_##K(a, b); }                     \
    static inline bool cmpf_true_##K(T a, T b) { return (void)a, (void)b, true; }                                      \
    static inline bool cmpf_false_##K(T a, T b) { return (void)a, (void)b, false; }

/* A float becomes an integer by dropping its fraction, ends at the limits of the integer, and is 0 if it is a NaN. */

static inline int64_t saturate_signed(double value, int bits) {
    double limit = ldexp(1, bits - 1);
    int64_t highest = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
    return value != value ? 0 : value >= limit ? highest : value <= -limit ? -highest - 1 : (int64_t)value;
}

static inline uint64_t saturate_unsigned(double value, int bits) {
    uint64_t highest = UINT64_MAX >> (64 - bits);
    return !(value > 0) ? 0 : value >= ldexp(1, bits) ? highest : (uint64_t)value;
}

static inline bool float_to_truth(double value) { return isfinite(value) && fmod(trunc(value), 2) != 0; }

/* Returns an integer as a double from which rounding it once more is rounding it once: bits beyond those that a double
 * holds become one that says if there were any. */
static inline double odd_signed(int64_t value) {
    bool wide = value > INT64_C(1) << 53 || value < -(INT64_C(1) << 53);
    return (double)(wide ? (value & ~INT64_C(0x7FF)) | (value & 0x7FF ? 0x800 : 0) : value);
}

static inline double odd_unsigned(uint64_t value) {
    bool wide = value > UINT64_C(1) << 53;
    return (double)(wide ? (value & ~UINT64_C(0x7FF)) | (value & 0x7FF ? 0x800 : 0) : value);
}

#define FLOAT_CONVERSIONS(K, T, I, TI, UI, BITS)                                                                       \
    static inline TI fptosi_##K##_##I(T a) { return (TI)saturate_signed((double)value_##K(a), BITS); }                 \
    static inline TI fptoui_##K##_##I(T a) { return (TI)saturate_unsigned((double)value_##K(a), BITS); }               \
    static inline T sitofp_##I##_##K(TI a) { return from_signed_##K(a); }                                              \
    static inline T uitofp_##I##_##K(TI a) { return from_unsigned_##K((UI)a); }

/* What is computed in double rounds twice on its way to a narrower format unless it is rounded to odd first. */
#define NARROW(K, T)                                                                                                   \
    static inline T from_signed_##K(int64_t a) { return narrow_##K(odd_signed(a)); }                                   \
    static inline T from_unsigned_##K(uint64_t a) { return narrow_##K(odd_unsigned(a)); }                              \
    static inline T fma_##K(T a, T b, T c) {                                                                           \
        return narrow_##K(fused((double)value_##K(a), (double)value_##K(b), (double)value_##K(c)));                    \
    }

static inline uint64_t from_signed_f64(int64_t a) { return bits_f64((double)a); }
static inline uint64_t from_unsigned_f64(uint64_t a) { return bits_f64((double)a); }
static inline uint64_t fma_f64(uint64_t a, uint64_t b, uint64_t c) {
    return bits_f64(fma(value_f64(a), value_f64(b), value_f64(c)));
}

NARROW(f32, uint32_t)
NARROW(f16, uint16_t)
NARROW(bf16, uint16_t)
FLOAT(f64, uint64_t, double, F64_SIGN)
FLOAT(f32, uint32_t, float, F32_SIGN)
FLOAT(f16, uint16_t, float, HALF_SIGN)
FLOAT(bf16, uint16_t, float, HALF_SIGN)

static inline uint64_t extf_f32_f64(uint32_t a) { return bits_f64((double)value_f32(a)); }
static inline uint64_t extf_f16_f64(uint16_t a) { return bits_f64((double)value_f16(a)); }
static inline uint64_t extf_bf16_f64(uint16_t a) { return bits_f64((double)value_bf16(a)); }
static inline uint32_t truncf_f64_f32(uint64_t a) { return narrow_f32(value_f64(a)); }
static inline uint16_t truncf_f64_f16(uint64_t a) { return narrow_f16(value_f64(a)); }
static inline uint16_t truncf_f64_bf16(uint64_t a) { return narrow_bf16(value_f64(a)); }
static inline uint64_t bitcast_i64_f64(int64_t a) { return (uint64_t)a; }
static inline int64_t bitcast_f64_i64(uint64_t a) { return (int64_t)a; }

static inline uint32_t extf_f16_f32(uint16_t a) { return bits_f32(value_f16(a)); }
static inline uint32_t extf_bf16_f32(uint16_t a) { return bits_f32(value_bf16(a)); }
static inline uint16_t truncf_f32_f16(uint32_t a) { return bits_f16(value_f32(a)); }
static inline uint16_t truncf_f32_bf16(uint32_t a) { return bits_bf16(value_f32(a)); }

static inline uint32_t bitcast_i32_f32(int32_t a) { return (uint32_t)a; }
static inline int32_t bitcast_f32_i32(uint32_t a) { return (int32_t)a; }
static inline uint16_t bitcast_i16_f16(int16_t a) { return (uint16_t)a; }
static inline uint16_t bitcast_i16_bf16(int16_t a) { return (uint16_t)a; }
static inline int16_t bitcast_f16_i16(uint16_t a) { return (int16_t)a; }
static inline int16_t bitcast_bf16_i16(uint16_t a) { return (int16_t)a; }
static inline uint16_t bitcast_f16_bf16(uint16_t a) { return a; }
static inline uint16_t bitcast_bf16_f16(uint16_t a) { return a; }

/* Numbers of format cb16 are integers of 16 bits, computed as f32; a NaN that is computed has one pattern. */

static inline uint32_t cb16_extf(int16_t a) { return bits_f32(value_cb16((uint16_t)a)); }

static inline int16_t cb16_truncf(uint32_t a) {
    return cmpf_uno_f32(a, a) ? CB16_NAN : (int16_t)bits_cb16(value_f32(a));
}

static inline int16_t cb16_negf(int16_t a) { return (int16_t)(a ^ INT16_MIN); }
static inline int16_t cb16_absf(int16_t a) { return a & INT16_MAX; }

#define CB16_UNARY(name)                                                                                               \
    static inline int16_t cb16_##name(int16_t a) { return cb16_truncf(name##_f32(cb16_extf(a))); }
#define CB16_BINARY(name)                                                                                              \
    static inline int16_t cb16_##name(int16_t a, int16_t b) {                                                          \
        return cb16_truncf(name##_f32(cb16_extf(a), cb16_extf(b)));                                                    \
    }
#define CB16_COMPARISON(name)                                                                                          \
    static inline bool cb16_##name(int16_t a, int16_t b) { return cmpf_##name##_f32(cb16_extf(a), cb16_extf(b)); }
#define CB16_CONVERSIONS(I, TI, UI)                                                                                    \
    static inline TI cb16_fptosi_##I(int16_t a) { return fptosi_f32_##I(cb16_extf(a)); }                               \
    static inline TI cb16_fptoui_##I(int16_t a) { return fptoui_f32_##I(cb16_extf(a)); }                               \
    static inline int16_t cb16_sitofp_##I(TI a) { return (int16_t)narrow_cb16(odd_signed(a)); }                        \
    static inline int16_t cb16_uitofp_##I(TI a) { return (int16_t)narrow_cb16(odd_unsigned((UI)a)); }

CB16_BINARY(addf)
CB16_BINARY(subf)
CB16_BINARY(mulf)
CB16_BINARY(divf)
CB16_BINARY(remf)
CB16_BINARY(minimumf)
CB16_BINARY(maximumf)
CB16_BINARY(powf)
CB16_BINARY(atan2)
CB16_UNARY(sqrt)
CB16_UNARY(rsqrt)
CB16_UNARY(exp)
CB16_UNARY(log)
CB16_UNARY(log2)
CB16_UNARY(log10)
CB16_UNARY(sin)
CB16_UNARY(cos)
CB16_UNARY(tan)
CB16_UNARY(tanh)
CB16_UNARY(atan)
CB16_UNARY(ceil)
CB16_UNARY(floor)
CB16_UNARY(round)
CB16_COMPARISON(oeq)
CB16_COMPARISON(une)
CB16_COMPARISON(olt)
CB16_COMPARISON(ogt)
CB16_COMPARISON(ole)
CB16_COMPARISON(oge)
CB16_CONVERSIONS(i8, int8_t, uint8_t)
CB16_CONVERSIONS(i16, int16_t, uint16_t)
CB16_CONVERSIONS(i32, int32_t, uint32_t)
CB16_CONVERSIONS(i64, int64_t, uint64_t)
CB16_CONVERSIONS(index, int64_t, uint64_t)
static inline bool cb16_fptosi_i1(int16_t a) { return fptosi_f32_i1(cb16_extf(a)); }
static inline bool cb16_fptoui_i1(int16_t a) { return fptoui_f32_i1(cb16_extf(a)); }
static inline int16_t cb16_sitofp_i1(bool a) { return (int16_t)bits_cb16(a ? -1.0f : 0.0f); }
static inline int16_t cb16_uitofp_i1(bool a) { return (int16_t)bits_cb16(a ? 1.0f : 0.0f); }

#endif
