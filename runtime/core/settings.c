/* Settings of PEs in configuration registers: the mask of control_transform, the priority of what tasks wait for, and
 * which tasks have a high priority.
 */
#include <stdlib.h>

#include "configuration.h"
#include "priorities.h"

/* By number of targets.wavelets.SETTINGS */
enum { CONTROL_MASK, MAIN_THREAD, LOW_TASKS, HIGH_TASKS, SETTINGS };

enum { CONTROL_MASK_BITS = 6, MAIN_THREAD_LEVELS = 4, TASK_IDS = 32 };

struct pe_settings {
    uint16_t words[SETTINGS];
};

void prepare_settings(struct core *core, const struct core_input *input) {
    if (core->tables.settings_count == 0 && core->flushes == NULL) {
        return;
    }
    core->settings = core_allocate(core, (uint64_t)core->width * core->height, sizeof *core->settings);
    for (uint32_t k = 0; k < core->class_count; k++) {
        const struct class *class = &core->classes[k];
        for (uint32_t unit = 0; unit < class->units; unit++) {
            const struct pe *pe = pe_at(class, unit);
            uint16_t *words = core->settings[pe->number].words;
            words[MAIN_THREAD] = (uint16_t)(input->main_levels[k] - 1);
            for (uint64_t n = 0; n < core->tables.settings_count; n++) {
                const struct setting_row *row = &core->tables.settings[n];
                if (row->owner == k) {
                    words[row->number] = (uint16_t)row->value;
                }
            }
        }
    }
}

void free_settings(struct core *core) { free(core->settings); }

bool is_setting(const struct core *core, uint32_t address) {
    return core->settings != NULL && address - core->registers.settings < SETTINGS;
}

uint16_t read_setting(const struct core *core, const struct pe *pe, uint32_t address) {
    return core->settings[pe->number].words[address - core->registers.settings];
}

void write_setting(struct core *core, struct pe *pe, uint32_t address, uint16_t value) {
    core->settings[pe->number].words[address - core->registers.settings] = value;
    if (address - core->registers.settings == MAIN_THREAD) {
        set_main_level(pe, (uint8_t)(1 + value % MAIN_THREAD_LEVELS));
    }
}

/* Returns what is changed of the control wavelets that a PE sends with control_transform. */
uint32_t control_mask(const struct core *core, const struct pe *pe) {
    uint32_t mask = core->settings == NULL ? 0 : core->settings[pe->number].words[CONTROL_MASK];
    return (mask & ((1 << CONTROL_MASK_BITS) - 1)) << WORD_BITS;
}

/* Returns the tasks of a PE with a high priority, as bits by their ids. */
static uint32_t high_tasks(const struct core *core, const struct pe *pe) {
    const uint16_t *words = core->settings[pe->number].words;
    return words[LOW_TASKS] | (uint32_t)words[HIGH_TASKS] << WORD_BITS;
}

static bool is_high(const struct pe *pe, uint32_t task, uint32_t high) {
    const struct task *its = &pe->class->tasks[task];
    bool has_priority = its->type == LOCAL_TASK || its->type == DATA_TASK || its->type == LISTENER;
    return has_priority && its->row->number >= 0 && its->row->number < TASK_IDS && high >> its->row->number & 1;
}

/* Returns the task that a PE picks, and sets when: of those that are ready when it is free, `first` is the one that is
 * ready first, at `*time`; those of high priority come before it. */
uint32_t prefer(const struct core *core, const struct pe *pe, uint32_t first, cycle *time) {
    uint32_t high = high_tasks(core, pe), best = first;
    if (high == 0 || first == NO_TASK) {
        return first;
    }
    *time = pe->clock > *time ? pe->clock : *time;
    cycle earliest = *time + 1;
    for (uint32_t task = 0; task < pe->class->task_count; task++) {
        cycle ready = task_ready(pe, task);
        if (ready < earliest && is_high(pe, task, high)) {
            earliest = ready;
            best = task;
        }
    }
    return best;
}
