/* Tiles: where their elements are, and what their entries allow; runtime/reference/tiles.py says what they do. */
#include "chip.h"
#include "tile_formats.h"

void make_tile(struct chip_row *row, struct unit *unit, struct tile *tile, const struct tile_row *made,
               const int64_t *registers) {
    int64_t base = registers[0];
    const int64_t *next = registers + 1;
    tile->row = made;
    tile->address = base;
    tile->lane = made->owner == NO_ROW ? 0 : *next++;
    tile->number = made->channel == NO_ROW ? -1 : *next++;
    tile->at = NULL;
    memcpy(tile->extents, made->extents, made->rank * sizeof(int64_t));
    memcpy(tile->strides, made->strides, made->rank * sizeof(int64_t));
    if (made->open) {
        for (int k = 0; k < made->rank; k++) {
            if (made->open >> k & 1) {
                tile->extents[k] = *next++;
            }
        }
        for (int k = 0; k < made->rank; k++) {
            if (made->open >> (TILE_DIMENSIONS + k) & 1) {
                tile->strides[k] = *next++;
            }
        }
    }
    if (tile->number < 0) {
        return;
    }
    tile->address += (wide)(tile->number % made->slot_count) * made->slot_size;
    if (made->role == ROLE_COPIED) {
        if (made->flags & TILE_AT_WAIT) {
            note_copy(row, unit, tile);
        }
    } else if (row->chip->tables.spaces[made->space].owner == NO_ROW) {
        note_ring(row, unit, tile, base);
    }
}

/* Returns a sum that no forged extents overflow. */
static wide limited(wide value) {
    const wide limit = (wide)1 << 110;
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* Returns the bytes from the first element to behind the last, if strides are not negative. */
static wide bytes_of(const struct tile *tile) {
    wide reach = 0;
    for (int k = 0; k < tile->row->rank; k++) {
        reach += limited((wide)(tile->extents[k] - 1) * tile->strides[k]);
    }
    return (reach + 1) * element_bytes(tile->row->element);
}

static int64_t clamped(wide value) {
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

void note_copy(struct chip_row *row, struct unit *unit, const struct tile *tile) {
    struct channel *channel = row->channels[tile->row->channel];
    struct copy *copy;
    if (channel->copy_count < MAX_COPIES) {
        copy = &channel->copies[(channel->copy_first + channel->copy_count++) % MAX_COPIES];
    } else {
        copy = &channel->copies[channel->copy_first];
        channel->copy_first = (channel->copy_first + 1) % MAX_COPIES;
    }
    *copy = (struct copy){
        .member = channel->many_consume ? unit->column : 0, .number = tile->number, .start = tile->address,
        .end = tile->address + bytes_of(tile),
    };
}

void note_ring(struct chip_row *row, struct unit *unit, const struct tile *tile, int64_t base) {
    const struct tile_row *made = tile->row;
    const struct chip_ring *known = row->known_rings.items;
    /* Mostly the last one: a pipe keeps its slots. */
    for (uint64_t k = row->known_rings.count; k-- > 0;) {
        if (known[k].channel == made->channel && known[k].start == base) {
            return;
        }
    }
    wide end = base + (wide)(made->slot_count - 1) * made->slot_size + bytes_of(tile);
    struct chip_ring ring = {
        row->y, made->channel, made->space, base, clamped(end), unit->use->where[unit->pc],
    };
    *(struct chip_ring *)row_grow(row, &row->known_rings, sizeof ring) = ring;
    *(struct chip_ring *)row_grow(row, &row->rings, sizeof ring) = ring;
}

/* Views */

static bool fail_tile(struct chip_row *row, uint32_t code, const struct tile *tile, int count, const int64_t *more) {
    int64_t values[RECORD_VALUES] = {tile->row->rank};
    memcpy(values + 1, tile->extents, tile->row->rank * sizeof(int64_t));
    for (int k = 0; k < count; k++) {
        values[1 + tile->row->rank + k] = more[k];
    }
    fail_core(row, code, NO_ROW, 1 + tile->row->rank + count, values);
    return false;
}

/* Checks that the bytes of a tile from `low` to `end` are in its memory, and in one array. */
static bool guard(struct chip_row *row, const struct tile *tile, wide low, wide end) {
    uint32_t number = tile->row->space;
    const struct chip_arrays *space = &row->chip->spaces[number];
    for (uint64_t k = space->count; k-- > 0;) {
        const int64_t *bounds = space->bounds + 3 * k;
        if (bounds[0] <= low) {
            if (end > bounds[1] && bounds[2]) {
                return fail_tile(row, CHIP_TILE_BEYOND_ARRAY, tile,
                                 CHIP_VALUES(number, clamped(low), (int64_t)k, clamped(end)));
            }
            break;
        }
    }
    if (low < 0 || end > (wide)space->size) {
        return fail_tile(row, CHIP_TILE_OUTSIDE, tile, CHIP_VALUES(number, clamped(low)));
    }
    return true;
}

static bool locate(struct chip_row *row, struct unit *unit, struct tile *tile) {
    const struct chip *chip = row->chip;
    const struct tile_row *made = tile->row;
    int64_t size = element_bytes(made->element);
    tile->is_empty = false;
    wide count = 1, low = tile->address, end = tile->address + size;
    for (int k = 0; k < made->rank; k++) {
        if (tile->extents[k] < 0) {
            return fail_tile(row, CHIP_TILE_NEGATIVE, tile, 0, NULL);
        }
        tile->is_empty |= tile->extents[k] == 0;
        count = limited(count * tile->extents[k]);
        wide reach = limited((wide)(tile->extents[k] - 1) * tile->strides[k]) * size;
        *(reach < 0 ? &low : &end) += reach;
    }
    if (tile->is_empty) {
        tile->at = (uint8_t *)tile;
        return true;
    }
    if (count > MAX_TILE_ELEMENTS) {
        return fail_tile(row, CHIP_TILE_TOO_LARGE, tile, 0, NULL);
    }
    const struct space_row *space = &chip->tables.spaces[made->space];
    uint8_t *bytes = chip->spaces[made->space].bytes;
    if (space->owner != NO_ROW) {
        uint32_t number = unit->number;
        if (made->owner != NO_ROW) {
            uint32_t column = 0;
            int64_t left = tile->lane;
            for (; column < chip->width; column++) {
                if (chip->class_of[(uint64_t)row->y * chip->width + column] == (int32_t)made->owner && left-- == 0) {
                    break;
                }
            }
            if (tile->lane < 0 || column == chip->width) {
                fail_core(row, CHIP_LANE_OUTSIDE, NO_ROW, CHIP_VALUES(made->owner, tile->lane));
                return false;
            }
            number = row->y * chip->width + column;
        }
        bytes += chip->ordinal[number] * (int64_t)space->size;
    }
    if (!guard(row, tile, low, end)) {
        return false;
    }
    tile->at = bytes + (int64_t)tile->address;
    return true;
}

bool view_tile(struct chip_row *row, struct unit *unit, struct tile *tile, struct tile_view *view) {
    if (tile->at == NULL && !locate(row, unit, tile)) {
        return false;
    }
    view->at = tile->is_empty ? NULL : tile->at;
    view->rank = tile->row->rank;
    view->element = tile->row->element;
    int64_t size = element_bytes(view->element);
    for (int k = 0; k < view->rank; k++) {
        view->extents[k] = tile->extents[k];
        view->strides[k] = tile->extents[k] > 1 && !tile->is_empty ? tile->strides[k] * size : 0;
    }
    return true;
}

int64_t first_element(const struct tile_view *view) {
    int64_t value = 0;
    if (view->at != NULL) {
        memcpy(&value, view->at, (size_t)element_bytes(view->element));
    }
    if (is_float_element(view->element)) {
        return value;
    }
    /* An integer without a sign is kept as one with it. */
    int bits = (int)(8 * element_bytes(view->element));
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

/* Lifetimes */

static void check_copy(struct chip_row *row, struct channel *channel, int64_t member, const struct tile *tile) {
    wide start = tile->address, end = 0;
    for (uint32_t k = 0; k < channel->copy_count; k++) {
        const struct copy *later = &channel->copies[(channel->copy_first + k) % MAX_COPIES];
        if (later->member != member || later->number <= tile->number) {
            continue;
        }
        end = end ? end : start + bytes_of(tile);
        if (later->start < end && later->end > start) {
            find(row, CHIP_COPY_OVERWRITTEN, channel,
                 CHIP_VALUES(later->end - later->start == end - start, tile->number, later->number,
                             tile->row->slot_count));
            return;
        }
    }
}

void check_use(struct chip_row *row, struct unit *unit, const struct tile *tile, bool writes) {
    if (tile->number < 0) {
        return;
    }
    struct channel *channel = row->channels[tile->row->channel];
    bool produced = tile->row->role == ROLE_WRITTEN;
    bool many = produced ? channel->many_produce : channel->many_consume;
    if (many && unit->column >= channel->row->lanes) {
        if (writes && produced) {
            find(row, CHIP_OUTSIDER, channel, CHIP_VALUES(0));
        }
        return;
    }
    uint32_t member = many ? unit->column : 0;
    if (produced) {
        if (writes && channel->written[member] < tile->number) {
            channel->written[member] = tile->number;
        }
        if (channel->committed[member] > tile->number) {
            find(row, CHIP_STORE_AFTER_PUSH, channel, CHIP_VALUES(tile->number, writes));
        }
    } else if (tile->row->role == ROLE_READ) {
        if (channel->released[member] > tile->number) {
            find(row, CHIP_USE_AFTER_FREE, channel, CHIP_VALUES(tile->number, writes));
        }
    } else {
        check_copy(row, channel, member, tile);
    }
}

/* Functions */

static bool are_alike(const struct tile_call *call) {
    const struct tile_view *into = &call->destination;
    for (int k = 0; k < call->count; k++) {
        const struct tile_view *source = &call->sources[k];
        for (int d = 0; call->row->alike[k] >> d && d < source->rank; d++) {
            if (call->row->alike[k] >> d & 1 &&
                (d >= into->rank || source->extents[source->rank - 1 - d] != into->extents[into->rank - 1 - d])) {
                return false;
            }
        }
    }
    return true;
}

static bool fail_shapes(struct chip_row *row, uint32_t number, const struct tile_call *call) {
    int64_t values[2 + (1 + MAX_SOURCES) * (1 + TILE_DIMENSIONS)] = {number};
    int at = 2;
    for (int k = -1; k < call->count; k++) {
        const struct tile_view *view = k < 0 ? &call->destination : &call->sources[k];
        if (view->rank == 0) {
            continue;
        }
        values[1]++;
        values[at++] = view->rank;
        for (int d = 0; d < view->rank; d++) {
            values[at++] = view->extents[d];
        }
    }
    fail_core(row, CHIP_SHAPES, NO_ROW, at, values);
    return false;
}

bool apply_tiles(struct chip_row *row, struct unit *unit, uint32_t number) {
    struct tile_call call;
    call.row = &row->chip->tables.tile_applies[number];
    call.of = row;
    call.number = number;
    call.has_failed = false;
    call.count = 0;
    struct tile *destination = &unit->tiles[call.row->destination - FRAME_DESCRIPTOR];
    check_use(row, unit, destination, true);
    if (!view_tile(row, unit, destination, &call.destination)) {
        return false;
    }
    for (int k = 0; k < MAX_SOURCES && call.row->sources[k] != NO_REGISTER; k++, call.count++) {
        uint16_t operand = call.row->sources[k];
        if (operand >= FRAME_DESCRIPTOR) {
            struct tile *source = &unit->tiles[operand - FRAME_DESCRIPTOR];
            check_use(row, unit, source, false);
            if (!view_tile(row, unit, source, &call.sources[k])) {
                return false;
            }
        } else {
            int element = call.row->kinds[k];
            call.numbers[k] = unit->registers[operand];
            element = element == E_I1 || element == E_INDEX ? E_I64 : element;
            call.sources[k] = (struct tile_view){.at = (uint8_t *)&call.numbers[k], .rank = 0, .element = element};
        }
    }
    if (!are_alike(&call) || !compute_tiles(&call)) {
        return fail_shapes(row, number, &call);
    }
    return !call.has_failed;
}

void print_tile(struct chip_row *row, struct unit *unit, struct tile *tile, uint32_t print) {
    struct tile_view view;
    if (!view_tile(row, unit, tile, &view)) {
        return;
    }
    struct chip_print record = {.unit = unit->number, .row = print, .element = (uint64_t)view.element,
                                .rank = (uint64_t)view.rank};
    memcpy(record.extents, view.extents, sizeof record.extents);
    /* Room in the list comes first, so that nothing loses the bytes; there is no record without bytes. */
    struct chip_print *kept = row_grow(row, &row->prints, sizeof record);
    row->prints.count--;
    record.bytes = packed_elements(row, &view);
    *kept = record;
    row->prints.count++;
}
