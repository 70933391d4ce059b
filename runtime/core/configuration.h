/* What the configuration registers of a PE stand for, by concept. */
#ifndef LOOM_CONFIGURATION_H
#define LOOM_CONFIGURATION_H

#include "switches.h"

/* Routers */

struct router *find_router(struct core *core, const struct pe *pe, uint32_t address, uint32_t *place);
uint16_t read_router(const struct core *core, const struct router *router, uint32_t place);
uint32_t write_router(const struct core *core, struct router *router, uint32_t place, uint16_t word);

/* Filters */

bool is_of_filter(const struct core *core, uint32_t address);
struct router *find_filter(struct core *core, struct pe *pe, uint32_t address, uint32_t task, uint32_t where);
int32_t *field_of(const struct core *core, struct filter *filter, uint32_t address);

/* Queues */

struct look { /* a queue that is to be flushed */
    struct pe *pe;
    uint64_t number; /* 1 + 8 of an output queue + id */
};

struct queue_flushes {
    uint8_t (*flushing)[2], (*flushed)[2]; /* of each PE, input and output queues, as bits */
    uint64_t looks;                        /* events in which queues are looked at */
    struct look *later;                    /* queues that are looked at when something else happens */
    uint64_t later_count, later_room;
};
uint16_t queue_status(const struct core *core, struct pe *pe, bool output);
bool flush(struct core *core, struct pe *pe, bool output, uint32_t id, uint32_t task, uint32_t where);

/* Clocks */

bool is_of_clock(const struct core *core, uint32_t address);
uint16_t read_clock(const struct core *core, const struct pe *pe, uint32_t address);
void write_clock(struct core *core, const struct pe *pe, uint32_t address, uint16_t value);

/* Settings of a PE */

bool is_setting(const struct core *core, uint32_t address);
uint16_t read_setting(const struct core *core, const struct pe *pe, uint32_t address);
void write_setting(struct core *core, struct pe *pe, uint32_t address, uint16_t value);

#endif
