/* Creation of a core from tables that have been checked, and a fabric. */
#include <stdlib.h>

#include "code.h"
#include "frames.h"
#include "held.h"
#include "priorities.h"
#include "quick.h"
#include "races.h"

enum { LARGE_GRID = 1 << 16 }; /* PEs */

/* Sets how an operation runs: its microthread, and the tasks that its end starts. */
void set_settings(const struct tables *tables, struct operation *operation, const uint32_t *tasks, uint16_t thread) {
    uint16_t *places[] = {&operation->activate, &operation->unblock, &operation->control_activate,
                         &operation->control_unblock};
    operation->is_async = thread != NO_MICROTHREAD;
    operation->thread = thread;
    operation->has_completion = operation->has_control = false;
    for (int k = 0; k < 4; k++) {
        *places[k] = NO_TASK;
        if (tasks[k] != NO_ROW) {
            const struct task_row *task = &tables->tasks[tasks[k]];
            *places[k] = (uint16_t)(tasks[k] - tables->classes[task->owner].tasks);
            operation->has_completion = true;
            operation->has_control |= k >= 2;
        }
    }
}

/* Prepares what the end of an operation changes: classes know where their PEs have what is to know of it. */
void set_completion(const struct core *core, struct operation *operation, const uint32_t *tasks) {
    const bool activates = tasks[0] != NO_ROW;
    const uint32_t row = tasks[activates ? 0 : 1];
    operation->completion = (struct completion){.activates = activates};
    if (row == NO_ROW) {
        return;
    }
    const struct class *class = &core->classes[core->tables.tasks[row].owner];
    const uint32_t number = row - class->row->tasks;
    const struct task *task = &class->tasks[number];
    const uint32_t first = activates ? class->parts.activations : class->parts.unblockings;
    const uint32_t size = activates ? sizeof(struct activations) : sizeof(struct unblockings);
    const int place = activates ? task->activations : task->unblockings;
    struct completion *completion = &operation->completion;
    completion->bit = task_bit(number);
    completion->known = place >= 0 ? first + (uint32_t)place * size : 0;
    completion->state = (uint32_t)(sizeof(struct pe) + number * sizeof(struct task_state));
    completion->task = (uint16_t)number;
    completion->is_void = !(task->flags & BLOCKABLE);
}

static void prepare_completions(struct core *core) {
    for (uint64_t k = 0; k < core->tables.operations_count; k++) {
        const struct operation_row *row = &core->tables.operations[k];
        set_completion(core, &core->operations[k], (const uint32_t[]){row->activate, row->unblock});
    }
}

static void prepare_operations(struct core *core, const struct core_input *input) {
    const struct tables *tables = &core->tables;
    const struct kernel *kernels = loom_kernels();
    core->operations = core_allocate(core, tables->operations_count, sizeof *core->operations);
    core->variants = core_allocate(core, tables->operations_count, sizeof *core->variants);
    for (uint64_t k = 0; k < tables->operations_count; k++) {
        const struct operation_row *row = &tables->operations[k];
        struct operation *operation = &core->operations[k];
        const uint32_t *dsd = input->dsd_rows[row->function];
        operation->row = row;
        operation->number = (uint32_t)k;
        operation->kernel = kernel_of(kernels, row->function, row->format);
        operation->sources = (uint8_t)dsd[0];
        operation->is_move = (uint8_t)dsd[1];
        operation->words = (uint8_t)dsd[2];
        operation->numerator = dsd[3];
        operation->denominator = dsd[4];
        for (int place = 0; place <= operation->sources; place++) {
            uint8_t kind = (uint8_t)dsd[5 + place];
            operation->kinds[place] = kind != KIND_F16 || row->format == 0 ? kind : row->format == 1 ? KIND_BF16 : KIND_I16;
        }
        bool gives_float = operation->kinds[0] == KIND_F16 || operation->kinds[0] == KIND_BF16 || operation->kinds[0] == KIND_F32;
        operation->raises = gives_float ? (uint8_t)dsd[9] : 0;
        operation->settings = NO_ROW;
        operation->level = input->priority_levels[row->priority];
        operation->on_control = row->flags & ON_CONTROL;
        operation->drops_data = (row->flags & DROPS_DATA) != 0;
        const uint32_t tasks[] = {row->activate, row->unblock, row->control_activate, row->control_unblock};
        set_settings(tables, operation, tasks, row->microthread);
    }
}

static void prepare_accesses(struct core *core) {
    const struct tables *tables = &core->tables;
    core->accesses = core_allocate(core, tables->accesses_count, sizeof *core->accesses);
    for (uint64_t k = 0; k < tables->accesses_count; k++) {
        const struct access_row *row = &tables->accesses[k];
        core->accesses[k] = (struct access){.base = row->base, .bytes = kind_bytes(row->kind), .buffer = row->buffer,
                                            .kind = row->kind, .rank = row->rank, .flags = row->flags,
                                            .is_static = row->rank == 0 && !(row->flags & ACCESS_POINTER),
                                            .dims = tables->access_dims + row->dims};
    }
}

/* Code of uses, their numbers and their descriptors, each use's side by side. */
static void prepare_uses(struct core *core, const int64_t *call_bytes, bool counts) {
    const struct tables *tables = &core->tables;
    uint64_t slots = 0, numbers = 0, descriptors = 0, applications = 0, instructions = 0;
    for (uint64_t k = 0; k < tables->uses_count; k++) {
        const struct body_row *body = &tables->bodies[tables->uses[k].body];
        slots = body->slots > slots ? body->slots : slots;
        instructions += body->length;
        for (int n = 0; n < body->slots; n++) {
            applications += tables->slot_kinds[body->slot_kinds + (uint32_t)n] == SLOT_OPERATION;
        }
        numbers += body->numbers;
        descriptors += body->descriptors;
    }
    core->uses = core_allocate(core, tables->uses_count, sizeof *core->uses);
    core->slots = core_allocate(core, slots, sizeof *core->slots);
    core->code = core_allocate(core, instructions, sizeof *core->code);
    core->signals = core_allocate(core, instructions, sizeof *core->signals);
    core->numbers = core_allocate(core, numbers + NUMBERS_AT_ONCE, sizeof *core->numbers);
    core->descriptors = core_allocate(core, descriptors, sizeof *core->descriptors);
    core->applications = core_allocate(core, applications, sizeof *core->applications);
    core->application_count = applications;
    core->instruction_count = instructions;
    struct application *application = core->applications;
    struct instruction *code = core->code;
    struct signal *signal = core->signals;
    int64_t *number = core->numbers;
    struct descriptor *descriptor = core->descriptors;
    for (uint64_t k = 0; k < tables->uses_count; k++) {
        struct use *use = &core->uses[k];
        const struct body_row *body = &tables->bodies[tables->uses[k].body];
        const uint32_t *rows = tables->rows + tables->uses[k].rows;
        use->body = body;
        use->code = code;
        use->where = tables->code_where + body->code;
        use->number = (uint32_t)k;
        use->call_bytes = call_bytes[tables->uses[k].body];
        use->number_count = body->numbers;
        use->size = body->registers + body->frame_descriptors * (uint32_t)(sizeof(struct descriptor) / 8);
        use->numbers = number;
        use->descriptors = descriptor;
        for (int n = 0; n < body->numbers; n++) {
            *number++ = tables->numbers[*rows++];
        }
        for (int n = 0; n < body->descriptors; n++) {
            const struct descriptor_row *row = &tables->descriptors[*rows++];
            *descriptor = (struct descriptor){.address = row->address, .row = row->row, .type = row->type,
                                              .kind = row->kind, .dimensions = row->dimensions, .flags = row->flags,
                                              .load = NO_ROW};
            memcpy(descriptor->extents, row->extents, sizeof row->extents);
            memcpy(descriptor->strides, row->strides, sizeof row->strides);
            note_plain(core, descriptor);
            descriptor++;
        }
        union slot *slot = core->slots;
        for (int n = 0; n < body->slots; n++, slot++) {
            uint32_t row = *rows++;
            switch (tables->slot_kinds[body->slot_kinds + (uint32_t)n]) {
            case SLOT_USE: slot->use = &core->uses[row]; break;
            case SLOT_COLUMN: slot->column = tables->column_values + tables->columns[row].values; break;
            case SLOT_ACCESS: slot->access = &core->accesses[row]; break;
            case SLOT_OPERATION:
                prepare_application(application, &core->operations[row], use);
                slot->application = application++;
                break;
            case SLOT_TASK: slot->number = row - tables->classes[tables->tasks[row].owner].tasks; break;
            default: slot->number = row; break;
            }
        }
        prepare_code(core, counts, use, core->slots, code);
        signal += prepare_signals(use, signal);
        code += body->length;
    }
    free(core->slots);
    core->slots = NULL;
}

static int by_address(const void *a, const void *b) {
    const struct variable *first = a, *second = b;
    if (first->start != second->start) {
        return first->start < second->start ? -1 : 1;
    }
    return first->end > second->end ? -1 : first->end < second->end;
}

/* Buffers by their addresses; those that share words count as one. */
static void prepare_variables(struct core *core, struct class *class) {
    const struct class_row *row = class->row;
    class->variables = core_allocate(core, row->buffer_count, sizeof *class->variables);
    uint32_t count = 0;
    for (uint32_t k = 0; k < row->buffer_count; k++) {
        const struct buffer_row *buffer = &core->tables.buffers[row->buffers + k];
        if (buffer->elements > 0) {
            uint32_t words = (uint32_t)(((uint64_t)buffer->elements * kind_bytes(buffer->kind) + 1) / 2);
            class->variables[count++] = (struct variable){buffer->address, buffer->address + words, row->buffers + k};
        }
    }
    qsort(class->variables, count, sizeof *class->variables, by_address);
    for (uint32_t k = 0; k < count; k++) {
        struct variable *last = class->variable_count ? &class->variables[class->variable_count - 1] : NULL;
        if (last != NULL && class->variables[k].start < last->end) {
            last->end = class->variables[k].end > last->end ? class->variables[k].end : last->end;
        } else {
            class->variables[class->variable_count++] = class->variables[k];
        }
    }
}

static void prepare_queue(struct core *core, const struct core_input *input, struct class *class, uint32_t place,
                          uint32_t number) {
    struct queue *queue = &class->queues[place];
    int64_t first = input->queue_first[number];
    core->queue_place[number] = place;
    queue->number = number;
    queue->is_sink = number >= core->tables.queues_count;
    queue->row = queue->is_sink ? NULL : &core->tables.queues[number];
    queue->is_input = queue->is_sink || queue->row->direction == INPUT_QUEUE;
    queue->senders = (uint32_t)input->senders[number];
    queue->room = input->room[number];
    queue->is_colorless = input->colorless[number];
    queue->task = NO_TASK;
    if (!queue->is_sink && queue->row->task != NO_ROW) {
        queue->task = (uint16_t)(queue->row->task - class->row->tasks);
    }
    queue->flags = input->flags + first;
    queue->colors = input->colors + first;
    queue->ways = input->way_lists + first;
    queue->network = (uint16_t)(input->network[number] + 1);
    if (queue->network != 0 && queue->senders == 0) {
        queue->senders = 1; /* whoever sends a message */
    }
    if (queue->senders > 1 && !queue->is_sink) {
        queue->entries = core_allocate(core, class->units, sizeof(struct entry *));
    }
    queue->is_static = queue->network == 0;
    queue->is_taskless = queue->is_input && queue->task == NO_TASK && !queue->is_sink;
    queue->is_uniform = true;
    for (uint32_t unit = 0; unit < class->units; unit++) {
        queue->is_static &= !has_switches(core, queue->colors[unit]);
        queue->is_uniform &= queue->flags[unit] == 0 && !(queue->is_colorless && queue->colors[unit] < 0);
        if (queue->flags[unit] & PARTLY_UNREAD && queue->unread == NULL) {
            queue->unread = core_allocate(core, class->units, sizeof *queue->unread);
        }
    }
}

/* Lists the tasks that control wavelets start by their ids: control tasks, else the data task that has the id. */
static void prepare_control_tasks(struct class *class) {
    memset(class->control_tasks, 0xFF, sizeof class->control_tasks);
    static const uint8_t types[] = {DATA_TASK, CONTROL_TASK}; /* the later replaces the earlier */
    for (uint32_t i = 0; i < sizeof types; i++) {
        for (uint32_t k = 0; k < class->task_count; k++) {
            const struct task *task = &class->tasks[k];
            if (task->type == types[i] && task->row->number >= 0 && task->row->number < 64) {
                class->control_tasks[task->row->number] = (uint16_t)k;
            }
        }
    }
}

static void prepare_tasks(struct core *core, struct class *class) {
    class->tasks = core_allocate(core, class->task_count, sizeof *class->tasks);
    for (uint32_t k = 0; k < class->task_count; k++) {
        struct task *task = &class->tasks[k];
        task->number = class->row->tasks + k;
        task->row = &core->tables.tasks[task->number];
        task->use = task->row->use == NO_ROW ? NULL : &core->uses[task->row->use];
        task->type = task->row->type;
        task->flags = task->row->flags;
        task->activations = task->flags & COMPLETION_ACTIVATES ? (int16_t)class->activations++ : -1;
        task->unblockings = task->flags & COMPLETION_UNBLOCKS ? (int16_t)class->unblockings++ : -1;
        if (task->type == LOCAL_TASK && task->use->signals != NULL && class->task_count <= MASKED_TASKS) {
            class->signal_tasks |= task_bit(k);
        }
        if (task->type == DATA_TASK || task->type == LISTENER) {
            class->data_tasks |= task_bit(k);
            task->queue = (uint16_t)core->queue_place[task->row->queue];
            if (task->type == DATA_TASK && class->queues[task->queue].senders == 1) {
                class->ordered_tasks |= task_bit(k);
            }
        } else if (task->type == LAUNCH_TASK) {
            task->launch = core_allocate(core, task->use->body->arguments, sizeof(int64_t));
        }
    }
    prepare_control_tasks(class);
}

/* Adds to the signals of tasks what is known of those that they change. */
static void complete_signals(struct core *core, const struct class *class) {
    for (uint64_t left = class->signal_tasks; left != 0; left &= left - 1) {
        const struct use *use = class->tasks[__builtin_ctzll(left)].use;
        struct signal *signals = core->signals + (use->signals - core->signals);
        for (uint32_t k = 0; k < use->signal_count; k++) {
            const struct task *task = &class->tasks[signals[k].task];
            signals[k].place = signals[k].op == I_activate ? task->activations : task->unblockings;
            signals[k].is_void = signals[k].op != I_activate && !(task->flags & BLOCKABLE);
        }
    }
}

/* Prepares the tasks that block themselves and activate the next one, of which programs make chains. */
static void prepare_relays(struct core *core, struct class *class) {
    if (class->signal_tasks == 0) {
        return;
    }
    const cycle begin = core->timing.task_start;
    class->relays = core_allocate(core, class->task_count, sizeof *class->relays);
    for (uint32_t k = 0; k < class->task_count; k++) {
        const struct task *task = &class->tasks[k];
        if (!(class->signal_tasks & task_bit(k)) || task->use->signal_count != 2 || task->unblockings < 0) {
            continue;
        }
        const struct signal *first = task->use->signals, *second = first + 1;
        const struct signal *block = first->op == I_block ? first : second, *activate = block == first ? second : first;
        if (block->op != I_block || block->task != k || block->is_void || activate->op != I_activate ||
            activate->task == k || activate->place >= 0) {
            continue;
        }
        struct relay *relay = &class->relays[k];
        *relay = (struct relay){
            .others = ~task_bit(k), .activated = task_bit(activate->task), .blocks = begin + block->behind,
            .activates = begin + activate->behind, .ends = begin + task->use->duration};
        relay->next = (uint32_t)(sizeof(struct pe) + activate->task * sizeof(struct task_state));
        relay->unblocks = class->parts.unblockings + (uint32_t)task->unblockings * (uint32_t)sizeof(struct unblockings);
        if (task->activations >= 0) {
            relay->picks = class->parts.activations + (uint32_t)task->activations * (uint32_t)sizeof(struct activations);
        }
    }
    for (uint32_t k = 0; k < class->task_count; k++) {
        struct relay *relay = &class->relays[k];
        if (relay->unblocks != 0) {
            const struct relay *next = &class->relays[__builtin_ctzll(relay->activated)];
            relay->behind = next->unblocks != 0 ? next : NULL;
        }
    }
}

static void prepare_pes(struct core *core, const struct core_input *input, struct class *class) {
    uint32_t units = class->units;
    uint64_t tasks = sizeof(struct pe), activations = tasks + class->task_count * sizeof(struct task_state);
    uint64_t unblockings = activations + class->activations * sizeof(struct activations);
    uint64_t behind = unblockings + class->unblockings * sizeof(struct unblockings), word = _Alignof(struct output);
    uint64_t outputs = (behind + word - 1) / word * word;
    uint64_t resources = outputs + (class->queue_count - class->input_count) * sizeof(struct output);
    uint64_t inputs = (resources + class->resource_count * sizeof(struct resource) + LINE - 1) / LINE * LINE;
    uint64_t registers = inputs + class->input_count * sizeof(struct input);
    uint64_t sides = registers + core->register_count * sizeof(struct descriptor);
    class->pe_bytes = (sides + (class->input_count - class->source_count) * sizeof(struct side) + LINE - 1) / LINE * LINE;
    class->parts = (struct parts){
        .activations = (uint32_t)activations, .unblockings = (uint32_t)unblockings, .outputs = (uint32_t)outputs,
        .resources = (uint32_t)resources, .inputs = (uint32_t)inputs, .sides = (uint32_t)sides,
        .registers = (uint32_t)registers};
    class->pes = allocate_large(core, units * class->pe_bytes);
    const int32_t *numbers = input->unit_pes + input->class_first[class->number];
    for (uint32_t unit = 0; unit < units; unit++) {
        struct pe *pe = pe_at(class, unit);
        pe->class = class;
        pe->unit = unit;
        pe->number = (uint32_t)numbers[unit];
        pe->x = (uint16_t)(pe->number % core->width);
        pe->y = (uint16_t)(pe->number / core->width);
        pe->memory = class->memory + (uint64_t)unit * class->bytes;
        pe->tile = tile_of(core, pe);
        pe->queued = NEVER;
        pe->task = NO_TASK;
        core->pe_of[pe->number] = pe;
        for (uint32_t k = 0; k < class->source_count; k++) {
            inputs_of(pe)[k].is_loud = !is_quiet(&class->queues[k], unit);
        }
        for (uint32_t k = 0; k < class->task_count; k++) {
            const struct task *task = &class->tasks[k];
            pe->tasks[k].unblocked = task->flags & BLOCKED ? NEVER : 0;
            set_active(pe, k, task->flags & ACTIVE ? 0 : NEVER);
            if (task->activations >= 0) {
                activations_at(pe)[task->activations].picked = -1;
            }
            if (task->unblockings >= 0) {
                unblockings_at(pe)[task->unblockings].blocked = -1;
            }
        }
    }
}

/* Has the PEs looked at that have a task active. */
static void touch_active(struct core *core) {
    for (uint32_t k = 0; k < core->class_count; k++) {
        for (uint32_t unit = 0; unit < core->classes[k].units; unit++) {
            struct pe *pe = pe_at(&core->classes[k], unit);
            if (pe->active != 0 || pe->class->task_count > MASKED_TASKS) {
                touch(core, pe);
            }
        }
    }
}

static void prepare_class(struct core *core, const struct core_input *input, uint32_t number, uint32_t threads) {
    struct class *class = &core->classes[number];
    class->row = &core->tables.classes[number];
    class->number = number;
    class->units = (uint32_t)(input->class_first[number + 1] - input->class_first[number]);
    class->task_count = class->row->task_count;
    class->words = input->words[number];
    class->stack_room = input->stack_rooms[number];
    class->memory = input->memory[number];
    class->bytes = input->memory_bytes[number];
    class->threads = threads;
    const struct queue_row *rows = core->tables.queues + class->row->queues;
    uint32_t queue_rows = class->row->queue_count, outputs = 0;
    for (uint32_t q = 0; q < queue_rows; q++) {
        outputs += rows[q].direction != INPUT_QUEUE;
    }
    class->source_count = queue_rows - outputs;
    for (uint32_t q = (uint32_t)core->tables.queues_count; q < core->queue_count; q++) {
        class->source_count += input->queue_class[q] == (int32_t)number;
    }
    class->input_count = class->source_count + 2 * class->row->fifo_count;
    class->queue_count = class->input_count + outputs;
    class->queues = core_allocate(core, class->queue_count, sizeof *class->queues);
    class->resource_count = class->queue_count + threads;
    uint32_t source = 0, output = class->input_count;
    for (uint32_t q = 0; q < queue_rows; q++) {
        uint32_t place = rows[q].direction == INPUT_QUEUE ? source++ : output++;
        prepare_queue(core, input, class, place, class->row->queues + q);
    }
    for (uint32_t q = (uint32_t)core->tables.queues_count; q < core->queue_count; q++) {
        if (input->queue_class[q] == (int32_t)number) {
            prepare_queue(core, input, class, source++, q);
        }
    }
    if (class->row->flags & CLASS_TRAPS) {
        class->unmasked = core_allocate(core, class->units, sizeof *class->unmasked);
        core->watches = true;
    }
    prepare_variables(core, class);
    prepare_tasks(core, class);
    complete_signals(core, class);
    prepare_pes(core, input, class);
    prepare_relays(core, class);
    prepare_priorities(core, input, class);
    prepare_fifos(core, class);
}

static void make_pool(struct pool *pool, uint64_t size) { *pool = (struct pool){.size = (uint32_t)size}; }

/* Runs the code that the PEs of each class run before anything else, at no cost. */
static void run_starts(struct core *core) {
    for (uint64_t k = 0; k < core->tables.starts_count; k++) {
        const struct start_row *start = &core->tables.starts[k];
        struct class *class = &core->classes[start->owner];
        for (uint32_t unit = 0; unit < class->units; unit++) {
            struct pe *pe = pe_at(class, unit);
            struct core *its = core_of(core, pe);
            its->moves = MAX_MOVES_AT_A_TIME;
            its->budget = UINT64_MAX;
            note_observers(its);
            its->running = pe;
            enter_task(its, pe, NO_TASK, &core->uses[start->use]);
            int how = interpret(its, pe, 0);
            assert(how == FINISHED || how == FAILED);
            (void)how;
            its->is_failing = false;
            pe->clock = pe->now = 0;
            its->running = NULL;
            its->steps = 0;
            its->last_clock = 0;
        }
    }
}

static void prepare(struct core *core, const struct core_input *input) {
    if ((uint64_t)input->width * input->height >= LARGE_GRID) {
        give_back(); /* making the fabric has taken more than it keeps */
    }
    core->tables = *input->tables;
    core->timing = input->timing;
    core->registers = input->registers;
    core->width = input->width;
    core->height = input->height;
    core->class_count = (uint32_t)core->tables.classes_count;
    core->queue_count = input->queue_count;
    core->list_first = input->list_first;
    core->ways = input->ways;
    core->levels = input->levels;
    core->priority_levels = input->priority_levels;
    core->blockable = input->blockable;
    core->microthreads = input->microthreads;
    make_pool(&core->runs, sizeof(struct run));
    make_pool(&core->opens, sizeof(struct open));
    make_pool(&core->send_pool, sizeof(struct send));
    make_pool(&core->paths, sizeof(struct other_path));
    make_pool(&core->claims, sizeof(struct claim));
    make_pool(&core->waiters, sizeof(struct waiters));
    make_pool(&core->entries, sizeof(struct entry));
    make_pool(&core->newcomers, sizeof(struct newcomer));
    make_pool(&core->multicasts, sizeof(struct multicast));
    make_priority_pools(core);
    make_pool(&core->moments, sizeof(struct moment));
    make_pool(&core->earlies, sizeof(struct early));
    core->early_end = &core->early;
    core->horizon = core->present = core->at = -1;
    core->epoch = (struct epoch){.until = EPOCH - 1, .first = NEVER};
    make_pool(&core->arrivals, sizeof(struct arrival));
    core->warned = core_allocate(core, input->strings + 1, sizeof *core->warned);
    core->pe_of = core_allocate(core, (uint64_t)core->width * core->height, sizeof *core->pe_of);
    core->queue_place = core_allocate(core, core->queue_count, sizeof *core->queue_place);
    core->classes = core_allocate(core, core->class_count, sizeof *core->classes);
    core->prices = core_allocate(core, core->tables.costs_count, sizeof *core->prices);
    for (uint64_t k = 0; k < core->tables.costs_count; k++) {
        for (int c = 0; c < COST_CLASSES; c++) {
            core->prices[k] += core->tables.costs[k].counts[c] * input->prices[c];
        }
    }
    prepare_switches(core, input);
    prepare_flushes(core);
    prepare_networks(core, input);
    prepare_directives(core);
    core->trap_rows = input->traps;
    core->ticked = input->ticked;
    core->issued = input->issued;
    prepare_tiles(core, input);
    place_registers(core);
    prepare_operations(core, input);
    prepare_accesses(core);
    prepare_quick(core);
    if (input->unwritten != NULL) {
        core->command_words = input->command_words;
        prepare_races(core);
    }
    prepare_uses(core, input->call_bytes, input->ticked != NULL || input->statistics != NULL);
    uint32_t threads = 0;
    for (uint64_t k = 0; k < core->tables.operations_count; k++) {
        uint16_t thread = core->tables.operations[k].microthread;
        threads = thread != NO_MICROTHREAD && thread >= threads ? thread + 1u : threads;
    }
    for (uint64_t k = 0; k < core->tables.register_loads_count; k++) {
        uint16_t thread = core->tables.register_loads[k].microthread;
        threads = thread != NO_MICROTHREAD && thread >= threads ? thread + 1u : threads;
    }
    for (uint32_t k = 0; k < core->class_count; k++) {
        prepare_class(core, input, k, threads);
    }
    prepare_completions(core);
    prepare_moves(core);
    choose_short_ways(core);
    join_instructions(core);
    prepare_sums(core);
    prepare_clocks(core);
    prepare_held(core);
    join_loops(core);
    prepare_settings(core, input);
    if (core->races != NULL) {
        prepare_unwritten(core, input->unwritten);
    }
    divide(core, input->strings);
    touch_active(core);
    run_starts(core);
    prepare_statistics(core, input->statistics);
    prepare_trace(core, input->trace);
    note_observers(core);
}

static bool is_prepared(struct core *core, const struct core_input *input) {
    jmp_buf end;
    core->without_memory = &end;
    if (setjmp(end)) {
        return false;
    }
    prepare(core, input);
    return true;
}

/* Returns NULL if there is not enough memory. */
struct core *core_create(const struct core_input *input) {
    struct core *core = calloc(1, sizeof *core);
    if (core == NULL) {
        return NULL;
    }
    core->allocations = input->allocations;
    if (!is_prepared(core, input)) {
        core_destroy(core);
        return NULL;
    }
    return core;
}

void core_destroy(struct core *core) {
    /* Where it could not be made, arrays are missing. */
    for (uint32_t k = 0; k < core->class_count && core->classes != NULL; k++) {
        struct class *class = &core->classes[k];
        for (uint32_t t = 0; t < class->task_count && class->tasks != NULL; t++) {
            free(class->tasks[t].launch);
        }
        for (uint32_t q = 0; q < class->queue_count && class->queues != NULL; q++) {
            free(class->queues[q].unread);
            free(class->queues[q].entries);
        }
        free(class->tasks);
        free(class->relays);
        free(class->queues);
        free(class->variables);
        free(class->unmasked);
        free(class->datapaths);
        free(class->gates);
        free(class->pes);
    }
    free_switches(core);
    free_flushes(core);
    free_clocks(core);
    free_settings(core);
    free_networks(core);
    free_directives(core);
    free_statistics(core);
    free_trace(core);
    free_races(core);
    for (uint64_t k = 0; k < core->tables.operations_count && core->variants != NULL; k++) {
        while (core->variants[k] != NULL) {
            struct operation *made = core->variants[k];
            core->variants[k] = made->next_variant;
            free(made);
        }
    }
    free_partitions(core);
    void *arrays[] = {core->classes, core->tiles, core->pe_of, core->queue_place, core->uses, core->accesses,
                      core->operations, core->variants, core->slots, core->code, core->signals, core->applications, core->numbers,
                      core->placings, core->sums, core->held, core->descriptors, core->bounds, core->prices, core->steps_left};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        free(arrays[k]);
    }
    free(core);
}
