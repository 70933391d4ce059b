// RUN: loom-opt -p lower-pto-to-flow %s | filecheck %s --check-prefixes=CHECK,IDEAL
// RUN: loom-opt -p lower-pto-to-flow{protocol=a2a3} %s | filecheck %s --check-prefixes=CHECK,OLDER
// RUN: loom-opt -p lower-pto-to-flow{protocol=a5} %s | filecheck %s --check-prefixes=CHECK,NEWER
// The credits of a chip, or one for each slot; a2a3 and a5 wait at the end for those that are still to come.

// IDEAL-LABEL:  flow.fabric @kernels target "a5" grid 3 by 1
// OLDER-LABEL:  flow.fabric @kernels target "a2a3" grid 3 by 1
// NEWER-LABEL:  flow.fabric @kernels target "a5" grid 3 by 1
// CHECK:  flow.space @gm 0
// IDEAL:  flow.channel @c2v_0 from @cube to @vector depth 8 period 1 lanes 2 seed 0
// OLDER:  flow.channel @c2v_0 from @cube to @vector depth 8 period 4 lanes 2 seed 0
// NEWER:  flow.channel @c2v_0 from @cube to @vector depth 8 period 4 lanes 2 seed 4
// CHECK-LABEL:  flow.units @cube on [0, :]
// CHECK:  flow.commit @c2v_0
// IDEAL-NEXT: flow.return
// OLDER-NEXT: flow.drain @c2v_0
// NEWER-NEXT: flow.drain @c2v_0
// CHECK:  flow.export @cube_kernel as "cube"
// CHECK-LABEL:  flow.units @vector on [1:3, :]
// CHECK:  flow.export @rows as "rows"

func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %c0 = arith.constant 0 : i64
  %buffer = arith.constant 512 : i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0, nosplit = false}(%buffer : i32) -> !pto.pipe
  %acc = pto.alloc_tile addr = %c0 : !pto.tile_buf<acc, 16x16xf32>
  pto.tpush(%acc, %pipe : !pto.tile_buf<acc, 16x16xf32>, !pto.pipe) {split = 1}
  return
}
func.func @rows() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = arith.constant 512 : i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0, nosplit = false}(%buffer : i32) -> !pto.pipe
  %tile = pto.declare_tile -> !pto.tile_buf<vec, 8x16xf32>
  pto.tpop(%tile, %pipe : !pto.tile_buf<vec, 8x16xf32>, !pto.pipe) {split = 1}
  pto.tfree(%pipe : !pto.pipe) {split = 1}
  return
}
