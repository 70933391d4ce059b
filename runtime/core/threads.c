/* Threads: a crew that waits for work. Without pthreads there is none, and the caller does all parts. In a process that
 * has been forked they are started anew. */
#include "threads.h"

#include <stddef.h>
#include <stdlib.h>

#if defined(__unix__) || defined(__APPLE__)

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t starts, ends; /* a work, for the others; their parts of it, for the caller */
    pthread_t *threads;
    uint32_t wanted; /* threads, the caller's included */
    pid_t process;   /* that has started them: a fork has none of them */
    uint32_t others; /* threads that are not the caller's */
    uint32_t busy;   /* of those, with the work at hand */
    uint64_t works;  /* that there have been */
    bool is_over;
    void (*work)(void *, uint32_t);
    void *argument;
    uint32_t parts, next; /* the next part that nobody does yet */
};

/* Does parts of the work at hand until all are taken; the lock is held on entry and return. */
static void do_parts(struct crew *crew) {
    while (crew->next < crew->parts) {
        uint32_t part = crew->next++;
        pthread_mutex_unlock(&crew->lock);
        crew->work(crew->argument, part);
        pthread_mutex_lock(&crew->lock);
    }
}

static void *attend(void *given) {
    struct crew *crew = given;
    uint64_t done = 0;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->works == done && !crew->is_over) {
            pthread_cond_wait(&crew->starts, &crew->lock);
        }
        if (crew->is_over) {
            break;
        }
        done = crew->works;
        do_parts(crew);
        if (--crew->busy == 0) {
            pthread_cond_signal(&crew->ends);
        }
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* Starts the threads, as many as the system gives. */
static void start(struct crew *crew) {
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->starts, NULL);
    pthread_cond_init(&crew->ends, NULL);
    crew->process = getpid();
    crew->others = 0;
    crew->works = 0;
    while (crew->others + 1 < crew->wanted &&
           pthread_create(&crew->threads[crew->others], NULL, attend, crew) == 0) {
        crew->others++;
    }
}

struct crew *crew_make(uint32_t threads) {
    struct crew *crew = calloc(1, sizeof *crew);
    if (crew == NULL || threads < 2) {
        free(crew);
        return NULL;
    }
    crew->threads = calloc(threads, sizeof *crew->threads);
    if (crew->threads == NULL) {
        free(crew);
        return NULL;
    }
    crew->wanted = threads;
    start(crew);
    if (crew->others == 0) {
        crew_free(crew);
        return NULL;
    }
    return crew;
}

/* Ends the threads. */
static void end(struct crew *crew) {
    pthread_mutex_lock(&crew->lock);
    crew->is_over = true;
    pthread_cond_broadcast(&crew->starts);
    pthread_mutex_unlock(&crew->lock);
    for (uint32_t k = 0; k < crew->others; k++) {
        pthread_join(crew->threads[k], NULL);
    }
    pthread_cond_destroy(&crew->starts);
    pthread_cond_destroy(&crew->ends);
    pthread_mutex_destroy(&crew->lock);
}

void crew_free(struct crew *crew) {
    if (crew == NULL) {
        return;
    }
    if (crew->process == getpid()) {
        end(crew);
    }
    free(crew->threads);
    free(crew);
}

void crew_work(struct crew *crew, void (*work)(void *, uint32_t), void *argument, uint32_t parts) {
    if (crew->process != getpid()) {
        start(crew);
    }
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->argument = argument;
    crew->parts = parts;
    crew->next = 0;
    crew->busy = crew->others;
    crew->works++;
    pthread_cond_broadcast(&crew->starts);
    do_parts(crew);
    while (crew->busy > 0) {
        pthread_cond_wait(&crew->ends, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}

#else

struct crew *crew_make(uint32_t threads) {
    (void)threads;
    return NULL;
}

void crew_free(struct crew *crew) { (void)crew; }

void crew_work(struct crew *crew, void (*work)(void *, uint32_t), void *argument, uint32_t parts) {
    (void)crew;
    for (uint32_t part = 0; part < parts; part++) {
        work(argument, part);
    }
}

#endif
