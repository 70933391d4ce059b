/* Data structure registers (DSRs): each keeps a descriptor from one task to the next, and says how operations run. */
#include <stdlib.h>

#include "machine.h"

/* Gives each register that the program names a place. */
void place_registers(struct core *core) {
    for (int file = 0; file < MAX_REGISTER_FILES; file++) {
        for (int number = 0; number < 256; number++) {
            bool named = false;
            for (uint64_t k = 0; k < core->tables.register_loads_count; k++) {
                const struct register_load_row *row = &core->tables.register_loads[k];
                named |= row->file == file && row->number == number;
            }
            for (uint64_t k = 0; k < core->tables.register_reads_count; k++) {
                const struct register_read_row *row = &core->tables.register_reads[k];
                named |= row->file == file && row->number == number;
            }
            if (named) {
                core->register_at[core->register_count] = (uint16_t)(file << 8 | number);
                core->register_place[file][number] = (uint16_t)core->register_count++;
            }
        }
    }
}

/* Notes whether what a register holds is a walk that operations take quickly. Of those over all of memory the PE says
 * which variable they are in. */
void note_held(const struct core *core, const struct pe *pe, struct descriptor *held) {
    if (held->type != MEMORY_WALK || held->row != NO_ROW) {
        note_plain(core, held);
        return;
    }
    note_shape(core, held);
    bool is_odd = kind_bytes(held->kind) == 4 && held->address & 1;
    held->loaded = held->shape != 0 && !is_odd && is_inside(core, pe, held) ? held->shape : 0;
    held->shape = held->plain = 0;
}

void load_register(struct core *core, struct pe *pe, uint32_t number, const struct descriptor *descriptor) {
    const struct register_load_row *row = &core->tables.register_loads[number];
    uint16_t place = core->register_place[row->file][row->number];
    struct descriptor *held = &registers_at(pe)[place];
    *held = *descriptor;
    held->held = (uint16_t)(place + 1);
    held->load = row->flags & LOAD_ASYNC ? number : NO_ROW;
    held->state &= (uint8_t) ~(SAVES_ADDRESS | HOLDS_FIFO);
    held->state |= row->flags & LOAD_SAVES_ADDRESS ? SAVES_ADDRESS : 0;
    note_held(core, pe, held);
}

/* Stores what a register holds; returns the code of a finding, or 0. */
uint32_t read_register(struct core *core, struct pe *pe, uint32_t number, struct descriptor *descriptor) {
    const struct register_read_row *row = &core->tables.register_reads[number];
    *descriptor = registers_at(pe)[core->register_place[row->file][row->number]];
    if (descriptor->held == 0) {
        return REGISTER_EMPTY;
    }
    descriptor->state |= descriptor->type == FIFO_END && !row->fifo ? HOLDS_FIFO : 0;
    return row->fifo && descriptor->type != FIFO_END ? REGISTER_WITHOUT_FIFO : 0;
}

/* Returns an operation with the settings of the load of a register. Several threads may make the same one: the first to
 * have done so is the one that all use. */
static const struct operation *variant(struct core *core, const struct operation *operation, uint32_t load) {
    struct operation **list = &core->variants[operation->number];
    struct operation *first = __atomic_load_n(list, __ATOMIC_ACQUIRE), *made = NULL;
    for (;;) {
        for (struct operation *known = first; known != NULL; known = known->next_variant) {
            if (known->settings == load) {
                free(made);
                return known;
            }
        }
        if (made == NULL) {
            const struct register_load_row *row = &core->tables.register_loads[load];
            const uint32_t tasks[] = {row->activate, row->unblock, row->control_activate, row->control_unblock};
            made = core_allocate(core, 1, sizeof *made);
            *made = core->operations[operation->number];
            made->settings = load;
            made->level = core->priority_levels[row->priority > 0 ? row->priority : made->row->priority];
            made->on_control = row->flags & LOAD_ON_CONTROL;
            set_settings(&core->tables, made, tasks, row->microthread);
            set_completion(core, made, tasks);
        }
        made->next_variant = first;
        if (__atomic_compare_exchange_n(list, &first, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            return made;
        }
    }
}

/* Returns the operation as its operands say that it runs: the first that does decides, the destination before the
 * sources. NULL after a finding that is an error. */
const struct operation *from_registers(struct core *core, struct pe *pe, const struct operation *operation,
                                       struct operand_state *operands, uint32_t where) {
    const struct operation *chosen = operation;
    bool is_settled = false;
    for (int k = 0; k <= operation->sources; k++) {
        const struct descriptor *held = &operands[k].descriptor;
        if (operands[k].is_number) {
            continue;
        }
        if (held->held == 0) {
            is_settled |= held->type == QUEUE_RUN && operation->is_async;
            continue;
        }
        if (held->type != QUEUE_RUN && (kind_bytes(held->kind) == 4) != (operation->kernel->size[k] == 4)) {
            uint16_t at = core->register_at[held->held - 1];
            fail(core, pe, REGISTER_WIDTH, running_task(pe), where,
                 VALUES(operation->number, at >> 8, at & 0xFF, operation->kinds[k], held->kind));
            return NULL;
        }
        if (held->load != NO_ROW && !is_settled) {
            chosen = variant(core, operation, held->load);
            is_settled = true;
        }
    }
    return chosen;
}

/* Leaves the register that a walk was read from, and that operations move on, behind `count` elements (DSR-067). */
void leave_register(const struct core *core, const struct pe *pe, const struct descriptor *walk, int64_t count) {
    struct descriptor *held = &registers_at(pe)[walk->held - 1];
    *held = walk_behind(walk, count);
    held->load = NO_ROW;
    if (held->row != NO_ROW) {
        note_place(core, held);
    } else {
        note_held(core, pe, held);
    }
}

/* Leaves the registers that operations move on behind `count` elements. */
void move_registers(const struct core *core, struct pe *pe, const struct operation *operation,
                    const struct operand_state *operands, int64_t count) {
    for (int k = 0; k <= operation->sources; k++) {
        const struct descriptor *walk = &operands[k].descriptor;
        if (!operands[k].is_number && walk->held != 0 && walk->state & SAVES_ADDRESS && walk->type == MEMORY_WALK) {
            leave_register(core, pe, walk, count);
        }
    }
}

/* Ends an operation at its position: registers that it moves are left behind what it has covered (DSR-065). */
void end_early(const struct core *core, struct open *open) {
    move_registers(core, open->pe, open->operation, open->operands, open->position);
    open->count = open->position;
}
