/* The code of a use, prepared for the interpreter: every instruction has with it what it is applied to. */
#include "code.h"

#include "scalar_table.h"

static struct instruction *code_of(const struct core *core, const struct use *use) {
    return core->code + (use->code - core->code);
}

/* Returns which of its operands names the slot of an instruction, or -1. */
static int slot_operand(uint16_t op) {
    switch (op) {
    case I_call:
    case I_apply:
    case I_activate:
    case I_block:
    case I_unblock:
    case I_print:
    case I_directive:
    case I_check_exceptions: return 0;
    case I_column:
    case I_set_fifo_length: return 1;
    case I_load:
    case I_store:
    case I_load_register:
    case I_read_register:
    case I_assert_:
    case I_fail: return 2;
    default: return -1;
    }
}

/* Returns the instruction that loads or stores an element at a known address; `op` if there is none. */
static uint16_t at_known_address(uint16_t op, uint8_t kind) {
    static const uint16_t prepared[][4] = {
        {I_load_i16, I_load_16, I_load_i32, I_load_32},
        {I_store_16, I_store_16, I_store_32, I_store_32},
        {I_checked_load_i16, I_checked_load_16, I_checked_load_i32, I_checked_load_32},
        {I_checked_store_16, I_checked_store_16, I_checked_store_32, I_checked_store_32},
    };
    const uint16_t *row = prepared[op == I_load ? 0 : op == I_store ? 1 : op == I_checked_load ? 2 : 3];
    switch (kind) {
    case KIND_I16: return row[0];
    case KIND_F16:
    case KIND_BF16: return row[1];
    case KIND_I32: return row[2];
    case KIND_F32: return row[3];
    default: return op;
    }
}

static void prepare_access(const struct core *core, struct instruction *instruction) {
    if (core->races != NULL) {
        instruction->op = instruction->op == I_load ? I_checked_load : I_checked_store;
    }
    const struct access *access = instruction->slot.access;
    uint16_t op = access->is_static ? at_known_address(instruction->op, access->kind) : instruction->op;
    if (op != instruction->op) {
        instruction->op = op;
        instruction->slot.byte = access->base;
    }
}

/* Returns how many instructions behind a move the one is that follows it: that behind a jump, if one does. */
static uint16_t next_behind(const struct instruction *move) {
    ptrdiff_t far = move[1].op == I_jump ? move[1].slot.target - move : 1;
    return far > 0 && far <= UINT16_MAX ? (uint16_t)far : 1;
}

/* Has all operations take their short ways, when these are known. Moves get their source place, in `a` and `c`, and in `b`
 * how far behind them the task goes on. */
void choose_short_ways(struct core *core) {
    for (uint64_t u = 0; u < core->tables.uses_count; u++) {
        const struct use *use = &core->uses[u];
        struct instruction *code = code_of(core, use);
        for (uint32_t k = 0; k < use->body->length; k++) {
            struct instruction *instruction = &code[k];
            if (instruction->op != I_apply) {
                continue;
            }
            uint8_t form = instruction->slot.application->form;
            if (form == COMPUTES) {
                instruction->op = I_compute;
            } else if ((form == SENDS_MOVE || form == RECEIVES_MOVE) && instruction->b == NO_REGISTER) {
                instruction->op = form == SENDS_MOVE ? I_send_move : I_receive_move;
                instruction->a = (uint16_t)use->where[k];
                instruction->b = next_behind(instruction);
                instruction->c = (uint16_t)(use->where[k] >> 16);
            }
        }
    }
}

/* Has a branch do the ticks behind it, if there is one at least if it is not taken. */
static void join_ticks(struct instruction *branch) {
    const struct instruction *target = branch->slot.target;
    bool has_both = target->op == I_tick;
    cycle straight = branch[1].slot.price, aside = has_both ? target->slot.price : 0;
    if (straight >= 0 && straight <= UINT16_MAX && aside >= 0 && aside <= UINT16_MAX) {
        branch->op = I_timed_branch;
        branch->b = (uint16_t)straight;
        branch->c = (uint16_t)aside;
        branch->slot.target = target + has_both;
    }
}

/* Returns the whole number at or below a fraction with a divisor of 1 or 2. */
static int64_t below(int64_t number, int64_t divisor) { return (number - (number & (divisor - 1))) / divisor; }

/* Finds the offsets that leave a descriptor side by side in its buffer; returns false if there are none. */
static bool find_offsets(const struct core *core, const struct descriptor *walk, struct placing *placing) {
    if (walk->shape != PLAIN_HALVES && walk->shape != PLAIN_WORDS) {
        return false;
    }
    const struct bounds *bounds = &core->bounds[walk->row];
    int64_t words = walk->shape, first = bounds->start - (int64_t)walk->address;
    int64_t last = first + bounds->words - walk->extents[0] * words;
    *placing = (struct placing){.descriptor = *walk, .words = (int32_t)words, .lowest = -below(-first, words)};
    placing->descriptor.plain = walk->shape;
    placing->count = below(last, words) - placing->lowest + 1;
    return (walk->address & (words - 1)) == 0 && placing->count > 0;
}

static bool is_placed(const struct instruction *instruction) {
    return instruction->op == I_descriptor && instruction[1].op == I_set_offset && instruction->a == instruction[1].a &&
           instruction->b >= STATIC_DESCRIPTOR && instruction->b < FRAME_DESCRIPTOR;
}

/* Has instructions do what those behind them do as well, which stay for what jumps to them. */
void join_instructions(struct core *core) {
    uint64_t placings = 0;
    for (uint64_t u = 0; u < core->tables.uses_count; u++) {
        const struct use *use = &core->uses[u];
        for (uint32_t k = 0; k + 1 < use->body->length; k++) {
            placings += is_placed(&use->code[k]);
        }
    }
    core->placings = core_allocate(core, placings, sizeof *core->placings);
    struct placing *placing = core->placings;
    for (uint64_t u = 0; u < core->tables.uses_count; u++) {
        const struct use *use = &core->uses[u];
        struct instruction *code = code_of(core, use);
        for (uint32_t k = 0; k + 1 < use->body->length; k++) {
            struct instruction *instruction = &code[k];
            if (instruction->op == I_branch_false && instruction[1].op == I_tick) {
                join_ticks(instruction);
            } else if (is_placed(instruction) &&
                       find_offsets(core, &use->descriptors[instruction->b - STATIC_DESCRIPTOR], placing)) {
                placing->at = (uint32_t)(use->body->registers * sizeof(int64_t) +
                                         (instruction->a - FRAME_DESCRIPTOR) * sizeof(struct descriptor));
                instruction->op = I_place;
                instruction->b = instruction[1].b;
                instruction->slot.placing = placing++;
            }
        }
    }
}

#define NUMBER(number, name) SCALAR_##name = number,
enum { SCALARS(NUMBER, NUMBER, NUMBER) };
#undef NUMBER

/* Has the last instruction before the end of a trip do what follows it: a tick, and the test of the loop. */
static void join_trip(struct instruction *step) {
    const struct instruction *jump = step + 1;
    cycle price = 0;
    if (jump->op == I_tick) {
        price = jump->slot.price;
        jump++;
    }
    if (step->a == step->b && price >= 0 && price <= UINT16_MAX && jump->op == I_jump &&
        jump->slot.target->op == I_timed_test) {
        step->op = I_next_trip;
        step->b = (uint16_t)price;
        step->slot.target = jump->slot.target;
    }
}

/* Has the tests of loops do the ticks behind them, and the ends of trips the tests. Nothing looks at the code behind it:
 * jumps and what they lead to are no longer all there is of a loop. */
void join_loops(struct core *core) {
    for (uint64_t u = 0; u < core->tables.uses_count; u++) {
        const struct use *use = &core->uses[u];
        struct instruction *code = code_of(core, use);
        for (uint32_t k = 0; k + 1 < use->body->length; k++) {
            if (code[k].op == I_for_test && code[k + 1].op == I_tick) {
                code[k].op = I_timed_test;
            }
        }
        for (uint32_t k = 0; k + 2 < use->body->length; k++) {
            if (code[k].op == SCALAR_addi_index) {
                join_trip(&code[k]);
            }
        }
    }
}

/* Lists the signals of a use whose code is prepared, if that is a straight line of them and of ticks; returns how many
 * they are. */
uint32_t prepare_signals(struct use *use, struct signal *signals) {
    uint32_t count = 0;
    cycle behind = 0;
    for (const struct instruction *ip = use->code; ip->op != I_end; ip++) {
        if (ip->op == I_tick) {
            behind += ip->slot.price;
        } else if (ip->op == I_block || ip->op == I_unblock || ip->op == I_activate) {
            signals[count++] = (struct signal){.op = ip->op, .task = (uint16_t)ip->slot.number, .behind = behind};
        } else {
            return 0;
        }
    }
    use->signals = signals;
    use->signal_count = count;
    use->duration = behind;
    return count;
}

/* Prepares the code of a use, as many instructions as its body has; `counts` if ticks are counted. */
void prepare_code(const struct core *core, bool counts, const struct use *use, const union slot *slots,
                  struct instruction *code) {
    const struct instruction_row *rows = core->tables.code + use->body->code;
    for (uint32_t k = 0; k < use->body->length; k++) {
        const struct instruction_row *row = &rows[k];
        struct instruction *instruction = &code[k];
        *instruction = (struct instruction){.op = row->op, .a = row->a, .b = row->b, .c = row->c};
        const uint16_t operands[] = {row->a, row->b, row->c};
        int slot = slot_operand(row->op);
        if (slot >= 0) {
            instruction->slot = slots[operands[slot]];
        }
        switch (row->op) {
        case I_tick:
            if (counts) {
                instruction->op = I_counted_tick;
                break;
            }
            instruction->slot.price = core->prices[row->a];
            break;
        case I_jump:
        case I_branch_false:
        case I_branch_true:
        case I_for_test: instruction->slot.target = code + (row->b | (uint32_t)row->c << 16); break;
        case I_load:
        case I_store: prepare_access(core, instruction); break;
        default: break;
        }
    }
}
