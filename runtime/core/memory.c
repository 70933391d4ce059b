/* Checks of walks over memory, before any of it is touched. */
#include "machine.h"

/* Returns the elements of a walk; MAX_WALK + 1 if there are more than MAX_WALK. */
int64_t walk_count(const struct descriptor *walk) {
    if (is_circular(walk)) {
        return walk->extents[0];
    }
    int64_t count = 1;
    for (int k = 0; k < walk->dimensions; k++) {
        count *= walk->extents[k]; /* at most MAX_WALK * 2^16, or 0 */
        count = count > MAX_WALK ? MAX_WALK + 1 : count;
    }
    return count;
}

/* Returns the offset of element `k` of a walk, in elements. */
int64_t walk_offset(const struct descriptor *walk, int64_t k) {
    if (is_circular(walk)) {
        return (walk->begin + k % walk->extents[0]) % walk->extents[1];
    }
    int64_t offset = 0, last = 0;
    for (int dim = 0; dim < walk->dimensions; dim++) {
        int64_t extent = walk->extents[walk->dimensions - 1 - dim], step = last + walk->strides[dim];
        bool outermost = dim == walk->dimensions - 1;
        offset += (outermost ? k : k % extent) * step;
        k /= extent;
        last += (extent - 1) * step;
    }
    return offset;
}

struct descriptor walk_behind(const struct descriptor *walk, int64_t count) {
    struct descriptor behind = *walk;
    if (is_circular(walk)) {
        behind.begin = (uint16_t)((walk->begin + count) % walk->extents[1]);
    } else if (count > 0) {
        int64_t elements = walk_offset(walk, count - 1) + walk->strides[walk->dimensions - 1];
        behind.address = within(walk->address + elements * (kind_bytes(walk->kind) == 4 ? 2 : 1));
    }
    return behind;
}

static const struct variable *variable_at(const struct class *class, int64_t word) {
    uint32_t low = 0, high = class->variable_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (class->variables[middle].start <= word) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && word < class->variables[low - 1].end ? &class->variables[low - 1] : NULL;
}

/* Finds the words that a walk is meant to touch: those of its variable, or all; returns that, or NO_ROW. */
static uint32_t find_variable(const struct core *core, const struct class *class, const struct descriptor *walk,
                              int64_t *start, int64_t *end) {
    *start = 0;
    *end = class->words;
    if (walk->row != NO_ROW) {
        const struct buffer_row *row = &core->tables.buffers[walk->row];
        *start = row->address;
        *end = *start + ((int64_t)row->elements * kind_bytes(row->kind) + 1) / 2;
        return walk->row;
    }
    const struct variable *variable = variable_at(class, walk->address);
    if (variable != NULL) {
        *start = variable->start;
        *end = variable->end;
    }
    return variable == NULL ? NO_ROW : variable->buffer;
}

static bool reaches_only(const struct descriptor *walk, int64_t start, int64_t end) {
    int64_t width = kind_bytes(walk->kind) == 4 ? 2 : 1, lowest, highest;
    if (is_circular(walk)) {
        return walk->address >= start && walk->address + walk->extents[1] * width <= end;
    }
    walk_reach(2 * (uint32_t)width, walk->dimensions, walk->extents, walk->strides, &lowest, &highest);
    return walk->address + lowest / 2 >= start && walk->address + highest / 2 + width <= end;
}

/* Returns true if all of a walk is in the variable that it is over. */
bool is_inside(const struct core *core, const struct pe *pe, const struct descriptor *walk) {
    int64_t start, end;
    find_variable(core, pe->class, walk, &start, &end);
    return reaches_only(walk, start, end);
}

/* Returns true if elements `low` up to `high` of a walk are in memory; leaves a finding if they are not, if they leave
 * the variable that the walk is over (DSD-171), and if elements of 32 bits are at odd words. */
bool check_walk(struct core *core, struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
                const struct descriptor *walk, int64_t low, int64_t high) {
    const struct class *class = pe->class;
    int64_t width = kind_bytes(walk->kind) == 4 ? 2 : 1, address = walk->address;
    if (width == 2 && address & 1) {
        warn(core, pe, ODD_WALK, task, where, VALUES(address, operation->number));
    }
    int64_t start, end;
    uint32_t buffer = find_variable(core, class, walk, &start, &end);
    if (reaches_only(walk, start, end)) {
        return true;
    }
    int64_t least = walk_offset(walk, low), most = least;
    for (int64_t k = low + 1; k < high; k++) {
        int64_t offset = walk_offset(walk, k);
        least = offset < least ? offset : least;
        most = offset > most ? offset : most;
    }
    int64_t first = address + least * width, behind = address + (most + 1) * width;
    if (first >= start && behind <= end) {
        return true;
    }
    if (first < 0 || behind > class->words) {
        fail(core, pe, WALK_OUTSIDE_MEMORY, task, where,
             VALUES(operation->number, first < 0 ? first : behind - 1, walk->row));
        return false;
    }
    if (buffer != NO_ROW) {
        int64_t word = first < start ? first : behind - width;
        warn(core, pe, WALK_LEAVES_BUFFER, task, where, VALUES(operation->number, word, buffer, width));
    }
    return true;
}
