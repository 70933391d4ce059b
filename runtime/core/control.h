/* Instructions by number. Control instructions are numbered as in runtime/tables/instructions.py, scalar ones as in
 * scalar_table.h; the prepared ones are made of those when code of PEs is prepared.
 */
#ifndef LOOM_CONTROL_H
#define LOOM_CONTROL_H

#define CONTROL(I)                                                                                                     \
    I(invalid) I(tick) I(jump) I(branch_false) I(branch_true) I(step) I(for_test) I(call) I(return_) I(end) I(move)    \
    I(select) I(column) I(coordinate) I(check_divisor) I(load) I(store) I(descriptor) I(set_address) I(set_offset)     \
    I(set_stride) I(set_extent) I(advance) I(resize) I(restride) I(rebase) I(mark) I(load_register) I(read_register)   \
    I(apply) I(activate) I(block) I(unblock) I(block_microthread) I(unblock_microthread) I(set_fifo_length)            \
    I(assert_) I(print) I(directive) I(timestamp) I(set_clock) I(set_exception_mask) I(check_exceptions) I(fail)

/* Those of cores of chips alone */
#define CHIP_CONTROL(I)                                                                                                \
    I(tile) I(tile_apply) I(tile_print) I(tile_get) I(acquire) I(commit) I(wait) I(release) I(drain) I(rest)

/* A tick that is counted; loads and stores of elements whose address is known, and those that races are looked for at;
 * operations by the short way that they may take. What stands for several instructions, which are left where they are: a
 * branch with the ticks behind it, the test of a loop with the tick behind it, the end of a trip with that test, a
 * descriptor with its offset, and operations that add to one destination. Operations that take what registers hold where
 * it is, and what is left of the reads before them */
#define PREPARED(I) I(counted_tick) I(load_i16) I(load_i32) I(load_16) I(load_32) I(store_16) I(store_32) \
    I(checked_load) I(checked_store) I(checked_load_i16) I(checked_load_i32) I(checked_load_16) I(checked_load_32)     \
    I(checked_store_16) I(checked_store_32) I(compute) I(send_move) I(receive_move) I(timed_branch) I(place) I(sum)    \
    I(check_register) I(compute_held) I(timed_test) I(next_trip)

enum {
#define NUMBER(name) I_##name,
    CONTROL(NUMBER) CONTROL_COUNT,
    BEFORE_CHIP_CONTROL = CONTROL_COUNT - 1,
    CHIP_CONTROL(NUMBER) ALL_CONTROL_COUNT,
    BEFORE_PREPARED = 191,
    PREPARED(NUMBER)
#undef NUMBER
};

#endif
