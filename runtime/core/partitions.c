/* Partitions: strips of the grid, each with what it needs to go on while others do.
 *
 * While several are at work, a PE changes only its own state and that of the PEs to which it has ways or that have ways
 * to it. All of these are in its partition, unless it is at the border: PEs there go on when no partition is at work, and
 * what comes to them waits until then.
 */
#include "partitions.h"

#include <stdlib.h>

static uint32_t lines_of(const struct core *core) {
    return core->partitions->by_columns ? core->width : core->height;
}

static uint32_t strip_of(const struct core *core, const struct pe *pe) {
    uint64_t line = core->partitions->by_columns ? pe->x : pe->y;
    return (uint32_t)(((line + 1) * core->partitions->count - 1) / lines_of(core));
}

static uint32_t first_line(const struct core *core, uint32_t strip) {
    return (uint32_t)((uint64_t)lines_of(core) * strip / core->partitions->count);
}

static uint32_t tiles_for(uint32_t lines) { return (lines + TILE - 1) / TILE; }

/* Returns how many tiles there are across the strips, whole columns of them. */
static uint32_t tiles_across(const struct core *core) {
    uint32_t tiles = tiles_for(core->partitions->by_columns ? core->height : core->width);
    return (tiles + TILES_WIDE - 1) / TILES_WIDE * TILES_WIDE;
}

static uint32_t tiles_along(const struct core *core, uint32_t strip) {
    return tiles_for(first_line(core, strip + 1) - first_line(core, strip));
}

/* Decides how many partitions there are, and makes their tiles. What is global is for one partition alone. */
void prepare_tiles(struct core *core, const struct core_input *input) {
    struct partitions *partitions = core_allocate(core, 1, sizeof *partitions);
    core->partitions = partitions;
    partitions->present = partitions->looked_at = -1;
    partitions->by_columns = core->width > core->height;
    partitions->threads = input->threads;
    partitions->parallel_from = input->parallel_from;
    bool is_global = core->changes || core->switches != NULL || core->networks != NULL || core->directives != NULL;
    uint32_t wanted = is_global || input->partitions == 0 ? 1 : input->partitions;
    partitions->count = wanted < lines_of(core) ? wanted : lines_of(core);
    partitions->cores = core_allocate(core, partitions->count, sizeof *partitions->cores);
    partitions->cores[0] = core;
    partitions->tiles = core_allocate(core, partitions->count + 1, sizeof *partitions->tiles);
    for (uint32_t k = 0; k < partitions->count; k++) {
        partitions->tiles[k + 1] = partitions->tiles[k] + tiles_along(core, k) * tiles_across(core) + 1;
    }
    uint32_t count = partitions->tiles[partitions->count];
    core->tiles = core_allocate(core, count, sizeof *core->tiles);
    for (uint32_t k = 0; k < count; k++) {
        core->tiles[k].core = core;
    }
}

uint32_t tile_of(const struct core *core, const struct pe *pe) {
    uint32_t strip = strip_of(core, pe);
    uint32_t line = core->partitions->by_columns ? pe->x : pe->y, across = core->partitions->by_columns ? pe->y : pe->x;
    uint32_t row = (line - first_line(core, strip)) / TILE, column = across / TILE;
    uint32_t before = column / TILES_WIDE * tiles_along(core, strip) + row;
    return core->partitions->tiles[strip] + before * TILES_WIDE + column % TILES_WIDE;
}

/* Makes the core of one more partition. */
static void make_part(struct core *core, uint32_t number, uint64_t strings) {
    struct core *part = core_allocate(core, 1, sizeof *part);
    core->partitions->cores[number] = part;
    memcpy(part, core, OWN_PART);
    part->without_memory = core->without_memory;
    struct pool *pools[] = {POOLS(part)}, *models[] = {POOLS(core)};
    for (size_t k = 0; k < sizeof pools / sizeof *pools; k++) {
        pools[k]->size = models[k]->size;
    }
    part->early_end = &part->early;
    part->horizon = part->present = part->at = -1;
    part->epoch = core->epoch;
    part->warned = core_allocate(core, strings + 1, sizeof *part->warned);
    part->ticked = core->ticked == NULL ? NULL : core_allocate(core, core->tables.costs_count, sizeof *part->ticked);
    part->issued =
        core->issued == NULL ? NULL : core_allocate(core, core->tables.operations_count, sizeof *part->issued);
}

/* Adds what the other partitions have counted to what the host sees. */
void add_counts(struct core *core) {
    for (uint32_t k = 1; k < core->partitions->count && core->ticked != NULL; k++) {
        struct core *part = core->partitions->cores[k];
        for (uint64_t row = 0; row < core->tables.costs_count; row++) {
            core->ticked[row] += part->ticked[row];
            part->ticked[row] = 0;
        }
        for (uint64_t row = 0; row < core->tables.operations_count && core->issued != NULL; row++) {
            for (int field = 0; field < ISSUE_FIELDS; field++) {
                core->issued[row][field] += part->issued[row][field];
                part->issued[row][field] = 0;
            }
        }
    }
}

/* Moves a PE to the border of its partition. */
static void move_to_border(const struct core *core, struct pe *pe) {
    pe->tile = core->partitions->tiles[strip_of(core, pe) + 1] - 1;
}

/* Finds the PEs that have ways to or from other partitions. */
static void find_border(struct core *core, const struct class *class, const struct queue *queue) {
    for (uint32_t unit = 0; unit < class->units; unit++) {
        struct pe *pe = pe_at(class, unit);
        uint32_t list = queue->ways[unit];
        for (uint32_t k = core->list_first[list]; k < core->list_first[list + 1]; k++) {
            struct pe *to = core->pe_of[(int64_t)pe->number + core->ways[k].offset];
            if (core_of(core, pe) != core_of(core, to)) {
                move_to_border(core, pe);
                move_to_border(core, to);
            }
        }
    }
}

static void give_tiles(struct core *part, struct tile *first, struct tile *border) {
    uint64_t words = (uint64_t)(border - first) / 64 + 1;
    part->own = first;
    part->border = border;
    border->is_border = true;
    part->listed.bits = core_allocate(part, words, sizeof *part->listed.bits);
    part->listed.words = core_allocate(part, words / 64 + 1, sizeof *part->listed.words);
}

/* Divides a machine that has its PEs. */
void divide(struct core *core, uint64_t strings) {
    struct partitions *partitions = core->partitions;
    for (uint32_t k = 1; k < partitions->count; k++) {
        make_part(core, k, strings);
    }
    for (uint32_t k = 0; k < partitions->count; k++) {
        for (uint32_t tile = partitions->tiles[k]; tile < partitions->tiles[k + 1]; tile++) {
            core->tiles[tile].core = partitions->cores[k];
        }
        give_tiles(partitions->cores[k], &core->tiles[partitions->tiles[k]], &core->tiles[partitions->tiles[k + 1] - 1]);
    }
    for (uint32_t c = 0; c < core->class_count && partitions->count > 1; c++) {
        const struct class *class = &core->classes[c];
        for (uint32_t q = class->input_count; q < class->queue_count; q++) {
            find_border(core, class, &class->queues[q]);
        }
    }
}

/* Frees what is a partition's own. */
static void free_part(struct core *part) {
    for (uint64_t k = 0; k < part->block_count; k++) {
        free(part->blocks[k]);
    }
    struct pool *pools[] = {POOLS(part)};
    for (size_t k = 0; k < sizeof pools / sizeof *pools; k++) {
        pool_free_all(pools[k]);
    }
    void *arrays[] = {part->heap, part->kept, part->stack, part->arriving.list, part->at_border.list, part->blocks,
                      part->listed.bits, part->listed.words, part->warnings, part->warned, part->prints.words, part->epoch.pes, part->epoch.operations.list};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        free(arrays[k]);
    }
}

void free_partitions(struct core *core) {
    struct partitions *partitions = core->partitions;
    free_part(core);
    if (partitions == NULL) {
        return;
    }
    crew_free(partitions->crew);
    for (uint32_t k = 1; k < partitions->count && partitions->cores != NULL; k++) {
        if (partitions->cores[k] != NULL) {
            free(partitions->cores[k]->ticked);
            free(partitions->cores[k]->issued);
            free_part(partitions->cores[k]);
            free(partitions->cores[k]);
        }
    }
    free(partitions->cores);
    free(partitions->tiles);
    free(partitions);
}

/* Has all partitions end there where they get no memory. */
void set_without_memory(struct core *core, jmp_buf *end) {
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        core->partitions->cores[k]->without_memory = end;
    }
}

bool multicasts_wait(const struct core *core) {
    int64_t count = 0;
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        count += core->partitions->cores[k]->multicasts_waiting;
    }
    return count > 0;
}

bool runs_are_due(const struct core *core) {
    int64_t count = 0;
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        count += core->partitions->cores[k]->runs_due;
    }
    return count > 0;
}
