/* Threads that do parts of one work at the same time. They know nothing of machines. */
#ifndef LOOM_THREADS_H
#define LOOM_THREADS_H

#include <stdint.h>

/* Some threads, of which the caller's is one. */
struct crew;

/* Returns so many threads, or fewer if the system gives no more; NULL if that leaves only the caller's. */
struct crew *crew_make(uint32_t threads);
void crew_free(struct crew *crew);

/* Does parts 0 to `parts` - 1 of a work, and returns when all are done. */
void crew_work(struct crew *crew, void (*work)(void *argument, uint32_t part), void *argument, uint32_t parts);

#endif
