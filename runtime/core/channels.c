/* Channels between the cores of a row: runtime/reference/channels.py says what they do. */
#include "chip.h"

/* Queues of numbers */

/* Puts numbers that the caller writes, and returns where. */
static int64_t *put(struct chip_row *row, struct fifo_of_numbers *queue) {
    if (queue->count == queue->room) {
        uint64_t room = queue->room ? 2 * queue->room : 8, width = queue->width ? queue->width : 1;
        int64_t *items = row_allocate(row, room * width, sizeof(int64_t));
        for (uint64_t k = 0; k < queue->count; k++) {
            uint64_t from = (queue->first + k) % queue->room;
            memcpy(items + k * width, queue->items + from * width, width * sizeof(int64_t));
        }
        free(queue->items);
        queue->items = items;
        queue->first = 0;
        queue->room = room;
    }
    uint64_t at = (queue->first + queue->count++) % queue->room;
    return queue->items + at * queue->width;
}

/* Returns the first, which stays until the next is put. */
static const int64_t *take_first(struct fifo_of_numbers *queue) {
    const int64_t *found = queue->items + queue->first * queue->width;
    queue->first = (queue->first + 1) % queue->room;
    queue->count--;
    return found;
}

/* Making */

struct channel *make_channel(struct chip_row *row, uint32_t number) {
    const struct chip *chip = row->chip;
    struct channel *channel = row_allocate(row, 1, sizeof *channel);
    const struct channel_row *record = channel->row = &chip->tables.channels[number];
    channel->number = number;
    row->channels[number] = channel;
    channel->many_produce = chip->columns[record->producer] > 1;
    channel->many_consume = chip->columns[record->consumer] > 1;
    channel->producers = channel->many_produce ? record->lanes : 1;
    channel->consumers = channel->many_consume ? record->lanes : 1;
    channel->acquired = row_allocate(row, channel->producers, sizeof(int64_t));
    channel->committed = row_allocate(row, channel->producers, sizeof(int64_t));
    channel->written = row_allocate(row, channel->producers, sizeof(int64_t));
    channel->waited = row_allocate(row, channel->consumers, sizeof(int64_t));
    channel->released = row_allocate(row, channel->consumers, sizeof(int64_t));
    channel->lanes = row_allocate(row, record->lanes, sizeof *channel->lanes);
    for (uint32_t lane = 0; lane < record->lanes; lane++) {
        channel->lanes[lane].granted.width = 1;
    }
    renew_channel(channel);
    return channel;
}

void free_channel(struct channel *channel) {
    if (channel == NULL) {
        return;
    }
    if (channel->lanes != NULL) {
        for (uint32_t lane = 0; lane < channel->row->lanes; lane++) {
            free(channel->lanes[lane].granted.items);
            free(channel->lanes[lane].answers.items);
        }
    }
    free(channel->lanes);
    free(channel->acquired);
    free(channel->committed);
    free(channel->written);
    free(channel->waited);
    free(channel->released);
    free(channel->answered);
    free(channel);
}

void renew_channel(struct channel *channel) {
    bool keep = channel->row->flags & CHANNEL_DRAINED;
    for (uint32_t k = 0; k < channel->producers; k++) {
        channel->acquired[k] = channel->committed[k] = 0;
        channel->written[k] = -1;
    }
    for (uint32_t k = 0; k < channel->consumers; k++) {
        channel->waited[k] = channel->released[k] = 0;
    }
    channel->copy_count = 0;
    for (uint32_t k = 0; k < channel->row->lanes; k++) {
        struct lane *lane = &channel->lanes[k];
        lane->issued = lane->consumed = lane->safe = 0;
        lane->answers.count = lane->granted.count = 0;
        lane->credits = keep ? channel->row->seed + lane->credits : channel->row->seed;
        lane->unbound = lane->credits;
        lane->ready = keep ? lane->ready : 0;
    }
}

/* The lanes of a core of a side, from `first` to before `end`. */
static inline void lanes_of(const struct channel *channel, bool many, uint32_t member, uint32_t *first,
                            uint32_t *end) {
    *first = many ? member : 0;
    *end = many ? member + 1 : channel->row->lanes;
}

/* What producers do */

static void take_credit(struct lane *lane) {
    lane->credits--;
    lane->consumed++;
    if (lane->unbound > 0) {
        lane->unbound--;
    } else if (lane->granted.count > 0) {
        int64_t safe = *take_first(&lane->granted);
        lane->safe = safe > lane->safe ? safe : lane->safe;
    }
}

static void check_slot(struct chip_row *row, const struct channel *channel, uint32_t place, int64_t number) {
    int64_t old = number - channel->row->depth;
    if (channel->lanes[place].safe > old) {
        return;
    }
    uint32_t consumer = channel->many_consume ? place : 0;
    if (channel->released[consumer] > old) {
        find(row, CHIP_MAY_OVERWRITE, channel, CHIP_VALUES(place, number));
    } else {
        find(row, CHIP_OVERWRITE, channel, CHIP_VALUES(place, number, channel->waited[consumer] > old));
    }
}

int64_t acquire_entry(struct chip_row *row, struct channel *channel, uint32_t member) {
    int64_t number = channel->acquired[member];
    if (number >= channel->row->depth) {
        uint32_t first, end;
        lanes_of(channel, channel->many_produce, member, &first, &end);
        if (number % channel->row->period == 0) {
            for (uint32_t k = first; k < end; k++) {
                if (channel->lanes[k].credits < 1) {
                    return -1;
                }
            }
            for (uint32_t k = first; k < end; k++) {
                take_credit(&channel->lanes[k]);
            }
        }
        for (uint32_t k = first; k < end; k++) {
            check_slot(row, channel, k, number);
        }
    }
    channel->acquired[member] = number + 1;
    return number;
}

static void record_answers(struct chip_row *row, struct channel *channel, struct lane *lane) {
    uint64_t width = 0;
    for (uint32_t k = 0; k < channel->answered_count; k++) {
        width += channel->answered[k]->consumers;
    }
    lane->answers.width = width;
    int64_t *values = put(row, &lane->answers);
    for (uint32_t k = 0; k < channel->answered_count; k++) {
        const struct channel *other = channel->answered[k];
        memcpy(values, other->released, other->consumers * sizeof(int64_t));
        values += other->consumers;
    }
}

void commit_entry(struct chip_row *row, struct channel *channel, uint32_t member) {
    if (channel->written[member] < channel->committed[member]) {
        find(row, CHIP_UNWRITTEN, channel, CHIP_VALUES(channel->committed[member]));
    }
    channel->committed[member]++;
    uint32_t first, end;
    lanes_of(channel, channel->many_produce, member, &first, &end);
    for (uint32_t k = first; k < end; k++) {
        channel->lanes[k].ready++;
        if (channel->answered_count > 0) {
            record_answers(row, channel, &channel->lanes[k]);
        }
    }
}

static int64_t still_to_come(const struct channel *channel, const struct lane *lane, int64_t pushes) {
    return channel->row->seed ? channel->row->seed : pushes / channel->row->period - lane->consumed;
}

static bool has_all_credits(const struct channel *channel, uint32_t member) {
    uint32_t first, end;
    lanes_of(channel, channel->many_produce, member, &first, &end);
    for (uint32_t k = first; k < end; k++) {
        if (channel->lanes[k].credits < still_to_come(channel, &channel->lanes[k], channel->acquired[member])) {
            return false;
        }
    }
    return true;
}

bool drain_channel(struct channel *channel, uint32_t member) {
    if (!has_all_credits(channel, member)) {
        return false;
    }
    uint32_t first, end;
    lanes_of(channel, channel->many_produce, member, &first, &end);
    for (uint32_t k = first; k < end; k++) {
        struct lane *lane = &channel->lanes[k];
        for (int64_t count = still_to_come(channel, lane, channel->acquired[member]); count > 0; count--) {
            take_credit(lane);
        }
    }
    return true;
}

/* What consumers do */

static void apply_answers(struct channel *channel, uint32_t place) {
    struct lane *lane = &channel->lanes[place];
    if (lane->answers.count == 0) {
        return;
    }
    const int64_t *released = take_first(&lane->answers);
    for (uint32_t k = 0; k < channel->answered_count; k++) {
        struct channel *other = channel->answered[k];
        if (place < other->row->lanes) {
            int64_t count = released[other->many_consume ? place : 0];
            struct lane *its = &other->lanes[place];
            its->safe = count > its->safe ? count : its->safe;
        }
        released += other->consumers;
    }
}

int64_t wait_entry(struct chip_row *row, struct channel *channel, uint32_t member) {
    int64_t number = channel->waited[member];
    uint32_t first, end;
    lanes_of(channel, channel->many_consume, member, &first, &end);
    for (uint32_t k = first; k < end; k++) {
        if (channel->lanes[k].ready < 1) {
            return -1;
        }
    }
    for (uint32_t k = first; k < end; k++) {
        channel->lanes[k].ready--;
        if (channel->answered_count > 0) {
            apply_answers(channel, k);
        }
    }
    bool is_complete = true;
    if (channel->many_produce) {
        for (uint32_t k = first; k < end; k++) {
            is_complete &= channel->committed[k] > number;
        }
    } else {
        is_complete = channel->committed[0] > number;
    }
    if (!is_complete) {
        find(row, CHIP_STALE, channel, CHIP_VALUES(number));
    }
    channel->waited[member] = number + 1;
    return number;
}

void release_entry(struct chip_row *row, struct channel *channel, uint32_t member) {
    int64_t waited = channel->waited[member], released = ++channel->released[member];
    if (released > waited) {
        find(row, CHIP_FREED_TWICE, channel, CHIP_VALUES(released, waited));
    }
    if (waited % channel->row->period != 0) {
        return;
    }
    uint32_t first, end;
    lanes_of(channel, channel->many_consume, member, &first, &end);
    for (uint32_t k = first; k < end; k++) {
        struct lane *lane = &channel->lanes[k];
        int64_t freed = channel->released[channel->many_consume ? k : 0];
        freed = freed < waited ? freed : waited;
        lane->credits++;
        lane->issued++;
        *put(row, &lane->granted) = freed;
        if (lane->issued > waited / channel->row->period) {
            find(row, CHIP_EARLY_CREDIT, channel, CHIP_VALUES(k, lane->issued, waited));
        }
    }
}

bool can_go_on(const struct channel *channel, uint32_t member, uint32_t action) {
    if (action == WAITS_DRAIN) {
        return has_all_credits(channel, member);
    }
    uint32_t first, end;
    lanes_of(channel, action == WAITS_WAIT ? channel->many_consume : channel->many_produce, member, &first, &end);
    for (uint32_t k = first; k < end; k++) {
        const struct lane *lane = &channel->lanes[k];
        if ((action == WAITS_WAIT ? lane->ready : lane->credits) < 1) {
            return false;
        }
    }
    return true;
}
