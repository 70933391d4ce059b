/* Races: accesses to memory that asynchronous operations in flight read or write.
 *
 * The tasks of a PE are one thread, and an operation that is asynchronous is another from its issue to its end. An access
 * of the thread of tasks races with it if it comes before that end, in time, or if nothing can have told the tasks of the
 * end: since the issue no task has started that a wavelet, the end of an operation or a host starts, and no task has
 * waited for wavelets. What comes later is left alone even where the program does not wait for the end itself, since
 * wavelets of other PEs may say that it has come.
 *
 * They cannot of a receive into memory that nobody waits for: no other operation, and no other PE, sees its end. Only
 * what comes behind it in its queue does, a wavelet that starts a task or that another operation takes; and a host may
 * know of it otherwise, so a launch counts, as do control wavelets. Until then all accesses race with it, also where it
 * happens to have ended.
 */
#include "races.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 1 << 16, WORDS_BEYOND = 1 << 30 };
enum { LATER_WRITES = 1, EARLIER_WRITES = 2, LATER_IS_ASYNC = 4 }; /* bits of the fifth value of a finding */

void prepare_races(struct core *core) {
    core->races = core_allocate(core, (uint64_t)core->width * core->height, sizeof *core->races);
}

/* Shares what nothing has written, of each class, with the host. */
void prepare_unwritten(struct core *core, const struct unwritten *classes) {
    for (uint32_t k = 0; k < core->class_count; k++) {
        const struct unwritten *given = &classes[k];
        for (uint32_t unit = 0; unit < core->classes[k].units; unit++) {
            struct pe_races *here = races_of(core, pe_at(&core->classes[k], unit));
            here->unwritten = given->words + unit * given->count;
            here->first_word = given->first;
            here->last_word = given->first + given->count;
            here->left = given->left + unit;
            here->command_word = core->command_words[k];
            here->low = INT64_MAX;
            here->high = INT64_MIN;
        }
    }
}

void free_races(struct core *core) {
    if (core->races == NULL) {
        return;
    }
    for (uint64_t pe = 0; pe < (uint64_t)core->width * core->height; pe++) {
        struct pe_races *here = &core->races[pe];
        for (uint64_t k = 0; k < here->count; k++) {
            free(here->flights[k].lates);
        }
        free(here->flights);
        free(here->walks);
    }
    free(core->races);
}

/* Words that operands touch */

static int64_t width_of(const struct descriptor *walk) { return kind_bytes(walk->kind) == 4 ? 2 : 1; }

/* Returns the walks of the operands of an operation. */
static inline struct walked *walks_of(const struct pe_races *here, const struct flight *flight) {
    return &here->walks[(uint64_t)(flight - here->flights) * MAX_OPERANDS];
}

static inline int32_t cut(int64_t word) {
    return word < -WORDS_BEYOND ? -WORDS_BEYOND : word > WORDS_BEYOND ? WORDS_BEYOND : (int32_t)word;
}

/* Adds a range to those of an operation. */
static inline struct range *append_range(struct flight *flight, int64_t low, int64_t high, bool writes, bool is_line) {
    struct range *range = &flight->ranges[flight->range_count++];
    *range = (struct range){.low = cut(low), .high = cut(high), .writes = writes, .is_line = is_line};
    flight->low = range->low < flight->low ? range->low : flight->low;
    flight->high = range->high > flight->high ? range->high : flight->high;
    return range;
}

/* Adds the words that an operand touches with so many elements to those of an operation. */
static inline void add_range(struct flight *flight, struct walked *walks, const struct descriptor *walk, int64_t count,
                             bool writes) {
    int64_t width = width_of(walk), address = walk->address;
    if (walk->dimensions == 1 && walk->strides[0] == 1 && !is_circular(walk)) {
        append_range(flight, address, address + count * width, writes, true);
        return;
    }
    struct walked *walked = &walks[flight->range_count];
    flight->has_walks = true;
    int64_t whole = walk_count(walk), lowest = 0, highest = 0;
    walked->walk = *walk;
    walked->count = count;
    if (is_circular(walk)) {
        highest = (walk->extents[1] - 1) * width;
    } else if (walk->dimensions == 1) {
        int64_t reach = (count - 1) * walk->strides[0] * width;
        *(reach < 0 ? &lowest : &highest) = reach;
    } else {
        walked->count = count < whole ? count : whole; /* it begins again behind the last */
        walk_reach(2 * (uint32_t)width, walk->dimensions, walk->extents, walk->strides, &lowest, &highest);
        lowest /= 2;
        highest /= 2;
    }
    append_range(flight, address + lowest, address + highest + width, writes, false);
}

/* Adds the memory of a FIFO: which places of it an operation uses is known to the FIFO alone. */
static void add_fifo(const struct core *core, struct flight *flight, uint32_t row, bool writes) {
    const struct buffer_row *buffer = &core->tables.buffers[core->tables.fifos[row].buffer];
    int64_t bytes = (int64_t)buffer->elements * kind_bytes(buffer->kind);
    append_range(flight, buffer->address, buffer->address + (bytes + 1) / 2, writes, true)->is_fifo = true;
}

/* Sets the bits of the words of a range. */
static void mark(const struct range *range, const struct walked *walked, uint64_t *words) {
    int64_t width = range->is_line ? range->high - range->low : width_of(&walked->walk);
    int64_t count = range->is_line ? 1 : walked->count;
    for (int64_t k = 0; k < count; k++) {
        int64_t word = range->is_line ? range->low : walked->walk.address + walk_offset(&walked->walk, k) * width;
        for (int64_t end = word + width; word < end; word++) {
            if (word >= 0 && word < MAX_WORDS) {
                words[word / 64] |= (uint64_t)1 << word % 64;
            }
        }
    }
}

/* Returns the first word that two ranges have in common, whatever they are, or -1. */
static int64_t first_marked(const struct range *one, const struct walked *walk, const struct range *other,
                            const struct walked *other_walk) {
    uint64_t words[2][MAX_WORDS / 64] = {{0}};
    mark(one, walk, words[0]);
    mark(other, other_walk, words[1]);
    for (int k = 0; k < MAX_WORDS / 64; k++) {
        uint64_t both = words[0][k] & words[1][k];
        for (int bit = 0; both != 0; bit++, both >>= 1) {
            if (both & 1) {
                return 64 * k + bit;
            }
        }
    }
    return -1;
}

/* Findings */

static void tell(struct core *core, struct pe *pe, const struct late *late) {
    cycle before = core->at;
    core->at = late->time;
    warn(core, pe, late->code, late->task, late->where, late->values, 6);
    core->at = before;
}

/* Tells what the running task does, with two values. */
static void tell_at(struct core *core, struct pe *pe, uint32_t code, uint32_t where, cycle now, int64_t one, int64_t two) {
    struct late late = {.time = now, .code = code, .task = running_task(pe), .where = where, .values = {one, two}};
    tell(core, pe, &late);
}

static void keep_late(struct core *core, struct flight *flight, const struct late *late) {
    for (uint64_t k = 0; k < flight->late_count; k++) {
        if (flight->lates[k].code == late->code && flight->lates[k].where == late->where &&
            flight->lates[k].time < late->time) {
            return; /* there is one warning for each place, the first */
        }
    }
    grow(core, (void **)&flight->lates, &flight->late_room, flight->late_count + 1, sizeof *flight->lates);
    flight->lates[flight->late_count++] = *late;
}

/* Returns true if an operation in flight has ended, as the tasks may know. */
static inline bool is_over(const struct flight *flight, const struct pe_races *here, cycle now) {
    return flight->done <= now && flight->joins != here->joins && flight->alone_on == NO_ROW;
}

/* Notes that a wavelet is taken behind the receives from a queue; NO_ROW: that the PE may know of the end of any. */
void comes_behind(struct core *core, const struct pe *pe, uint32_t queue) {
    struct pe_races *here = races_of(core, pe);
    for (uint64_t k = 0; k < here->count; k++) {
        struct flight *flight = &here->flights[k];
        flight->alone_on = queue == NO_ROW || flight->alone_on == queue ? NO_ROW : flight->alone_on;
    }
}

/* Finds an access to words that one operand of an operation in flight touches. `later` is the operation that accesses
 * them, or NO_ROW. */
static void meet_range(struct core *core, struct pe *pe, struct flight *flight, uint32_t number,
                       const struct range *access, const struct walked *walked, uint32_t later, bool is_async,
                       uint32_t where, cycle now) {
    const struct range *range = &flight->ranges[number];
    int64_t word = access->low > range->low ? access->low : range->low;
    if (!access->is_line || !range->is_line) {
        word = first_marked(access, walked, range, &walks_of(races_of(core, pe), flight)[number]);
    }
    if (word < 0) {
        return;
    }
    int64_t bits = (access->writes ? LATER_WRITES : 0) | (range->writes ? EARLIER_WRITES : 0) |
                   (is_async ? LATER_IS_ASYNC : 0);
    struct late late = {.time = now, .code = USED_IN_FLIGHT, .task = running_task(pe), .where = where,
                        .values = {flight->operation, flight->task, flight->where, word, bits, later}};
    if (flight->done == NEVER && flight->joins != races_of(core, pe)->joins && flight->alone_on == NO_ROW) {
        keep_late(core, flight, &late);
    } else {
        tell(core, pe, &late);
    }
}

/* Finds accesses to words that an operation in flight touches. */
static inline void meet(struct core *core, struct pe *pe, struct flight *flight, const struct range *accesses,
                        const struct walked *walks, uint32_t count, uint32_t later, bool is_async, uint32_t where,
                        cycle now) {
    for (uint32_t r = 0; r < flight->range_count; r++) {
        const struct range *range = &flight->ranges[r];
        for (uint32_t k = 0; k < count; k++) {
            const struct range *access = &accesses[k];
            if (access->low < range->high && range->low < access->high && (range->writes || access->writes) &&
                !(range->is_fifo && access->is_fifo)) {
                meet_range(core, pe, flight, r, access, walks == NULL ? NULL : &walks[k], later, is_async, where, now);
            }
        }
    }
}

/* Finds operations that still receive into memory when a PE lets its host go on, which may read that, and
 * that it has done so before in the same launch. Those that end only
 * when the host has done more are left alone. */
static void check_unblock(struct core *core, struct pe *pe, uint32_t where, cycle now) {
    struct pe_races *here = races_of(core, pe);
    if (here->unblocked_at != 0) {
        tell_at(core, pe, UNBLOCKS_AGAIN, where, now, here->unblocked_at, here->unblocked_by);
    } else {
        here->unblocked_at = where;
        here->unblocked_by = running_task(pe);
    }
    for (uint64_t k = 0; k < here->count; k++) {
        struct flight *flight = &here->flights[k];
        struct late late = {.time = now, .code = UNBLOCKS_EARLY, .task = running_task(pe), .where = flight->where,
                            .values = {flight->operation, flight->task, where}};
        if (flight->fills && flight->done == NEVER) {
            keep_late(core, flight, &late);
        } else if (flight->fills && flight->done > now) {
            tell(core, pe, &late);
        }
    }
}

/* Memory that nothing has written */

/* Returns the first of some words that nothing has written, or -1. */
static int64_t first_unwritten(const struct pe_races *here, int64_t low, int64_t high) {
    low = low > here->first_word ? low : here->first_word;
    high = high < here->last_word ? high : here->last_word;
    if (low >= high) {
        return -1;
    }
    const uint8_t *found = memchr(here->unwritten + (low - here->first_word), 1, (size_t)(high - low));
    return found == NULL ? -1 : found - here->unwritten + here->first_word;
}

/* Notes that words are written. */
static void write_words(struct pe_races *here, int64_t low, int64_t high) {
    low = low > here->first_word ? low : here->first_word;
    high = high < here->last_word ? high : here->last_word;
    for (int64_t word = low - here->first_word; word < high - here->first_word; word++) {
        *here->left -= here->unwritten[word];
        here->unwritten[word] = 0;
    }
}

/* Returns how many of the first elements of a walk are all that it touches. */
static int64_t distinct(const struct descriptor *walk, int64_t count) {
    if (is_circular(walk)) {
        return count;
    }
    if (walk->dimensions == 1) {
        return walk->extents[0] == POINTER_EXTENT && count > 1 ? 1 : count;
    }
    int64_t whole = walk_count(walk);
    return count < whole ? count : whole;
}

/* Returns the lowest word of a walk that nothing has written, or -1; or, with `writes`, notes that it is written. */
static int64_t walk_unwritten(struct pe_races *here, const struct descriptor *walk, int64_t count, bool writes) {
    int64_t width = width_of(walk), lowest = -1;
    bool is_line = walk->dimensions == 1 && walk->strides[0] == 1 && !is_circular(walk);
    int64_t elements = distinct(walk, count);
    int64_t pieces = is_line && elements > 0 ? 1 : elements, length = is_line ? elements * width : width;
    for (int64_t k = 0; k < pieces; k++) {
        int64_t low = walk->address + (k == 0 && !is_circular(walk) ? 0 : walk_offset(walk, k) * width);
        if (writes) {
            write_words(here, low, low + length);
            continue;
        }
        int64_t word = first_unwritten(here, low, low + length);
        lowest = word >= 0 && (lowest < 0 || word < lowest) ? word : lowest;
    }
    return lowest;
}

static bool is_same_walk(const struct descriptor *walk, const struct descriptor *other) {
    int extents = is_circular(walk) ? 2 : walk->dimensions;
    return other != NULL && other->type == MEMORY_WALK && walk->address == other->address && walk->kind == other->kind &&
           walk->dimensions == other->dimensions && is_circular(walk) == is_circular(other) &&
           (!is_circular(walk) || walk->begin == other->begin) &&
           memcmp(walk->extents, other->extents, (size_t)extents * sizeof walk->extents[0]) == 0 &&
           memcmp(walk->strides, other->strides, walk->dimensions * sizeof walk->strides[0]) == 0;
}

/* Finds elements that an operation reads and nothing has written, and notes those that it writes: as if it did all at its
 * issue, since who reads what it still receives is found otherwise. One that a control wavelet ends may read less. */
static void check_unwritten(struct core *core, struct pe *pe, const struct operation *operation,
                            const struct descriptor *const streams[], uint32_t where, cycle now, int64_t count) {
    struct pe_races *here = races_of(core, pe);
    if (*here->left == 0) {
        return;
    }
    int64_t word = -1;
    for (int k = 1; k <= operation->sources && !operation->on_control && word < 0; k++) {
        if (streams[k] != NULL && streams[k]->type == MEMORY_WALK) {
            word = walk_unwritten(here, streams[k], count, false);
            if (word >= 0) {
                uint32_t code = is_same_walk(streams[k], streams[0]) ? SUMS_UNWRITTEN : READS_UNWRITTEN;
                tell_at(core, pe, code, where, now, word, operation->number);
            }
        }
    }
    if (streams[0] != NULL && streams[0]->type == MEMORY_WALK && !operation->drops_data) {
        walk_unwritten(here, streams[0], count, true);
    }
}

/* Finds an element of 1, 2, 4 or 8 bytes that scalar code reads or writes while an operation in flight uses it. */
void check_words(struct core *core, struct pe *pe, int64_t low, int64_t high, bool writes, uint32_t where, cycle now) {
    struct pe_races *here = races_of(core, pe);
    if (low < here->last_word && high > here->first_word) {
        if (writes) {
            write_words(here, low, high);
        } else if (first_unwritten(here, low, high) >= 0) {
            tell_at(core, pe, READS_UNWRITTEN, where, now, first_unwritten(here, low, high), NO_ROW);
        }
    }
    if (writes && low == here->command_word) {
        check_unblock(core, pe, where, now);
    }
    if (here->count == 0) {
        return;
    }
    struct range access = {.low = cut(low), .high = cut(high), .is_line = true, .writes = writes};
    for (uint64_t k = 0; k < here->count; k++) {
        const struct flight *flight = &here->flights[k];
        if (low < flight->high && flight->low < high && !is_over(flight, here, now)) {
            meet(core, pe, &here->flights[k], &access, NULL, 1, NO_ROW, false, where, now);
        }
    }
}

static inline void move_flight(struct pe_races *here, uint64_t to, uint64_t from) {
    here->flights[to] = here->flights[from];
    if (here->flights[to].has_walks) {
        memcpy(&here->walks[to * MAX_OPERANDS], &here->walks[from * MAX_OPERANDS], MAX_OPERANDS * sizeof *here->walks);
    }
}

/* Returns a place for an operation behind those in flight. */
static struct flight *new_flight(struct core *core, const struct pe *pe, const struct operation *operation, uint32_t where) {
    struct pe_races *here = races_of(core, pe);
    if (here->count == here->room) {
        uint64_t room = here->room;
        grow(core, (void **)&here->walks, &room, here->count + 1, MAX_OPERANDS * sizeof *here->walks);
        grow(core, (void **)&here->flights, &here->room, here->count + 1, sizeof *here->flights);
        assert(room == here->room);
    }
    struct flight *flight = &here->flights[here->count];
    flight->key = NULL;
    flight->done = NEVER;
    flight->joins = here->joins;
    flight->operation = operation->number;
    flight->task = running_task(pe);
    flight->where = where;
    flight->unblocks = operation->unblock == NO_TASK ? NO_ROW : pe->class->tasks[operation->unblock].number;
    flight->range_count = 0;
    flight->fills = flight->has_walks = false;
    flight->alone_on = NO_ROW;
    flight->is_waited_for = operation->activate != NO_TASK || operation->unblock != NO_TASK || operation->on_control;
    flight->low = INT32_MAX;
    flight->high = INT32_MIN;
    memset(flight->held, 0, sizeof flight->held);
    flight->lates = NULL;
    flight->late_count = flight->late_room = 0;
    return flight;
}

/* Finds words of an operation, at its issue, that others in flight use; and leaves it in flight if it is asynchronous, at
 * the place that it returns. Drops those that have ended, as the tasks may know. It takes from a queue, or NO_ROW. */
static struct flight *check_new(struct core *core, struct pe *pe, struct flight *flight, bool is_async, bool receives,
                                uint32_t queue, cycle now) {
    struct pe_races *here = races_of(core, pe);
    if (queue != NO_ROW) {
        comes_behind(core, pe, queue);
    }
    const struct walked *walks = walks_of(here, flight);
    uint64_t kept = 0;
    for (uint64_t k = 0; k < here->count; k++) {
        struct flight *other = &here->flights[k];
        if (is_over(other, here, now)) {
            if (other->lates != NULL) {
                free(other->lates);
            }
            continue;
        }
        if (flight->low < other->high && other->low < flight->high) {
            meet(core, pe, other, flight->ranges, walks, flight->range_count, flight->operation, is_async, flight->where,
                 now);
        }
        if (kept++ != k) {
            move_flight(here, kept - 1, k); /* those that go on are seldom behind others */
        }
    }
    if (kept == 0) {
        here->low = INT64_MAX;
        here->high = INT64_MIN;
    }
    here->count = kept + is_async;
    here->joins += receives && !is_async; /* its task waits for what comes */
    if (!is_async) {
        return flight;
    }
    flight->fills = receives && flight->range_count > 0 && flight->ranges[0].writes && !flight->ranges[0].is_fifo;
    flight->alone_on = flight->fills && !flight->is_waited_for ? queue : NO_ROW;
    here->low = flight->low < here->low ? flight->low : here->low;
    here->high = flight->high > here->high ? flight->high : here->high;
    if (flight != &here->flights[kept]) {
        move_flight(here, kept, (uint64_t)(flight - here->flights));
    }
    return &here->flights[kept];
}

void check_operands(struct core *core, struct pe *pe, const struct operation *operation,
                    const struct operand_state *operands, uint32_t where, cycle now, int64_t count, bool receives) {
    const struct descriptor *streams[MAX_OPERANDS] = {NULL};
    for (int k = 0; k <= operation->sources; k++) {
        streams[k] = operands[k].is_number ? NULL : &operands[k].descriptor;
    }
    check_unwritten(core, pe, operation, streams, where, now, count);
    bool uses_fabric = receives || operands[0].descriptor.type == QUEUE_RUN;
    uint32_t queue = NO_ROW;
    struct flight *flight = new_flight(core, pe, operation, where);
    int zeroed = zeroed_operand(operation, &operands[0].descriptor);
    for (int k = 0; k <= operation->sources && count > 0 && count != UNBOUNDED; k++) {
        const struct descriptor *stream = streams[k];
        if (stream != NULL && stream->type == MEMORY_WALK) {
            add_range(flight, walks_of(races_of(core, pe), flight), stream, count, k == 0 || k == zeroed);
        } else if (stream != NULL && stream->type == FIFO_END) {
            add_fifo(core, flight, stream->row, k == 0);
        }
    }
    for (int k = operation->sources; k > 0; k--) {
        if (streams[k] != NULL && streams[k]->type == QUEUE_RUN) {
            queue = streams[k]->row;
            comes_behind(core, pe, queue);
        }
    }
    for (int k = 0; k <= operation->sources; k++) {
        flight->held[k] = streams[k] == NULL ? 0 : streams[k]->held;
    }
    check_new(core, pe, flight, operation->is_async && uses_fabric, receives, queue, now);
}

/* Finds operations in flight whose ends unblock a task that starts before them. */
void check_start(struct core *core, struct pe *pe, const struct task *task, cycle begin) {
    struct pe_races *here = races_of(core, pe);
    for (uint64_t k = 0; k < here->count; k++) {
        struct flight *flight = &here->flights[k];
        if (flight->unblocks != task->number || flight->done <= begin) {
            continue;
        }
        struct late late = {.time = begin, .code = STARTS_UNBLOCKED, .task = task->number, .where = task->row->where,
                            .values = {flight->operation, flight->task, flight->where}};
        if (flight->done == NEVER) {
            keep_late(core, flight, &late);
        } else {
            tell(core, pe, &late);
        }
    }
}

/* Finds operations in flight that use a register which is loaded again. */
void check_load(struct core *core, struct pe *pe, uint32_t row, uint32_t where, cycle now) {
    struct pe_races *here = races_of(core, pe);
    const struct register_load_row *load = &core->tables.register_loads[row];
    uint16_t place = core->register_place[load->file][load->number];
    for (uint64_t k = 0; k < here->count; k++) {
        struct flight *flight = &here->flights[k];
        bool uses = false;
        for (int r = 0; r < MAX_OPERANDS; r++) {
            uses |= flight->held[r] == place + 1;
        }
        if (!uses || (flight->done <= now && flight->joins != here->joins)) {
            continue;
        }
        struct late late = {.time = now, .code = RELOADED_IN_FLIGHT, .task = running_task(pe), .where = where,
                            .values = {flight->operation, flight->task, flight->where, load->file, load->number}};
        if (flight->done == NEVER && flight->joins != here->joins) {
            keep_late(core, flight, &late);
        } else {
            tell(core, pe, &late);
        }
    }
}

/* Notes what the operation is known as that is issued. */
void bind_flight(struct core *core, const struct pe *pe, const void *key) {
    struct pe_races *here = races_of(core, pe);
    assert(here->count > 0);
    here->flights[here->count - 1].key = key;
}

/* Notes that an operation in flight is known as something else from now on: its short move is spelled out. */
void rename_flight(struct core *core, const struct pe *pe, const void *key, const void *other) {
    struct pe_races *here = core->races == NULL ? NULL : races_of(core, pe);
    for (uint64_t k = 0; here != NULL && k < here->count; k++) {
        if (here->flights[k].key == key) {
            here->flights[k].key = other;
        }
    }
}

static void end(struct core *core, struct pe *pe, struct flight *flight, cycle done) {
    flight->key = NULL;
    flight->done = done;
    for (uint64_t k = 0; k < flight->late_count; k++) {
        if (flight->lates[k].time < done) {
            tell(core, pe, &flight->lates[k]);
        }
    }
    flight->late_count = 0;
}

/* Notes when the send has read its memory that is issued: at its end, or before that if its queue holds all of it. */
void bind_send(struct core *core, struct pe *pe, const struct send *send) {
    struct pe_races *here = races_of(core, pe);
    assert(here->count > 0);
    if (send->count <= core->tables.queues[send->queue].room) {
        end(core, pe, &here->flights[here->count - 1], send->unheld - core->timing.inject);
    } else if (send->waiting > 0) {
        bind_flight(core, pe, send);
    } else {
        end(core, pe, &here->flights[here->count - 1], send->done);
    }
}

/* Returns what an operation that has taken a short way, and waits in a queue, is known as. */
static const void *waiting_as(const struct core *core, const struct pe *pe, const struct application *application,
                              uint32_t queue, bool sends) {
    if (!sends) {
        const struct input *input = &inputs_of(pe)[core->queue_place[queue]];
        return input->form == SPELLED_OUT ? (const void *)input->waiting : input;
    }
    if (application->form == SENDS_MOVE) {
        const struct input *input = ((const struct output *)part_at(pe, application->at.output))->to;
        if (input != NULL && input->form == SHORT_SEND && input->move.from == pe) {
            return input;
        }
    }
    return core->sends; /* the last that waits */
}

/* Notes how an operation has left its short way. */
static void bind_quick(struct core *core, struct pe *pe, const struct application *application, struct flight *flight,
                       uint32_t queue, bool sends, cycle issued, int64_t count) {
    const struct operation *operation = application->operation;
    cycle done = resource_of(pe, thread_place(pe, operation))->ends;
    bool is_open = done >= NEVER;
    if (sends) {
        struct send send = {.count = (uint32_t)count, .queue = queue, .waiting = is_open, .done = done,
                            .unheld = issued + core->timing.inject + operation->plain_rate * count};
        bind_send(core, pe, &send);
        if (flight->key == &send) {
            bind_flight(core, pe, waiting_as(core, pe, application, queue, true));
        }
    } else if (is_open) {
        bind_flight(core, pe, waiting_as(core, pe, application, queue, false));
    } else {
        end(core, pe, flight, done);
    }
}

/* Does what `check_operands` does, behind the issue of an operation that has taken a short way, and notes how it has left that. */
void check_quick(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                 uint32_t where, cycle issued, int how) {
    const struct operation *operation = application->operation;
    const struct descriptor *streams[MAX_OPERANDS];
    const struct descriptor *to = NULL, *from = NULL; /* runs of wavelets */
    int64_t count = INT64_MAX;
    for (int k = 0; k <= operation->sources; k++) {
        const struct descriptor *stream = streams[k] =
            application->is_number[k] ? NULL : (const struct descriptor *)(void *)operand_at(application, registers, k);
        if (stream != NULL && k == 0 && stream->type == QUEUE_RUN) {
            to = stream; /* its length counts if there is no other */
        } else if (stream != NULL) {
            from = stream->type == QUEUE_RUN ? stream : from;
            int64_t length = stream->type == MEMORY_WALK ? walk_count(stream) : stream->extents[0];
            count = length < count ? length : count;
        }
    }
    count = count == INT64_MAX ? to->extents[0] : count;
    check_unwritten(core, pe, operation, streams, where, issued, count);
    struct flight *flight = new_flight(core, pe, operation, where);
    for (int k = 0; k <= operation->sources && !(from != NULL && count == ENDLESS_EXTENT); k++) {
        if (streams[k] != NULL && streams[k]->type == MEMORY_WALK) {
            add_range(flight, walks_of(races_of(core, pe), flight), streams[k], count, k == 0);
        }
    }
    bool is_async = operation->is_async && (from != NULL || to != NULL);
    flight = check_new(core, pe, flight, is_async, from != NULL, from == NULL ? NO_ROW : from->row, issued);
    if (is_async && how != WENT_WRONG) {
        bind_quick(core, pe, application, flight, to != NULL ? to->row : from->row, to != NULL, issued, count);
    }
}

/* Does the same for a move of elements side by side. */
void check_move(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                uint32_t where, cycle issued, int how) {
    const struct operation *operation = application->operation;
    bool receives = application->form == RECEIVES_MOVE;
    const struct descriptor *walk = (const struct descriptor *)(void *)operand_at(application, registers, !receives);
    int64_t count = walk->extents[0];
    count = receives && application->count < count ? application->count : count;
    if (*races_of(core, pe)->left > 0) {
        const struct descriptor *streams[MAX_OPERANDS] = {receives ? walk : NULL, receives ? NULL : walk};
        check_unwritten(core, pe, operation, streams, where, issued, count);
    }
    struct flight *flight = new_flight(core, pe, operation, where);
    append_range(flight, walk->address, walk->address + count * (application->steps[!receives] / 2), receives, true);
    uint32_t queue = receives ? application->queue->number : NO_ROW;
    flight = check_new(core, pe, flight, operation->is_async, receives, queue, issued);
    if (operation->is_async && how != WENT_WRONG) {
        bind_quick(core, pe, application, flight, application->queue->number, !receives, issued, count);
    }
}

/* Notes when an operation has ended. */
void end_flight(struct core *core, struct pe *pe, const void *key, cycle done) {
    struct pe_races *here = races_of(core, pe);
    for (uint64_t k = 0; k < here->count; k++) {
        if (here->flights[k].key == key) {
            end(core, pe, &here->flights[k], done);
            return;
        }
    }
}

/* Finds accesses up to a cycle during operations that are in flight still when all has happened up to there. */
void settle_races(struct core *core, cycle until) {
    for (uint64_t number = 0; number < (uint64_t)core->width * core->height; number++) {
        struct pe_races *here = &core->races[number];
        for (uint64_t k = 0; k < here->count; k++) {
            struct flight *flight = &here->flights[k];
            uint64_t kept = 0;
            for (uint64_t n = 0; n < flight->late_count; n++) {
                if (flight->lates[n].code == UNBLOCKS_EARLY) {
                    if (until < NEVER) {
                        flight->lates[kept++] = flight->lates[n];
                    }
                } else if (flight->lates[n].time <= until) {
                    struct pe *pe = core->pe_of[number];
                    tell(core_of(core, pe), pe, &flight->lates[n]);
                } else {
                    flight->lates[kept++] = flight->lates[n];
                }
            }
            flight->late_count = kept;
        }
    }
}
