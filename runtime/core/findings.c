/* Findings: records of what goes wrong, or may. Python words them. */
#include "machine.h"

static struct finding make(const struct core *core, const struct pe *pe, uint32_t code, uint32_t task, uint32_t where,
                           const int64_t *values, int count) {
    assert(count <= 6);
    struct finding finding = {.code = code, .pe = pe->number, .task = task, .where = where,
                              .cycle = core->at >= 0 ? core->at : pe->now};
    memcpy(finding.values, values, (size_t)count * sizeof *values);
    return finding;
}

/* Returns true if a finding comes before another: by cycle and PE, and of one PE in one cycle by what it says. */
bool is_before(const struct finding *a, const struct finding *b) {
    if (a->cycle != b->cycle) {
        return a->cycle < b->cycle;
    }
    const uint32_t mine[] = {a->pe, a->code, a->where}, theirs[] = {b->pe, b->code, b->where};
    for (int k = 0; k < 3; k++) {
        if (mine[k] != theirs[k]) {
            return mine[k] < theirs[k];
        }
    }
    for (int k = 0; k < 6; k++) {
        if (a->values[k] != b->values[k]) {
            return a->values[k] < b->values[k];
        }
    }
    return false;
}

/* Warnings */

/* Returns the last of the warnings without a place. */
static uint32_t last_unplaced(const struct core *core) {
    uint32_t last = NO_ROW;
    for (uint32_t k = 0; k < core->warning_count; k++) {
        const struct finding *finding = &core->warnings[k];
        if (finding->where == 0 && (last == NO_ROW || is_before(&core->warnings[last], finding))) {
            last = k;
        }
    }
    return last;
}

/* Keeps the first warning of each place, and of those without a place the first ones. */
void warn(struct core *core, struct pe *pe, uint32_t code, uint32_t task, uint32_t where, const int64_t *values,
          int count) {
    uint32_t known = where == 0 ? 0 : core->warned[where];
    if (known == TOLD) {
        return;
    }
    struct finding made = make(core, pe, code, task, where, values, count);
    if (where == 0 && core->unplaced_warnings == MAX_WARNINGS) {
        if (core->last_unplaced == NO_ROW) {
            core->last_unplaced = last_unplaced(core);
        }
        known = core->last_unplaced + 1;
    }
    if (known != 0) {
        if (is_before(&made, &core->warnings[known - 1])) {
            core->warnings[known - 1] = made;
            core->last_unplaced = NO_ROW;
        }
        return;
    }
    grow(core, (void **)&core->warnings, &core->warning_room, core->warning_count + 1, sizeof *core->warnings);
    core->warnings[core->warning_count++] = made;
    core->unplaced_warnings += where == 0;
    core->last_unplaced = NO_ROW;
    if (where != 0) {
        core->warned[where] = (uint32_t)core->warning_count;
    }
}

/* Stores the warnings up to a cycle, and forgets them; returns how many they are. */
uint64_t take_warnings(struct core *core, cycle until, struct finding *findings) {
    uint64_t taken = 0, kept = 0;
    core->unplaced_warnings = 0;
    core->last_unplaced = NO_ROW;
    for (uint64_t k = 0; k < core->warning_count; k++) {
        struct finding finding = core->warnings[k];
        if (finding.cycle <= until) {
            findings[taken++] = finding;
            core->warned[finding.where] = TOLD;
            continue;
        }
        core->warnings[kept++] = finding;
        core->warned[finding.where] = (uint32_t)kept;
        core->unplaced_warnings += finding.where == 0;
    }
    core->warning_count = kept;
    return taken;
}

/* Errors */

/* Notes an error. The first of all ends the run, when all that begins before it has happened. */
void note_error(struct core *core, const struct finding *finding) {
    if (core->error.code == 0 || is_before(finding, &core->error)) {
        core->error = *finding;
    }
    if (finding->cycle < core->epoch.until) {
        core->epoch.until = finding->cycle;
    }
}

/* Notes an error of the task or operation at work, which ends there. */
void fail(struct core *core, struct pe *pe, uint32_t code, uint32_t task, uint32_t where, const int64_t *values,
          int count) {
    struct finding finding = make(core, pe, code, task, where, values, count);
    note_error(core, &finding);
    core->is_failing = true;
}
