/* Entry: the words of a queue in which senders meet, and the wavelets that wait for one. */
#include "machine.h"

static struct entry *entry_of(struct core *core, const struct pe *pe, uint32_t place) {
    const struct queue *queue = &pe->class->queues[place];
    struct entry *entry = queue->entries[pe->unit];
    if (entry == NULL) {
        entry = queue->entries[pe->unit] = pool_take(core, &core->entries);
        *entry = (struct entry){.words.capacity = (uint32_t)queue->room};
    }
    return entry;
}

/* Lets a wavelet enter the queue that it has come to, as soon as there is room. */
void enter_queue(struct core *core, struct pe *pe, uint32_t place, struct run *run) {
    struct entry *entry = entry_of(core, pe, place);
    struct path *words = &entry->words, *way = run->path;
    cycle time = head_time(run);
    run->entry = entry;
    run->is_entered = true;
    if (words->pending == words->capacity) {
        struct newcomer *newcomer = pool_take(core, &core->newcomers);
        *newcomer = (struct newcomer){.way = way, .time = time};
        if (entry->first == NULL) {
            entry->first = newcomer;
        } else {
            entry->last->next = newcomer;
        }
        entry->last = newcomer;
        return;
    }
    words->pending++;
    words->leaves = time;
    cycle freed = words->last.count > 0
                      ? taken_at(&words->last, words->older, words->capacity + 1 - words->pending)
                      : -1;
    path_taken(core, way, freed > time ? freed : time, 1, 1);
}

/* Notes that wavelets are taken, and lets in as many of those that wait. */
void entry_taken(struct core *core, struct entry *entry, cycle first, cycle rate, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        cycle time = first + k * rate;
        note_takes(core, &entry->words, time, 1, 1);
        struct newcomer *newcomer = entry->first;
        if (newcomer == NULL) {
            entry->words.pending--;
            continue;
        }
        entry->first = newcomer->next;
        struct path *way = newcomer->way;
        cycle came = newcomer->time;
        pool_give(&core->newcomers, newcomer);
        path_taken(core, way, came > time ? came : time, 1, 1);
    }
}
