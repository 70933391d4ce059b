// RUN: loom-opt -p pto-infer-kernel-kinds --split-input-file %s | filecheck %s
// Functions that name no core get that of their operations; those of both get sections.

// CHECK-LABEL: func.func @vectors
// CHECK-SAME: attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>}
func.func @vectors(%a: !pto.partition_tensor_view<16x16xf32>) attributes {pto.entry} {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%a : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  return
}

// -----

// A result in a vector core's memory is moved there by the cube core. What a function calls counts as well.
// CHECK-LABEL: func.func @cubes
// CHECK-SAME: attributes {pto.kernel_kind = #pto.kernel_kind<cube>}
func.func @cubes(%acc: !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>, %t: !pto.tile_buf<vec, 16x16xf32>) {
  pto.tmov ins(%acc : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  return
}
// CHECK-LABEL: func.func @caller
// CHECK-SAME: attributes {pto.kernel_kind = #pto.kernel_kind<cube>}
func.func @caller(%acc: !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>, %t: !pto.tile_buf<vec, 16x16xf32>) {
  func.call @cubes(%acc, %t) : (!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>, !pto.tile_buf<vec, 16x16xf32>) -> ()
  return
}
// CHECK-LABEL: func.func @numbers(%a: index) {
func.func @numbers(%a: index) {
  return
}
// CHECK-LABEL: func.func @written
// CHECK-SAME: attributes {pto.kernel_kind = #pto.kernel_kind<cube>}
func.func @written(%t: !pto.tile_buf<vec, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.tabs ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @both
// CHECK-NOT: pto.kernel_kind
func.func @both(%a: !pto.partition_tensor_view<16x16xf32>) {
  // CHECK: %t = pto.alloc_tile
  // CHECK-NEXT: %m = pto.alloc_tile
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %m = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>
  // CHECK-NEXT: pto.section.cube {
  // CHECK-NEXT:   pto.tload
  // CHECK-NEXT: }
  pto.tload ins(%a : !pto.partition_tensor_view<16x16xf32>) outs(%m : !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>)
  // CHECK-NEXT: pto.section.vector {
  // CHECK-NEXT:   pto.tload
  // CHECK-NEXT:   pto.tstore
  // CHECK-NEXT: }
  pto.tload ins(%a : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%a : !pto.partition_tensor_view<16x16xf32>)
  // CHECK-NEXT: return
  return
}
