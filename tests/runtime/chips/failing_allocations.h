/* Allocations that fail on demand, included in front of every source of the core by test_memory.py. */
#include <stdlib.h>
#include <string.h>

#define SHARED __attribute__((weak, visibility("default")))

/* How many more allocations succeed, those that are not freed yet, and how many there have been. */
SHARED long loom_allocations_left = -1;
SHARED long loom_allocations_live = 0;
SHARED long loom_allocations_made = 0;

static inline void *loom_count(void *found) {
    loom_allocations_live += found != NULL;
    loom_allocations_made++;
    return found;
}

/* Only the one fails, so that what goes on behind it is seen. */
static inline int loom_fails(void) {
    return loom_allocations_left >= 0 && loom_allocations_left-- == 0;
}

static inline void *loom_malloc(size_t size) {
    return loom_fails() ? NULL : loom_count(malloc(size));
}

static inline void *loom_calloc(size_t count, size_t size) {
    return loom_fails() ? NULL : loom_count(calloc(count, size));
}

static inline void *loom_realloc(void *old, size_t size) {
    if (loom_fails()) {
        return NULL;
    }
    loom_allocations_live -= old != NULL;
    return loom_count(realloc(old, size));
}

static inline void loom_free(void *old) {
    loom_allocations_live -= old != NULL;
    free(old);
}

#define malloc loom_malloc
#define calloc loom_calloc
#define realloc loom_realloc
#define free loom_free
