/* Sums of vectors: operations on floats of 32 bits, one after the other, that add vectors, or their products by numbers,
 * to one destination. They are computed in one pass, which rounds as they do; what is not side by side, inside of its
 * buffers and apart from the destination is left to them.
 */
#include "sums.h"

#include "control.h"
#include "element_price.h"
#include "races.h"

static const struct operand_place nowhere;

static bool is_place(const struct operand_place *a, const struct operand_place *b) {
    return a->offset == b->offset && a->in_frame == b->in_frame;
}

/* Returns the place of a number that the operations of a sum name. */
static struct operand_place place_of(const int64_t *number) {
    return (struct operand_place){.offset = (uintptr_t)number};
}

/* Adds an operation to a sum if it can be part of it. */
static bool add_operation(struct sum *sum, const struct application *application) {
    static const int64_t one = 0x3F800000, minus_one = 0xBF800000; /* products by these are exact */
    const struct operation *operation = application->operation;
    const struct kernel *kernel = operation->kernel;
    const struct operand_place *places = application->places;
    const bool is_first = sum->operations == 0;
    struct operand_place base = places[1], vector = places[2], factor;
    if (kernel->size[0] != sizeof(float) || application->is_number[0] || application->is_number[1] ||
        sum->addend_count == MAX_ADDENDS) {
        return false;
    }
    if (strcmp(kernel->computes, "multiply_add") == 0 && !application->is_number[2] && application->is_number[3]) {
        factor = places[3];
    } else if (strcmp(kernel->computes, "multiply") == 0 && application->is_number[2] && is_first) {
        base = nowhere;
        vector = places[1];
        factor = places[2];
    } else if (strcmp(kernel->computes, "add_floats") == 0 && !application->is_number[2]) {
        factor = place_of(&one);
    } else if (strcmp(kernel->computes, "subtract_floats") == 0 && !application->is_number[2]) {
        factor = place_of(&minus_one);
    } else {
        return false;
    }
    for (int k = 1; k <= operation->sources; k++) {
        if (kernel->size[k] != sizeof(float)) {
            return false;
        }
    }
    if (is_first) {
        sum->application = application;
        sum->to = places[0];
        sum->base = base;
        sum->has_base = !is_place(&base, &nowhere);
    } else if (!is_place(&places[0], &sum->to) || !is_place(&base, &sum->to) || is_place(&vector, &sum->to)) {
        return false;
    }
    sum->addends[sum->addend_count++] = (struct addend){vector, factor};
    sum->operations++;
    const struct price *price = &operation->plain;
    struct alike *last = &sum->alike[sum->prices - (sum->prices > 0)];
    if (sum->prices == 0 || last->price.numerator != price->numerator || last->price.denominator != price->denominator) {
        last = &sum->alike[sum->prices++];
        *last = (struct alike){.price = *price};
    }
    last->count++;
    return true;
}

/* Finds the sum that begins with an instruction; returns false if that is less than two operations. */
static bool find_sum(const struct instruction *code, const struct instruction *past, struct sum *sum) {
    *sum = (struct sum){.operations = 0};
    while (code < past && code->op == I_compute && code->b == NO_REGISTER && add_operation(sum, code->slot.application)) {
        code++;
    }
    return sum->operations >= 2;
}

/* Has the first operation of each sum compute all of it. The others stay where they are. */
void prepare_sums(struct core *core) {
    sum_function *const *functions = loom_sums();
    struct sum sum;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t count = 0;
        for (uint64_t u = 0; u < core->tables.uses_count; u++) {
            const struct use *use = &core->uses[u];
            struct instruction *code = core->code + (use->code - core->code), *past = code + use->body->length;
            while (code < past) {
                if (!find_sum(code, past, &sum)) {
                    code++;
                    continue;
                }
                if (pass == 1) {
                    sum.compute = functions[sum.addend_count - 1];
                    core->sums[count] = sum;
                    code->op = I_sum;
                    code->slot.sum = &core->sums[count];
                }
                count++;
                code += sum.operations;
            }
        }
        if (pass == 0) {
            core->sums = core_allocate(core, count, sizeof *core->sums);
        }
    }
}

static inline const void *at_place(const struct operand_place *place, const int64_t *registers) {
    return (const void *)(uintptr_t)(place->offset + (place->in_frame & (uintptr_t)registers));
}

/* Computes a sum that begins at `now`, and returns the cycles of all operations; -1, and has done nothing, if they are to be computed one by
 * one. */
cycle compute_sum(const struct core *core, const struct pe *pe, const struct sum *sum, int64_t *registers, cycle now) {
    const struct descriptor *stream = at_place(&sum->to, registers);
    const uint32_t count = stream->extents[0];
    if (core->is_observed || stream->plain != PLAIN_WORDS || count == 0) {
        return -1;
    }
    uint8_t *const memory = pe->memory, *to = memory + 2 * (int64_t)stream->address;
    /* Others end before the destination begins, or begin behind it. */
    const uint64_t before = (uint64_t)count * sizeof(float) - 1, apart = 2 * before + 1;
    const uint8_t *vectors[MAX_ADDENDS], *base = NULL;
    uint32_t factors[MAX_ADDENDS];
    if (sum->has_base) {
        stream = at_place(&sum->base, registers);
        if (stream->plain != PLAIN_WORDS || stream->extents[0] < count) {
            return -1;
        }
        base = memory + 2 * (int64_t)stream->address;
        if (base != to && (uint64_t)(base - to) + before < apart) {
            return -1;
        }
    }
    const struct addend *addend = sum->addends, *past = addend + sum->addend_count;
    for (uint32_t k = 0; addend < past; addend++, k++) {
        stream = at_place(&addend->vector, registers);
        if (stream->plain != PLAIN_WORDS || stream->extents[0] < count) {
            return -1;
        }
        const uint8_t *vector = memory + 2 * (int64_t)stream->address;
        if ((uint64_t)(vector - to) + before < apart && (k > 0 || vector != to)) {
            return -1;
        }
        vectors[k] = vector;
        memcpy(&factors[k], at_place(&addend->factor, registers), sizeof factors[k]);
    }
    if (core->races != NULL && has_to_look(core, pe) &&
        !check_sum(core, pe, to, base, vectors, sum->addend_count, count * (uint32_t)sizeof(float), now)) {
        return -1;
    }
    sum->compute(to, base, vectors, factors, count);
    cycle taken = sum->operations * core->timing.memory_setup;
    for (uint32_t k = 0; k < sum->prices; k++) {
        taken += sum->alike[k].count * price_times(&sum->alike[k].price, count);
    }
    return taken;
}
