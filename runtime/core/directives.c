/* Collective directives: the PEs of a row or column have to call the same ones, in the same order. */
#include <stdlib.h>

#include "machine.h"

enum { AXES = 2 };

/* A call: the first of its number so far, by cycle and PE */
struct made {
    uint32_t name, arguments, row, pe, task, where;
    cycle cycle;
};
/* The calls of a row or column, by number */
struct calls {
    struct made *made;
    uint64_t count, room;
};
struct directives {
    uint32_t *numbers[AXES];    /* calls that each PE has made */
    struct calls *lines[AXES]; /* of each row, of each column */
};

static uint32_t lines_of(const struct core *core, int axis) { return axis ? core->width : core->height; }

void prepare_directives(struct core *core) {
    if (core->tables.directives_count == 0) {
        return;
    }
    core->directives = core_allocate(core, 1, sizeof *core->directives);
    for (int axis = 0; axis < AXES; axis++) {
        core->directives->numbers[axis] = core_allocate(core, (uint64_t)core->width * core->height, sizeof(uint32_t));
        core->directives->lines[axis] = core_allocate(core, lines_of(core, axis), sizeof(struct calls));
    }
}

void free_directives(struct core *core) {
    for (int axis = 0; core->directives != NULL && axis < AXES; axis++) {
        struct calls *lines = core->directives->lines[axis];
        for (uint32_t k = 0; lines != NULL && k < lines_of(core, axis); k++) {
            free(lines[k].made);
        }
        free(lines);
        free(core->directives->numbers[axis]);
    }
    free(core->directives);
}

static bool comes_before(const struct made *a, const struct made *b) {
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->pe < b->pe;
}

/* Notes the call of a directive, by its row; returns false if it is the one that differs from an earlier call of another
 * PE of the line. An earlier call may be known later: then the error is that of the call that was the first till then. */
bool directive(struct core *core, struct pe *pe, uint32_t row, uint32_t root, uint32_t count, uint32_t where) {
    const struct directive_row *directive = &core->tables.directives[row];
    int axis = directive->axis != 0;
    uint32_t number = core->directives->numbers[axis][pe->number]++;
    struct calls *line = &core->directives->lines[axis][axis ? pe->x : pe->y];
    struct made mine = {directive->name, root << WORD_BITS | count, row, pe->number, running_task(pe), where, pe->now};
    if (number == line->count) {
        grow(core, (void **)&line->made, &line->room, line->count + 1, sizeof mine);
        line->made[line->count++] = mine;
        return true;
    }
    struct made *first = &line->made[number], later = mine;
    if (comes_before(&mine, first)) {
        later = *first;
        *first = mine;
    }
    if (later.name == first->name && later.arguments == first->arguments) {
        return true;
    }
    struct finding finding = {.code = DIRECTIVES_DIFFER, .pe = later.pe, .task = later.task, .where = later.where,
                              .cycle = later.cycle, .values = {number, later.row, later.arguments}};
    note_error(core, &finding);
    core->is_failing = later.pe == pe->number;
    return !core->is_failing;
}

/* Completes a finding with the first call of its number, when all earlier ones are known. */
void complete_directives(const struct core *core, struct finding *finding) {
    const struct directive_row *directive = &core->tables.directives[finding->values[1]];
    int axis = directive->axis != 0;
    uint32_t line = axis ? finding->pe % core->width : finding->pe / core->width;
    const struct made *first = &core->directives->lines[axis][line].made[finding->values[0]];
    finding->values[3] = first->row;
    finding->values[4] = first->arguments;
    finding->values[5] = first->pe;
}
