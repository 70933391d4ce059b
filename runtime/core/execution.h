/* Execution of operations: their elements, ends of FIFOs, and resources that they use. */
#ifndef LOOM_EXECUTION_H
#define LOOM_EXECUTION_H

#include "state.h"

/* operations.c */
enum { DONE_NOW, WAITS, WENT_WRONG, AWAITS_ORDER = 4 }; /* NOT_QUICK is another; the last is to be applied again */
int apply(struct core *core, struct pe *pe, const struct operation *operation, struct operand_state *operands,
          uint32_t where, cycle *now);
void resume(struct core *core, struct pe *pe, cycle time);
void list_send(struct core *core, struct send *send);
void hold_send(struct core *core, struct send *send);
void send_accepted(struct core *core, struct send *send, cycle time);

struct payload *make_payload(struct core *core, const struct descriptor *stream, int64_t count, uint8_t size,
                             struct operand *operand);
int zeroed_operand(const struct operation *operation, const struct descriptor *stream);
void set_to_zero(struct pe *pe, const struct operation *operation, const struct descriptor *stream,
                 const struct operand_state *operands, int64_t low, int64_t high);
struct payload *read_payload(struct core *core, struct pe *pe, const struct operation *operation,
                             struct operand_state *operands, uint32_t task, uint32_t where, int64_t count);
void mark_payload(const struct descriptor *stream, struct payload *payload, uint32_t words);
bool make_operand(struct core *core, struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
                  struct operand_state *state, int place, int64_t low, int64_t high, struct operand *operand);

/* taking.c */
void take_header(struct core *core, struct open *open, struct run *run);
void take_elements(struct core *core, struct open *open, struct run **runs, int64_t most);
void send_half(struct core *core, struct open *open);
cycle line(const struct open *open, struct run **runs, int k, cycle *head);
int64_t pace(const struct open *open, struct run **runs, uint32_t without, int64_t count, cycle *begin, cycle *rate);

/* exceptions.c */
cycle clock_shows(const struct core *core, const struct pe *pe, cycle now);
void set_clock(struct core *core, const struct pe *pe, cycle now, bool resets);
void set_exception_mask(struct pe *pe, int64_t mask);
bool check_exceptions(struct core *core, struct pe *pe, uint32_t row, const int64_t *registers, uint32_t where);
bool compute(struct core *core, struct pe *pe, const struct operation *operation, uint32_t task, uint32_t where,
             struct operand *operands, uint32_t count, uint16_t *carry);

/* fifos.c */
enum { TEST_OR_SUSPEND, SUSPEND, TERMINATE, FAULT };
int64_t count_with_fifos(const struct pe *pe, const struct operation *operation, const struct operand_state *operands);
void look_at_fifos(struct core *core, struct open *open, struct run **runs, int64_t count);
bool has_elements(struct core *core, const struct open *open, int k);
cycle elements_at(struct core *core, const struct open *open, int k);
cycle ready_time(const struct open *open, int k);
int64_t taken_at_once(const struct open *open, int k);
int64_t elements_in_time(struct core *core, struct open *open, struct run **runs);
bool ends_without_elements(struct core *core, struct open *open);
void fifo_stop(struct core *core, struct open *open, int k, cycle time);
void leave_places(struct core *core, struct open *open, int64_t count, cycle begin, cycle rate);
void leave_elements(struct core *core, struct open *open, struct payload *payload, int64_t count, cycle begin,
                    cycle rate);
void prepare_fifos(struct core *core, struct class *class);
static inline uint32_t fifo_place(const struct class *class, uint32_t row, bool writes) {
    return class->source_count + 2 * (row - class->row->fifos) + writes;
}
/* Returns how many elements a wavelet of queue `k` of an operation carries; an entry of a FIFO is one. */
static inline uint32_t lanes_from(const struct open *open, int k) {
    const struct descriptor *stream = &open->operands[open->source[k]].descriptor;
    return open->source[k] > 0 && stream->type == QUEUE_RUN && stream->flags & PACKED ? 2 : 1;
}

/* Returns how many elements an operation takes at once. */
static inline uint32_t taken_together(const struct open *open) {
    uint32_t most = lanes_from(open, 0);
    for (int k = 0; k < open->inputs; k++) {
        most = open->steps[k] > most ? open->steps[k] : most;
    }
    return most;
}

static inline struct side *side_at(const struct pe *pe, uint32_t place) {
    return &sides_of(pe)[place - pe->class->source_count];
}

/* resources.c */
bool resource_use_early(struct core *core, struct pe *pe, uint32_t place, const struct operation *operation, uint32_t where,
                        cycle start, cycle end);
void resource_release_early(struct core *core, struct pe *pe, uint32_t place, cycle since, cycle end);
void resource_extend(struct pe *pe, uint32_t place, cycle end);
bool find_conflict(const struct core *core, cycle until, struct finding *found);
static inline uint32_t thread_place(const struct pe *pe, const struct operation *operation) {
    return pe->class->queue_count + operation->thread;
}
static inline struct resource *resource_of(const struct pe *pe, uint32_t place) {
    return &resources_of(pe)[place];
}
/* Returns a number for an operation of the class and its task: core.py sees to it that it fits. */
static inline uint32_t user_in(uint32_t without, const struct pe *pe) {
    _Static_assert((uint16_t)(NO_TASK + 1) == 0, "no task is the first of the users of an operation");
    return without + (uint16_t)(pe->task + 1);
}
static inline uint32_t user_without_task(const struct class *class, const struct operation *operation) {
    return operation->number * (class->task_count + 1);
}
static inline uint32_t user_of(const struct pe *pe, const struct operation *operation) {
    return user_in(user_without_task(pe->class, operation), pe);
}
/* Returns the end of a use that is open, which also says when it started. */
static inline cycle open_since(cycle start) { return NEVER + start; }
/* Uses a resource from `start` to `end`; returns false if another operation still does. */
static inline bool resource_use(struct core *core, struct pe *pe, uint32_t place, const struct operation *operation,
                                uint32_t where, cycle start, cycle end) {
    struct resource *resource = resource_of(pe, place);
    if (resource->ends > start) {
        return resource_use_early(core, pe, place, operation, where, start, end);
    }
    *resource = (struct resource){.ends = end, .user = user_of(pe, operation)};
    return true;
}
/* Ends the open use that started at `since`: a later one may end before it. */
static inline void resource_release(struct core *core, struct pe *pe, uint32_t place, cycle since, cycle end) {
    if (pe->early > 0) {
        resource_release_early(core, pe, place, since, end);
    } else {
        resource_of(pe, place)->ends = end;
    }
}

#endif
