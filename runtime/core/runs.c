/* Runs of wavelets: what they carry is in the memory of their sender, or in a payload of their own. */
#include "machine.h"

void drop_run(struct core *core, struct run *run) {
    if (run->is_piece) {
        piece_drop(core, run->piece);
    }
    if (run->payload != NULL) {
        payload_drop(core, run->payload);
    }
    pool_give(&core->runs, run);
}

/* Returns the payload of a run, with one reference more; what is in the sender's memory still is copied. */
struct payload *payload_of(struct core *core, const struct run *run) {
    if (run->payload != NULL) {
        run->payload->references++;
        return run->payload;
    }
    uint32_t left = run->count - run->taken;
    struct payload *copy = payload_take(core, left);
    const uint8_t *at = run->at + (ptrdiff_t)run->taken * run->step;
    if (run->size == 4 && run->step == 4) {
        memcpy(copy->words, at, (size_t)left * 4);
    } else {
        for (uint32_t k = 0; k < left; k++, at += run->step) {
            uint32_t word = 0;
            memcpy(&word, at, run->size);
            copy->words[k] = word;
        }
    }
    return copy;
}

/* Replaces what is left of a run by a copy in elements of `size` bytes side by side. */
static void copy_run(struct core *core, struct run *run, uint8_t size) {
    uint32_t left = run->count - run->taken;
    struct payload *payload = payload_take(core, ((uint64_t)left * size + 3) / 4);
    const uint8_t *at = run->at + (ptrdiff_t)run->taken * run->step;
    uint8_t *to = (uint8_t *)payload->words;
    if (run->size == size && run->step == size) {
        memcpy(to, at, (size_t)left * size);
    } else if (size == 2) {
        for (uint32_t k = 0; k < left; k++, at += run->step) {
            memcpy(to + 2 * (size_t)k, at, 2);
        }
    } else {
        for (uint32_t k = 0; k < left; k++, at += run->step) {
            uint32_t word = 0;
            memcpy(&word, at, run->size);
            payload->words[k] = word;
        }
    }
    if (run->payload != NULL) {
        payload_drop(core, run->payload);
    }
    run->payload = payload;
    run->first = head_time(run);
    run->count = left;
    run->taken = 0;
    run->at = to;
    run->step = run->size = size;
}

/* Copies what is left of a run out of the sender's memory. */
void keep_run(struct core *core, struct run *run) {
    if (run->payload == NULL && run->size != 0) {
        copy_run(core, run, run->size);
    }
}

/* Has a run hold whole wavelets: elements of 16 bits have their other half 0. */
void widen_run(struct core *core, struct run *run) {
    if (run->size == 2) {
        copy_run(core, run, 4);
    }
}

/* Has a run that a sender makes hold its payload: the sender's own in its partition, else a copy. */
void hold_payload(struct core *core, struct core *to, struct run *run) {
    if (run->payload != NULL) {
        run->payload->references++;
        if (core != to) {
            copy_run(to, run, run->size);
        }
    }
}
