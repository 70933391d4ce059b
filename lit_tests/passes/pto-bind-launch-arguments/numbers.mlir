// RUN: loom-opt -p pto-bind-launch-arguments %s | filecheck %s
// The numbers that the launcher passes come from operations; a function that another calls keeps its arguments.

// CHECK: func.func @kernel(%out: !pto.ptr<i32>, %scale: i32) attributes
func.func @kernel(%out: !pto.ptr<i32>, %__pypto_spmd_block_idx: i32, %scale: i32, %__pypto_spmd_block_num: i64, %__pypto_spmd_subblock_idx: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK-NEXT: %[[BLOCK:.*]] = pto.get_block_idx
  // CHECK-NEXT: %[[NARROW:.*]] = arith.trunci %[[BLOCK]] : i64 to i32
  // CHECK-NEXT: %[[COUNT:.*]] = pto.get_block_num
  // CHECK-NEXT: %[[LANE:.*]] = pto.get_subblock_idx
  // CHECK-NEXT: %[[INDEX:.*]] = arith.index_cast %[[LANE]] : i64 to index
  // CHECK-NEXT: func.call @helper(%[[NARROW]], %[[COUNT]], %[[INDEX]])
  func.call @helper(%__pypto_spmd_block_idx, %__pypto_spmd_block_num, %__pypto_spmd_subblock_idx) : (i32, i64, index) -> ()
  return
}
// CHECK: func.func @helper(%__pypto_spmd_block_idx: i32, %{{.*}}: i64, %{{.*}}: index)
func.func @helper(%__pypto_spmd_block_idx: i32, %n: i64, %lane: index) {
  return
}
