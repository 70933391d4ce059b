/* Configuration registers of filters: their limit, the counter up to which wavelets pass, and their counter. */
#include "configuration.h"

enum { FILTER_WORDS = 4 };

/* Returns true if a filter has a register. */
bool is_of_filter(const struct core *core, uint32_t address) {
    const struct registers_input *registers = &core->registers;
    return address >= registers->filters && address - registers->filters < FILTER_WORDS * registers->filter_count;
}

/* Finds the router of a PE with the filter that has a register; NULL if there is none, and then an error is noted. */
struct router *find_filter(struct core *core, struct pe *pe, uint32_t address, uint32_t task, uint32_t where) {
    int32_t id = (int32_t)((address - core->registers.filters) / FILTER_WORDS);
    for (uint32_t k = 0; core->switches != NULL && k < core->switches->count; k++) {
        struct switched *color = &core->switches->colors[k];
        struct router *router = color->row.changes ? router_at(core, color, pe->number) : NULL;
        if (router != NULL && router->filter.kind != 0 && router->filter.kind != RANGE && router->filter.id == id) {
            return router;
        }
    }
    fail(core, pe, FILTER_MISSING, task, where, VALUES(id));
    return NULL;
}

/* Returns what a register of a filter stands for, NULL if nothing. */
int32_t *field_of(const struct core *core, struct filter *filter, uint32_t address) {
    uint32_t field = (address - core->registers.filters) % FILTER_WORDS;
    return field == 0 ? &filter->limit : field == 1 ? &filter->most : field == 2 ? &filter->counter : NULL;
}
