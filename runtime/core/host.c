/* What Python asks of a core: launches, streams from and to the host, and its state at rest. */
#include "partitions.h"
#include "priorities.h"
#include "records.h"
#include "statistics.h"

enum { COUNTS = 8 };

/* Returns from a function that may take memory if there is none. */
#define OR_WITHOUT_MEMORY(...)                                                                                         \
    jmp_buf without_memory;                                                                                            \
    do {                                                                                                               \
        set_without_memory(core, &without_memory);                                                                     \
        if (core->is_out || setjmp(without_memory)) {                                                                  \
            core->is_out = true;                                                                                       \
            return __VA_ARGS__;                                                                                        \
        }                                                                                                              \
    } while (0)

int core_run(struct core *core, uint64_t steps) {
    OR_WITHOUT_MEMORY(CORE_NO_MEMORY);
    int outcome = core_go(core, steps);
    if (outcome == CORE_DONE || outcome == CORE_ERROR) {
        spell_all(core); /* for a report of what is left */
    }
    add_counts(core);
    return outcome;
}

/* Activates a launch task, by its row, on all PEs of its class at a time. */
void core_launch(struct core *core, uint32_t row, const int64_t *arguments, int64_t time) {
    OR_WITHOUT_MEMORY();
    struct class *class = &core->classes[core->tables.tasks[row].owner];
    uint32_t number = row - class->row->tasks;
    struct task *task = &class->tasks[number];
    memcpy(task->launch, arguments, task->use->body->arguments * sizeof(int64_t));
    for (uint32_t unit = 0; unit < class->units; unit++) {
        task_activate(core, pe_at(class, unit), number, time);
    }
}

/* Returns how many PEs have a task active. */
uint32_t core_active(const struct core *core, uint32_t row) {
    const struct class *class = &core->classes[core->tables.tasks[row].owner];
    uint32_t count = 0;
    for (uint32_t unit = 0; unit < class->units; unit++) {
        count += pe_at(class, unit)->tasks[row - class->row->tasks].active < NEVER;
    }
    return count;
}

/* Sends `count` words to an input queue of each of some PEs, one a cycle from `first` on, by ways that hold `capacities`
 * of them and whose credits need `back` cycles. */
void core_send(struct core *core, uint64_t pes, const uint32_t *numbers, const uint32_t *queues, const uint32_t *words,
               uint32_t count, const int64_t *first, const uint32_t *capacities, uint32_t back) {
    OR_WITHOUT_MEMORY();
    for (uint64_t k = 0; k < pes; k++) {
        struct pe *pe = core->pe_of[numbers[k]];
        struct core *its = core_of(core, pe);
        its->moves = MAX_MOVES_AT_A_TIME;
        struct run run = {.payload = payload_take(its, count), .first = first[k], .rate = 1, .count = count, .step = 4,
                          .size = 4, .sender = NO_ROW};
        memcpy(run.payload->words, words + k * count, (uint64_t)count * 4);
        run.at = (const uint8_t *)run.payload->words;
        struct way way = {.queue = queues[k], .back = back, .capacity = capacities[k]};
        host_send(its, pe, &way, &run);
        payload_drop(its, run.payload);
    }
}

/* Stores how many wavelets for an input queue of each unit of its class the host still holds. */
void core_unsent(const struct core *core, uint32_t class_number, uint32_t queue, int64_t *result) {
    const struct class *class = &core->classes[class_number];
    for (uint32_t unit = 0; unit < class->units; unit++) {
        result[unit] = held_by_host(&inputs_of(pe_at(class, unit))[core->queue_place[queue]]);
    }
}

/* Stores how many wavelets wait in a queue, or sink, of each unit of its class. */
void core_backlog(const struct core *core, uint32_t class_number, uint32_t queue, int64_t *result) {
    const struct class *class = &core->classes[class_number];
    for (uint32_t unit = 0; unit < class->units; unit++) {
        result[unit] = 0;
        const struct input *input = &inputs_of(pe_at(class, unit))[core->queue_place[queue]];
        if (input->form != SPELLED_OUT) {
            result[unit] = input->form == SHORT_RECEIVE ? 0 : input->count;
            continue;
        }
        for (const struct run *run = input->first; run != NULL; run = run->next) {
            result[unit] += run->count - run->taken;
        }
    }
}

/* Takes `count` words, which are there, from a sink. */
static void take(struct core *core, struct input *input, uint32_t count, uint32_t *words) {
    while (count > 0) {
        struct run *run = input->first;
        assert(run != NULL);
        memcpy(words++, run->at + (ptrdiff_t)run->taken * run->step, 4);
        count--;
        if (++run->taken == run->count) {
            input->first = run->next;
            if (input->first == NULL) {
                input->last = NULL;
            }
            drop_run(core, run);
        }
    }
}

/* Takes `count` words, which are there, from a sink of each of some PEs. */
void core_take(struct core *core, uint64_t pes, const uint32_t *numbers, const uint32_t *queues, uint32_t count,
               uint32_t *words) {
    for (uint64_t k = 0; k < pes; k++) {
        struct pe *pe = core->pe_of[numbers[k]];
        if (core->statistics != NULL) {
            count_taking_at_host(core, pe, core->queue_place[queues[k]], count);
        }
        take(core_of(core, pe), &inputs_of(pe)[core->queue_place[queues[k]]], count, words + k * count);
    }
}

uint64_t core_traced(struct core *core, struct trace_record *records, uint64_t room) {
    OR_WITHOUT_MEMORY(0);
    return traced(core, records, room);
}

/* Stores the clock of every PE of the grid, 0 where there is none. */
void core_clocks(const struct core *core, int64_t *clocks) {
    for (uint64_t k = 0; k < (uint64_t)core->width * core->height; k++) {
        const struct pe *pe = core->pe_of[k];
        clocks[k] = pe == NULL ? 0 : pe->clock;
    }
}

/* Returns when the last task and the last operation ended. */
static cycle last_end(const struct partitions *all) {
    cycle last = 0;
    for (uint32_t k = 0; k < all->count; k++) {
        const struct core *core = all->cores[k];
        last = core->latest > last ? core->latest : last;
        last = core->last_clock > last ? core->last_clock : last;
    }
    return last;
}

/* Returns the end of the elements that operations which wait in a queue have taken; 0 if they have none. */
static cycle last_taken(const struct input *input, uint32_t place) {
    if (input->form == SHORT_RECEIVE) {
        return input->position > 0 ? input->move.time : 0;
    }
    cycle last = 0;
    const struct open *open = input->form == SPELLED_OUT ? input->waiting : NULL;
    for (; open != NULL; open = open->waits[input_at(open, place)]) {
        last = open->position > 0 ? later(open->time, last) : last;
    }
    return last;
}

/* Returns the latest cycle that anything has reached, tasks and operations that wait included: these, the end of the
 * elements that they have taken. */
int64_t core_reached(const struct core *core) {
    cycle reached = last_end(core->partitions);
    for (uint64_t k = 0; k < (uint64_t)core->width * core->height; k++) {
        const struct pe *pe = core->pe_of[k];
        for (uint32_t place = 0; pe != NULL && place < pe->class->input_count; place++) {
            reached = later(reached, last_taken(&inputs_of(pe)[place], place));
        }
        if (pe != NULL && pe->is_busy) {
            reached = later(reached, pe->now);
        }
    }
    return reached;
}

void core_counts(const struct core *core, int64_t *counts) {
    int64_t found[COUNTS] = {last_end(core->partitions)};
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        const struct core *part = core->partitions->cores[k];
        const uint64_t its[COUNTS] = {0, part->wavelets, part->task_runs, part->steps, part->certain, part->ordered,
                                      part->warning_count, part->prints.count};
        for (int n = 1; n < COUNTS; n++) {
            found[n] += (int64_t)its[n];
        }
    }
    memcpy(counts, found, sizeof found);
}

/* Stores the error that has ended the run. */
void core_error(const struct core *core, struct finding *finding) { *finding = core->partitions->error; }

/* Stores the warnings before which no other can come any more, the first of each place in each partition, and forgets
 * them; returns how many they are. There is room for all. */
uint64_t core_warnings(struct core *core, struct finding *findings) {
    uint64_t count = 0;
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        count += take_warnings(core->partitions->cores[k], core->partitions->settled, findings + count);
    }
    return count;
}

/* Lets each PE take so many steps, from now on; 0: any number. */
bool core_limit(struct core *core, uint64_t steps) {
    OR_WITHOUT_MEMORY(false);
    set_step_limit(core, steps);
    for (uint32_t k = 1; k < core->partitions->count; k++) {
        core->partitions->cores[k]->step_limit = core->step_limit;
        core->partitions->cores[k]->limit_number = core->limit_number;
        core->partitions->cores[k]->steps_left = core->steps_left;
    }
    return true;
}

/* What is printed: for each record its cycle, PE, row of `prints`, and arguments. */
void core_prints(const struct core *core, int64_t *words) {
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        const struct log *prints = &core->partitions->cores[k]->prints;
        if (prints->count > 0) {
            memcpy(words, prints->words, prints->count * sizeof *words);
            words += prints->count;
        }
    }
}

/* Where the task is that wants a step beyond the last, of several the one that is there first: its PE, its task, its
 * source place. */
void core_place(const struct core *core, uint32_t *place) {
    const struct pe *first = NULL;
    memcpy(place, core->last, sizeof core->last); /* of operations, where no task runs */
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        const struct core *part = core->partitions->cores[k];
        const struct pe *pe = part->running;
        if (pe == NULL) {
            if (first == NULL && part->moves == 0) {
                memcpy(place, part->last, sizeof part->last);
            }
            continue;
        }
        if (first == NULL || pe->now < first->now || (pe->now == first->now && pe->number < first->number)) {
            first = pe;
            place[0] = pe->number;
            place[1] = running_task(pe);
            place[2] = part->paused_at;
        }
    }
}

/* Records of runtime/reports/rest.py */
struct wait_record {
    uint32_t pe, operation, settings, task, where, row, output, use, pc;
    uint8_t kind, flags;
    int64_t count, position;
};
struct task_record {
    uint32_t pe, task;
    uint8_t blocked;
};
struct wavelets_record {
    uint32_t row, pe;
    int64_t count;
};
struct queued_record {
    uint32_t row, pe;
    int64_t count, held;
};
enum { RECEIVES, SENDS, READS_FIFO, WRITES_FIFO, SENDS_MESSAGE, IS_BLOCKED };
enum { HELD = 1, HEADER = 2 };

/* Fills in where the task of a PE that waits goes on. */
static void note_frame(const struct pe *pe, struct wait_record *record) {
    const struct frame *frame = (const struct frame *)(pe->suspended + 2 + pe->suspended[1]);
    record->flags |= HELD;
    record->use = frame->use->number;
    record->pc = (uint32_t)(frame->pc - frame->use->code - 1);
}

static uint64_t note_open(const struct pe *pe, const struct open *open, struct wait_record *records, uint64_t count,
                          uint64_t room) {
    const struct descriptor *to = &open->operands[0].descriptor;
    const bool waits_blocked = is_blocked(pe, open->operation);
    bool lacks_nothing = true;
    for (int k = 0; k < open->inputs; k++) {
        if (inputs_of(pe)[open->queue[k]].first != NULL) {
            continue; /* it is the other queue that lacks wavelets */
        }
        lacks_nothing = false;
        if (count < room) {
            const struct queue *queue = &pe->class->queues[open->queue[k]];
            struct wait_record *record = &records[count];
            *record = (struct wait_record){
                .pe = pe->number, .operation = open->operation->number, .settings = open->operation->settings, .task = open->task,
                .where = open->where, .row = queue->number, .use = NO_ROW, .pc = NO_ROW,
                .output = to->type == QUEUE_RUN ? to->row : NO_ROW, .kind = queue->fifo == NULL ? RECEIVES : queue->writes ? WRITES_FIFO : READS_FIFO, .count = open->count,
                .position = open->position, .flags = open->header ? HEADER : 0};
            if (open->is_sync) {
                note_frame(pe, record);
            }
        }
        count++;
    }
    /* But room for what it sends; or a mistake has ended the run before it took what is there. */
    if (lacks_nothing && !waits_blocked && to->type == QUEUE_RUN) {
        if (count < room) {
            const struct run *run = inputs_of(pe)[open->queue[0]].first;
            records[count] = (struct wait_record){
                .pe = pe->number, .operation = open->operation->number, .settings = open->operation->settings,
                .task = open->task, .where = open->where, .row = to->row, .output = NO_ROW, .use = NO_ROW, .pc = NO_ROW,
                .kind = SENDS,
                .count = open->count == UNBOUNDED ? run->count - run->taken : open->count - open->position};
            if (open->is_sync) {
                note_frame(pe, &records[count]);
            }
        }
        count++;
    }
    if (waits_blocked) {
        if (count < room) {
            records[count] = (struct wait_record){
                .pe = pe->number, .operation = open->operation->number, .settings = open->operation->settings,
                .task = open->task, .where = open->where, .row = blocked_at(pe, open->operation),
                .output = to->type == QUEUE_RUN ? to->row : NO_ROW, .use = NO_ROW, .pc = NO_ROW, .kind = IS_BLOCKED,
                .count = open->count, .position = open->position};
        }
        count++;
    }
    return count;
}

static uint64_t note_send(const struct core *core, const struct send *send, struct wait_record *records, uint64_t count,
                          uint64_t room) {
    uint32_t place = 0, elements = 0;
    bool is_message = send->pe->class->queues[core->queue_place[send->queue]].network != 0;
    if (is_message && !message_of(core, send, &place, &elements)) {
        return count;
    }
    if (count < room) {
        records[count] = (struct wait_record){
            .pe = send->pe->number, .operation = send->operation->number, .settings = send->operation->settings,
            .task = send->task, .where = send->where, .row = send->queue, .output = NO_ROW, .use = NO_ROW,
            .pc = NO_ROW, .kind = SENDS, .count = send->count};
        if (!is_message && is_blocked(send->pe, send->operation)) {
            records[count].kind = IS_BLOCKED;
            records[count].output = send->queue;
            records[count].row = blocked_at(send->pe, send->operation);
        }
        if (is_message) {
            records[count].kind = SENDS_MESSAGE;
            records[count].output = send->queue;
            records[count].row = place;
            records[count].count = elements;
        }
        if (send->is_sync) {
            note_frame(send->pe, &records[count]);
        }
    }
    return count + 1;
}

/* Stores the operations that wait; returns how many records there are. */
uint64_t core_waits(const struct core *core, struct wait_record *records, uint64_t room) {
    uint64_t count = 0;
    for (uint32_t c = 0; c < core->class_count; c++) {
        for (uint32_t unit = 0; unit < core->classes[c].units; unit++) {
            const struct pe *pe = pe_at(&core->classes[c], unit);
            for (uint32_t place = 0; place < pe->class->input_count; place++) {
                const struct open *open = inputs_of(pe)[place].waiting;
                for (; open != NULL; open = open->waits[input_at(open, place)]) {
                    if (open->queue[0] == place) {
                        count = note_open(pe, open, records, count, room);
                    }
                }
            }
        }
    }
    for (uint32_t k = 0; k < core->partitions->count; k++) {
        for (const struct send *send = core->partitions->cores[k]->sends; send != NULL; send = send->next) {
            count = note_send(core, send, records, count, room);
        }
    }
    return count;
}

/* Stores the tasks that are active; returns how many there are. */
uint64_t core_tasks(const struct core *core, struct task_record *records, uint64_t room) {
    uint64_t count = 0;
    for (uint32_t c = 0; c < core->class_count; c++) {
        for (uint32_t unit = 0; unit < core->classes[c].units; unit++) {
            const struct pe *pe = pe_at(&core->classes[c], unit);
            for (uint32_t task = 0; task < pe->class->task_count; task++) {
                if (pe->tasks[task].active == NEVER) {
                    continue;
                }
                if (count < room) {
                    records[count] = (struct task_record){.pe = pe->number, .task = pe->class->tasks[task].number,
                                                          .blocked = pe->tasks[task].unblocked == NEVER};
                }
                count++;
            }
        }
    }
    return count;
}

/* Stores how often tasks were activated while they were active; returns how many records there are. */
uint64_t core_lost(const struct core *core, struct wavelets_record *records, uint64_t room) {
    uint64_t count = 0;
    for (uint32_t c = 0; c < core->class_count; c++) {
        const struct class *class = &core->classes[c];
        for (uint32_t unit = 0; class->activations > 0 && unit < class->units; unit++) {
            const struct pe *pe = pe_at(class, unit);
            for (uint32_t task = 0; task < class->task_count; task++) {
                const struct activations *state = activations_of(pe, task);
                if (state == NULL || state->lost == 0) {
                    continue;
                }
                if (count < room) {
                    records[count] = (struct wavelets_record){class->tasks[task].number, pe->number, state->lost};
                }
                count++;
            }
        }
    }
    return count;
}

/* Notes what is in an input queue, and on and before the ways there. */
static struct queued_record queued_in(const struct input *input) {
    struct queued_record found = {0};
    for (const struct run *run = input->first; run != NULL; run = run->next) {
        found.count += run->count - run->taken;
    }
    for (const struct path *path = input->path; path != NULL; path = path->next) {
        found.held += path->pending > path->capacity ? path->pending - path->capacity : 0;
    }
    if (found.held > found.count) {
        found.held = found.count; /* an error has ended the run before they came */
    }
    return found;
}

/* Stores what sends that are handed over as there is room have left for each of their receivers, behind `count` records;
 * returns how many they are then. */
static uint64_t store_multicasts(const struct core *core, const struct path *path, struct queued_record *records,
                                 uint64_t room, uint64_t count) {
    for (; path != NULL; path = path->next) {
        const struct multicast *multicast = path->waiters == NULL ? NULL : path->waiters->multicasts;
        for (; multicast != NULL; multicast = multicast->next) {
            uint32_t left = multicast->router == NULL ? not_handed_over(multicast) : 0;
            if (left > 0 && multicast->host != NULL) {
                if (count < room) {
                    records[count] = (struct queued_record){
                        .row = multicast->queue->number, .pe = multicast->pe->number, .count = left, .held = left};
                }
                count++;
                continue;
            }
            uint32_t list = left > 0 ? multicast->queue->ways[multicast->pe->unit] : 0; /* 0 is empty */
            for (uint32_t k = core->list_first[list]; k < core->list_first[list + 1]; k++) {
                const struct way *way = &core->ways[k];
                if (way->capacity == 0) {
                    continue;
                }
                if (count < room) {
                    records[count] = (struct queued_record){
                        .row = way->queue, .pe = (uint32_t)((int64_t)multicast->pe->number + way->offset), .count = left,
                        .held = left};
                }
                count++;
            }
        }
    }
    return count;
}

/* Stores what is in the input queues, but for those of the host; returns how many records there are. */
uint64_t core_queued(const struct core *core, struct queued_record *records, uint64_t room) {
    uint64_t count = 0;
    for (uint32_t c = 0; c < core->class_count; c++) {
        const struct class *class = &core->classes[c];
        for (uint32_t unit = 0; unit < class->units; unit++) {
            const struct pe *pe = pe_at(class, unit);
            for (uint32_t q = 0; q < class->source_count; q++) {
                if (class->queues[q].is_sink) {
                    continue;
                }
                count = store_multicasts(core, inputs_of(pe)[q].path, records, room, count);
                if (inputs_of(pe)[q].first == NULL) {
                    continue;
                }
                if (count < room) {
                    records[count] = queued_in(&inputs_of(pe)[q]);
                    records[count].row = class->queues[q].number;
                    records[count].pe = pe->number;
                }
                count++;
            }
        }
    }
    return count;
}

/* Stores what has been sent on queues of which some receivers do not read; returns how many records there are. */
uint64_t core_sent(const struct core *core, struct wavelets_record *records, uint64_t room) {
    uint64_t count = 0;
    for (uint32_t c = 0; c < core->class_count; c++) {
        const struct class *class = &core->classes[c];
        for (uint32_t q = 0; q < class->queue_count; q++) {
            const uint32_t *unread = class->queues[q].unread;
            for (uint32_t unit = 0; unit < class->units && unread != NULL; unit++) {
                if (unread[unit] == 0) {
                    continue;
                }
                if (count < room) {
                    records[count] = (struct wavelets_record){.row = class->queues[q].number,
                                                              .pe = pe_at(class, unit)->number, .count = unread[unit]};
                }
                count++;
            }
        }
    }
    return count;
}

uint64_t core_sizes(uint32_t number) {
#define SIZE(name, type) sizeof(type),
    static const uint64_t sizes[] = {SECTIONS(SIZE) sizeof(struct finding), sizeof(struct way),
                                     sizeof(struct wait_record), sizeof(struct task_record),
                                     sizeof(struct queued_record), sizeof(struct wavelets_record), sizeof(struct trace_record),
                                     sizeof(struct at_router_record), sizeof(struct message_record),
                                     sizeof(struct pe_counts), sizeof(struct cell_counts), sizeof(struct line_counts)};
#undef SIZE
    return number < sizeof sizes / sizeof *sizes ? sizes[number] : 0;
}
