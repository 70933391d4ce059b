/* A chip: rows of cores, made from checked tables, and what its host asks of it. Python's side is chip.py. */
#include "chip.h"

/* Memory. Without it nothing can go on: the call into the core ends, and the chip only waits to be destroyed. */

void *row_allocate(struct chip_row *row, uint64_t count, uint64_t size) {
    void *found = calloc(count ? count : 1, size ? size : 1);
    if (found == NULL) {
        longjmp(*row->without_memory, 1);
    }
    return found;
}

void *row_grow(struct chip_row *row, struct list *list, uint64_t size) {
    if (list->count == list->room) {
        uint64_t room = list->room ? 2 * list->room : 8;
        void *items = realloc(list->items, room * size);
        if (items == NULL) {
            longjmp(*row->without_memory, 1);
        }
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + list->count++ * size;
}

/* What has happened */

static void describe(struct chip_row *row, struct chip_record *record, uint32_t code, uint32_t channel, int count,
                     const int64_t *values) {
    struct unit *unit = row->running;
    memset(record, 0, sizeof *record);
    record->code = code;
    record->unit = unit->number;
    record->channel = channel;
    record->where = unit->pc == WANTS_STEP ? row->chip->tables.tasks[unit->task].where : unit->use->where[unit->pc];
    memcpy(record->values, values, (size_t)count * sizeof(int64_t));
}

/* Values that distinguish records of one code, channel and source place. */
static int subject_values(uint32_t code) {
    return code == CHIP_OVERWRITE || code == CHIP_EARLY_CREDIT || code == CHIP_COPY_OVERWRITTEN;
}

void find(struct chip_row *row, uint32_t code, const struct channel *channel, int count, const int64_t *values) {
    struct chip_record record;
    describe(row, &record, code, channel->number, count, values);
    const struct chip_record *known = row->findings.items;
    for (uint64_t k = row->findings.count; k-- > 0;) {
        if (known[k].code == code && known[k].channel == record.channel && known[k].where == record.where &&
            (!subject_values(code) || known[k].values[0] == record.values[0])) {
            return;
        }
    }
    *(struct chip_record *)row_grow(row, &row->findings, sizeof record) = record;
}

void fail_core(struct chip_row *row, uint32_t code, uint32_t channel, int count, const int64_t *values) {
    describe(row, &row->error, code, channel, count, values);
    row->has_error = true;
}

/* Rows */

static void make_row(struct chip_row *row) {
    const struct chip *chip = row->chip;
    uint64_t first = (uint64_t)row->y * chip->width;
    row->channels = row_allocate(row, chip->tables.channels_count, sizeof *row->channels);
    for (uint32_t k = 0; k < chip->tables.channels_count; k++) {
        for (uint32_t x = 0; x < chip->width; x++) {
            if (chip->class_of[first + x] == (int32_t)chip->tables.channels[k].producer) {
                make_channel(row, k);
                break;
            }
        }
    }
    for (uint32_t k = 0; k < chip->tables.channels_count; k++) {
        struct channel *channel = row->channels[k];
        if (channel == NULL) {
            continue;
        }
        channel->answered = row_allocate(row, chip->tables.channels_count, sizeof *channel->answered);
        for (uint32_t j = 0; j < chip->tables.channels_count; j++) {
            const struct channel_row *other = &chip->tables.channels[j];
            if (row->channels[j] != NULL && (other->seed || other->depth % other->period) &&
                other->producer == channel->row->consumer && other->consumer == channel->row->producer) {
                channel->answered[channel->answered_count++] = row->channels[j];
            }
        }
    }
    row->is_made = true;
}

static struct unit *next_unit(struct chip_row *row) {
    struct unit **items = row->starting.items;
    if (row->starting_first < row->starting.count) {
        struct unit *unit = items[row->starting_first++];
        if (row->starting_first == row->starting.count) {
            row->starting_first = row->starting.count = 0;
        }
        return unit;
    }
    if (row->woken.count > 0) {
        items = row->woken.items;
        return items[--row->woken.count];
    }
    items = row->paused.items;
    if (row->paused_first < row->paused.count) {
        struct unit *unit = items[row->paused_first++];
        if (row->paused_first == row->paused.count) {
            row->paused_first = row->paused.count = 0;
        } else if (row->paused_first > 64 && 2 * row->paused_first > row->paused.count) {
            row->paused.count -= row->paused_first;
            memmove(items, items + row->paused_first, row->paused.count * sizeof *items);
            row->paused_first = 0;
        }
        return unit;
    }
    return NULL;
}

static void *at_least(struct chip_row *row, void *items, uint64_t *room, uint64_t count, uint64_t size) {
    if (*room >= count && items != NULL) {
        return items;
    }
    free(items);
    *room = count;
    return row_allocate(row, count, size);
}

/* Begins the first task of a core that has been launched. */
static void begin(struct chip_row *row, struct unit *unit) {
    const struct chip *chip = row->chip;
    uint32_t first = chip->tables.classes[unit->class].tasks, task = 0;
    while (!unit->launched[task]) {
        task++;
    }
    unit->launched[task] = 0;
    unit->launch_count--;
    unit->is_starting = false;
    unit->task = first + task;
    const struct chip_use *use = unit->use = &chip->uses[chip->tables.tasks[unit->task].use];
    void *registers = unit->registers, *tiles = unit->tiles;
    unit->registers = NULL;
    unit->tiles = NULL;
    unit->registers = at_least(row, registers, &unit->register_room, use->body->registers, sizeof(int64_t));
    unit->tiles = at_least(row, tiles, &unit->tile_room, use->body->frame_descriptors, sizeof(struct tile));
    for (uint32_t k = 0; k < use->body->numbers; k++) {
        unit->registers[k] = chip->tables.numbers[use->numbers[k]];
    }
    memcpy(unit->registers + use->body->numbers, chip->arguments[unit->task],
           use->body->arguments * sizeof(int64_t));
    unit->pc = WANTS_STEP;
    row->task_runs++;
}

static void start_later(struct chip_row *row, struct unit *unit) {
    if (unit->launch_count > 0 && unit->task == NO_TASK && !unit->is_starting) {
        unit->is_starting = true;
        *(struct unit **)row_grow(row, &row->starting, sizeof unit) = unit;
    }
}

void wake(struct chip_row *row, struct channel *channel, bool producers) {
    for (uint32_t k = 0; k < row->unit_count; k++) {
        struct unit *unit = &row->units[k];
        if (unit->waits_at == channel && (unit->action != WAITS_WAIT) == producers &&
            can_go_on(channel, unit->member, unit->action)) {
            unit->waits_at = NULL;
            *(struct unit **)row_grow(row, &row->woken, sizeof unit) = unit;
        }
    }
}

/* Lets the cores that rest go on, once in each turn of the rows, the first of them first. */
static void wake_resting(struct chip_row *row) {
    if (row->turn == row->chip->turn) {
        return;
    }
    row->turn = row->chip->turn;
    for (uint32_t k = row->unit_count; k-- > 0;) {
        struct unit *unit = &row->units[k];
        if (unit->is_resting) {
            unit->is_resting = false;
            *(struct unit **)row_grow(row, &row->woken, sizeof unit) = unit;
        }
    }
}

/* How a run ends, as runtime/engine.py has it. */
enum { RUN_DONE, RUN_BUDGET, RUN_ERROR, RUN_NO_MEMORY };

/* Runs a row until nothing can happen on it, or steps are wanting. */
static int run_row(struct chip_row *row) {
    if (row->has_error) {
        return RUN_ERROR;
    }
    wake_resting(row);
    for (;;) {
        if (row->running == NULL) {
            struct unit *unit = row->running = next_unit(row);
            if (unit == NULL) {
                return RUN_DONE;
            }
            if (unit->task == NO_TASK) {
                begin(row, unit);
            }
        }
        struct unit *unit = row->running;
        switch (run_core(row, unit)) {
        case CORE_WANTS_STEPS: return RUN_BUDGET;
        case CORE_FAILED: return RUN_ERROR;
        case CORE_PAUSED: *(struct unit **)row_grow(row, &row->paused, sizeof unit) = unit; break;
        case CORE_ENDED: start_later(row, unit); break;
        default: break;
        }
        row->running = NULL;
    }
}

/* What a host asks */

struct chip_input {
    const void *const *sections; /* rows and count of each of CHIP_SECTIONS */
    const int32_t *class_of;
    const int64_t *ordinal, *column;
    uint32_t width, height, is_prompt;
};

EXPORT void chip_destroy(struct chip *chip);

static bool make_units(struct chip *chip, struct chip_row *row, uint32_t y) {
    row->chip = chip;
    row->y = y;
    uint64_t first = (uint64_t)y * chip->width;
    for (uint32_t x = 0; x < chip->width; x++) {
        row->unit_count += chip->class_of[first + x] >= 0;
    }
    row->units = calloc(row->unit_count + 1, sizeof *row->units);
    row->unit_at = calloc(chip->width, sizeof *row->unit_at);
    if (row->units == NULL || row->unit_at == NULL) {
        return false;
    }
    uint32_t place = 0;
    for (uint32_t x = 0; x < chip->width; x++) {
        int32_t class = chip->class_of[first + x];
        if (class < 0) {
            continue;
        }
        struct unit *unit = &row->units[place++];
        *unit = (struct unit){.number = (uint32_t)first + x, .class = (uint32_t)class,
                              .column = (uint32_t)chip->column[first + x], .task = NO_TASK,
                              .rests_at = NOWHERE};
        row->unit_at[x] = unit;
        unit->launched = calloc(chip->tables.classes[class].task_count + 1, 1);
        if (unit->launched == NULL) {
            return false;
        }
    }
    return true;
}

static bool make_uses(struct chip *chip) {
    const struct chip_tables *tables = &chip->tables;
    chip->uses = calloc(tables->uses_count + 1, sizeof *chip->uses);
    if (chip->uses == NULL) {
        return false;
    }
    for (uint64_t k = 0; k < tables->uses_count; k++) {
        const struct body_row *body = &tables->bodies[tables->uses[k].body];
        const uint32_t *rows = tables->rows + tables->uses[k].rows;
        chip->uses[k] = (struct chip_use){tables->code + body->code, tables->code_where + body->code, rows,
                                          rows + body->numbers + body->descriptors, body};
    }
    return true;
}

static bool fill_chip(struct chip *chip) {
    const struct chip_tables *tables = &chip->tables;
    uint64_t cores = (uint64_t)chip->width * chip->height;
    chip->columns = calloc(tables->classes_count + 1, sizeof *chip->columns);
    chip->rows = calloc(chip->height, sizeof *chip->rows);
    chip->spaces = calloc(tables->spaces_count + 1, sizeof *chip->spaces);
    chip->arguments = calloc(tables->tasks_count + 1, sizeof *chip->arguments);
    if (chip->columns == NULL || chip->rows == NULL || chip->spaces == NULL || chip->arguments == NULL ||
        !make_uses(chip)) {
        return false;
    }
    for (uint64_t k = 0; k < cores; k++) {
        int32_t class = chip->class_of[k];
        if (class >= 0 && chip->column[k] >= chip->columns[class]) {
            chip->columns[class] = (uint32_t)chip->column[k] + 1;
        }
    }
    for (uint64_t k = 0; k < tables->tasks_count; k++) {
        uint32_t count = chip->uses[tables->tasks[k].use].body->arguments;
        chip->arguments[k] = calloc(count + 1, sizeof(int64_t));
        if (chip->arguments[k] == NULL) {
            return false;
        }
    }
    for (uint32_t y = 0; y < chip->height; y++) {
        if (!make_units(chip, &chip->rows[y], y)) {
            return false;
        }
    }
    return true;
}

/* Returns a chip, NULL without memory. */
EXPORT struct chip *chip_create(const struct chip_input *input) {
    struct chip *chip = calloc(1, sizeof *chip);
    if (chip == NULL) {
        return NULL;
    }
    const void *const *next = input->sections;
#define SECTION(name, type)                                                                                            \
    chip->tables.name = next[0];                                                                                       \
    chip->tables.name##_count = (uint64_t)(uintptr_t)next[1];                                                          \
    next += 2;
    CHIP_SECTIONS(SECTION)
#undef SECTION
    chip->width = input->width;
    chip->height = input->height;
    chip->class_of = input->class_of;
    chip->ordinal = input->ordinal;
    chip->column = input->column;
    chip->is_prompt = input->is_prompt;
    if (!fill_chip(chip)) {
        chip_destroy(chip);
        return NULL;
    }
    return chip;
}

static void clear_prints(struct chip_row *row) {
    struct chip_print *prints = row->prints.items;
    for (uint64_t k = 0; k < row->prints.count; k++) {
        free(prints[k].bytes);
    }
    row->prints.count = 0;
}

static void free_row(struct chip_row *row) {
    for (uint32_t k = 0; row->units != NULL && k < row->unit_count; k++) {
        free(row->units[k].launched);
        free(row->units[k].registers);
        free(row->units[k].tiles);
    }
    for (uint64_t k = 0; row->channels != NULL && k < row->chip->tables.channels_count; k++) {
        free_channel(row->channels[k]);
    }
    clear_prints(row);
    for (int k = 0; k < SCRATCHES; k++) {
        free(row->scratch[k]);
    }
    struct list *lists[] = {&row->starting, &row->woken, &row->paused, &row->findings, &row->rings,
                            &row->known_rings, &row->prints};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        free(lists[k]->items);
    }
    free(row->channels);
    free(row->units);
    free(row->unit_at);
}

EXPORT void chip_destroy(struct chip *chip) {
    for (uint32_t y = 0; chip->rows != NULL && y < chip->height; y++) {
        free_row(&chip->rows[y]);
    }
    for (uint64_t k = 0; chip->arguments != NULL && k < chip->tables.tasks_count; k++) {
        free(chip->arguments[k]);
    }
    free(chip->rows);
    free(chip->arguments);
    free(chip->spaces);
    free(chip->columns);
    free(chip->uses);
    free(chip);
}

/* Tells where a memory is, and which arrays the host has put into it: three numbers for each, see chip.h. */
EXPORT void chip_space(struct chip *chip, uint32_t number, uint8_t *bytes, uint64_t size, const int64_t *bounds,
                       uint64_t count) {
    chip->spaces[number] = (struct chip_arrays){bounds, count, bytes, size};
}

EXPORT void chip_limit(struct chip *chip, bool is_limited, uint64_t steps) {
    chip->is_limited = is_limited;
    for (uint32_t y = 0; y < chip->height; y++) {
        for (uint32_t k = 0; k < chip->rows[y].unit_count; k++) {
            chip->rows[y].units[k].steps_left = steps;
        }
    }
}

static void launch_on(struct chip_row *row, uint32_t class, uint32_t place) {
    for (uint32_t k = 0; k < row->unit_count; k++) {
        struct unit *unit = &row->units[k];
        if (unit->class == class) {
            unit->launch_count += !unit->launched[place];
            unit->launched[place] = 1;
            start_later(row, unit);
        }
    }
}

static void launch_on_all(struct chip *chip, uint32_t task, jmp_buf *without_memory) {
    uint32_t class = chip->tables.tasks[task].owner;
    for (uint32_t y = 0; y < chip->height; y++) {
        chip->rows[y].without_memory = without_memory;
        launch_on(&chip->rows[y], class, task - chip->tables.classes[class].tasks);
    }
}

/* Activates a launch task on all cores of its class; returns false without memory. */
EXPORT bool chip_launch(struct chip *chip, uint32_t task, const int64_t *arguments) {
    uint32_t use = chip->tables.tasks[task].use;
    memcpy(chip->arguments[task], arguments, chip->uses[use].body->arguments * sizeof(int64_t));
    jmp_buf without_memory;
    if (setjmp(without_memory)) {
        return false;
    }
    launch_on_all(chip, task, &without_memory);
    return true;
}

EXPORT bool chip_is_active(const struct chip *chip, uint32_t unit, uint32_t task) {
    const struct task_row *row = &chip->tables.tasks[task];
    const struct unit *its = chip->rows[unit / chip->width].unit_at[unit % chip->width];
    return its->class == row->owner && its->launched[task - chip->tables.classes[row->owner].tasks];
}

/* Begins a run: all rows are looked at again. Views of tiles are made anew, since memories may be elsewhere now. */
EXPORT void chip_begin(struct chip *chip) {
    atomic_store(&chip->cursor, 0);
    atomic_store(&chip->error_row, UINT32_MAX);
    chip->turn++;
    for (uint32_t y = 0; y < chip->height; y++) {
        struct chip_row *row = &chip->rows[y];
        for (uint32_t k = 0; k < row->unit_count; k++) {
            struct unit *unit = &row->units[k];
            for (uint32_t t = 0; unit->task != NO_TASK && t < unit->use->body->frame_descriptors; t++) {
                unit->tiles[t].at = NULL;
            }
        }
    }
}

static int run_rows(struct chip *chip, uint32_t *at, uint64_t steps, jmp_buf *without_memory) {
    for (;;) {
        uint32_t y = *at == UINT32_MAX ? atomic_fetch_add(&chip->cursor, 1) : *at;
        if (y >= chip->height && chip->has_progress && atomic_load(&chip->error_row) == UINT32_MAX) {
            chip->has_progress = false;
            chip->turn++;
            atomic_store(&chip->cursor, 0);
            *at = UINT32_MAX;
            continue;
        }
        if (y >= chip->height || y > atomic_load(&chip->error_row)) {
            *at = UINT32_MAX;
            return RUN_DONE;
        }
        *at = y;
        struct chip_row *row = &chip->rows[y];
        row->without_memory = without_memory;
        if (!row->is_made) {
            make_row(row);
        }
        row->budget = steps;
        int how = run_row(row);
        steps = row->budget;
        if (how == RUN_BUDGET) {
            return how;
        }
        *at = UINT32_MAX;
        if (how == RUN_ERROR) {
            uint32_t first = atomic_load(&chip->error_row);
            while (y < first && !atomic_compare_exchange_weak(&chip->error_row, &first, y)) {
            }
            return how;
        }
    }
}

/* Runs rows until steps are wanting; `at` is the row of this thread, UINT32_MAX to take the next one. */
EXPORT int chip_run(struct chip *chip, uint32_t *at, uint64_t steps) {
    jmp_buf without_memory;
    if (setjmp(without_memory)) {
        return RUN_NO_MEMORY;
    }
    return run_rows(chip, at, steps, &without_memory);
}

EXPORT const struct chip_record *chip_error(const struct chip *chip) {
    uint32_t y = atomic_load(&chip->error_row);
    return y < chip->height ? &chip->rows[y].error : NULL;
}

/* Where a row is, for reports: unit, task and source place. */
EXPORT void chip_place(const struct chip *chip, uint32_t y, int64_t *place) {
    const struct unit *unit = chip->rows[y].running;
    place[0] = unit->number;
    place[1] = unit->task;
    place[2] = unit->pc == WANTS_STEP ? chip->tables.tasks[unit->task].where : unit->use->where[unit->pc];
}

EXPORT void chip_totals(const struct chip *chip, uint64_t *totals) {
    totals[0] = totals[1] = 0;
    for (uint32_t y = 0; y < chip->height; y++) {
        totals[0] += chip->rows[y].task_runs;
        totals[1] += chip->rows[y].steps;
    }
}

/* Lists of a row: findings, rings, prints. Returns how many there are. */
EXPORT uint64_t chip_list(const struct chip *chip, uint32_t y, uint32_t which, const void **items) {
    const struct chip_row *row = &chip->rows[y];
    const struct list *list = which == 0 ? &row->findings : which == 1 ? &row->rings : &row->prints;
    *items = list->items;
    return list->count;
}

EXPORT void chip_clear(struct chip *chip, uint32_t y, uint32_t which) {
    struct chip_row *row = &chip->rows[y];
    if (which == 2) {
        clear_prints(row);
    } else {
        (which == 0 ? &row->findings : &row->rings)->count = 0;
    }
}

/* Writes core, channel, action, source place and task of a core that waits, and what one that rests has compared;
 * returns false for one that does neither. */
EXPORT bool chip_waiting(const struct chip *chip, uint32_t y, uint32_t place, int64_t *values) {
    const struct unit *unit = &chip->rows[y].units[place];
    values[0] = unit->number;
    values[4] = unit->task;
    values[5] = values[6] = 0;
    if (unit->is_resting) {
        values[1] = NO_ROW;
        values[2] = RESTS;
        values[3] = unit->use->where[unit->pc - 1];
        values[5] = unit->found;
        values[6] = unit->wanted;
        return true;
    }
    if (unit->waits_at == NULL) {
        return false;
    }
    values[1] = unit->waits_at->number;
    values[2] = unit->action;
    values[3] = unit->use->where[unit->pc];
    return true;
}

EXPORT uint32_t chip_units(const struct chip *chip, uint32_t y) { return chip->rows[y].unit_count; }

/* Writes the counts of a channel on a row: acquired and committed of producers, waited and released of consumers, ready,
 * credits and issued of lanes, one after the other. Zeros, but for the credits at the start, if nothing has run there. */
EXPORT void chip_counts(const struct chip *chip, uint32_t y, uint32_t number, int64_t *values) {
    const struct channel_row *record = &chip->tables.channels[number];
    const struct channel *channel = chip->rows[y].is_made ? chip->rows[y].channels[number] : NULL;
    uint32_t producers = chip->columns[record->producer] > 1 ? record->lanes : 1;
    uint32_t consumers = chip->columns[record->consumer] > 1 ? record->lanes : 1;
    for (uint32_t k = 0; k < producers; k++) {
        values[k] = channel == NULL ? 0 : channel->acquired[k];
        values[producers + k] = channel == NULL ? 0 : channel->committed[k];
    }
    values += 2 * producers;
    for (uint32_t k = 0; k < consumers; k++) {
        values[k] = channel == NULL ? 0 : channel->waited[k];
        values[consumers + k] = channel == NULL ? 0 : channel->released[k];
    }
    values += 2 * consumers;
    for (uint32_t k = 0; k < record->lanes; k++) {
        values[k] = channel == NULL ? 0 : channel->lanes[k].ready;
        values[record->lanes + k] = channel == NULL ? record->seed : channel->lanes[k].credits;
        values[2 * record->lanes + k] = channel == NULL ? 0 : channel->lanes[k].issued;
    }
}

EXPORT void chip_renew(struct chip *chip) {
    for (uint32_t y = 0; y < chip->height; y++) {
        for (uint64_t k = 0; chip->rows[y].is_made && k < chip->tables.channels_count; k++) {
            if (chip->rows[y].channels[k] != NULL) {
                renew_channel(chip->rows[y].channels[k]);
            }
        }
    }
}

/* Sizes of the records that Python shares, in the order of a test. */
EXPORT uint64_t chip_record_size(uint32_t which) {
    const uint64_t sizes[] = {
        sizeof(struct space_row), sizeof(struct channel_row), sizeof(struct tile_row), sizeof(struct tile_apply_row),
        sizeof(struct chip_record), sizeof(struct chip_ring), sizeof(struct chip_print),
    };
    return sizes[which];
}
