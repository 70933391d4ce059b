// RUN: loom-opt -p lower-pto-to-flow --print-debuginfo %s | filecheck %s
// New operations stand where the old ones stood, those in place of a call where they stood in what is called.

// CHECK-LABEL: flow.func @k
// CHECK: flow.tile @vec[{{.*}} loc("{{.*}}locations.mlir":[[# @LINE + 3]]:3)
func.func @k(%x: f32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %at = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 16x16xf32>
  // What is computed of tiles keeps the name of the operation.
  // CHECK: flow.tile_apply "fill" {{.*}} loc("pto.texpands"("{{.*}}locations.mlir":[[# @LINE + 1]]:3))
  pto.texpands ins(%x : f32) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  // CHECK: flow.tile_print {{.*}} loc("{{.*}}locations.mlir":[[# @LINE + 6]]:3)
  func.call @print(%t) : (!pto.tile_buf<vec, 16x16xf32>) -> ()
  // CHECK: flow.return loc("{{.*}}locations.mlir":
  return
}
func.func private @print(%t: !pto.tile_buf<vec, 16x16xf32>) {
  pto.tprint ins(%t : !pto.tile_buf<vec, 16x16xf32>)
  return
}
