/* Floating point exceptions of scalar operations and of elements, for programs that unmask some of them.
 *
 * They are computed from the operands and the result, as runtime/reference/exceptions.py says.
 */
#include <math.h>

#include "floats.h"
#include "machine.h"

/* Bits of the exception mask register */
enum { UNDERFLOW_BIT = 1 << 3, OVERFLOW_BIT = 1 << 4, INEXACT_BIT = 1 << 5, INVALID_BIT = 1 << 6, DIVISION_BIT = 1 << 7 };

static double lowest_normal(uint8_t kind) { return kind == KIND_F16 ? 0x1p-14 : 0x1p-126; }

static bool is_pole(uint32_t class, const double *values) {
    switch (class) {
    case RAISES_DIVIDE: return values[1] == 0 && values[0] != 0 && isfinite(values[0]);
    case RAISES_POWER: return values[0] == 0 && values[1] < 0 && isfinite(values[1]);
    default: return class == RAISES_POLE && values[0] == 0;
    }
}

/* Returns true if a finite result is not what the operation gives without rounding. */
static bool is_inexact(uint32_t class, const double *values, double result) {
    switch (class) {
    case RAISES_ADD:
    case RAISES_SUBTRACT: {
        double first = values[0], second = class == RAISES_ADD ? values[1] : -values[1];
        double total = first + second, part = total - first;
        double lost = (first - (total - part)) + (second - part);
        return total != result || lost != 0;
    }
    case RAISES_SCALE: {
        double exponent = values[1] > 2000 ? 2000 : values[1] < -2000 ? -2000 : values[1];
        return ldexp(values[0], (int)exponent) != result;
    }
    case RAISES_MULTIPLY: return values[0] * values[1] != result;
    case RAISES_DIVIDE: return result * values[1] != values[0];
    case RAISES_SQRT: return result * result != values[0];
    case RAISES_CONVERT: return values[0] != result;
    default: return result != rint(result);
    }
}

/* Returns the exceptions of an operation whose result is a float of a kind, as bits. */
static uint32_t raised(uint32_t class, const double *values, int count, double result, uint8_t kind) {
    if (class == RAISES_MULTIPLY_ADD) {
        double product = values[1] * values[2];
        product = kind == KIND_F16 ? (double)value_f16(narrow_f16(product)) : (double)(float)product;
        const double sum[] = {values[0], product};
        return raised(RAISES_MULTIPLY, values + 1, 2, product, kind) | raised(RAISES_ADD, sum, 2, result, kind);
    }
    bool pole = is_pole(class, values), all_finite = true, any_nan = false;
    for (int k = 0; k < count; k++) {
        all_finite &= (bool)isfinite(values[k]);
        any_nan |= (bool)isnan(values[k]);
    }
    bool overflow = isinf(result) && all_finite && !pole;
    bool inexact = isfinite(result) && all_finite && is_inexact(class, values, result);
    bool underflow = inexact && fabs(result) < lowest_normal(kind) && class != RAISES_ADD && class != RAISES_SUBTRACT;
    bool invalid = isnan(result) && !any_nan;
    return (uint32_t)((pole ? DIVISION_BIT : 0) | (invalid ? INVALID_BIT : 0) | (overflow ? OVERFLOW_BIT : 0) |
                      (underflow ? UNDERFLOW_BIT : 0) | (inexact || overflow ? INEXACT_BIT : 0));
}

/* Returns the number that some bits are. */
static double number_of(uint32_t bits, uint8_t kind) {
    switch (kind) {
    case KIND_F32: return (double)value_f32(bits);
    case KIND_F16: return (double)value_f16((uint16_t)bits);
    case KIND_BF16: return (double)value_bf16((uint16_t)bits);
    case KIND_I16: return (int16_t)bits;
    default: return (int32_t)bits;
    }
}

/* Leaves the finding of exceptions of a result that the PE has unmasked; returns false if there are some. */
static bool is_masked(struct core *core, struct pe *pe, uint32_t class, const double *values, int count, double result,
                      uint8_t kind, uint32_t task, uint32_t where) {
    uint32_t found = raised(class, values, count, result, kind) & pe->class->unmasked[pe->unit];
    if (found == 0) {
        return true;
    }
    int64_t told[6] = {found, count};
    memcpy(told + 2, &result, sizeof result);
    memcpy(told + 3, values, (size_t)count * sizeof *values);
    fail(core, pe, FLOAT_EXCEPTION, task, where, told, 6);
    return false;
}

/* Says which exceptions stop a PE: those whose bits are not set. Tables have classes say that their PEs do this. */
void set_exception_mask(struct pe *pe, int64_t mask) {
    if (pe->class->unmasked != NULL) {
        pe->class->unmasked[pe->unit] = (uint32_t)~mask;
    }
}

/* Finds an exception of a scalar operation; returns false if there is one. */
bool check_exceptions(struct core *core, struct pe *pe, uint32_t row, const int64_t *registers, uint32_t where) {
    if (pe->class->unmasked == NULL || pe->class->unmasked[pe->unit] == 0) {
        return true;
    }
    const struct trap *trap = &core->trap_rows[row];
    double values[MAX_SOURCES];
    for (int k = 0; k < trap->count; k++) {
        int64_t value = registers[trap->operands[k]];
        values[k] = trap->is_integer ? (double)value : number_of((uint32_t)value, (uint8_t)trap->source);
    }
    double result = number_of((uint32_t)registers[trap->result], (uint8_t)trap->kind);
    return is_masked(core, pe, trap->class, values, trap->count, result, (uint8_t)trap->kind, running_task(pe), where);
}

/* Computes elements one by one, and stops at the first with an exception that the PE has unmasked. */
static bool apply_watched(struct core *core, struct pe *pe, const struct operation *operation, uint32_t task,
                          uint32_t where, struct operand *operands, uint32_t count) {
    const struct kernel *kernel = operation->kernel;
    for (uint32_t element = 0; element < count; element++) {
        struct operand one[MAX_OPERANDS];
        double values[MAX_SOURCES];
        uint32_t written = 0;
        for (int k = 1; k <= operation->sources; k++) {
            uint32_t bits = 0;
            memcpy(&bits, operands[k].at, kernel->size[k]);
            values[k - 1] = number_of(bits, operation->kinds[k]);
            one[k] = operands[k];
            operand_skip(&operands[k], 1);
        }
        operand_run(&one[0], &written, 0);
        kernel_apply(kernel, one, 1);
        double result = number_of(written, operation->kinds[0]);
        if (!is_masked(core, pe, operation->raises, values, operation->sources, result, operation->kinds[0], task, where)) {
            return false;
        }
        memcpy(operands[0].at, &written, kernel->size[0]);
        operand_skip(&operands[0], 1);
    }
    return true;
}

/* Computes `count` elements of an operation; returns false after a floating point exception that stops the PE. `carry` is
 * what the elements before these have left. */
bool compute(struct core *core, struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
             struct operand *operands, uint32_t count, uint16_t *carry) {
    if (operation->kernel->sources > operation->sources) {
        operand_run(&operands[operation->kernel->sources], carry, 0);
    }
    const uint32_t *unmasked = pe->class->unmasked;
    if (unmasked == NULL || unmasked[pe->unit] == 0 || operation->raises == 0) {
        kernel_apply(operation->kernel, operands, count);
        return true;
    }
    return apply_watched(core, pe, operation, task, where, operands, count);
}
