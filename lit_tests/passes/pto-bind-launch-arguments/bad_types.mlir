// RUN: loom-opt -p pto-bind-launch-arguments --verify-diagnostics %s | filecheck %s

// CHECK: bad_types.mlir:4:1: error: an argument that the launcher binds has type f32; use i32, i64 or index
func.func @kernel(%__pypto_spmd_block_idx: f32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  return
}
