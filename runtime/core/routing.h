/* Ways that programs change or choose: switches, configuration registers, directives, and messages. */
#ifndef LOOM_ROUTING_H
#define LOOM_ROUTING_H

#include "state.h"

struct sending;

/* routers.c */
struct router;
void prepare_switches(struct core *core, const struct core_input *input);
void free_switches(struct core *core);
bool has_switches(const struct core *core, int32_t color);
struct path *ramp_of(struct core *core, const struct pe *pe, const struct queue *queue);

/* switches.c */
void enter_router(struct core *core, struct pe *pe, const struct queue *queue, const struct run *run, bool advances,
                  struct send **send);
void router_decide(struct core *core, struct router *router, cycle now);
void router_changes(struct core *core, struct router *router, cycle now);

/* configuration.c */
void prepare_clocks(struct core *core);
void free_clocks(struct core *core);
void prepare_settings(struct core *core, const struct core_input *input);
void free_settings(struct core *core);
uint32_t control_mask(const struct core *core, const struct pe *pe);
uint32_t prefer(const struct core *core, const struct pe *pe, uint32_t first, cycle *time);
void prepare_flushes(struct core *core);
void free_flushes(struct core *core);
void look_at_queue(struct core *core, struct pe *pe, uint64_t number, cycle now);
void look_again(struct core *core, cycle now);
uint32_t teardown_task(const struct core *core, const struct pe *pe);
bool is_register(const struct core *core, int64_t address, uint32_t size);
bool read_configuration(struct core *core, struct pe *pe, uint32_t address, uint32_t task, uint32_t where,
                        uint16_t *value);
bool write_configuration(struct core *core, struct pe *pe, uint32_t address, uint32_t task, uint32_t where,
                         uint16_t value);
void router_goes_on(struct core *core, struct router *router);

/* directives.c */
void prepare_directives(struct core *core);
void free_directives(struct core *core);
bool directive(struct core *core, struct pe *pe, uint32_t row, uint32_t root, uint32_t count, uint32_t where);
void complete_directives(const struct core *core, struct finding *finding);

/* messages.c */
struct worm;
void prepare_networks(struct core *core, const struct core_input *input);
void free_networks(struct core *core);
void inject(struct core *core, struct pe *pe, const struct queue *queue, const struct sending *sending,
            const struct descriptor *stream, const struct run *run);
void message_moves(struct core *core, struct worm *worm, cycle time);
void piece_taken(struct core *core, const struct run *run, int64_t position, int64_t count, cycle time, cycle rate);
void piece_drop(struct core *core, struct piece *piece);
void check_cut(struct core *core, const struct open *open, const struct piece *piece);
void check_last(struct core *core, struct pe *pe, const struct piece *piece, uint32_t word);
bool message_of(const struct core *core, const struct send *send, uint32_t *place, uint32_t *count);

#endif
