/* Priorities: operations on queues and FIFOs share the datapath of their PE, and some hold others back; and microthreads
 * that programs block.
 *
 * An operation works on an element from when it takes it, for the cycles that it costs. One of lower priority takes none
 * meanwhile (DSD-232), and none does whose microthread is blocked. What can be held back takes its elements one by one, in
 * the order of time; what the others work on is known by then. What has been issued while its microthread was blocked has
 * not begun: it reads its memory when that is unblocked. All this is only where the operations of a class have several
 * levels, or its code blocks microthreads.
 */
#include "partitions.h"
#include "priorities.h"
#include "races.h"

/* Elements of an operation of some level: one every `rate` cycles from `first` on, of `cost` cycles each */
struct work {
    struct work *next;
    cycle first, rate, cost;
    int64_t count;
    uint8_t level;
};

/* Lets the operation of a microthread go on, or not */
struct gate {
    struct turn *first, *last; /* that wait for it to be unblocked, in the order of their issue if they have not begun */
    cycle unblocked;           /* the first cycle in which it may go on since it was unblocked last */
    uint32_t blocked_at;       /* source place of what has blocked it */
    bool is_blocked;
};

/* The datapath of a PE */
struct datapath {
    struct gate *gates; /* of each microthread, up to the last that may be blocked */
    struct work *works; /* the last first */
    struct turn *sends; /* that can be held back, in any order */
    cycle looked;       /* when an operation has looked last; what was done by then is forgotten */
    uint32_t count;     /* of works */
    uint32_t most;      /* works from which on those that are done are looked for */
    uint32_t turns;     /* operations that can be held back */
    uint32_t open[LEVELS]; /* operations that receive, or can be held back, of each level */
    uint8_t main_level;    /* of operations for which tasks wait */
};

/* An operation that can be held back. `cycle` is when it looks if it may take an element, NEVER while it lacks something
 * besides. */
struct turn {
    struct pe *pe;
    struct open *open; /* NULL: it sends */
    cycle cycle;
    uint64_t number; /* of those of a PE that look in one cycle the one with the smallest comes first */
    uint8_t level;
    uint8_t forwards; /* it sends what it takes, by ways that may be full */
    uint8_t waits;    /* for its gate */
    uint8_t begins;   /* when that is unblocked */
    struct gate *gate; /* of its microthread, if that may be blocked; or NULL */
    struct turn *next_waiting;
    /* Of a send */
    struct turn *next;
    struct send *send;
    struct payload *payload;
    struct descriptor stream;
    cycle time, rate, ending; /* when it is ready for its next element; cycles from the last one to its end */
    cycle credit;             /* when there was room for the last wavelet: it does not end before */
    int64_t position, count;
    struct operand_state operands[MAX_OPERANDS]; /* of one that has not begun */
};

enum { MAX_WORKS = 8 }; /* that are remembered before those that are past are dropped */

void make_priority_pools(struct core *core) {
    core->turns.size = sizeof(struct turn);
    core->works.size = sizeof(struct work);
}

void prepare_priorities(struct core *core, const struct core_input *input, struct class *class) {
    class->levels = input->levels[class->number];
    class->main_level = input->main_levels[class->number];
    class->blockable = input->blockable[class->number];
    if (class->levels == 0 && class->blockable == 0) {
        return;
    }
    class->datapaths = core_allocate(core, class->units, sizeof *class->datapaths);
    const uint32_t gates = class->blockable == 0 ? 0 : 32 - (uint32_t)__builtin_clz(class->blockable);
    class->gates = core_allocate(core, (uint64_t)class->units * gates, sizeof *class->gates);
    for (uint32_t unit = 0; unit < class->units; unit++) {
        class->datapaths[unit].main_level = class->main_level;
        class->datapaths[unit].gates = class->gates + (uint64_t)unit * gates;
    }
    for (uint64_t k = 0; k < core->tables.blocked_microthreads_count; k++) {
        const struct blocked_microthread_row *row = &core->tables.blocked_microthreads[k];
        for (uint32_t unit = 0; unit < class->units && row->owner == class->number; unit++) {
            struct gate *gate = &class->datapaths[unit].gates[row->number];
            gate->is_blocked = true;
            gate->blocked_at = row->where;
        }
    }
}

static struct datapath *datapath_of(const struct pe *pe) { return &pe->class->datapaths[pe->unit]; }

static uint8_t level_of(const struct pe *pe, const struct operation *operation) {
    return operation->is_async ? operation->level : datapath_of(pe)->main_level;
}

/* Sets the level of the operations of a PE for which its tasks wait; none is under way. */
void set_main_level(struct pe *pe, uint8_t level) {
    if (pe->class->datapaths != NULL) {
        datapath_of(pe)->main_level = level;
    }
}

/* Microthreads */

/* Returns the gate of the microthread of an operation, if its program ever blocks that; else NULL. */
static struct gate *gate_of(const struct pe *pe, const struct operation *operation) {
    bool is_gate = operation->is_async && operation->thread < 32 && (pe->class->blockable >> operation->thread & 1) != 0;
    return is_gate ? &datapath_of(pe)->gates[operation->thread] : NULL;
}

/* Returns true if a program ever blocks the microthread of an operation. */
bool is_gated(const struct pe *pe, const struct operation *operation) { return gate_of(pe, operation) != NULL; }

/* Returns true if the microthread of an operation is blocked. */
bool is_blocked(const struct pe *pe, const struct operation *operation) {
    const struct gate *gate = gate_of(pe, operation);
    return gate != NULL && gate->is_blocked;
}

/* Returns the source place of what has blocked the microthread of an operation. */
uint32_t blocked_at(const struct pe *pe, const struct operation *operation) {
    return gate_of(pe, operation)->blocked_at;
}

/* Returns the first cycle in which an operation may go on since its microthread was unblocked last, or NEVER if it never
 * was. */
cycle unblocked_from(const struct pe *pe, const struct operation *operation) {
    const struct gate *gate = gate_of(pe, operation);
    return gate == NULL ? NEVER : gate->unblocked;
}

/* Has a turn wait for its microthread to be unblocked; returns true if that is blocked. */
static bool waits_at_gate(struct turn *turn) {
    struct gate *gate = turn->gate;
    if (gate == NULL || !gate->is_blocked) {
        return false;
    }
    if (!turn->waits) {
        turn->waits = true;
        turn->next_waiting = NULL;
        *(gate->first == NULL ? &gate->first : &gate->last->next_waiting) = turn;
        gate->last = turn;
    }
    return true;
}

/* Work */

static cycle end_of(const struct work *work) { return work->first + (work->count - 1) * work->rate + work->cost; }

/* Forgets what is done at a time. */
static void forget_works(struct core *core, struct datapath *datapath, cycle time) {
    for (struct work **link = &datapath->works, *work; (work = *link) != NULL;) {
        if (end_of(work) > time) {
            link = &work->next;
            continue;
        }
        *link = work->next;
        datapath->count--;
        pool_give(&core->works, work);
    }
}

/* Adds elements to work if that is the same thing. */
static bool is_continued(struct work *work, uint8_t level, cycle first, cycle rate, cycle cost, int64_t count) {
    cycle step = work->count > 1 ? work->rate : first - work->first;
    if (work->level != level || work->cost != cost || step < cost || first != work->first + work->count * step ||
        (count > 1 && rate != step)) {
        return false;
    }
    work->rate = step;
    work->count += count;
    return true;
}

void note_work(struct core *core, struct pe *pe, const struct operation *operation, cycle first, cycle rate, cycle cost,
               int64_t count) {
    struct datapath *datapath = datapath_of(pe);
    uint8_t level = level_of(pe, operation);
    if ((pe->class->levels & ((1u << level) - 1)) == 0 ||
        (datapath->works != NULL && is_continued(datapath->works, level, first, rate, cost, count))) {
        return;
    }
    if (datapath->count >= MAX_WORKS && datapath->count >= datapath->most && datapath->turns == 0) {
        /* All that begins later does so after what the PE has done, and after what has happened everywhere. */
        cycle now = pe->is_busy ? pe->now : pe->clock, settled = core->partitions->settled;
        forget_works(core, datapath, now > settled ? now : settled);
        datapath->most = 2 * datapath->count;
    }
    struct work *work = pool_take(core, &core->works);
    *work = (struct work){.next = datapath->works, .first = first, .rate = rate, .cost = cost, .count = count,
                          .level = level};
    datapath->works = work;
    datapath->count++;
}

/* Returns when the element is done that is worked on at a time; the time itself if there is none. */
static cycle until(const struct work *work, cycle time) {
    if (time < work->first) {
        return time;
    }
    int64_t number = (time - work->first) / work->rate;
    number = number < work->count ? number : work->count - 1;
    cycle done = work->first + number * work->rate + work->cost;
    return done > time ? done : time;
}

/* Returns the first cycle, from a time on, in which nothing of a higher level is known to be at work. */
static cycle free_from(const struct datapath *datapath, const struct turn *turn, cycle time) {
    const uint8_t level = turn->level;
    time = time > datapath->looked ? time : datapath->looked;
    time = turn->gate != NULL && turn->gate->unblocked > time ? turn->gate->unblocked : time;
    for (cycle before = -1; before != time;) {
        before = time;
        for (const struct work *work = datapath->works; work != NULL; work = work->next) {
            time = work->level > level ? until(work, time) : time;
        }
    }
    return time;
}

/* Turns */

static struct turn *make_turn(struct core *core, struct pe *pe, const struct operation *operation) {
    const uint8_t level = level_of(pe, operation);
    struct turn *turn = pool_take(core, &core->turns);
    memset(turn, 0, offsetof(struct turn, operands));
    turn->pe = pe;
    turn->cycle = NEVER;
    turn->level = level;
    turn->number = (uint64_t)(LEVELS - 1 - level) << 56 | ++core->turns_made;
    turn->gate = gate_of(pe, operation);
    turn->begins = turn->gate != NULL && turn->gate->is_blocked;
    return turn;
}

/* Returns true if nothing that a PE does can hold an operation back. */
bool is_never_held(const struct pe *pe, const struct operation *operation) {
    return pe->class->datapaths == NULL ||
           (pe->class->levels >> (level_of(pe, operation) + 1) == 0 && !is_gated(pe, operation));
}

/* Returns true if operations that are not done yet, as far as is known, may hold back one for which its task waits. */
bool may_be_held(const struct pe *pe, const struct operation *operation) {
    if (operation->is_async) {
        return false;
    }
    const struct datapath *datapath = datapath_of(pe);
    for (int other = level_of(pe, operation) + 1; other < LEVELS; other++) {
        if (datapath->open[other] > 0) {
            return true;
        }
    }
    return false;
}

/* Returns true if something can hold back an operation that is issued at a time. While a task waits for its operation it
 * issues no other, so that what can hold that back has been issued. */
static bool can_be_held(const struct pe *pe, const struct operation *operation, cycle time) {
    const struct datapath *datapath = datapath_of(pe);
    uint8_t level = level_of(pe, operation);
    if (is_gated(pe, operation)) {
        return true;
    }
    if (pe->class->levels >> (level + 1) == 0 || operation->is_async) {
        return pe->class->levels >> (level + 1) != 0;
    }
    if (may_be_held(pe, operation)) {
        return true;
    }
    for (const struct work *work = datapath->works; work != NULL; work = work->next) {
        if (work->level > level && end_of(work) > time) {
            return true;
        }
    }
    return false;
}

/* Returns true if operations of a PE that can be held back are under way. */
bool has_turns(const struct pe *pe) { return pe->class->datapaths != NULL && datapath_of(pe)->turns > 0; }

static void begin(struct pe *pe, uint8_t level, bool is_turn) {
    struct datapath *datapath = datapath_of(pe);
    datapath->open[level]++;
    datapath->turns += is_turn;
    pe->held_sends += is_turn;
}

static void end(struct pe *pe, uint8_t level, bool is_turn) {
    struct datapath *datapath = datapath_of(pe);
    datapath->open[level]--;
    datapath->turns -= is_turn;
    pe->held_sends -= is_turn;
}

static void give_turn(struct core *core, struct turn *turn) {
    assert(!turn->waits);
    turn->cycle = NEVER;
    turn->number = 0;
    pool_give(&core->turns, turn);
}

/* Notes that an operation that receives is issued at a time. */
void begin_to_receive(struct core *core, struct open *open, cycle issued) {
    struct pe *pe = open->pe;
    bool is_turn = can_be_held(pe, open->operation, issued);
    uint8_t level = level_of(pe, open->operation);
    open->shares = true;
    begin(pe, level, is_turn);
    if (is_turn) {
        open->turn = make_turn(core, pe, open->operation);
        open->turn->open = open;
        open->turn->forwards = open->is_forwarder;
        open->is_forwarder = true; /* it waits for its turn as others do for credits */
    }
}

void end_to_receive(struct core *core, struct open *open) {
    end(open->pe, level_of(open->pe, open->operation), open->turn != NULL);
    if (open->turn != NULL) {
        give_turn(core, open->turn);
    }
}

/* Finds room for a wavelet of a send; returns false if there is none, and has it go on when there may be. */
static bool find_send_room(struct core *core, const struct turn *turn, struct room *room) {
    const struct queue *queue = &turn->pe->class->queues[core->queue_place[turn->stream.row]];
    *room = (struct room){.count = UINT32_MAX, .first = -UNBOUNDED};
    find_room(core, turn->pe, queue, room);
    if (room->count == 0) {
        hold_pe(core, room->full, turn->pe, HELD_SENDS);
    }
    return room->count > 0;
}

/* Returns when an operation can take its next element as far as is known; NEVER if it lacks something, and goes on when
 * that comes. */
static cycle ready(struct core *core, struct turn *turn) {
    struct pe *pe = turn->pe;
    struct open *open = turn->open;
    cycle time = open == NULL ? turn->time : open->time;
    if ((open != NULL && open->has_failed) || waits_at_gate(turn)) {
        return NEVER;
    }
    if (open == NULL) {
        struct room room;
        if (!find_send_room(core, turn, &room)) {
            return NEVER;
        }
        turn->credit = room.first;
        cycle credit = room.first - core->timing.inject;
        time = credit > time ? credit : time;
    } else {
        for (int k = 0; k < open->inputs; k++) {
            if (open->polls >> k & 1) {
                continue;
            }
            cycle head = elements_at(core, open, k);
            if (head == NEVER) {
                return NEVER;
            }
            time = head > time ? head : time;
        }
        if (turn->forwards && !open->header) {
            if (!find_credits(core, open)) {
                return NEVER;
            }
            time = open->credit_first > time ? open->credit_first : time;
        }
    }
    return free_from(datapath_of(pe), turn, time);
}

void await_turn(struct core *core, struct turn *turn) {
    cycle time = ready(core, turn);
    if (time < NEVER && time != turn->cycle) {
        turn->cycle = time;
        schedule(core, time, EVENT_TURN, turn->pe->number, turn->number, turn);
    }
}

/* Lets the sends of a PE look again for which there was no room. */
void await_room(struct core *core, const struct pe *pe) {
    for (struct turn *turn = datapath_of(pe)->sends; turn != NULL; turn = turn->next) {
        await_turn(core, turn);
    }
}

/* Sends */

static void forget_send(struct core *core, struct turn *turn) {
    struct turn **link = &datapath_of(turn->pe)->sends;
    while (*link != turn) {
        link = &(*link)->next;
    }
    *link = turn->next;
    payload_drop(core, turn->payload);
    give_turn(core, turn);
}

/* Sends the elements of a wavelet at a time, when there is room for it. */
static void send_one(struct core *core, struct turn *turn, cycle time) {
    struct pe *pe = turn->pe;
    struct send *send = turn->send;
    uint32_t lanes = turn->stream.flags & PACKED ? 2 : 1;
    int64_t left = turn->count - turn->position, count = left < lanes ? left : lanes;
    struct payload *payload = payload_take(core, 1);
    payload->words[0] = turn->payload->words[turn->position / lanes];
    struct run run = {.payload = payload, .at = (const uint8_t *)payload->words, .first = time + core->timing.inject,
                      .step = 4, .size = 4, .rate = (uint32_t)turn->rate, .count = 1};
    turn->position += count;
    if (turn->gate != NULL && turn->gate->unblocked == time) {
        send->blocked += time - turn->time;
    }
    turn->time = time + count * turn->rate;
    bool is_last = turn->position == turn->count;
    note_work(core, pe, send->operation, time, turn->rate, turn->rate, count);
    struct sending sending = {.operation = send->operation, .task = send->task, .where = send->where, .is_last = is_last};
    core->at = time;
    transmit(core, pe, &sending, &turn->stream, &run);
    core->at = -1;
    payload_drop(core, payload);
    if (has_failed(core)) {
        core->is_failing = false;
        return;
    }
    if (!is_last) {
        await_turn(core, turn);
        return;
    }
    end(pe, turn->level, true);
    cycle done = turn->time + turn->ending;
    done = turn->credit > done ? turn->credit : done;
    forget_send(core, turn);
    send_accepted(core, send, done);
}

/* Returns true if a send takes turns, from when it begins on, or is handed over at once. */
bool sends_in_turns(struct core *core, struct pe *pe, const struct operation *operation, cycle issued, cycle begins,
                    cycle rate, int64_t count, const struct queue *queue) {
    if (queue->network == 0 && can_be_held(pe, operation, issued)) {
        return true;
    }
    note_work(core, pe, operation, begins, rate, rate, count);
    return false;
}

static struct turn *make_send(struct core *core, struct send *send, const struct descriptor *stream, int64_t count,
                              cycle begins, cycle rate, cycle ending) {
    struct pe *pe = send->pe;
    struct turn *turn = make_turn(core, pe, send->operation);
    turn->send = send;
    turn->stream = *stream;
    turn->count = count;
    turn->time = begins;
    turn->rate = rate;
    turn->ending = ending;
    turn->next = datapath_of(pe)->sends;
    datapath_of(pe)->sends = turn;
    begin(pe, turn->level, true);
    return turn;
}

/* Begins a send that takes turns, with the elements that it sends. */
void send_in_turns(struct core *core, struct send *send, const struct descriptor *stream, struct payload *payload,
                   int64_t count, cycle begins, cycle rate, cycle ending) {
    struct turn *turn = make_send(core, send, stream, count, begins, rate, ending);
    turn->payload = payload;
    payload->references++;
    await_turn(core, turn);
}

/* Has a send begin when its microthread is unblocked. */
void send_when_unblocked(struct core *core, struct send *send, const struct operand_state *operands, int64_t count,
                         cycle begins, cycle rate, cycle ending) {
    struct turn *turn = make_send(core, send, &operands[0].descriptor, count, begins, rate, ending);
    memcpy(turn->operands, operands, (send->operation->sources + 1u) * sizeof *operands);
    await_turn(core, turn);
}

/* Has an operation begin whose microthread is unblocked now; returns false after an error. */
static bool begin_turn(struct core *core, struct turn *turn) {
    struct send *send = turn->send;
    turn->begins = false;
    if (turn->open != NULL) {
        const struct open *open = turn->open;
        if (core->races != NULL) {
            begin_flight(core, turn->pe, open, open->operation, open->operands, open->where, open->task, open->count);
        }
        return true;
    }
    if (core->races != NULL) {
        begin_flight(core, turn->pe, send, send->operation, turn->operands, send->where, send->task, turn->count);
    }
    turn->payload = read_payload(core, turn->pe, send->operation, turn->operands, send->task, send->where, turn->count);
    return turn->payload != NULL;
}

/* Blocks or unblocks a microthread of a PE, from the next cycle on; returns false after an error. */
bool change_microthread(struct core *core, struct pe *pe, int64_t number, bool blocks, uint32_t where) {
    if (number < 0 || number >= core->microthreads) {
        fail(core, pe, MICROTHREAD_MISSING, running_task(pe), where, VALUES(number, blocks));
        return false;
    }
    if ((pe->class->blockable >> number & 1) == 0) {
        return true; /* it is never blocked */
    }
    struct gate *gate = &datapath_of(pe)->gates[number];
    if (blocks) {
        gate->blocked_at = gate->is_blocked ? gate->blocked_at : where;
        gate->is_blocked = true;
        return true;
    }
    if (!gate->is_blocked) {
        return true;
    }
    gate->is_blocked = false;
    gate->unblocked = pe->now + 1;
    struct turn *waiting = gate->first;
    gate->first = gate->last = NULL;
    bool goes_on = true;
    for (struct turn *turn = waiting; turn != NULL; turn = turn->next_waiting) {
        turn->waits = false;
        goes_on = goes_on && (!turn->begins || begin_turn(core, turn));
    }
    for (struct turn *turn = waiting, *next; goes_on && turn != NULL; turn = next) {
        next = turn->next_waiting;
        await_turn(core, turn);
    }
    return goes_on;
}

/* Lets an operation take an element at a time, if it still can and nothing of higher priority is at work. */
void take_turn(struct core *core, struct turn *turn, cycle time) {
    turn->cycle = NEVER;
    if (ready(core, turn) != time) {
        await_turn(core, turn);
        return;
    }
    struct datapath *datapath = datapath_of(turn->pe);
    datapath->looked = time;
    forget_works(core, datapath, time);
    assert(!core->at_work);
    core->at_work = true;
    if (turn->open == NULL) {
        send_one(core, turn, time);
    } else {
        struct open *open = turn->open;
        open->turn_at = time;
        open->credits = turn->forwards && !open->header ? open->credits : UNBOUNDED;
        open->credit_rate = turn->forwards && !open->header ? open->credit_rate : 0;
        open->credit_first = time;
        take_in_turn(core, open);
    }
    deliver(core);
    core->at_work = false;
}

bool is_turn_due(const struct turn *turn, uint64_t number, cycle time) {
    return turn->number == number && turn->cycle == time;
}
