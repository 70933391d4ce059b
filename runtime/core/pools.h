/* Allocation: pools of records, blocks of words by size, and other memory: pools.c */
#ifndef LOOM_POOLS_H
#define LOOM_POOLS_H

#include "state.h"

/* pools.c */
void pool_fill(struct core *core, struct pool *pool);
void pool_free_all(struct pool *pool);
static inline void *pool_take(struct core *core, struct pool *pool) {
    if (pool->free == NULL) {
        pool_fill(core, pool);
    }
    void *item = pool->free;
    pool->free = *(void **)item;
    pool->live++;
    return item;
}
static inline void pool_give(struct pool *pool, void *item) {
    *(void **)item = pool->free;
    pool->free = item;
    pool->live--;
}
void *core_allocate(struct core *core, uint64_t count, uint64_t size); /* zeros */
void *allocate_large(struct core *core, uint64_t bytes); /* zeros from a cache line on; in large pages where there are */
void give_back(void);
void grow(struct core *core, void **array, uint64_t *room, uint64_t wanted, uint64_t size);
struct payload *payload_make(struct core *core, uint32_t class);
/* Blocks that are free keep the next one in the place of their words. */
static inline struct payload **next_payload(struct payload *payload) {
    return (struct payload **)(void *)payload->words;
}
/* Returns the smallest class of which blocks have so many words: 4 << class. */
static inline uint32_t payload_class(uint64_t words) {
    return words <= 4 ? 0 : 62 - (uint32_t)__builtin_clzll(words - 1);
}
static inline struct payload *payload_take(struct core *core, uint64_t words) {
    const uint32_t class = payload_class(words);
    struct payload *found = core->payloads[class];
    if (found == NULL) {
        return payload_make(core, class);
    }
    core->payloads[class] = *next_payload(found);
    found->references = 1;
    return found;
}
static inline void payload_drop(struct core *core, struct payload *payload) {
    assert(payload->references > 0);
    if (--payload->references == 0) {
        *next_payload(payload) = core->payloads[payload->room];
        core->payloads[payload->room] = payload;
    }
}

#endif
