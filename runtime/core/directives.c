/* Collective directives: the PEs of a row or column have to call the same ones, in the same order. */
#include <stdlib.h>

#include "machine.h"

enum { AXES = 2 };

/* A call, as the first PE made it that got there */
struct made {
    uint32_t name, arguments, row, pe;
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

/* Notes the call of a directive, by its row; leaves a finding, and returns false, if another PE of the line has called
 * another. */
bool directive(struct core *core, struct pe *pe, uint32_t row, uint32_t root, uint32_t count, uint32_t where) {
    const struct directive_row *directive = &core->tables.directives[row];
    int axis = directive->axis != 0;
    uint32_t number = core->directives->numbers[axis][pe->number]++;
    struct calls *line = &core->directives->lines[axis][axis ? pe->x : pe->y];
    struct made mine = {directive->name, root << WORD_BITS | count, row, pe->number};
    if (number == line->count) {
        grow(core, (void **)&line->made, &line->room, line->count + 1, sizeof mine);
        line->made[line->count++] = mine;
        return true;
    }
    const struct made *first = &line->made[number];
    if (mine.name == first->name && mine.arguments == first->arguments) {
        return true;
    }
    fail(core, pe, DIRECTIVES_DIFFER, running_task(pe), where,
         VALUES(number, row, mine.arguments, first->row, first->arguments, first->pe));
    return false;
}
