/* Operations in memory of which some operands are in data structure registers, in the frequent case: walks inside of their
 * buffers, of elements as wide as those of the operation. What the load of a register says of operations concerns those
 * with queues alone. All else, and all that leaves a finding or a trace, is in operations.c and registers.c, and what is
 * done here is what they would do.
 */
#include "held.h"

#include <stdlib.h>

#include "control.h"
#include "element_price.h"
#include "quick.h"
#include "races.h"
#include "scalar_table.h"
#include "sums.h"

/* The operands of an operation: descriptors in memory, NULL for numbers, and where numbers are */
struct operands {
    const struct descriptor *streams[MAX_OPERANDS];
    uint8_t *numbers[MAX_OPERANDS];
};

/* Returns what `plain` would be of a descriptor, in a register or not: one of both is 0. */
static inline uint8_t plain_of(const struct descriptor *stream) { return stream->plain | stream->loaded; }

static inline bool saves_address(const struct descriptor *stream) {
    return stream->held != 0 && stream->state & SAVES_ADDRESS;
}

static inline cycle setup_of(const struct core *core, bool in_registers) {
    return in_registers ? core->timing.register_setup : core->timing.memory_setup;
}

/* Computes an operation on elements side by side, or on every second, of vectors and a number behind them or none. */
static inline __attribute__((always_inline)) cycle compute_rows(const struct core *core, const struct pe *pe,
                                                                const struct application *application,
                                                                const struct operands *operands, const int sources,
                                                                const bool has_number, const int stride) {
    const int vectors = sources - has_number;
    const struct operation *operation = application->operation;
    const struct kernel *kernel = operation->kernel;
    const ptrdiff_t size = kernel->size[0];
    const uint8_t plain = stride == 1 ? application->plain[0] : size == 2 ? PAIRED_HALVES : PAIRED_WORDS;
    uint8_t *at[MAX_OPERANDS];
    ptrdiff_t steps[MAX_OPERANDS];
    uint32_t count = UINT32_MAX;
    bool in_registers = true;
    uint8_t states = 0;
    for (int k = 0; k <= vectors; k++) {
        const struct descriptor *stream = operands->streams[k];
        if (plain_of(stream) != plain) {
            return -1;
        }
        count = stream->extents[0] < count ? stream->extents[0] : count;
        at[k] = pe->memory + 2 * (int64_t)stream->address;
        steps[k] = stride * size;
        in_registers &= stream->held != 0;
        states |= stream->state;
    }
    if (has_number) {
        at[sources] = operands->numbers[sources];
        steps[sources] = 0;
    }
    if (count == 0 || !are_apart(at, vectors, (uint64_t)count * (uint64_t)(stride * size))) {
        return -1;
    }
    (stride == 1 ? kernel->row : kernel->pairs)(at, steps, count);
    for (int k = 0; k <= vectors && states & SAVES_ADDRESS; k++) {
        if (saves_address(operands->streams[k])) {
            leave_register(core, pe, operands->streams[k], count);
        }
    }
    return setup_of(core, in_registers) + price_times(stride == 1 ? &operation->plain : &operation->paired, count);
}

/* Computes an operation on any walks and numbers. */
static __attribute__((noinline)) cycle compute_any(const struct core *core, const struct pe *pe, const struct operation *operation,
                         const struct operands *operands) {
    const struct kernel *kernel = operation->kernel;
    uint8_t *at[MAX_OPERANDS];
    ptrdiff_t steps[MAX_OPERANDS];
    int64_t count = UNBOUNDED, widest = -1;
    bool in_registers = true, are_lines = true, is_reduction = false;
    for (int k = 0; k <= operation->sources; k++) {
        const struct descriptor *stream = operands->streams[k];
        if (stream == NULL) {
            at[k] = operands->numbers[k];
            steps[k] = 0;
            continue;
        }
        const uint8_t plain = plain_of(stream), size = kernel->size[k];
        if (plain == 0 || plain == PLAIN_RUN || plain == PLAIN_SHARED_RUN || kind_bytes(stream->kind) != size) {
            return -1;
        }
        at[k] = pe->memory + 2 * (int64_t)stream->address;
        int64_t elements = stream->extents[0], stride = stream->strides[0];
        steps[k] = stride * size;
        if (plain == PLAIN_RING || stream->dimensions > 1) {
            are_lines = false;
            elements = walk_count(stream);
        }
        count = elements < count ? elements : count;
        in_registers &= stream->held != 0;
        is_reduction |= widest < 0 && stride == 0;
        stride = stride < 0 ? -stride : stride;
        widest = stride > widest ? stride : widest;
    }
    if (count == 0 || count == UNBOUNDED) {
        return -1;
    }
    if (are_lines) {
        kernel_apply_lines(kernel, at, steps, (uint32_t)count);
    } else {
        struct operand made[MAX_OPERANDS];
        for (int k = 0; k <= operation->sources; k++) {
            const struct descriptor *stream = operands->streams[k];
            if (stream != NULL && is_circular(stream)) {
                operand_ring(&made[k], at[k], kernel->size[k], stream->extents[1]);
                operand_skip(&made[k], stream->begin);
            } else if (stream != NULL && stream->dimensions > 1) {
                operand_walk(&made[k], at[k], kernel->size[k], stream->dimensions, stream->extents, stream->strides);
            } else {
                operand_run(&made[k], at[k], (int32_t)steps[k]);
            }
        }
        kernel_apply(kernel, made, (uint32_t)count);
    }
    for (int k = 0; k <= operation->sources; k++) {
        if (operands->streams[k] != NULL && saves_address(operands->streams[k])) {
            leave_register(core, pe, operands->streams[k], count);
        }
    }
    const struct price price = element_price(core, operation, widest, is_reduction);
    return setup_of(core, in_registers) + price_times(&price, count);
}

static inline __attribute__((always_inline)) cycle compute_alike(const struct core *core, const struct pe *pe,
                                                                 const struct application *application,
                                                                 const struct operands *operands, const int sources,
                                                                 const bool has_number) {
    return plain_of(operands->streams[0]) == application->plain[0]
               ? compute_rows(core, pe, application, operands, sources, has_number, 1)
           : application->operation->kernel->pairs != NULL
               ? compute_rows(core, pe, application, operands, sources, has_number, 2)
               : -1;
}

/* Computes an operation whose operands have been read from registers into the frame. */
cycle compute_held(const struct core *core, const struct pe *pe, const struct application *application,
                   int64_t *registers) {
    const struct operation *operation = application->operation;
    struct operands operands;
    for (int k = 0; k <= operation->sources; k++) {
        char *at = operand_at(application, registers, k);
        operands.streams[k] = application->is_number[k] ? NULL : (const struct descriptor *)(void *)at;
        operands.numbers[k] = (uint8_t *)at;
    }
    cycle taken = -1;
    if (application->is_alike) {
        taken = compute_alike(core, pe, application, &operands, operation->sources,
                              application->is_number[operation->sources]);
    }
    return taken >= 0 ? taken : compute_any(core, pe, operation, &operands);
}

/* Finds the operands of an operation on what registers hold. */
static inline __attribute__((always_inline)) void find_operands(const struct pe *pe, const struct held *held,
                                                                int64_t *registers, const int sources,
                                                                struct operands *operands) {
    for (int k = 0; k <= sources; k++) {
        const struct held_place *place = &held->places[k];
        char *at = (char *)(uintptr_t)(place->offset + (place->in_registers & (uintptr_t)registers_at(pe)) +
                                       (place->in_frame & (uintptr_t)registers));
        operands->streams[k] = (const struct descriptor *)(void *)at;
        operands->numbers[k] = (uint8_t *)at;
    }
}

/* Returns true if an operation has to be looked at by what observes a run or looks for races. */
static inline bool has_to_read(const struct core *core, const struct pe *pe, const struct held *held,
                               const struct operands *operands) {
    if (core->is_observed || core->races == NULL || !has_to_look(core, pe)) {
        return core->is_observed;
    }
    const struct application *application = held->application;
    const struct descriptor *streams[MAX_OPERANDS];
    for (int k = 0; k <= application->operation->sources; k++) {
        streams[k] = application->is_number[k] ? NULL : operands->streams[k];
    }
    return *races_of(core, pe)->left > 0 || may_meet_any(core, pe, streams, application->operation->sources);
}

/* Computes an operation on what registers hold, and on other operands. */
static __attribute__((noinline)) cycle in_any(const struct core *core, const struct pe *pe, const struct held *held, int64_t *registers) {
    const struct application *application = held->application;
    struct operands operands;
    find_operands(pe, held, registers, application->operation->sources, &operands);
    if (has_to_read(core, pe, held, &operands)) {
        return -1;
    }
    for (int k = 0; k <= application->operation->sources; k++) {
        operands.streams[k] = application->is_number[k] ? NULL : operands.streams[k];
    }
    return compute_any(core, pe, application->operation, &operands);
}

#define HELD_WAY(name, sources, has_number)                                                                            \
    static cycle name(const struct core *core, const struct pe *pe, const struct held *held, int64_t *registers) {     \
        struct operands operands;                                                                                      \
        find_operands(pe, held, registers, sources, &operands);                                                        \
        if (has_to_read(core, pe, held, &operands)) {                                                                  \
            return -1;                                                                                                 \
        }                                                                                                              \
        cycle taken = compute_alike(core, pe, held->application, &operands, sources, has_number);                      \
        return taken >= 0 ? taken : in_any(core, pe, held, registers);                                                 \
    }
HELD_WAY(in_source, 1, false)
HELD_WAY(in_sources, 2, false)
HELD_WAY(in_source_and_number, 2, true)
HELD_WAY(in_three_sources, 3, false)
HELD_WAY(in_sources_and_number, 3, true)

static held_way *way_of(const struct application *application) {
    const int sources = application->operation->sources;
    const bool has_number = application->is_number[sources];
    if (!application->is_alike) {
        return in_any;
    }
    return sources == 1   ? in_source
           : sources == 2 ? (has_number ? in_source_and_number : in_sources)
                          : (has_number ? in_sources_and_number : in_three_sources);
}

/* Preparing code */

static void name_operands(const struct operation *operation, uint16_t *named) {
    const struct operation_row *row = operation->row;
    const uint16_t operands[MAX_OPERANDS] = {row->destination, row->sources[0], row->sources[1], row->sources[2]};
    memcpy(named, operands, sizeof operands);
}

/* Notes the instructions that jumps lead to. */
static void find_targets(const struct use *use, uint8_t *is_target) {
    memset(is_target, 0, use->body->length);
    for (uint32_t k = 0; k < use->body->length; k++) {
        switch (use->code[k].op) {
        case I_jump:
        case I_branch_false:
        case I_branch_true:
        case I_timed_branch:
        case I_for_test: is_target[use->code[k].slot.target - use->code] = 1; break;
        default: break;
        }
    }
}

/* Returns true if an instruction leaves registers as they are, goes on at the next, and never has its task wait. */
static bool is_between(const struct instruction *instruction) {
    switch (instruction->op) {
    case I_tick:
    case I_read_register:
    case I_move:
    case I_select:
    case I_column:
    case I_coordinate:
    case I_load_i16:
    case I_load_i32:
    case I_load_16:
    case I_load_32:
    case I_descriptor:
    case I_place:
    case I_set_offset: return true;
    case I_load:
    case I_checked_load: return !(instruction->slot.access->flags & ACCESS_POINTER);
    default: return instruction->op >= FIRST_SCALAR;
    }
}

/* Returns the place of an operand where the code has it. */
static struct held_place in_code(const struct operand_place *place) {
    return (struct held_place){.offset = place->offset, .in_frame = place->in_frame};
}

/* Finds the reads of registers before an operation, in the code that leads to nothing but it, and what it takes from them.
 * `instructions` get their places. */
static void find_reads(const struct core *core, const struct use *use, uint32_t at, const uint8_t *is_target,
                       struct held *held, uint32_t *instructions) {
    const struct operation *operation = use->code[at].slot.application->operation;
    uint16_t named[MAX_OPERANDS];
    name_operands(operation, named);
    const struct application *application = use->code[at].slot.application;
    *held = (struct held){.application = application, .compute = way_of(application)};
    for (int n = 0; n <= operation->sources; n++) {
        held->places[n] = in_code(&application->places[n]);
    }
    bool is_settled[MAX_OPERANDS] = {false};
    for (uint32_t k = at; k > 0 && !is_target[k] && is_between(&use->code[k - 1]); k--) {
        const struct instruction *instruction = &use->code[k - 1];
        bool reads = instruction->op == I_read_register, is_wanted = false;
        if (!reads && instruction->op != I_descriptor && instruction->op != I_place && instruction->op != I_set_offset) {
            continue;
        }
        const struct register_read_row *row = reads ? &core->tables.register_reads[instruction->slot.number] : NULL;
        for (int n = 0; n <= operation->sources; n++) {
            if (named[n] == instruction->a && !is_settled[n]) {
                is_settled[n] = true; /* by the last that writes the descriptor */
                if (reads && !row->fifo) {
                    uint64_t offset = core->register_place[row->file][row->number] * sizeof(struct descriptor);
                    held->places[n] = (struct held_place){.offset = offset, .in_registers = UINT64_MAX};
                    is_wanted = true;
                }
            }
        }
        if (is_wanted) {
            instructions[held->reads] = k - 1;
            held->read[held->reads].row = (uint32_t)instruction->slot.number;
            held->read[held->reads++].descriptor = instruction->a;
        }
    }
}

/* Notes the descriptors of the frame that an instruction reads, but for operands that `held` reads from registers itself. */
static void note_readers(const struct instruction *instruction, const struct held *held, uint8_t *is_read) {
    uint16_t named[MAX_OPERANDS] = {instruction->a};
    int count = 1;
    switch (instruction->op) {
    case I_descriptor: named[0] = instruction->b; break;
    case I_set_address:
    case I_set_offset:
    case I_set_stride:
    case I_set_extent:
    case I_advance:
    case I_resize:
    case I_restride:
    case I_rebase:
    case I_mark:
    case I_load_register: break;
    case I_apply:
    case I_compute:
    case I_send_move:
    case I_receive_move:
    case I_sum: {
        const struct application *application =
            instruction->op == I_sum ? instruction->slot.sum->application : instruction->slot.application;
        name_operands(application->operation, named);
        count = application->operation->sources + 1;
        break;
    }
    default: return;
    }
    for (int k = 0; k < count; k++) {
        if (named[k] >= FRAME_DESCRIPTOR && (held == NULL || held->places[k].in_registers == 0)) {
            is_read[named[k] - FRAME_DESCRIPTOR] = 1;
        }
    }
}

/* Has an operation leave in the frame what others read there. */
static void drop_reads(struct held *held, uint32_t *instructions, const uint8_t *is_read) {
    uint16_t named[MAX_OPERANDS];
    name_operands(held->application->operation, named);
    uint32_t kept = 0;
    for (uint32_t k = 0; k < held->reads; k++) {
        if (!is_read[held->read[k].descriptor - FRAME_DESCRIPTOR]) {
            instructions[kept] = instructions[k];
            held->read[kept++] = held->read[k];
            continue;
        }
        for (int n = 0; n <= held->application->operation->sources; n++) {
            if (named[n] == held->read[k].descriptor) {
                held->places[n] = in_code(&held->application->places[n]);
            }
        }
    }
    held->reads = kept;
}

/* Has the operations of a use take what registers hold where it is, and the reads before them only see that it is there. */
static void prepare_use(struct core *core, const struct use *use, struct held *held, uint32_t *instructions) {
    struct instruction *code = core->code + (use->code - core->code);
    uint8_t *is_target = core_allocate(core, use->body->length, 1);
    uint8_t *is_read = core_allocate(core, use->body->frame_descriptors, 1);
    find_targets(use, is_target);
    struct held *next = held;
    for (uint32_t k = 0; k < use->body->length; k++) {
        bool computes = code[k].op == I_compute;
        if (computes) {
            find_reads(core, use, k, is_target, next, instructions + (next - held) * MAX_OPERANDS);
        }
        note_readers(&code[k], computes ? next : NULL, is_read);
        next += computes;
    }
    next = held;
    for (uint32_t k = 0; k < use->body->length; k++) {
        if (code[k].op != I_compute) {
            continue;
        }
        uint32_t *reads = instructions + (next - held) * MAX_OPERANDS;
        drop_reads(next, reads, is_read);
        if (next->reads > 0) {
            for (uint32_t n = 0; n < next->reads; n++) {
                const struct register_read_row *row = &core->tables.register_reads[next->read[n].row];
                code[reads[n]].op = I_check_register;
                code[reads[n]].b = core->register_place[row->file][row->number];
            }
            code[k].op = I_compute_held;
            code[k].slot.held = next;
        }
        next++;
    }
    free(is_target);
    free(is_read);
}

/* Finds the operations that can take what registers hold where it is. */
void prepare_held(struct core *core) {
    if (core->tables.register_reads_count == 0) {
        return;
    }
    uint64_t count = 0;
    for (uint64_t k = 0; k < core->instruction_count; k++) {
        count += core->code[k].op == I_compute;
    }
    core->held = core_allocate(core, count, sizeof *core->held);
    uint32_t *instructions = core_allocate(core, count * MAX_OPERANDS, sizeof *instructions);
    struct held *next = core->held;
    for (uint64_t u = 0; u < core->tables.uses_count; u++) {
        const struct use *use = &core->uses[u];
        uint64_t operations = 0;
        for (uint32_t k = 0; k < use->body->length; k++) {
            operations += use->code[k].op == I_compute;
        }
        if (operations > 0) {
            prepare_use(core, use, next, instructions);
        }
        next += operations;
    }
    free(instructions);
}
