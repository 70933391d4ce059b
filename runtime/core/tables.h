/* Records of the tables, as runtime/tables/format.py has them. What they mean is in docs/tables.md. */
#ifndef LOOM_TABLES_H
#define LOOM_TABLES_H

#include <stdint.h>

#define NO_ROW 0xFFFFFFFFu
#define NO_MICROTHREAD 0xFFFFu
#define NO_REGISTER 0xFFFFu
#define STATIC_DESCRIPTOR 0x8000u
#define FRAME_DESCRIPTOR 0xC000u

enum { KIND_I1, KIND_I8, KIND_I16, KIND_I32, KIND_I64, KIND_INDEX, KIND_F16, KIND_BF16, KIND_F32, KIND_F64 };

struct class_row {
    uint32_t name, where, words, regions, region_count, buffers, buffer_count, queues, queue_count, fifos, fifo_count,
        tasks, task_count, flags;
};
enum { CLASS_TRAPS = 1, CLASS_ORDERED = 16, CLASS_MAIN_THREAD_CHANGES = 32 };

struct buffer_row {
    uint32_t name, where, owner, address, elements, dims;
    uint8_t kind, rank, flags;
};

struct column_row {
    uint32_t name, owner, values;
    uint8_t kind;
};

struct instruction_row {
    uint16_t op, a, b, c;
};

struct body_row {
    uint32_t name, where, code, length, kinds, slot_kinds;
    uint16_t registers, numbers, descriptors, frame_descriptors, arguments, results, slots;
};

struct use_row {
    uint32_t body, rows;
};

enum { COST_CLASSES = 32 };
struct cost_row {
    uint16_t counts[COST_CLASSES];
};

struct access_row {
    uint32_t base, buffer, dims;
    uint8_t kind, rank, flags;
};
enum { ACCESS_POINTER = 1 };

struct access_dim_row {
    uint32_t extent;
    int32_t scale;
};

struct descriptor_row {
    int32_t address;
    uint32_t row;
    uint16_t extents[4];
    int16_t strides[4];
    uint8_t type, kind, dimensions, flags;
};
enum { MEMORY_WALK, QUEUE_RUN, FIFO_END };
enum { CIRCULAR = 1 };
enum { CONTROL_WAVELETS = 1, ADVANCE_SWITCH = 2, PACKED = 4, MESSAGE = 8, ZERO_FIRST = 16, ZERO_SECOND = 32,
       CONTROL_TRANSFORM = 64, IN_PAIRS = 128 };

struct operation_row {
    uint32_t activate, unblock, control_activate, control_unblock;
    uint16_t function, destination, sources[3], microthread;
    uint8_t format, flags, priority;
};
enum { ON_CONTROL = 1, HAS_FIFO_RESULT = 2, DROPS_DATA = 4 };

struct register_load_row {
    uint32_t activate, unblock, control_activate, control_unblock;
    uint16_t microthread;
    uint8_t file, number, flags, priority;
};
enum { LOAD_SAVES_ADDRESS = 1, LOAD_ASYNC = 2, LOAD_ON_CONTROL = 4 };

struct register_read_row {
    uint8_t file, number, fifo;
};

struct message_row {
    uint32_t text;
    uint8_t shows_value;
};

struct print_row {
    uint32_t format, kinds;
    uint16_t arguments;
};

struct setting_row {
    uint32_t owner, number, value;
};

struct start_row {
    uint32_t owner, use;
};

struct blocked_microthread_row {
    uint32_t owner, number, where;
};

struct task_row {
    uint32_t name, where, owner, use, queue;
    int32_t number;
    uint8_t type, flags;
};
enum { LOCAL_TASK, DATA_TASK, CONTROL_TASK, LAUNCH_TASK, LISTENER };
enum { ACTIVE = 1, BLOCKABLE = 2, BLOCKED = 4, COMPLETION_ACTIVATES = 8, COMPLETION_UNBLOCKS = 16 };

struct queue_row {
    uint32_t name, label, where, owner, task, colors, color_count;
    int32_t control_offset;
    uint32_t room;
    uint16_t id;
    uint8_t direction;
};
enum { INPUT_QUEUE, OUTPUT_QUEUE };

struct fifo_row {
    uint32_t name, where, owner, buffer, push_task, pop_task;
    uint8_t empty_action, full_action, step;
};

struct color_row {
    uint32_t name, label, where, number;
    uint8_t changes;
};

struct network_row {
    uint32_t color;
};

struct directive_row {
    uint32_t name;
    uint8_t axis;
};

/* The sections that the core reads, in this order in the array of pointers that it is made from. */
#define SECTIONS(S)                                                                                                    \
    S(classes, struct class_row)                                                                                       \
    S(buffers, struct buffer_row)                                                                                      \
    S(columns, struct column_row)                                                                                      \
    S(column_values, int64_t)                                                                                          \
    S(code, struct instruction_row)                                                                                        \
    S(code_where, uint32_t)                                                                                            \
    S(bodies, struct body_row)                                                                                         \
    S(kinds, uint8_t)                                                                                                  \
    S(slot_kinds, uint8_t)                                                                                             \
    S(uses, struct use_row)                                                                                            \
    S(rows, uint32_t)                                                                                                  \
    S(numbers, int64_t)                                                                                                \
    S(costs, struct cost_row)                                                                                          \
    S(accesses, struct access_row)                                                                                     \
    S(access_dims, struct access_dim_row)                                                                              \
    S(descriptors, struct descriptor_row)                                                                              \
    S(operations, struct operation_row)                                                                                \
    S(register_loads, struct register_load_row)                                                                        \
    S(register_reads, struct register_read_row)                                                                        \
    S(messages, struct message_row)                                                                                    \
    S(prints, struct print_row)                                                                                        \
    S(starts, struct start_row)                                                                                        \
    S(settings, struct setting_row)                                                                                    \
    S(blocked_microthreads, struct blocked_microthread_row)                                                            \
    S(tasks, struct task_row)                                                                                          \
    S(queues, struct queue_row)                                                                                        \
    S(fifos, struct fifo_row)                                                                                          \
    S(colors, struct color_row)                                                                                        \
    S(networks, struct network_row)                                                                                    \
    S(directives, struct directive_row)

struct tables {
#define FIELD(name, type) const type *name; uint64_t name##_count;
    SECTIONS(FIELD)
#undef FIELD
};

#endif
