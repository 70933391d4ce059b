/* Cores of a chip: rows of cores with memories, joined by channels. runtime/reference/cores.py says what they do.
 *
 * A row has all that is its own, so that rows run on several threads; what does not change is in `struct chip`.
 */
#ifndef LOOM_CHIP_H
#define LOOM_CHIP_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "core.h"
#include "tables.h"

__extension__ typedef __int128 wide;
/* Sums of addresses, which no numbers of the tables overflow. */

enum { TILE_DIMENSIONS = 5, MAX_SOURCES = 3, MAX_COPIES = 64, RECORD_VALUES = 26 };

enum { MAX_TILE_ELEMENTS = 1 << 28, SCRATCHES = 6 };

/* Records of the tables, as runtime/tables/format.py has them. */

struct space_row {
    uint64_t size;
    uint32_t name, owner;
};

struct channel_row {
    uint32_t name, where, producer, consumer, depth, period, lanes, seed;
    uint8_t flags;
};
enum { CHANNEL_DRAINED = 1 };

struct tile_row {
    int64_t extents[TILE_DIMENSIONS], strides[TILE_DIMENSIONS], slot_size;
    uint32_t space, owner, channel, slot_count;
    uint16_t open;
    uint8_t element, rank, role, flags;
};
enum { ROLE_WRITTEN, ROLE_READ, ROLE_COPIED };
enum { TILE_AT_WAIT = 1 };

struct tile_apply_row {
    int64_t value;
    uint32_t name;
    uint16_t function, destination, sources[MAX_SOURCES], options;
    uint8_t kinds[MAX_SOURCES], alike[MAX_SOURCES], rounding;
};
enum { SATURATES = 1, WRAPS = 2, RELU = 4, ACCUMULATES = 8, RESHAPES = 16, VALUE_IS_FLOAT = 32 };

/* The sections that cores need, in this order in the array of pointers that a chip is made from. */
#define CHIP_SECTIONS(S)                                                                                               \
    S(classes, struct class_row)                                                                                       \
    S(code, struct instruction_row)                                                                                    \
    S(code_where, uint32_t)                                                                                            \
    S(bodies, struct body_row)                                                                                         \
    S(uses, struct use_row)                                                                                            \
    S(rows, uint32_t)                                                                                                  \
    S(numbers, int64_t)                                                                                                \
    S(messages, struct message_row)                                                                                    \
    S(tasks, struct task_row)                                                                                          \
    S(spaces, struct space_row)                                                                                        \
    S(channels, struct channel_row)                                                                                    \
    S(tiles, struct tile_row)                                                                                          \
    S(tile_applies, struct tile_apply_row)

struct chip_tables {
#define FIELD(name, type) const type *name; uint64_t name##_count;
    CHIP_SECTIONS(FIELD)
#undef FIELD
};

/* What has happened, as runtime/chips/records.py has it. */
enum {
    CHIP_DIVISION_BY_ZERO = 1, CHIP_ASSERTION, CHIP_FAILURE, CHIP_STEP_LIMIT, CHIP_BEYOND_LANES, CHIP_TILE_NEGATIVE,
    CHIP_TILE_OUTSIDE, CHIP_TILE_BEYOND_ARRAY, CHIP_LANE_OUTSIDE, CHIP_SHAPES, CHIP_TILE_TOO_LARGE,
    CHIP_INDEX_OUTSIDE,
    CHIP_OVERWRITE = 32, CHIP_MAY_OVERWRITE, CHIP_UNWRITTEN, CHIP_STALE, CHIP_FREED_TWICE, CHIP_EARLY_CREDIT,
    CHIP_OUTSIDER, CHIP_STORE_AFTER_PUSH, CHIP_USE_AFTER_FREE, CHIP_COPY_OVERWRITTEN
};

struct chip_record {
    uint32_t code, unit, channel, where;
    int64_t values[RECORD_VALUES];
};

/* A growing array. */
struct list {
    void *items;
    uint64_t count, room;
};

/* A queue of runs of numbers, `width` each, that grows. */
struct fifo_of_numbers {
    int64_t *items;
    uint64_t first, count, room, width;
};

/* Tiles */

struct tile {
    const struct tile_row *row;
    wide address;
    int64_t lane, number;
    int64_t extents[TILE_DIMENSIONS], strides[TILE_DIMENSIONS];
    uint8_t *at;            /* of its first element, once it has been used; else NULL */
    bool is_empty;
};

/* A tile that has been checked, or a number, which has no dimensions: strides in bytes. */
struct tile_view {
    uint8_t *at;
    int64_t extents[TILE_DIMENSIONS], strides[TILE_DIMENSIONS];
    int rank, element;
};

/* A function on tiles that is computed. */
struct tile_call {
    const struct tile_apply_row *row;
    struct tile_view destination, sources[MAX_SOURCES];
    int count;
    uint32_t number;               /* of the row */
    bool has_failed;               /* an index was outside */
    struct chip_row *of;
    int64_t numbers[MAX_SOURCES];  /* of sources that are numbers */
};

/* Channels */

struct copy {
    int64_t member, number;
    wide start, end;
};

struct lane {
    int64_t ready, credits, issued, consumed, safe;
    int64_t unbound;                   /* credits that guarantee nothing and come first */
    struct fifo_of_numbers granted;    /* entries that the others guarantee to be released */
    struct fifo_of_numbers answers;    /* for each entry, what its sender had released on the channels it answers */
};

struct channel {
    const struct channel_row *row;
    uint32_t number;
    bool many_produce, many_consume;
    uint32_t producers, consumers;
    int64_t *acquired, *committed, *written, *waited, *released;
    struct lane *lanes;
    struct channel **answered;
    uint32_t answered_count;
    struct copy copies[MAX_COPIES];
    uint32_t copy_first, copy_count;
};

/* Cores */

enum { NO_TASK = -1, WANTS_STEP = UINT32_MAX, NOWHERE = UINT32_MAX };
enum { WAITS_ACQUIRE, WAITS_WAIT, WAITS_DRAIN, RESTS };

struct chip_use {
    const struct instruction_row *code;
    const uint32_t *where;
    const uint32_t *numbers;
    const uint32_t *slots;
    const struct body_row *body;
};

struct unit {
    uint32_t number, class, column;
    int64_t task;
    const struct chip_use *use;
    int64_t *registers;
    struct tile *tiles;
    uint32_t pc;
    uint64_t register_room, tile_room;
    struct channel *waits_at;
    uint32_t action, member;
    bool is_resting;
    uint32_t rests_at;      /* the place at which it rested last, NOWHERE if something has ended that since */
    int64_t found, wanted;  /* what it compared there */
    uint64_t steps_left;
    uint8_t *launched;      /* of each task of the class: if it has to begin */
    uint32_t launch_count;
    bool is_starting;
};

struct chip_ring {
    int64_t row, channel, space, start, end, where;
};

struct chip_print {
    uint64_t unit, row, element, rank;
    int64_t extents[TILE_DIMENSIONS];
    uint8_t *bytes;
};

struct chip_row {
    struct chip *chip;
    uint32_t y;
    bool is_made;
    uint32_t turn;
    struct unit *units;
    uint32_t unit_count;
    struct unit **unit_at;       /* by column of the grid */
    struct channel **channels;   /* by row of the channels, NULL where the row has none */
    struct list starting, woken, paused;
    uint64_t starting_first, paused_first;
    struct unit *running;
    struct list findings, rings, known_rings, prints;
    struct chip_record error;
    bool has_error;
    uint64_t budget, steps, task_runs;
    jmp_buf *without_memory;
    void *scratch[SCRATCHES];     /* memory that functions on tiles work in */
    uint64_t scratch_bytes[SCRATCHES];
};

struct chip_arrays {
    const int64_t *bounds;  /* first byte and the one behind the last of each array of the host, and 1 if it has a name */
    uint64_t count;
    uint8_t *bytes;
    uint64_t size;
};

struct chip {
    struct chip_tables tables;
    uint32_t width, height;
    const int32_t *class_of;
    const int64_t *ordinal, *column;
    bool is_prompt, is_limited;
    struct chip_use *uses;
    struct chip_arrays *spaces;
    int64_t **arguments;    /* of each launch task */
    struct chip_row *rows;
    uint32_t *answered, *answered_first;
    uint32_t *columns;      /* cores of each class in a row */
    atomic_uint cursor, error_row;
    atomic_bool without_memory;
    uint32_t turn;          /* rows take turns, on one thread, as long as cores rest and others do something */
    bool has_progress;
};

/* How a core stops. */
enum { CORE_ENDED, CORE_WAITS, CORE_PAUSED, CORE_RESTS, CORE_WANTS_STEPS, CORE_FAILED };

/* chip.c */
void *row_allocate(struct chip_row *row, uint64_t count, uint64_t size);
void *row_grow(struct chip_row *row, struct list *list, uint64_t size);
void find(struct chip_row *row, uint32_t code, const struct channel *channel, int count, const int64_t *values);
void fail_core(struct chip_row *row, uint32_t code, uint32_t channel, int count, const int64_t *values);
void wake(struct chip_row *row, struct channel *channel, bool producers);

#define CHIP_VALUES(...)                                                                                               \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }

/* chip_code.c */
int run_core(struct chip_row *row, struct unit *unit);

/* channels.c */
struct channel *make_channel(struct chip_row *row, uint32_t number);
void free_channel(struct channel *channel);
int64_t acquire_entry(struct chip_row *row, struct channel *channel, uint32_t member);
void commit_entry(struct chip_row *row, struct channel *channel, uint32_t member);
int64_t wait_entry(struct chip_row *row, struct channel *channel, uint32_t member);
void release_entry(struct chip_row *row, struct channel *channel, uint32_t member);
bool drain_channel(struct channel *channel, uint32_t member);
bool can_go_on(const struct channel *channel, uint32_t member, uint32_t action);
void renew_channel(struct channel *channel);

/* tiles.c */
void note_copy(struct chip_row *row, struct unit *unit, const struct tile *tile);
void note_ring(struct chip_row *row, struct unit *unit, const struct tile *tile, int64_t base);
void make_tile(struct chip_row *row, struct unit *unit, struct tile *tile, const struct tile_row *made,
               const int64_t *registers);
bool view_tile(struct chip_row *row, struct unit *unit, struct tile *tile, struct tile_view *view);
void check_use(struct chip_row *row, struct unit *unit, const struct tile *tile, bool writes);
bool apply_tiles(struct chip_row *row, struct unit *unit, uint32_t number);
void print_tile(struct chip_row *row, struct unit *unit, struct tile *tile, uint32_t print);
int64_t first_element(const struct tile_view *view);

/* tile_functions.c; false if the shapes do not belong together */
bool compute_tiles(struct tile_call *call);

/* tile_views.c */
uint8_t *packed_elements(struct chip_row *row, const struct tile_view *view);

#endif
