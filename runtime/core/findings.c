/* Findings: records of what goes wrong, or may. Python words them. */
#include "machine.h"

static void fill(struct finding *finding, const struct pe *pe, uint32_t code, uint32_t task, uint32_t where,
                 const int64_t *values, int count) {
    assert(count <= 6);
    *finding = (struct finding){.code = code, .pe = pe->number, .task = task, .where = where, .cycle = pe->now};
    memcpy(finding->values, values, (size_t)count * sizeof *values);
}

/* Returns whether a source place has not been warned of yet. Place 0 is none, which is never the same. */
bool warns(struct core *core, uint32_t where) {
    return where == 0 ? core->unplaced_warnings < MAX_WARNINGS : !(core->warned[where / 8] >> where % 8 & 1);
}

void warn(struct core *core, struct pe *pe, uint32_t code, uint32_t task, uint32_t where, const int64_t *values,
          int count) {
    if (!warns(core, where)) {
        return;
    }
    core->unplaced_warnings += where == 0;
    core->warned[where / 8] |= (uint8_t)(1 << where % 8); /* also of no place: some warnings come only once then */
    grow(core, (void **)&core->warnings, &core->warning_room, core->warning_count + 1, sizeof *core->warnings);
    fill(&core->warnings[core->warning_count++], pe, code, task, where, values, count);
}

/* Ends the run with an error; the first one stays. */
void fail(struct core *core, struct pe *pe, uint32_t code, uint32_t task, uint32_t where, const int64_t *values,
          int count) {
    if (core->error.code == 0) {
        fill(&core->error, pe, code, task, where, values, count);
    }
}
