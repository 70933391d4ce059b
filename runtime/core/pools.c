/* Memory of the core: records of one size from chunks, wavelets in blocks of powers of two, growing arrays. */
#define _GNU_SOURCE
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "machine.h"

enum { CHUNK_BYTES = 1 << 16 };

/* Without memory nothing can go on: the call into the core ends, and the core only waits to be destroyed. */
static void *checked(struct core *core, void *found) {
    if (found == NULL) {
        longjmp(*core->without_memory, 1);
    }
    return found;
}

/* Fails the allocation that a test has chosen. */
static bool is_failing(struct core *core) { return core->allocations > 0 && --core->allocations == 0; }

void *core_allocate(struct core *core, uint64_t count, uint64_t size) {
    return checked(core, is_failing(core) ? NULL : calloc(count ? count : 1, size ? size : 1));
}

void *allocate_large(struct core *core, uint64_t bytes) {
    const uint64_t page = 1 << 21, whole = bytes < page ? LINE : page;
    bytes = (bytes > 0 ? bytes + whole - 1 : whole) / whole * whole;
    void *found = checked(core, is_failing(core) ? NULL : aligned_alloc(whole, bytes));
#ifdef MADV_HUGEPAGE
    if (whole == page) {
        madvise(found, bytes, MADV_HUGEPAGE);
    }
#endif
    memset(found, 0, bytes);
    return found;
}

/* Gives back to the system what the process has freed. */
void give_back(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void grow(struct core *core, void **array, uint64_t *room, uint64_t wanted, uint64_t size) {
    if (wanted > *room) {
        uint64_t more = *room * 2 > wanted ? *room * 2 : wanted;
        *array = checked(core, is_failing(core) ? NULL : realloc(*array, more * size));
        *room = more;
    }
}

/* Gives more items to a pool. */
void pool_fill(struct core *core, struct pool *pool) {
    const uint32_t word = sizeof(void *), size = (pool->size + word - 1) / word * word; /* a free item holds a pointer */
    uint32_t count = CHUNK_BYTES / size;
    grow(core, (void **)&pool->chunks, &pool->chunk_room, pool->chunk_count + 1, sizeof *pool->chunks);
    char *chunk = checked(core, is_failing(core) ? NULL : aligned_alloc(64, CHUNK_BYTES));
    pool->chunks[pool->chunk_count++] = chunk;
    for (uint32_t k = count; k-- > 0;) {
        pool_give(pool, chunk + (size_t)k * size);
    }
    pool->live += count;
}

void pool_free_all(struct pool *pool) {
    for (uint32_t k = 0; k < pool->chunk_count; k++) {
        free(pool->chunks[k]);
    }
    free(pool->chunks);
}

/* Makes a block of a class, and takes it. */
struct payload *payload_make(struct core *core, uint32_t class) {
    assert(class < PAYLOAD_CLASSES);
    grow(core, (void **)&core->blocks, &core->block_room, core->block_count + 1, sizeof(struct payload *));
    struct payload *made = checked(core, is_failing(core) ? NULL : malloc(sizeof *made + ((uint64_t)16 << class)));
    *made = (struct payload){.references = 1, .room = class};
    core->blocks[core->block_count++] = made;
    return made;
}
