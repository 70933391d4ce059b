/* Interpreter of the cores of a chip: runs a task until it ends, waits for a channel, or has used up its steps. */
#include "chip.h"
#include "scalar.h"
#include "scalar_table.h"

/* Counts a step; returns how the core stops, or CORE_ENDED if it goes on. */
static inline int count_step(struct chip_row *row, struct unit *unit) {
    if (row->budget == 0) {
        return CORE_WANTS_STEPS;
    }
    if (row->chip->is_limited) {
        if (unit->steps_left == 0) {
            fail_core(row, CHIP_STEP_LIMIT, NO_ROW, CHIP_VALUES(unit->task));
            return CORE_FAILED;
        }
        unit->steps_left--;
    }
    row->budget--;
    row->steps++;
    return CORE_ENDED;
}

/* Returns the channel at an end of which the core is, and its place there; NULL after an error. */
static inline struct channel *end_of(struct chip_row *row, struct unit *unit, uint32_t slot, bool producing,
                                     uint32_t *member) {
    struct channel *channel = row->channels[unit->use->slots[slot]];
    bool many = producing ? channel->many_produce : channel->many_consume;
    *member = many ? unit->column : 0;
    if (many && unit->column >= channel->row->lanes) {
        fail_core(row, CHIP_BEYOND_LANES, channel->number, CHIP_VALUES(0));
        return NULL;
    }
    return channel;
}

static inline struct tile *tile_at(struct unit *unit, uint16_t operand) {
    return &unit->tiles[operand - FRAME_DESCRIPTOR];
}

#define STOP(how)                                                                                                      \
    do {                                                                                                               \
        unit->pc = (uint32_t)(ip - code);                                                                              \
        return how;                                                                                                    \
    } while (0)
/* Errors and findings have the source place of the instruction that runs. */
#define HERE (unit->pc = (uint32_t)(ip - code))
#define FAIL(what, ...)                                                                                                \
    do {                                                                                                               \
        HERE;                                                                                                          \
        fail_core(row, what, NO_ROW, CHIP_VALUES(__VA_ARGS__));                                                        \
        return CORE_FAILED;                                                                                            \
    } while (0)
#define SUSPEND(channel_, action_, member_)                                                                            \
    do {                                                                                                               \
        unit->waits_at = channel_;                                                                                     \
        unit->action = action_;                                                                                        \
        unit->member = member_;                                                                                        \
        STOP(CORE_WAITS);                                                                                              \
    } while (0)

int run_core(struct chip_row *row, struct unit *unit) {
    if (unit->pc == WANTS_STEP) {
        int how = count_step(row, unit);
        if (how != CORE_ENDED) {
            return how;
        }
        unit->pc = 0;
    }
    const struct chip_tables *tables = &row->chip->tables;
    const struct instruction_row *code = unit->use->code, *ip = code + unit->pc;
    const uint32_t *slots = unit->use->slots;
    int64_t *r = unit->registers;
    uint32_t member;
    struct channel *channel;
    for (;;) {
        switch (ip->op) {
        case I_jump: ip = code + (ip->b | (uint32_t)ip->c << 16); break;
        case I_branch_false: ip = r[ip->a] == 0 ? code + (ip->b | (uint32_t)ip->c << 16) : ip + 1; break;
        case I_branch_true: ip = r[ip->a] != 0 ? code + (ip->b | (uint32_t)ip->c << 16) : ip + 1; break;
        case I_for_test:
            if (r[ip->a] >= r[ip->a + 1]) {
                ip = code + (ip->b | (uint32_t)ip->c << 16);
                break;
            }
            /* fall through */
        case I_step: {
            HERE;
            int how = count_step(row, unit);
            if (how != CORE_ENDED) {
                STOP(how);
            }
            ip++;
            break;
        }
        case I_end: unit->task = NO_TASK; return CORE_ENDED;
        case I_move:
            r[ip->a] = r[ip->b];
            ip++;
            break;
        case I_select:
            r[ip->a] = r[ip->b] != 0 ? r[ip->c] : r[ip->a];
            ip++;
            break;
        case I_coordinate:
            r[ip->a] = ip->b ? unit->number / row->chip->width : unit->number % row->chip->width;
            ip++;
            break;
        case I_check_divisor:
            if (r[ip->a] == 0) {
                FAIL(CHIP_DIVISION_BY_ZERO, 0);
            }
            ip++;
            break;
        case I_descriptor:
            *tile_at(unit, ip->a) = *tile_at(unit, ip->b);
            ip++;
            break;
        case I_assert_:
            if (r[ip->a] == 0) {
                uint32_t message = slots[ip->c];
                FAIL(CHIP_ASSERTION, message, tables->messages[message].shows_value ? r[ip->b] : 0);
            }
            ip++;
            break;
        case I_fail: FAIL(CHIP_FAILURE, slots[ip->c]);
        case I_tile:
            HERE;
            make_tile(row, unit, tile_at(unit, ip->a), &tables->tiles[slots[ip->c]], r + ip->b);
            ip++;
            break;
        case I_tile_apply:
            HERE;
            if (!apply_tiles(row, unit, slots[ip->a])) {
                return CORE_FAILED;
            }
            ip++;
            break;
        case I_tile_print: {
            HERE;
            struct tile *tile = tile_at(unit, ip->a);
            check_use(row, unit, tile, false);
            print_tile(row, unit, tile, slots[ip->b]);
            if (row->has_error) {
                return CORE_FAILED;
            }
            ip++;
            break;
        }
        case I_tile_get: {
            HERE;
            struct tile *tile = tile_at(unit, ip->b);
            struct tile_view view;
            check_use(row, unit, tile, false);
            if (!view_tile(row, unit, tile, &view)) {
                return CORE_FAILED;
            }
            r[ip->a] = first_element(&view);
            ip++;
            break;
        }
        case I_acquire: {
            HERE;
            channel = end_of(row, unit, ip->b, true, &member);
            if (channel == NULL) {
                return CORE_FAILED;
            }
            int64_t number = acquire_entry(row, channel, member);
            if (number < 0) {
                SUSPEND(channel, WAITS_ACQUIRE, member);
            }
            r[ip->a] = number;
            ip++;
            break;
        }
        case I_commit:
            HERE;
            channel = end_of(row, unit, ip->a, true, &member);
            if (channel == NULL) {
                return CORE_FAILED;
            }
            commit_entry(row, channel, member);
            wake(row, channel, false);
            ip++;
            if (row->chip->is_prompt) {
                STOP(CORE_PAUSED);
            }
            break;
        case I_wait: {
            HERE;
            channel = end_of(row, unit, ip->b, false, &member);
            if (channel == NULL) {
                return CORE_FAILED;
            }
            int64_t number = wait_entry(row, channel, member);
            if (number < 0) {
                SUSPEND(channel, WAITS_WAIT, member);
            }
            r[ip->a] = number;
            ip++;
            break;
        }
        case I_release:
            HERE;
            channel = end_of(row, unit, ip->a, false, &member);
            if (channel == NULL) {
                return CORE_FAILED;
            }
            release_entry(row, channel, member);
            wake(row, channel, true);
            ip++;
            break;
        case I_drain:
            HERE;
            channel = end_of(row, unit, ip->a, true, &member);
            if (channel == NULL) {
                return CORE_FAILED;
            }
            if (!drain_channel(channel, member)) {
                SUSPEND(channel, WAITS_DRAIN, member);
            }
            ip++;
            break;
        case I_rest:
            HERE;
            if (r[ip->a] != 0) {
                row->chip->has_progress |= unit->rests_at != NOWHERE;
                unit->rests_at = NOWHERE;
                ip++;
                break;
            }
            /* To rest again where it has just rested is not progress. */
            row->chip->has_progress |= unit->rests_at != unit->pc;
            unit->rests_at = unit->pc;
            unit->found = r[ip->b];
            unit->wanted = r[ip->c];
            unit->is_resting = true;
            ip++;
            STOP(CORE_RESTS);
#define UNARY(number, name)                                                                                            \
        case number:                                                                                                   \
            r[ip->a] = name(r[ip->b]);                                                                                 \
            ip++;                                                                                                      \
            break;
#define BINARY(number, name)                                                                                           \
        case number:                                                                                                   \
            r[ip->a] = name(r[ip->b], r[ip->c]);                                                                       \
            ip++;                                                                                                      \
            break;
#define TERNARY(number, name)                                                                                          \
        case number:                                                                                                   \
            r[ip->a] = name(r[ip->b], r[ip->c], r[ip->a]);                                                             \
            ip++;                                                                                                      \
            break;
            SCALARS(UNARY, BINARY, TERNARY)
        default: abort(); /* checked tables have no other */
        }
    }
}
