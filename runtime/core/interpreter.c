/* Interpreter: runs the task of one PE until it ends, waits, or has used up its steps. */
#include "code.h"
#include "frames.h"
#include "held.h"
#include "priorities.h"
#include "races.h"
#include "scalar.h"
#include "scalar_table.h"
#include "sums.h"

void widen_stack(struct core *core, uint64_t words) {
    struct frame *frame = core->frame;
    uint64_t current = frame == NULL ? 0 : words_between(core, frame);
    grow(core, (void **)&core->stack, &core->stack_words, words, 8);
    core->frame = frame == NULL ? NULL : (struct frame *)(core->stack + current);
}

/* Keeps the stack of a PE that waits. */
static void save_stack(struct core *core, struct pe *pe) {
    uint64_t frame = words_between(core, core->frame), words = frame + FRAME_WORDS + core->frame->use->size;
    struct payload *block = payload_take(core, 2 * (words + 2));
    uint64_t *saved = (uint64_t *)(void *)block->words;
    saved[0] = words;
    saved[1] = frame;
    memcpy(saved + 2, core->stack, words * 8);
    pe->suspended = saved;
}

/* Memory */

enum { IN_REGISTERS = -2 };

/* Returns the byte address of an element; -1 after a finding that is an error; and of a configuration register
 * IN_REGISTERS less its byte address. */
static int64_t address_of(struct core *core, struct pe *pe, const struct access *access, const int64_t *registers,
                          uint32_t where, bool stores, cycle now) {
    const struct class *class = pe->class;
    pe->now = now;
    uint32_t task = running_task(pe);
    int64_t memory = 2 * class->words, address;
    if (access->flags & ACCESS_POINTER) {
        uint64_t sum = (uint64_t)registers[0];
        if (access->rank > 0) {
            sum += (uint64_t)registers[1] * access->bytes;
        }
        address = (int64_t)(sum & WORD_MASK);
        if (is_register(core, address, access->bytes)) {
            return IN_REGISTERS - address;
        }
        if (address + access->bytes > memory) {
            fail(core, pe, ADDRESS_OUTSIDE, task, where, VALUES(address));
            return -1;
        }
        if (access->bytes > 1 && address & 1) {
            fail(core, pe, ADDRESS_ODD, task, where, VALUES(address, access->bytes));
            return -1;
        }
        if (access->bytes == 4 && address & 2) {
            warn(core, pe, stores ? ODD_STORE : ODD_LOAD, task, where, VALUES(address / 2));
        }
        return address;
    }
    uint64_t sum = access->base;
    int outside = -1;
    for (int k = 0; k < access->rank; k++) {
        const struct access_dim_row *dim = &access->dims[k];
        if ((uint64_t)registers[k] >= dim->extent && outside < 0) {
            outside = k;
        }
        sum += (uint64_t)registers[k] * (uint64_t)(int64_t)dim->scale;
    }
    address = (int64_t)sum;
    if (outside >= 0) {
        bool inside = address >= 0 && address <= memory - access->bytes;
        if (!inside) {
            fail(core, pe, INDEX_OUTSIDE_MEMORY, task, where, VALUES(registers[outside], outside, access->buffer));
            return -1;
        }
        warn(core, pe, INDEX_OUTSIDE, task, where, VALUES(registers[outside], outside, access->buffer));
    }
    return address;
}

/* The most frequent accesses, checked in one comparison for each index. */
static inline int64_t quick_address(struct core *core, struct pe *pe, const struct access *access,
                                    const int64_t *registers, uint32_t where, bool stores, cycle now) {
    if (access->rank == 1 && !(access->flags & ACCESS_POINTER) &&
        (uint64_t)registers[0] < access->dims->extent) {
        return (int64_t)access->base + registers[0] * access->dims->scale;
    }
    return address_of(core, pe, access, registers, where, stores, now);
}

static inline int64_t load_element(const uint8_t *at, uint8_t kind) {
    switch (kind) {
    case KIND_I1:
    case KIND_I8: return *(const int8_t *)at;
    case KIND_I16: {
        int16_t value;
        memcpy(&value, at, 2);
        return value;
    }
    case KIND_I32: {
        int32_t value;
        memcpy(&value, at, 4);
        return value;
    }
    case KIND_F32: {
        uint32_t value;
        memcpy(&value, at, 4);
        return value;
    }
    case KIND_F16:
    case KIND_BF16: {
        uint16_t value;
        memcpy(&value, at, 2);
        return value;
    }
    default: {
        int64_t value;
        memcpy(&value, at, 8);
        return value;
    }
    }
}

static inline void store_element(uint8_t *at, uint32_t bytes, int64_t value) {
    switch (bytes) {
    case 1: *at = (uint8_t)value; break;
    case 2: memcpy(at, &value, 2); break;
    case 4: memcpy(at, &value, 4); break;
    default: memcpy(at, &value, 8); break;
    }
}

/* Descriptors */

static inline const struct descriptor *descriptor_at(struct frame *frame, uint16_t operand) {
    return operand >= FRAME_DESCRIPTOR ? descriptors_of(frame) + (operand - FRAME_DESCRIPTOR)
                                       : frame->use->descriptors + (operand - STATIC_DESCRIPTOR);
}

static inline int64_t moderate(int64_t value) { return within(value); }

static int64_t element_words(const struct descriptor *walk) { return kind_bytes(walk->kind) == 4 ? 2 : 1; }

/* Changes a frame's descriptor; returns the code of a finding, or 0. */
static uint32_t change(const struct core *core, struct descriptor *walk, uint32_t op, uint32_t place, int64_t value) {
    bool is_walk = walk->type == MEMORY_WALK;
    if (walk->type == FIFO_END) {
        return DESCRIPTOR_SHAPE;
    }
    switch (op) {
    case I_set_address:
    case I_rebase:
        if (!is_walk) {
            return DESCRIPTOR_SHAPE;
        }
        if (value & 1) {
            return ADDRESS_ODD;
        }
        walk->address = (int32_t)(value & WORD_MASK) >> 1;
        if (op == I_rebase) {
            walk->row = NO_ROW;
            walk->shape = 0;
        }
        note_place(core, walk);
        return 0;
    case I_set_stride:
        if (is_circular(walk)) {
            return DESCRIPTOR_SHAPE;
        }
        walk->strides[place & 3] = (int16_t)value;
        note_plain(core, walk);
        return 0;
    case I_set_extent:
        if (is_circular(walk)) {
            return DESCRIPTOR_SHAPE;
        }
        walk->extents[place & 3] = (uint16_t)value;
        note_plain(core, walk);
        return 0;
    case I_advance:
        if (!is_walk) {
            return DESCRIPTOR_SHAPE;
        }
        walk->address = within(walk->address + moderate(value));
        note_place(core, walk);
        return 0;
    case I_resize:
        if (is_walk && walk->dimensions != 1 && !is_circular(walk)) {
            return DESCRIPTOR_SHAPE;
        }
        walk->extents[0] = (uint16_t)value;
        note_plain(core, walk);
        return 0;
    case I_restride:
        if (!is_walk || walk->dimensions != 1) {
            return DESCRIPTOR_SHAPE;
        }
        walk->strides[0] = (int16_t)value;
        note_plain(core, walk);
        return 0;
    default:
        walk->mark = (uint16_t)value;
        walk->state |= MARKED;
        note_plain(core, walk);
        return 0;
    }
}

/* Output */

static int64_t *log_record(struct core *core, struct log *log, uint64_t words) {
    grow(core, (void **)&log->words, &log->room, log->count + words, sizeof(int64_t));
    int64_t *record = log->words + log->count;
    log->count += words;
    return record;
}

/* Issues an operation that is not computed in memory at once. */
static int issue(struct core *core, struct pe *pe, int64_t *registers, const struct application *application,
                 uint32_t where, cycle *now) {
    cycle issued = *now;
    int how = quick_transfer(core, pe, application, registers, where, now);
    if (how != NOT_QUICK) {
        if (core->races != NULL) {
            check_quick(core, pe, application, registers, where, issued, how);
        }
        return how;
    }
    const struct operation *operation = application->operation;
    struct operand_state operands[MAX_OPERANDS];
    for (int k = 0; k <= operation->sources; k++) {
        const char *at = operand_at(application, registers, k);
        operands[k].is_number = application->is_number[k];
        if (operands[k].is_number) {
            memcpy(&operands[k].number, at, sizeof operands[k].number);
        } else {
            memcpy(&operands[k].descriptor, at, sizeof operands[k].descriptor);
        }
    }
    if (!fits(core, pe, operation, where, operands, I_apply)) {
        return WENT_WRONG;
    }
    return apply(core, pe, operation, operands, where, now);
}

#define WHERE (frame->use->where[ip - frame->use->code])
#define TASK running_task(pe)

static void count_tick(struct core *core, uint32_t row, uint32_t where) {
    if (core->ticked != NULL) {
        core->ticked[row]++;
    }
    if (core->statistics != NULL) {
        count_computing(core, where, core->prices[row]);
    }
}

static int run_code(struct core *core, struct pe *pe, cycle now) {
    struct frame *frame = core->frame;
    int64_t *r = registers_of(frame);
    const struct instruction *ip = frame->pc;
    const cycle until = core->epoch.until;
    cycle after; /* behind the operation at work, which is left as `how` says */
    int how;
    const struct application *applied_to; /* of that operation */

#ifdef __GNUC__
    static const void *const labels[] = {
#define LABEL(name) [I_##name] = &&L_##name,
        CONTROL(LABEL) PREPARED(LABEL)
#undef LABEL
#define LABEL(number, name) [number] = &&S_##number,
            SCALARS(LABEL, LABEL, LABEL)
#undef LABEL
    };
#define NEXT goto *labels[ip->op]
#define CASE(name) L_##name
#define SCALAR(number) S_##number
    NEXT;
#else
#define NEXT goto next
#define CASE(name) case I_##name
#define SCALAR(number) case number
next:
    switch (ip->op) {
#endif
#define FAIL(code, ...)                                                                                                \
    do {                                                                                                               \
        pe->now = now;                                                                                               \
        fail(core, pe, code, TASK, WHERE, VALUES(__VA_ARGS__));                                                        \
        return FAILED;                                                                                                  \
    } while (0)
#define END_TASK                                                                                                       \
    do {                                                                                                               \
        pe->now = pe->clock = now;                                                                                     \
        core->last_clock = now > core->last_clock ? now : core->last_clock;                                            \
        return FINISHED;                                                                                                \
    } while (0)
#define NEXT_EPOCH                                                                                                     \
    do {                                                                                                               \
        frame->pc = ip;                                                                                                \
        pe->now = now;                                                                                                 \
        pe->stopped = false;                                                                                           \
        pe->resumes = true;                                                                                            \
        save_stack(core, pe);                                                                                          \
        return SUSPENDED;                                                                                              \
    } while (0)
/* The task waits until nothing earlier can happen, and goes on at the same instruction. */
#define AWAIT_ORDER                                                                                                    \
    do {                                                                                                               \
        frame->pc = ip;                                                                                                \
        pe->stopped = false;                                                                                           \
        save_stack(core, pe);                                                                                          \
        schedule(core, now, EVENT_ACCESS, pe->number, 0, pe);                                                          \
        return SUSPENDED;                                                                                              \
    } while (0)
/* A configuration register is used in the order of time. */
#define WAIT_FOR_TURN                                                                                                  \
    do {                                                                                                               \
        pe->now = now;                                                                                                 \
        if (core->present != now) {                                                                                    \
            AWAIT_ORDER;                                                                                               \
        }                                                                                                              \
    } while (0)
#define COUNT_STEP(after)                                                                                              \
    do {                                                                                                               \
        const struct instruction *following = after;                                                                   \
        if (now > until) {                                                                                             \
            NEXT_EPOCH;                                                                                                \
        }                                                                                                              \
        if (core->steps >= core->pause) {                                                                              \
            if (is_beyond_limit(core)) {                                                                               \
                FAIL(STEP_LIMIT, (int64_t)core->step_limit);                                                           \
            }                                                                                                          \
            pe->now = now;                                                                                             \
            core->paused_at = WHERE;                                                                                   \
            frame->pc = following;                                                                                     \
            return PAUSED;                                                                                              \
        }                                                                                                              \
        if (core->statistics != NULL) {                                                                                \
            count_line_step(core, WHERE);                                                                              \
        }                                                                                                              \
        core->steps++;                                                                                                 \
        ip = following;                                                                                                \
    } while (0)

    CASE(invalid):
        assert(!"an instruction that the checker refuses");
        return FAILED;
    CASE(tick):
        now += ip->slot.price;
        ip++;
        NEXT;
    CASE(counted_tick):
        now += core->prices[ip->a];
        count_tick(core, ip->a, WHERE);
        ip++;
        NEXT;
    CASE(jump):
        ip = ip->slot.target;
        NEXT;
    CASE(branch_false):
        ip = r[ip->a] ? ip + 1 : ip->slot.target;
        NEXT;
    CASE(branch_true):
        ip = r[ip->a] ? ip->slot.target : ip + 1;
        NEXT;
    CASE(timed_branch):
        if (r[ip->a]) {
            now += ip->b;
            ip += 2;
        } else {
            now += ip->c;
            ip = ip->slot.target;
        }
        NEXT;
    CASE(step):
        COUNT_STEP(ip + 1);
        NEXT;
    CASE(for_test):
        if (r[ip->a] < r[ip->a + 1]) {
            COUNT_STEP(ip + 1);
        } else {
            ip = ip->slot.target;
        }
        NEXT;
    CASE(next_trip):
        r[ip->a] = addi_index(r[ip->a], r[ip->c]);
        now += ip->b;
        ip = ip->slot.target;
        goto tests_trip;
    CASE(timed_test):
    tests_trip:
        if (r[ip->a] < r[ip->a + 1]) {
            COUNT_STEP(ip + 1);
            now += ip->slot.price;
            ip++;
        } else {
            ip = ip->slot.target;
        }
        NEXT;
    CASE(call): {
        if (now > until) {
            NEXT_EPOCH;
        }
        if (core->calls == 0) {
            pe->now = now;
            core->paused_at = WHERE;
            core->at_call = true;
            frame->pc = ip;
            return PAUSED;
        }
        core->calls--;
        const struct use *use = ip->slot.use;
        uint32_t size = (uint32_t)FRAME_WORDS + frame->use->size;
        int64_t stack = frame->stack + use->call_bytes;
        if (stack > pe->class->stack_room || words_between(core, frame) + size + use->size > MAX_STACK_WORDS) {
            FAIL(STACK_FULL, use->number, frame->calls + 1, stack, pe->class->stack_room);
        }
        frame->pc = ip + 1;
        core->frame = frame;
        uint16_t a = ip->b, results = ip->c;
        struct frame *called = make_frame(core, words_between(core, frame) + size, use);
        frame = (struct frame *)((uint64_t *)called - size);
        called->caller = size;
        called->results = results;
        called->calls = (uint16_t)(frame->calls + 1);
        called->stack = stack;
        memcpy(registers_of(called) + use->body->numbers, registers_of(frame) + a,
               use->body->arguments * sizeof(int64_t));
        frame = called;
        core->frame = frame;
        r = registers_of(frame);
        ip = use->code;
        NEXT;
    }
    CASE(return_): {
        uint16_t results = frame->use->body->results, a = ip->a;
        if (frame->caller == 0) {
            END_TASK;
        }
        struct frame *caller = (struct frame *)((uint64_t *)frame - frame->caller);
        memmove(registers_of(caller) + frame->results, r + a, results * sizeof(int64_t));
        frame = caller;
        core->frame = frame;
        r = registers_of(frame);
        ip = frame->pc;
        NEXT;
    }
    CASE(end):
        END_TASK;
    CASE(move):
        r[ip->a] = r[ip->b];
        ip++;
        NEXT;
    CASE(select):
        r[ip->a] = r[ip->b] ? r[ip->c] : r[ip->a];
        ip++;
        NEXT;
    CASE(column):
        r[ip->a] = ip->slot.column[pe->unit];
        ip++;
        NEXT;
    CASE(coordinate):
        r[ip->a] = ip->b ? pe->y : pe->x;
        ip++;
        NEXT;
    CASE(check_divisor):
        if (r[ip->a] == 0) {
            FAIL(DIVISION_BY_ZERO, 0);
        }
        ip++;
        NEXT;
/* Scalar loads and stores of any address; `is_checked`: looks for races. */
#define LOAD_ELEMENT(name, is_checked)                                                                                 \
    CASE(name): {                                                                                                      \
        const struct access *access = ip->slot.access;                                                                 \
        int64_t address = quick_address(core, pe, access, r + ip->b, WHERE, false, now);                               \
        if (address <= IN_REGISTERS) {                                                                                 \
            WAIT_FOR_TURN;                                                                                             \
            uint16_t word;                                                                                             \
            if (!read_configuration(core, pe, (uint32_t)(IN_REGISTERS - address) / 2, TASK, WHERE, &word)) {           \
                return FAILED;                                                                                         \
            }                                                                                                          \
            r[ip->a] = load_element((const uint8_t *)&word, access->kind);                                             \
            ip++;                                                                                                      \
            NEXT;                                                                                                      \
        }                                                                                                              \
        if (address < 0) {                                                                                             \
            return FAILED;                                                                                             \
        }                                                                                                              \
        if (is_checked) {                                                                                              \
            check_element(core, pe, address, access->bytes, false, WHERE, now);                                        \
        }                                                                                                              \
        r[ip->a] = load_element(pe->memory + address, access->kind);                                                   \
        ip++;                                                                                                          \
        NEXT;                                                                                                          \
    }
#define STORE_ELEMENT(name, is_checked)                                                                                \
    CASE(name): {                                                                                                      \
        const struct access *access = ip->slot.access;                                                                 \
        int64_t address = quick_address(core, pe, access, r + ip->b, WHERE, true, now);                                \
        if (address <= IN_REGISTERS) {                                                                                 \
            WAIT_FOR_TURN;                                                                                             \
            uint32_t word = (uint32_t)(IN_REGISTERS - address) / 2;                                                    \
            if (!write_configuration(core, pe, word, TASK, WHERE, (uint16_t)r[ip->a])) {                               \
                return FAILED;                                                                                         \
            }                                                                                                          \
            ip++;                                                                                                      \
            NEXT;                                                                                                      \
        }                                                                                                              \
        if (address < 0) {                                                                                             \
            return FAILED;                                                                                             \
        }                                                                                                              \
        if (is_checked) {                                                                                              \
            check_element(core, pe, address, access->bytes, true, WHERE, now);                                         \
        }                                                                                                              \
        store_element(pe->memory + address, access->bytes, r[ip->a]);                                                  \
        ip++;                                                                                                          \
        NEXT;                                                                                                          \
    }
    LOAD_ELEMENT(load, false)
    LOAD_ELEMENT(checked_load, true)
    STORE_ELEMENT(store, false)
    STORE_ELEMENT(checked_store, true)
#define LOAD(name, type)                                                                                               \
    CASE(name): {                                                                                                      \
        type value;                                                                                                    \
        memcpy(&value, pe->memory + ip->slot.byte, sizeof value);                                                      \
        r[ip->a] = value;                                                                                              \
        ip++;                                                                                                          \
        NEXT;                                                                                                          \
    }
    LOAD(load_i16, int16_t)
    LOAD(load_i32, int32_t)
    LOAD(load_16, uint16_t)
    LOAD(load_32, uint32_t)
#define CHECK(address, bytes, writes) check_element(core, pe, (int64_t)(address), (bytes), (writes), WHERE, now)
#define CHECKED_LOAD(name, type)                                                                                       \
    CASE(name): {                                                                                                      \
        type value;                                                                                                    \
        CHECK(ip->slot.byte, sizeof value, false);                                                                     \
        memcpy(&value, pe->memory + ip->slot.byte, sizeof value);                                                      \
        r[ip->a] = value;                                                                                              \
        ip++;                                                                                                          \
        NEXT;                                                                                                          \
    }
    CHECKED_LOAD(checked_load_i16, int16_t)
    CHECKED_LOAD(checked_load_i32, int32_t)
    CHECKED_LOAD(checked_load_16, uint16_t)
    CHECKED_LOAD(checked_load_32, uint32_t)
    CASE(checked_store_16):
        CHECK(ip->slot.byte, 2, true);
        memcpy(pe->memory + ip->slot.byte, &r[ip->a], 2);
        ip++;
        NEXT;
    CASE(checked_store_32):
        CHECK(ip->slot.byte, 4, true);
        memcpy(pe->memory + ip->slot.byte, &r[ip->a], 4);
        ip++;
        NEXT;
    CASE(store_16):
        memcpy(pe->memory + ip->slot.byte, &r[ip->a], 2);
        ip++;
        NEXT;
    CASE(store_32):
        memcpy(pe->memory + ip->slot.byte, &r[ip->a], 4);
        ip++;
        NEXT;
    CASE(descriptor):
        descriptors_of(frame)[ip->a & 0x3FFF] = *descriptor_at(frame, ip->b);
        ip++;
        NEXT;
    CASE(place): {
        const struct placing *placing = ip->slot.placing;
        struct descriptor *walk = (struct descriptor *)(void *)((char *)r + placing->at);
        int64_t offset = r[ip->b];
        *walk = placing->descriptor;
        if ((uint64_t)offset - (uint64_t)placing->lowest < (uint64_t)placing->count) {
            walk->address += (int32_t)offset * placing->words;
            ip++;
        }
        ip++;
        NEXT;
    }
    CASE(set_offset): {
        struct descriptor *walk = descriptors_of(frame) + (ip->a & 0x3FFF);
        if (walk->type == FIFO_END) {
            FAIL(DESCRIPTOR_SHAPE, ip->op);
        }
        walk->address = within(walk->address + moderate(r[ip->b]) * element_words(walk));
        note_place(core, walk);
        ip++;
        NEXT;
    }
    CASE(set_address):
    CASE(set_stride):
    CASE(set_extent):
    CASE(advance):
    CASE(resize):
    CASE(restride):
    CASE(rebase):
    CASE(mark): {
        uint32_t code = change(core, descriptors_of(frame) + (ip->a & 0x3FFF), ip->op, ip->c, r[ip->b]);
        if (code == ADDRESS_ODD) {
            FAIL(ADDRESS_ODD, r[ip->b] & WORD_MASK, 2);
        } else if (code != 0) {
            FAIL(DESCRIPTOR_SHAPE, ip->op);
        }
        ip++;
        NEXT;
    }
    CASE(sum): {
        const struct sum *sum = ip->slot.sum;
        cycle taken = compute_sum(core, pe, sum, r, now);
        if (taken >= 0) {
            now += taken;
            ip += sum->operations;
            NEXT;
        }
        applied_to = sum->application;
        goto computes;
    }
    CASE(compute): {
        applied_to = ip->slot.application;
    computes:;
        const struct application *application = applied_to;
        cycle taken = application->compute(core, pe, application, r);
        if (taken < 0) {
            goto applies;
        }
        if (core->races != NULL && has_to_look_at(core, pe, application)) {
            check_computed(core, pe, application, r, WHERE, now);
        }
        now += taken;
        if (ip->b != NO_REGISTER) {
            r[ip->b] = 1;
        }
        ip++;
        NEXT;
    }
    CASE(compute_held): {
        const struct held *held = ip->slot.held;
        cycle taken = held->compute(core, pe, held, r);
        if (taken >= 0) {
            now += taken;
            if (ip->b != NO_REGISTER) {
                r[ip->b] = 1;
            }
            ip++;
            NEXT;
        }
        for (uint32_t k = 0; k < held->reads; k++) {
            read_register(core, pe, held->read[k].row, descriptors_of(frame) + (held->read[k].descriptor & 0x3FFF));
        }
        applied_to = held->application;
        goto computes;
    }
#define MOVE(name)                                                                                                     \
    CASE(name):                                                                                                        \
        pe->now = now;                                                                                                 \
        after = name(core, pe, ip, r, now);                                                                            \
        if (after < 0 || core->moves == 0 || core->races != NULL) {                                                    \
            goto moved;                                                                                                \
        }                                                                                                              \
        now = after;                                                                                                   \
        ip += ip->b;                                                                                                   \
        NEXT;
    MOVE(send_move)
    MOVE(receive_move)
    moved:
        how = after < 0 ? (int)-after : DONE_NOW;
        after = after < 0 ? now : after;
        if (how == NOT_QUICK) {
            applied_to = ip->slot.application;
            goto applies;
        }
        if (core->races != NULL) {
            check_move(core, pe, ip->slot.application, r, WHERE, now, how);
        }
        goto applied;
    CASE(apply):
        applied_to = ip->slot.application;
    applies:
        pe->now = after = now;
        pe->stopped = false;
        how = issue(core, pe, r, applied_to, WHERE, &after);
    applied:
        now = after;
        if (how == WENT_WRONG) {
            return FAILED;
        }
        if (how == AWAITS_ORDER) {
            AWAIT_ORDER;
        }
        if (result_of(ip) != NO_REGISTER) {
            r[ip->b] = how == WAITS || !pe->stopped;
        }
        if (how == WAITS) {
            frame->pc = ip + 1;
            save_stack(core, pe);
            return SUSPENDED;
        }
        if (core->moves == 0) {
            pe->now = now;
            core->paused_at = WHERE;
            core->at_call = true;
            frame->pc = ip + 1;
            return PAUSED;
        }
        ip++;
        NEXT;
    CASE(activate):
        task_activate(core, pe, (uint32_t)ip->slot.number, now);
        ip++;
        NEXT;
    CASE(block):
        task_block(core, pe, (uint32_t)ip->slot.number, now);
        ip++;
        NEXT;
    CASE(unblock):
        task_unblock(core, pe, (uint32_t)ip->slot.number, now, false);
        ip++;
        NEXT;
    CASE(block_microthread):
        WAIT_FOR_TURN;
        if (!change_microthread(core, pe, r[ip->a], true, WHERE)) {
            return FAILED;
        }
        ip++;
        NEXT;
    CASE(unblock_microthread):
        WAIT_FOR_TURN;
        if (!change_microthread(core, pe, r[ip->a], false, WHERE)) {
            return FAILED;
        }
        ip++;
        NEXT;
    CASE(assert_):
        if (r[ip->a] == 0) {
            FAIL(ASSERTION, (int64_t)ip->slot.number,
                 core->tables.messages[ip->slot.number].shows_value ? r[ip->b] : 0);
        }
        ip++;
        NEXT;
    CASE(print): {
        uint32_t row = (uint32_t)ip->slot.number, count = core->tables.prints[row].arguments;
        int64_t *record = log_record(core, &core->prints, 3 + count);
        record[0] = now;
        record[1] = pe->number;
        record[2] = row;
        memcpy(record + 3, r + ip->b, count * sizeof(int64_t));
        ip++;
        NEXT;
    }
    CASE(timestamp): {
        cycle shown = clock_shows(core, pe, now);
        for (int k = 0; k < 3; k++) {
            r[ip->a + k] = (int16_t)(shown >> WORD_BITS * k);
        }
        ip++;
        NEXT;
    }
    CASE(set_clock):
        set_clock(core, pe, now, ip->c == 1);
        ip++;
        NEXT;
    CASE(fail):
        FAIL(FAILURE, (int64_t)ip->slot.number);
    CASE(load_register):
        if (core->races != NULL) {
            check_load(core, pe, (uint32_t)ip->slot.number, WHERE, now);
        }
        load_register(core, pe, (uint32_t)ip->slot.number, descriptor_at(frame, ip->a));
        ip++;
        NEXT;
    CASE(check_register):
        do {
            if (registers_at(pe)[ip->b].held == 0) {
                goto reads;
            }
            ip++;
        } while (ip->op == I_check_register);
        NEXT;
    CASE(read_register):
    reads: {
        uint32_t row = (uint32_t)ip->slot.number;
        uint32_t code = read_register(core, pe, row, descriptors_of(frame) + (ip->a & 0x3FFF));
        if (code != 0) {
            const struct register_read_row *read = &core->tables.register_reads[row];
            FAIL(code, read->file, read->number);
        }
        ip++;
        NEXT;
    }
    CASE(set_fifo_length): {
        struct side *side = side_at(pe, fifo_place(pe->class, (uint32_t)ip->slot.number, ip->c != 0));
        side->set_to = (uint32_t)r[ip->a] & WORD_MASK;
        side->outstanding = 0;
        ip++;
        NEXT;
    }
    CASE(directive):
        pe->now = now;
        if (!directive(core, pe, (uint32_t)ip->slot.number, (uint32_t)r[ip->b] & WORD_MASK,
                       (uint32_t)r[ip->c] & WORD_MASK, WHERE)) {
            return FAILED;
        }
        ip++;
        NEXT;
    CASE(set_exception_mask):
        set_exception_mask(pe, r[ip->a]);
        ip++;
        NEXT;
    CASE(check_exceptions):
        pe->now = now;
        if (!check_exceptions(core, pe, (uint32_t)ip->slot.number, r, WHERE)) {
            return FAILED;
        }
        ip++;
        NEXT;

#define UNARY(number, name)                                                                                            \
    SCALAR(number):                                                                                                    \
        r[ip->a] = name(r[ip->b]);                                                                                     \
        ip++;                                                                                                          \
        NEXT;
#define BINARY(number, name)                                                                                           \
    SCALAR(number):                                                                                                    \
        r[ip->a] = name(r[ip->b], r[ip->c]);                                                                           \
        ip++;                                                                                                          \
        NEXT;
#define TERNARY(number, name)                                                                                          \
    SCALAR(number):                                                                                                    \
        r[ip->a] = name(r[ip->b], r[ip->c], r[ip->a]);                                                                 \
        ip++;                                                                                                          \
        NEXT;
    SCALARS(UNARY, BINARY, TERNARY)
#ifndef __GNUC__
    default: return FAILED;
    }
#endif
}

int interpret(struct core *core, struct pe *pe, cycle now) {
    core->pause = core->budget;
    if (core->steps_left == NULL) {
        return run_code(core, pe, now);
    }
    uint64_t *left = &core->steps_left[pe->number], before = core->steps;
    core->pause = before + *left < core->budget ? before + *left : core->budget;
    int how = run_code(core, pe, now);
    *left -= core->steps - before;
    return how;
}

const char *core_instruction(uint32_t number) {
#define NAME(name) #name,
    static const char *const names[] = {CONTROL(NAME) CHIP_CONTROL(NAME)};
#undef NAME
    return number < ALL_CONTROL_COUNT ? names[number] : "";
}
