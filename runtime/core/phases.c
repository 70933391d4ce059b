/* Phases of a run: what is certain, by all partitions at the same time where there is much of it; then one after the
 * other at their borders; then, when nothing is certain any more, the first event of all. When nothing is left to happen
 * up to the end of an epoch, an error ends the run, or the next epoch begins.
 */
#include "partitions.h"
#include "races.h"

enum {
    VISITS_ALONE = 256, /* PEs that one thread visits before it looks whether there is work for several */
    STEPS_SHARED = 32,  /* for each PE of `parallel_from`: with fewer steps for a partition, one thread does them */
};

static uint64_t steps_of(const struct partitions *all) {
    uint64_t steps = 0;
    for (uint32_t k = 0; k < all->count; k++) {
        steps += all->cores[k]->steps;
    }
    return steps;
}

static uint64_t steps_left(const struct partitions *all, uint64_t budget) {
    uint64_t steps = steps_of(all);
    return steps < budget ? budget - steps : 0;
}

static bool has_work(const struct core *core) {
    return core->listed_count > 0 || core->border->first != NULL || core->arriving.count > 0 ||
           core->at_border.count > 0 || core->running != NULL;
}

/* Lets a partition do what is certain while others do, or pick what is to be picked at `present`. */
static void work(void *given, uint32_t part) {
    struct partitions *all = given;
    struct core *core = all->cores[part];
    jmp_buf without_memory;
    jmp_buf *before = core->without_memory;
    core->without_memory = &without_memory;
    if (setjmp(without_memory)) {
        core->is_out = true;
    } else if (all->present >= 0) {
        pick_all(core, all->present);
    } else {
        settle_credits(core);
        if (core->running != NULL && !has_to_wait(core, core->running) && core->moves > 0) {
            continue_paused(core);
        }
        visit_listed(core, UINT64_MAX);
    }
    core->without_memory = before;
}

/* Lets a partition do what is certain at its border, while no other is at work. */
static void work_at_border(struct core *core) {
    if (core->arriving.count > 0 || core->at_border.count > 0) {
        deliver_at_border(core);
    }
    if (core->running != NULL && core->moves > 0) {
        continue_paused(core);
    }
    visit_border(core);
}

static bool is_worth_it(struct partitions *all) {
    uint32_t many = 0;
    for (uint32_t k = 0; k < all->count; k++) {
        many += all->cores[k]->listed_count > 0 && all->cores[k]->listed_count >= all->parallel_from;
        many += all->cores[k]->running != NULL;
    }
    return many > 1;
}

/* Returns the threads; NULL if there is only one. */
static struct crew *crew_of(struct partitions *all) {
    if (all->crew == NULL && all->threads > 1) {
        all->crew = crew_make(all->threads);
        all->threads = all->crew == NULL ? 1 : all->threads;
    }
    return all->crew;
}

/* Lets no partition begin what is later than an error that one has met. */
static void share_end(struct partitions *all) {
    cycle until = all->cores[0]->epoch.until;
    for (uint32_t k = 1; k < all->count; k++) {
        until = all->cores[k]->epoch.until < until ? all->cores[k]->epoch.until : until;
    }
    for (uint32_t k = 0; k < all->count; k++) {
        all->cores[k]->epoch.until = until;
    }
}

/* Returns the steps that each partition may do if all work at the same time; 0 if they should not. */
static uint64_t share_of(const struct partitions *all, uint64_t budget) {
    uint64_t share = all->count > 1 ? steps_left(all, budget) / all->count : 0;
    return share >= STEPS_SHARED * all->parallel_from ? share : 0;
}

/* Has all partitions work at the same time, with so many steps each. */
static void work_in_parallel(struct partitions *all, uint64_t share) {
    for (uint32_t k = 0; k < all->count; k++) {
        all->cores[k]->budget = all->cores[k]->steps + share;
        all->cores[k]->is_parallel = true;
    }
    if (crew_of(all) != NULL) {
        crew_work(all->crew, work, all, all->count);
    } else {
        for (uint32_t k = 0; k < all->count; k++) {
            work(all, k);
        }
    }
    for (uint32_t k = 0; k < all->count; k++) {
        all->cores[k]->is_parallel = false;
    }
    share_end(all);
}

/* Returns a partition that is at work alone, with all steps that are left. */
static struct core *alone(const struct partitions *all, uint32_t part, uint64_t budget) {
    struct core *core = all->cores[part];
    if (core->is_out) {
        longjmp(*core->without_memory, 1);
    }
    core->budget = core->steps + steps_left(all, budget);
    return core;
}

/* Does some of what is certain. */
static void advance(struct partitions *all, uint64_t budget) {
    uint64_t share = share_of(all, budget);
    if (share > 0 && is_worth_it(all)) {
        work_in_parallel(all, share);
    }
    for (uint32_t k = 0; k < all->count; k++) {
        struct core *core = alone(all, k, budget);
        work_at_border(core);
    }
    if (share_of(all, budget) > 0 && is_worth_it(all)) {
        return;
    }
    for (uint32_t k = 0; k < all->count; k++) {
        struct core *core = alone(all, k, budget);
        visit_listed(core, all->count > 1 ? VISITS_ALONE : UINT64_MAX);
    }
}

/* Returns why the core has to return to its host, or CORE_DONE. */
static int reason(const struct partitions *all, uint64_t budget) {
    bool calls = false, paused = false;
    for (uint32_t k = 0; k < all->count; k++) {
        const struct core *core = all->cores[k];
        calls |= core->moves == 0 || (core->running != NULL && core->at_call && core->calls == 0);
        paused |= core->running != NULL && !core->at_call;
    }
    return calls ? CORE_CALLS : paused && steps_left(all, budget) == 0 ? CORE_BUDGET : CORE_DONE;
}

/* Does all that is certain; returns CORE_DONE, or why the core has to return to its host before. */
static int settle(struct partitions *all, uint64_t budget) {
    for (;;) {
        int why = reason(all, budget);
        if (why != CORE_DONE) {
            return why;
        }
        bool any = false;
        for (uint32_t k = 0; k < all->count; k++) {
            any |= has_work(all->cores[k]);
        }
        if (!any) {
            return CORE_DONE;
        }
        advance(all, budget);
    }
}

/* Returns the partition with the first event of all, NULL if there are none; and the cycle of the first of the others. */
static struct core *first_of(const struct partitions *all, cycle *others) {
    struct core *first = NULL;
    *others = NEVER;
    for (uint32_t k = 0; k < all->count; k++) {
        struct core *core = all->cores[k];
        if (core->heap_count == 0) {
            continue;
        }
        cycle time = core->heap[0].time;
        if (first == NULL || is_earlier(&core->heap[0], &first->heap[0])) {
            time = first == NULL ? NEVER : first->heap[0].time;
            first = core;
        }
        *others = time < *others ? time : *others;
    }
    return first;
}

/* Lets PEs of several partitions pick at the same time if many have to at the time of the first event of all; returns
 * false, and has done nothing, if that is not so. What one of them does reaches the others later. */
static bool pick_in_parallel(struct partitions *all, cycle time, uint64_t budget) {
    uint64_t share = share_of(all, budget);
    if (share == 0 || time == all->looked_at || multicasts_wait(all->cores[0]) || runs_are_due(all->cores[0])) {
        return false;
    }
    all->looked_at = time;
    uint32_t many = 0;
    for (uint32_t k = 0; k < all->count; k++) {
        many += has_picks(all->cores[k], time, all->parallel_from);
    }
    if (many < 2) {
        return false;
    }
    all->present = time;
    work_in_parallel(all, share);
    all->present = -1;
    for (uint32_t k = 0; k < all->count; k++) {
        struct core *core = alone(all, k, budget);
        deliver_at_border(core);
        pick_all(core, time);
    }
    return true;
}

/* Finds the first error of those that are sure when all has happened up to a cycle; returns false if there is none. */
static bool find_error(const struct partitions *all, cycle until, struct finding *found) {
    *found = (struct finding){.cycle = NEVER};
    for (uint32_t k = 0; k < all->count; k++) {
        struct finding other = all->cores[k]->error;
        if (other.code != 0 && is_before(&other, found)) {
            *found = other;
        }
        if (find_conflict(all->cores[k], until, &other) && is_before(&other, found)) {
            *found = other;
        }
    }
    if (found->code == DIRECTIVES_DIFFER) {
        complete_directives(all->cores[0], found);
    }
    return found->code != 0;
}

/* Finds accesses that race with operations that have not ended yet. */
static void look_for_races(struct partitions *all) {
    if (all->cores[0]->races != NULL) {
        settle_races(all->cores[0], all->settled);
    }
}

/* Ends the epoch up to whose end all has happened; returns CORE_CALLS if there is another one. */
static int end_epoch(struct partitions *all) {
    cycle until = all->cores[0]->epoch.until, next = NEVER;
    for (uint32_t k = 0; k < all->count; k++) {
        const struct core *core = all->cores[k];
        next = core->epoch.first < next ? core->epoch.first : next;
        next = core->heap_count > 0 && core->heap[0].time < next ? core->heap[0].time : next;
    }
    struct finding error;
    bool has_error = find_error(all, next == NEVER ? NEVER : until, &error);
    if (has_error && (error.cycle <= until || next == NEVER)) {
        all->error = error;
        all->settled = error.cycle;
        look_for_races(all);
        return CORE_ERROR;
    }
    all->settled = next == NEVER ? NEVER : until;
    look_for_races(all);
    if (next == NEVER) {
        return CORE_DONE;
    }
    assert(next > until);
    look_again(all->cores[0], next);
    until = next | (EPOCH - 1);
    until = has_error && error.cycle < until ? error.cycle : until;
    for (uint32_t k = 0; k < all->count; k++) {
        begin_epoch(all->cores[k], until);
    }
    return CORE_CALLS;
}

/* Runs until nothing can happen any more, an error, or more than `budget` steps in all. */
int core_go(struct core *core, uint64_t budget) {
    struct partitions *all = core->partitions;
    if (all->error.code != 0) {
        return CORE_ERROR;
    }
    all->settled = all->settled == NEVER ? -1 : all->settled;
    for (uint32_t k = 0; k < all->count; k++) {
        all->cores[k]->calls = MAX_CALLS_AT_A_TIME;
        all->cores[k]->moves = MAX_MOVES_AT_A_TIME;
        note_observers(all->cores[k]);
    }
    bool is_first = true; /* it is the first event since the host has done something */
    for (;;) {
        int why = settle(all, budget);
        if (why != CORE_DONE) {
            return why;
        }
        share_end(all);
        cycle others;
        struct core *first = first_of(all, &others);
        if (is_first && first != NULL) {
            look_again(first, first->heap[0].time);
            first = first_of(all, &others);
        }
        is_first = false;
        if (first == NULL || first->heap[0].time > first->epoch.until) {
            why = end_epoch(all);
            if (why != CORE_CALLS) {
                return why;
            }
            continue;
        }
        if (!pick_in_parallel(all, first->heap[0].time, budget)) {
            first->budget = first->steps + steps_left(all, budget);
            happen(first, others);
        }
    }
}
