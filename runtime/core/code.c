/* The code of a use, prepared for the interpreter: every instruction has with it what it is applied to. */
#include "code.h"

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
    bool loads = op == I_load;
    switch (kind) {
    case KIND_I16: return loads ? I_load_i16 : I_store_16;
    case KIND_F16:
    case KIND_BF16: return loads ? I_load_16 : I_store_16;
    case KIND_I32: return loads ? I_load_i32 : I_store_32;
    case KIND_F32: return loads ? I_load_32 : I_store_32;
    default: return op;
    }
}

static void prepare_access(const struct core *core, struct instruction *instruction) {
    if (core->races != NULL) {
        instruction->op = instruction->op == I_load ? I_checked_load : I_checked_store;
        return;
    }
    const struct access *access = instruction->slot.access;
    uint16_t op = access->is_static ? at_known_address(instruction->op, access->kind) : instruction->op;
    if (op != instruction->op) {
        instruction->op = op;
        instruction->slot.byte = access->base;
    }
}

/* Has all operations take their short ways, when these are known. */
void choose_short_ways(struct core *core) {
    for (uint64_t k = 0; k < core->instruction_count; k++) {
        struct instruction *instruction = &core->code[k];
        if (instruction->op != I_apply) {
            continue;
        }
        uint8_t form = instruction->slot.application->form;
        instruction->op = form == COMPUTES        ? I_compute
                          : form == SENDS_MOVE    ? I_send_move
                          : form == RECEIVES_MOVE ? I_receive_move
                                                  : I_apply;
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
