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
#include "moves.h"
#include "priorities.h"
#include "races.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 1 << 16, WORDS_BEYOND = 1 << 30, FEW_WORDS = 4 /* for a loop */ };
enum { LATER_WRITES = 1, EARLIER_WRITES = 2, LATER_IS_ASYNC = 4 }; /* bits of the fifth value of a finding */

static inline int32_t cut(int64_t word) {
    return word < -WORDS_BEYOND ? -WORDS_BEYOND : word > WORDS_BEYOND ? WORDS_BEYOND : (int32_t)word;
}

void prepare_races(struct core *core) {
    uint64_t count = (uint64_t)core->width * core->height;
    core->races = allocate_large(core, count * sizeof *core->races);
    for (uint64_t pe = 0; pe < count; pe++) {
        struct pe_races *here = &core->races[pe];
        here->flights = here->own;
        here->room = here->most = OWN_FLIGHTS;
        forget_bounds(here);
    }
}

/* Notes between which words those are of which accesses are looked at although nothing is in flight. */
static void mark_words(struct pe_races *here) {
    int64_t low = INT32_MAX, high = INT32_MIN;
    if (*here->left > 0) {
        low = here->first_word;
        high = here->last_word;
    }
    if (here->command_word >= 0) {
        low = here->command_word < low ? here->command_word : low;
        high = here->command_word >= high ? here->command_word + 1 : high;
    }
    here->marked_low = cut(low);
    here->marked_high = cut(high);
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
            mark_words(here);
        }
    }
}

void free_races(struct core *core) {
    if (core->races == NULL) {
        return;
    }
    for (uint64_t pe = 0; pe < (uint64_t)core->width * core->height; pe++) {
        struct pe_races *here = &core->races[pe];
        if (here->flights != here->own) {
            free(here->flights);
        }
        free(here->touched);
        free(here->lates);
    }
    free(core->races);
}

/* Words that operands touch */

static int64_t width_of(const struct descriptor *walk) { return kind_bytes(walk->kind) == 4 ? 2 : 1; }

static inline void touch_nothing(struct touched *touched) {
    touched->low = INT32_MAX;
    touched->high = INT32_MIN;
    touched->count = 0;
    touched->writes = false;
    memset(touched->held, 0, sizeof touched->held);
}

/* Adds a range to those of an operation. */
static inline struct range *append_range(struct touched *touched, int64_t low, int64_t high, bool writes, bool is_line) {
    struct range *range = &touched->ranges[touched->count++];
    *range = (struct range){.low = cut(low), .high = cut(high), .writes = writes, .is_line = is_line};
    touched->low = range->low < touched->low ? range->low : touched->low;
    touched->high = range->high > touched->high ? range->high : touched->high;
    touched->writes |= writes;
    return range;
}

static inline bool is_line(const struct descriptor *walk) {
    return walk->dimensions == 1 && walk->strides[0] == 1 && !is_circular(walk);
}

/* Finds between which words all of a walk is, and returns true, if that follows from what is noted of its descriptor. */
static inline bool find_bounds(const struct descriptor *walk, int32_t *low, int32_t *high) {
    const uint8_t plain = walk->plain | walk->loaded; /* one of both is 0 */
    if (plain == 0 || plain == PLAIN_RUN || plain == PLAIN_SHARED_RUN) {
        return false;
    }
    const bool is_side_by_side = plain <= PLAIN_WORDS;
    *low = walk->address + (is_side_by_side ? 0 : walk->lowest);
    *high = walk->address + (is_side_by_side ? walk->extents[0] * plain : walk->highest + (int32_t)width_of(walk));
    return true;
}

/* Finds between which words, from its address, the first elements of a walk are. */
static void find_reach(const struct descriptor *walk, int64_t count, int64_t *low, int64_t *high) {
    int64_t width = width_of(walk), lowest = 0, highest = 0;
    if (is_circular(walk)) {
        highest = (walk->extents[1] - 1) * width;
    } else if (walk->dimensions == 1) {
        int64_t reach = (count - 1) * walk->strides[0] * width;
        *(reach < 0 ? &lowest : &highest) = reach;
    } else {
        walk_reach(2 * (uint32_t)width, walk->dimensions, walk->extents, walk->strides, &lowest, &highest);
        lowest /= 2;
        highest /= 2;
    }
    *low = lowest;
    *high = highest + width;
}

/* Adds the words that an operand touches with so many elements to those of an operation. */
static inline void add_range(struct touched *touched, const struct descriptor *walk, int64_t count, bool writes) {
    int64_t address = walk->address, low, high;
    if (is_line(walk)) {
        append_range(touched, address, address + count * width_of(walk), writes, true);
        return;
    }
    struct walked *walked = &touched->walks[touched->count];
    walked->walk = *walk;
    walked->count = count;
    if (!is_circular(walk) && walk->dimensions > 1) {
        int64_t whole = walk_count(walk);
        walked->count = count < whole ? count : whole; /* it begins again behind the last */
    }
    find_reach(walk, count, &low, &high);
    append_range(touched, address + low, address + high, writes, false);
}

/* Adds the memory of a FIFO: which places of it an operation uses is known to the FIFO alone. */
static void add_fifo(const struct core *core, struct touched *touched, uint32_t row, bool writes) {
    const struct buffer_row *buffer = &core->tables.buffers[core->tables.fifos[row].buffer];
    int64_t bytes = (int64_t)buffer->elements * kind_bytes(buffer->kind);
    append_range(touched, buffer->address, buffer->address + (bytes + 1) / 2, writes, true)->is_fifo = true;
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

/* Keeps an access until the end of an operation in flight is known. */
static void keep_late(struct core *core, struct pe_races *here, const struct flight *flight, struct late late) {
    late.flight = flight->number;
    for (uint64_t k = 0; k < here->late_count; k++) {
        const struct late *other = &here->lates[k];
        if (other->flight == late.flight && other->code == late.code && other->where == late.where &&
            other->time < late.time) {
            return; /* there is one warning for each place, the first */
        }
    }
    grow(core, (void **)&here->lates, &here->late_room, here->late_count + 1, sizeof *here->lates);
    here->lates[here->late_count++] = late;
}

/* Tells what has been kept until the end of an operation is known, and comes before that. */
static void tell_lates(struct core *core, struct pe *pe, uint32_t flight, cycle done) {
    struct pe_races *here = races_of(core, pe);
    uint64_t kept = 0;
    for (uint64_t k = 0; k < here->late_count; k++) {
        const struct late *late = &here->lates[k];
        if (late->flight != flight) {
            here->lates[kept++] = *late;
        } else if (late->time < done) {
            tell(core, pe, late);
        }
    }
    here->late_count = kept;
}

/* Returns true if an operation in flight has ended, as the tasks may know. */
static inline bool is_over(const struct flight *flight, const struct pe_races *here, cycle now) {
    return flight->done <= now && flight->joins != here->joins && flight->alone_on == NO_QUEUE;
}

/* Notes that a wavelet is taken behind the receives from a queue; NO_QUEUE: that the PE may know of the end of any. */
void comes_behind(struct pe_races *here, uint16_t place) {
    for (uint32_t k = 0; k < here->count && here->alone > 0; k++) {
        struct flight *flight = &here->flights[k];
        if (flight->alone_on != NO_QUEUE && (place == NO_QUEUE || flight->alone_on == place)) {
            flight->alone_on = NO_QUEUE;
            here->alone--;
        }
    }
}

/* Finds an access to words that one operand of an operation in flight touches. `later` is the operation that accesses
 * them, or NO_ROW. */
static void meet_range(struct core *core, struct pe *pe, const struct flight *flight, const struct range *range,
                       const struct walked *range_walk, const struct range *access, const struct walked *walked,
                       uint32_t later, bool is_async, uint32_t where, cycle now) {
    int64_t word = access->low > range->low ? access->low : range->low;
    if (!access->is_line || !range->is_line) {
        word = first_marked(access, walked, range, range_walk);
    }
    if (word < 0) {
        return;
    }
    int64_t bits = (access->writes ? LATER_WRITES : 0) | (range->writes ? EARLIER_WRITES : 0) |
                   (is_async ? LATER_IS_ASYNC : 0);
    struct late late = {.time = now, .code = USED_IN_FLIGHT, .task = running_task(pe), .where = where,
                        .values = {flight->operation, task_row(pe, flight->task), flight->where, word, bits, later}};
    if (flight->done == NEVER && flight->joins != races_of(core, pe)->joins && flight->alone_on == NO_QUEUE) {
        keep_late(core, races_of(core, pe), flight, late);
    } else {
        tell(core, pe, &late);
    }
}

/* Finds accesses to words that an operation in flight touches. */
static void meet(struct core *core, struct pe *pe, const struct flight *flight, const struct touched *accesses,
                 uint32_t later, bool is_async, uint32_t where, cycle now) {
    struct pe_races *here = races_of(core, pe);
    const struct range line = {flight->low, flight->high, .writes = flight->writes, .is_line = true};
    const struct touched *touched = flight->is_line ? NULL : &here->touched[flight - here->flights];
    for (uint32_t r = 0; r < (touched == NULL ? 1 : touched->count); r++) {
        const struct range *range = touched == NULL ? &line : &touched->ranges[r];
        for (uint32_t k = 0; k < accesses->count; k++) {
            const struct range *access = &accesses->ranges[k];
            if (access->low < range->high && range->low < access->high && (range->writes || access->writes) &&
                !(range->is_fifo && access->is_fifo)) {
                meet_range(core, pe, flight, range, touched == NULL ? NULL : &touched->walks[r], access,
                           &accesses->walks[k], later, is_async, where, now);
            }
        }
    }
}

/* Returns true if words may be among those of operations in flight, one of the two of which writes. */
static inline bool may_meet(const struct pe_races *here, int32_t low, int32_t high, bool writes) {
    return writes ? low < here->high && here->low < high : low < here->written_high && here->written_low < high;
}

/* Notes the words of an operation in flight. */
static inline void widen_bounds(struct pe_races *here, const struct flight *flight) {
    here->low = flight->low < here->low ? flight->low : here->low;
    here->high = flight->high > here->high ? flight->high : here->high;
    if (flight->writes) {
        here->written_low = flight->low < here->written_low ? flight->low : here->written_low;
        here->written_high = flight->high > here->written_high ? flight->high : here->written_high;
    }
}

/* Drops the operations in flight that have ended, as the tasks may know. */
static void forget_over(struct pe_races *here, cycle now) {
    uint32_t kept = 0;
    forget_bounds(here);
    for (uint32_t k = 0; k < here->count; k++) {
        const struct flight *flight = &here->flights[k];
        if (is_over(flight, here, now)) {
            continue;
        }
        widen_bounds(here, flight);
        if (kept != k) {
            if (!flight->is_line) {
                here->touched[kept] = here->touched[k];
            }
            here->flights[kept] = *flight;
        }
        kept++;
    }
    here->count = kept;
    here->most = kept <= OWN_FLIGHTS / 2 ? OWN_FLIGHTS : kept < UINT16_MAX / 2 ? (uint16_t)(2 * kept) : UINT16_MAX;
}

/* Finds words of an operation, at its issue, that others in flight use. */
static inline void meet_all(struct core *core, struct pe *pe, const struct touched *touched, uint32_t later, bool is_async,
                            uint32_t where, cycle now) {
    struct pe_races *here = races_of(core, pe);
    if (!may_meet(here, touched->low, touched->high, touched->writes)) {
        return;
    }
    forget_over(here, now);
    for (uint32_t k = 0; k < here->count; k++) {
        const struct flight *flight = &here->flights[k];
        if (touched->low < flight->high && flight->low < touched->high) {
            meet(core, pe, flight, touched, later, is_async, where, now);
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
        const struct flight *flight = &here->flights[k];
        struct late late = {.time = now, .code = UNBLOCKS_EARLY, .task = running_task(pe), .where = flight->where,
                            .values = {flight->operation, task_row(pe, flight->task), where}};
        if (flight->fills && flight->done == NEVER) {
            keep_late(core, here, flight, late);
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
    const uint8_t *first = here->unwritten + (low - here->first_word), *found = NULL;
    if (high - low > FEW_WORDS) {
        found = memchr(first, 1, (size_t)(high - low));
    } else {
        for (int64_t k = high - low; k-- > 0;) {
            found = first[k] ? first + k : found;
        }
    }
    return found == NULL ? -1 : found - here->unwritten + here->first_word;
}

/* Notes that words are written. */
static void write_words(struct pe_races *here, int64_t low, int64_t high) {
    low = low > here->first_word ? low : here->first_word;
    high = high < here->last_word ? high : here->last_word;
    if (*here->left == 0 || low >= high) {
        return;
    }
    int64_t first = first_unwritten(here, low, high);
    uint8_t *const past = here->unwritten + (high - here->first_word);
    uint8_t *word = first < 0 ? past : here->unwritten + (first - here->first_word);
    for (; word < past; word++) {
        *here->left -= *word;
        *word = 0;
    }
    if (*here->left == 0) {
        mark_words(here);
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

/* Returns true if all words are written of elements of one or two words, `step` words apart; `at` is the byte of the first
 * word. */
static bool are_written(const uint8_t *at, int64_t step, int64_t elements, int64_t width) {
    static const uint8_t halves[8] = {1, 0, 1, 0, 1, 0, 1, 0}, words[8] = {1, 1, 0, 0, 1, 1, 0, 0};
    uint64_t found = 0, mask;
    int64_t k = 0;
    if (step == 2 * width) {
        /* Eight bytes at a time, but for the last: what is behind the last element does not count. */
        int64_t pieces = (elements - 1) >> (3 - width);
        for (int64_t n = 0; n < pieces; n++) {
            uint64_t bytes;
            memcpy(&bytes, at + 8 * n, sizeof bytes);
            found |= bytes;
        }
        memcpy(&mask, width == 1 ? halves : words, sizeof mask);
        found &= mask;
        k = pieces << (3 - width);
    }
    uint64_t other = 0;
    const uint8_t *last = at + width - 1;
    for (; k + 2 <= elements; k += 2) {
        found |= (uint64_t)at[k * step] | last[k * step];
        other |= (uint64_t)at[(k + 1) * step] | last[(k + 1) * step];
    }
    if (k < elements) {
        found |= (uint64_t)at[k * step] | last[k * step];
    }
    return (found | other) == 0;
}

/* Returns true if all words of the first elements of a walk are written, as far as that is quickly seen. */
static bool is_seen_written(const struct pe_races *here, const struct descriptor *walk, int64_t elements, int64_t width) {
    int64_t low, high;
    if (is_circular(walk) || walk->dimensions > 1) {
        find_reach(walk, elements, &low, &high);
        return first_unwritten(here, walk->address + low, walk->address + high) < 0;
    }
    const int64_t step = walk->strides[0] * width, reach = (elements - 1) * step;
    low = walk->address + (reach < 0 ? reach : 0);
    high = walk->address + (reach < 0 ? 0 : reach) + width;
    if (low >= here->last_word || high <= here->first_word) {
        return true;
    }
    return low >= here->first_word && high <= here->last_word
               ? are_written(here->unwritten + (walk->address - here->first_word), step, elements, width)
               : first_unwritten(here, low, high) < 0;
}

/* Returns the lowest word of a walk that nothing has written, or -1; or, with `writes`, notes that it is written. */
static int64_t walk_unwritten(struct pe_races *here, const struct descriptor *walk, int64_t count, bool writes) {
    int64_t width = width_of(walk), lowest = -1;
    int64_t elements = distinct(walk, count);
    int64_t pieces = is_line(walk) && elements > 0 ? 1 : elements, length = is_line(walk) ? elements * width : width;
    if (pieces > 1 && is_seen_written(here, walk, elements, width)) {
        return -1;
    }
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
 * issue, since who reads what it still receives is found otherwise. One that a control wavelet ends may read less. Returns
 * whether nothing has been found. */
static bool check_unwritten(struct core *core, struct pe *pe, const struct operation *operation,
                            const struct descriptor *const streams[], uint32_t task, uint32_t where, cycle now,
                            int64_t count) {
    struct pe_races *here = races_of(core, pe);
    if (*here->left == 0) {
        return true;
    }
    int64_t word = -1;
    bool in_place = false;
    int32_t low, high;
    for (int k = 1; k <= operation->sources && !operation->on_control && word < 0; k++) {
        if (streams[k] != NULL && streams[k]->type == MEMORY_WALK &&
            !(find_bounds(streams[k], &low, &high) && (low >= here->last_word || high <= here->first_word))) {
            word = walk_unwritten(here, streams[k], count, false);
            in_place |= streams[k] == streams[0];
            if (word >= 0) {
                uint32_t code = is_same_walk(streams[k], streams[0]) ? SUMS_UNWRITTEN : READS_UNWRITTEN;
                struct late late = {.time = now, .code = code, .task = task, .where = where,
                                    .values = {word, operation->number}};
                tell(core, pe, &late);
            }
        }
    }
    if (streams[0] != NULL && streams[0]->type == MEMORY_WALK && !operation->drops_data && (word >= 0 || !in_place)) {
        walk_unwritten(here, streams[0], count, true);
    }
    return word < 0;
}

/* Does the same for an operation that the code applies, until nothing is found if the code names all that it touches: what
 * is written once stays so. */
static inline void check_unwritten_of(struct core *core, struct pe *pe, const struct application *application,
                                      const struct descriptor *const streams[], uint32_t where, cycle now,
                                      int64_t count) {
    struct pe_races *here = races_of(core, pe);
    const uint32_t number = (uint32_t)(application - core->applications);
    if (*here->left == 0 || *seen_at(here, number) == number + 1) {
        return;
    }
    bool is_fixed = true;
    for (int k = 0; k <= application->operation->sources; k++) {
        is_fixed &= application->is_number[k] || application->places[k].in_frame == 0;
    }
    if (check_unwritten(core, pe, application->operation, streams, running_task(pe), where, now, count) && is_fixed) {
        *seen_at(here, number) = number + 1;
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
    struct touched access;
    touch_nothing(&access);
    append_range(&access, low, high, writes, true);
    for (uint64_t k = 0; k < here->count; k++) {
        const struct flight *flight = &here->flights[k];
        if (low < flight->high && flight->low < high && !is_over(flight, here, now)) {
            meet(core, pe, flight, &access, NO_ROW, false, where, now);
        }
    }
}

/* Has more room for operations in flight. */
static void make_room(struct core *core, struct pe_races *here) {
    if (here->flights != here->own) {
        grow(core, (void **)&here->flights, &here->room, here->count + 1, sizeof *here->flights);
        return;
    }
    struct flight *more = NULL;
    uint64_t room = 0;
    grow(core, (void **)&more, &room, 2 * OWN_FLIGHTS, sizeof *more);
    memcpy(more, here->own, here->count * sizeof *more);
    here->flights = more;
    here->room = room;
}

/* Puts an operation in flight that is issued at a time, and touches nothing yet. */
static inline struct flight *add_flight(struct core *core, struct pe *pe, const struct operation *operation,
                                        uint32_t where, cycle now) {
    struct pe_races *here = races_of(core, pe);
    if (here->count >= here->most) {
        forget_over(here, now);
    }
    if (here->count == here->room) {
        make_room(core, here);
    }
    struct flight *flight = &here->flights[here->count++];
    *flight = (struct flight){.done = NEVER, .low = INT32_MAX, .high = INT32_MIN, .joins = here->joins, .is_line = true,
                              .alone_on = NO_QUEUE,
                              .unblocks = operation->unblock, .task = pe->task, .operation = operation->number,
                              .where = where, .number = here->issued++};
    here->open++;
    return flight;
}

/* Notes that an operation in flight fills memory from a queue. */
static inline void note_filling(struct pe_races *here, struct flight *flight, const struct operation *operation,
                                uint16_t place) {
    flight->fills = true;
    if (operation->activate == NO_TASK && operation->unblock == NO_TASK && !operation->on_control && place != NO_QUEUE) {
        flight->alone_on = place;
        here->alone++;
    }
}

/* Notes the words that an operation in flight touches, the last of all; it takes from the queue at a place of the class, or
 * from none. */
static void note_words(struct core *core, struct pe_races *here, struct flight *flight, const struct touched *touched) {
    const struct range *first = touched->ranges;
    const uint64_t at = (uint64_t)(flight - here->flights);
    bool holds = false;
    for (int k = 0; k < MAX_OPERANDS; k++) {
        holds |= touched->held[k] != 0;
    }
    flight->low = touched->low;
    flight->high = touched->high;
    flight->writes = touched->writes;
    flight->is_line = !holds && (touched->count == 0 || (touched->count == 1 && first->is_line && !first->is_fifo));
    if (!flight->is_line) {
        grow(core, (void **)&here->touched, &here->touched_room, here->count, sizeof *here->touched);
        here->touched[at] = *touched;
    }
    widen_bounds(here, flight);
}

/* Notes that an operation in flight fills memory from the queue at a place of the class, or from none, if it does. */
static inline void note_filled(struct pe_races *here, struct flight *flight, const struct operation *operation,
                               const struct touched *touched, bool receives, uint16_t place) {
    if (receives && touched->count > 0 && touched->ranges[0].writes && !touched->ranges[0].is_fifo) {
        note_filling(here, flight, operation, place);
    }
}

/* Notes when an operation in flight ends, and tells what has been kept until that is known. */
static inline void end(struct core *core, struct pe *pe, struct flight *flight, cycle done) {
    struct pe_races *here = races_of(core, pe);
    flight->key = NULL;
    flight->done = done;
    here->open--;
    here->latest = done > here->latest ? done : here->latest;
    if (here->late_count > 0) {
        tell_lates(core, pe, flight->number, done);
    }
}

/* Finds the streams of an operation, and the words that they touch. */
static void find_touched(const struct core *core, const struct operation *operation, const struct operand_state *operands,
                         int64_t count, const struct descriptor **streams, struct touched *touched) {
    touch_nothing(touched);
    for (int k = 0; k <= operation->sources; k++) {
        streams[k] = operands[k].is_number ? NULL : &operands[k].descriptor;
        touched->held[k] = streams[k] == NULL ? 0 : streams[k]->held;
    }
    int zeroed = zeroed_operand(operation, &operands[0].descriptor);
    for (int k = 0; k <= operation->sources && count > 0 && count != UNBOUNDED; k++) {
        const struct descriptor *stream = streams[k];
        if (stream != NULL && stream->type == MEMORY_WALK) {
            add_range(touched, stream, count, k == 0 || k == zeroed);
        } else if (stream != NULL && stream->type == FIFO_END) {
            add_fifo(core, touched, stream->row, k == 0);
        }
    }
}

/* Lets an operation begin to use its memory that was issued while its microthread was blocked, which the tasks unblock
 * now. */
void begin_flight(struct core *core, struct pe *pe, const void *key, const struct operation *operation,
                  const struct operand_state *operands, uint32_t where, uint32_t task, int64_t count) {
    struct pe_races *here = races_of(core, pe);
    const struct descriptor *streams[MAX_OPERANDS] = {NULL};
    struct touched touched;
    find_touched(core, operation, operands, count, streams, &touched);
    check_unwritten(core, pe, operation, streams, task, where, pe->now, count);
    meet_all(core, pe, &touched, operation->number, true, where, pe->now);
    for (uint32_t k = 0; k < here->count; k++) {
        struct flight *flight = &here->flights[k];
        if (flight->key == key) {
            flight->joins = here->joins;
            note_words(core, here, flight, &touched);
            return;
        }
    }
    assert(false);
}

void check_operands(struct core *core, struct pe *pe, const struct operation *operation,
                    const struct operand_state *operands, uint32_t where, cycle now, int64_t count, bool receives) {
    struct pe_races *here = races_of(core, pe);
    bool is_async = operation->is_async && (receives || operands[0].descriptor.type == QUEUE_RUN);
    if (!is_async && !has_to_look(core, pe)) {
        here->joins += receives; /* its task waits for what comes */
        return;
    }
    const struct descriptor *streams[MAX_OPERANDS] = {NULL};
    struct touched touched;
    find_touched(core, operation, operands, count, streams, &touched);
    const bool begins = !is_async || !is_blocked(pe, operation);
    if (begins) {
        check_unwritten(core, pe, operation, streams, running_task(pe), where, now, count);
    }
    uint16_t place = NO_QUEUE;
    for (int k = operation->sources; k > 0; k--) {
        if (streams[k] != NULL && streams[k]->type == QUEUE_RUN) {
            place = (uint16_t)core->queue_place[streams[k]->row];
            comes_behind(here, place);
        }
    }
    if (begins) {
        meet_all(core, pe, &touched, operation->number, is_async, where, now);
    }
    if (is_async) {
        struct flight *flight = add_flight(core, pe, operation, where, now);
        note_filled(here, flight, operation, &touched, receives, place);
        if (!begins) {
            touched.count = 0;
            touched.low = INT32_MAX;
            touched.high = INT32_MIN;
            touched.writes = false;
        }
        note_words(core, here, flight, &touched);
    } else {
        here->joins += receives;
    }
}

/* Finds operations in flight whose ends unblock a task that starts before them. */
void check_start(struct core *core, struct pe *pe, const struct task *task, cycle begin) {
    struct pe_races *here = races_of(core, pe);
    const uint16_t number = (uint16_t)(task - pe->class->tasks);
    for (uint64_t k = 0; k < here->count; k++) {
        const struct flight *flight = &here->flights[k];
        if (flight->unblocks != number || flight->done <= begin) {
            continue;
        }
        struct late late = {.time = begin, .code = STARTS_UNBLOCKED, .task = task->number, .where = task->row->where,
                            .values = {flight->operation, task_row(pe, flight->task), flight->where}};
        if (flight->done == NEVER) {
            keep_late(core, here, flight, late);
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
        const struct flight *flight = &here->flights[k];
        bool uses = false;
        for (int r = 0; r < MAX_OPERANDS && !flight->is_line; r++) {
            uses |= here->touched[k].held[r] == place + 1;
        }
        if (!uses || (flight->done <= now && flight->joins != here->joins)) {
            continue;
        }
        struct late late = {.time = now, .code = RELOADED_IN_FLIGHT, .task = running_task(pe), .where = where,
                            .values = {flight->operation, task_row(pe, flight->task), flight->where, load->file,
                                       load->number}};
        if (flight->done == NEVER && flight->joins != here->joins) {
            keep_late(core, here, flight, late);
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

/* Notes when the send has read its memory that is issued: at its end, or before that if its queue holds all of it, and
 * nothing blocks its microthread. */
void bind_send(struct core *core, struct pe *pe, const struct send *send) {
    struct pe_races *here = races_of(core, pe);
    assert(here->count > 0);
    const bool is_held = send->count <= core->tables.queues[send->queue].room && !is_gated(pe, send->operation);
    if (is_held) {
        end(core, pe, &here->flights[here->count - 1], send->unheld - core->timing.inject);
    } else if (send->waiting > 0) {
        bind_flight(core, pe, send);
    } else {
        end(core, pe, &here->flights[here->count - 1], send->done);
    }
}

/* Returns what a send that has taken a short way, and waits, is known as. */
static const void *send_waits_as(const struct core *core, const struct pe *pe, const struct application *application) {
    if (application->form == SENDS_MOVE) {
        const struct input *input = ((const struct output *)part_at(pe, application->at.output))->to;
        if (input != NULL && input->form == SHORT_SEND && input->move.from == pe) {
            return input;
        }
    }
    return core->sends; /* the last that waits */
}

/* Notes how an operation on a queue has left its short way. */
static inline void bind_quick(struct core *core, struct pe *pe, const struct application *application,
                              struct flight *flight, uint32_t place, const struct queue *queue, bool sends, cycle issued,
                              int64_t count) {
    const struct operation *operation = application->operation;
    cycle done = resource_of(pe, thread_place(pe, operation))->ends;
    if (sends && count <= queue->row->room) {
        end(core, pe, flight, issued + operation->plain_rate * count); /* its queue holds all of it */
    } else if (done < NEVER) {
        end(core, pe, flight, done);
    } else if (sends) {
        flight->key = send_waits_as(core, pe, application);
    } else {
        const struct input *input = &inputs_of(pe)[place];
        flight->key = input->form == SPELLED_OUT ? (const void *)input->waiting : input;
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
    check_unwritten_of(core, pe, application, streams, where, issued, count);
    struct touched touched;
    touch_nothing(&touched);
    for (int k = 0; k <= operation->sources && !(from != NULL && count == ENDLESS_EXTENT); k++) {
        if (streams[k] != NULL && streams[k]->type == MEMORY_WALK) {
            add_range(&touched, streams[k], count, k == 0);
        }
    }
    bool is_async = operation->is_async && (from != NULL || to != NULL);
    struct pe_races *here = races_of(core, pe);
    uint16_t taken_from = from == NULL ? NO_QUEUE : (uint16_t)core->queue_place[from->row];
    if (from != NULL) {
        comes_behind(here, taken_from);
    }
    meet_all(core, pe, &touched, operation->number, is_async, where, issued);
    if (!is_async) {
        here->joins += from != NULL; /* its task waits for what comes */
        return;
    }
    struct flight *flight = add_flight(core, pe, operation, where, issued);
    note_filled(here, flight, operation, &touched, from != NULL, taken_from);
    note_words(core, here, flight, &touched);
    if (how != WENT_WRONG) {
        uint32_t place = core->queue_place[to != NULL ? to->row : from->row];
        bind_quick(core, pe, application, flight, place, &pe->class->queues[place], to != NULL, issued, count);
    }
}

bool may_meet_any(const struct core *core, const struct pe *pe, const struct descriptor *const streams[], int sources) {
    const struct pe_races *here = races_of(core, pe);
    for (int k = 0; k <= sources; k++) {
        int32_t low, high;
        if (streams[k] != NULL && (!find_bounds(streams[k], &low, &high) || may_meet(here, low, high, k == 0))) {
            return true;
        }
    }
    return false;
}

/* Does the same for an operation in memory that has been computed. */
void check_computed(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                    uint32_t where, cycle now) {
    struct pe_races *here = races_of(core, pe);
    const uint32_t number = (uint32_t)(application - core->applications);
    bool is_known = *here->left == 0 || *seen_at(here, number) == number + 1;
    const struct descriptor *streams[MAX_OPERANDS];
    int64_t count = INT64_MAX;
    for (int k = 0; k <= application->operation->sources; k++) {
        const struct descriptor *stream = streams[k] =
            application->is_number[k] ? NULL : (const struct descriptor *)(void *)operand_at(application, registers, k);
        if (stream != NULL && !is_known) {
            int64_t length = stream->dimensions == 1 && !is_circular(stream) ? stream->extents[0] : walk_count(stream);
            count = length < count ? length : count;
        }
    }
    if (here->count > 0 && may_meet_any(core, pe, streams, application->operation->sources)) {
        check_quick(core, pe, application, registers, where, now, DONE_NOW);
    } else if (!is_known) {
        check_unwritten_of(core, pe, application, streams, where, now, count);
    }
}

/* Does the same for a move of elements side by side. */
void check_move(struct core *core, struct pe *pe, const struct application *application, int64_t *registers,
                uint32_t where, cycle issued, int how) {
    struct pe_races *here = races_of(core, pe);
    const struct operation *operation = application->operation;
    bool receives = application->form == RECEIVES_MOVE;
    const struct descriptor *walk = (const struct descriptor *)(void *)operand_at(application, registers, !receives);
    int64_t count = walk->extents[0];
    count = receives && application->count < count ? application->count : count;
    if (*here->left > 0) {
        const struct descriptor *streams[MAX_OPERANDS] = {receives ? walk : NULL, receives ? NULL : walk};
        check_unwritten_of(core, pe, application, streams, where, issued, count);
    }
    if (receives) {
        comes_behind(here, (uint16_t)application->place);
    }
    const int32_t low = walk->address, high = low + (int32_t)count * (int32_t)(application->steps[!receives] / 2);
    if (may_meet(here, low, high, receives)) {
        struct touched touched;
        touch_nothing(&touched);
        append_range(&touched, low, high, receives, true);
        meet_all(core, pe, &touched, operation->number, operation->is_async, where, issued);
    }
    if (!operation->is_async) {
        here->joins += receives;
        return;
    }
    struct flight *flight = add_flight(core, pe, operation, where, issued);
    flight->low = low;
    flight->high = high;
    flight->writes = receives;
    if (receives) {
        note_filling(here, flight, operation, (uint16_t)application->place);
    }
    widen_bounds(here, flight);
    if (how != WENT_WRONG) {
        bind_quick(core, pe, application, flight, application->place, application->queue, !receives, issued, count);
    }
}

/* Returns true if nothing is to be reported of words that an operation in memory touches, but of those that it writes. */
static bool is_clear(const struct pe_races *here, int64_t low, int64_t high, bool writes, cycle now) {
    if (!writes && *here->left > 0 && first_unwritten(here, low, high) >= 0) {
        return false;
    }
    if (may_meet(here, (int32_t)low, (int32_t)high, writes)) {
        for (uint32_t k = 0; k < here->count; k++) {
            const struct flight *flight = &here->flights[k];
            if (low < flight->high && flight->low < high && (writes || flight->writes) && !is_over(flight, here, now)) {
                return false;
            }
        }
    }
    return true;
}

/* Looks at the operations of a sum, which write and read vectors of so many bytes at addresses of the PE, from `base`, if it
 * is not NULL, and from all vectors; returns false, and has done nothing, if each has to be looked at by itself. */
bool check_sum(const struct core *core, const struct pe *pe, const uint8_t *to, const uint8_t *base,
               const uint8_t *const *vectors, uint32_t vector_count, uint32_t bytes, cycle now) {
    struct pe_races *here = races_of(core, pe);
    const int64_t words = bytes / 2, first = (to - pe->memory) / 2;
    if (!is_clear(here, first, first + words, true, now)) {
        return false;
    }
    for (uint32_t k = 0; k < vector_count + (base != NULL); k++) {
        int64_t low = ((k < vector_count ? vectors[k] : base) - pe->memory) / 2;
        if (!is_clear(here, low, low + words, false, now)) {
            return false;
        }
    }
    write_words(here, first, first + words);
    return true;
}

/* Notes when an operation has ended. */
void end_flight(struct core *core, struct pe *pe, const void *key, cycle done) {
    struct pe_races *here = races_of(core, pe);
    for (uint32_t k = 0; k < here->count && here->open > 0; k++) {
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
        uint64_t kept = 0;
        for (uint64_t k = 0; k < here->late_count; k++) {
            const struct late *late = &here->lates[k];
            bool is_unblocking = late->code == UNBLOCKS_EARLY;
            if (late->time > until || (is_unblocking && until < NEVER)) {
                here->lates[kept++] = *late;
            } else if (!is_unblocking) {
                struct pe *pe = core->pe_of[number];
                tell(core_of(core, pe), pe, late);
            }
        }
        here->late_count = kept;
    }
}
