// RUN: loom-opt -p lower-pto-to-flow %s | filecheck %s
// Tensors in global memory whose dimensions are not rows and columns in their order are walked in that of their matrix.

!nz = !pto.tensor_view<1x2x3x16x16xbf16>
!part = !pto.partition_tensor_view<1x2x2x16x16xbf16>
!boxes = !pto.tensor_view<2x16x16x16xbf16>
!all = !pto.partition_tensor_view<2x16x16x16xbf16>
!column = !pto.tensor_view<2x4x8xf32>
!columns = !pto.partition_tensor_view<2x4x8xf32>

// CHECK-LABEL: flow.func @fractal
func.func @fractal(%p: !pto.ptr<bf16>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %c768 = arith.constant 768 : index
  %c1536 = arith.constant 1536 : index
  %c4096 = arith.constant 4096 : index
  %at = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 32x32xbf16>
  %v = pto.make_tensor_view %p, shape = [%c1, %c2, %c3, %c16, %c16], strides = [%c1536, %c768, %c256, %c16, %c1] {layout = #pto.layout<nz>} : !nz
  %w = pto.partition_view %v, offsets = [%c0, %c0, %c1, %c0, %c0], sizes = [%c1, %c2, %c2, %c16, %c16] : !nz -> !part
  // Two boxes down, sixteen rows each, then two boxes across.
  // CHECK: %[[BEHIND:.*]] = arith.constant 512 : i64
  // CHECK: %[[FROM:.*]] = arith.addi %p, %[[BEHIND]] : i64
  // CHECK: %[[SOURCE:.*]] = flow.tile @gm[%[[FROM]]] extents [2, 16, 2, 16] strides [256, 16, 768, 1]
  // CHECK: flow.tile_apply "copy" %t(%[[SOURCE]]) {reshape}
  pto.tload ins(%w : !part) outs(%t : !pto.tile_buf<vec, 32x32xbf16>)
  // CHECK: flow.tile_apply "copy" %[[SOURCE]](%t) {reshape}
  pto.tstore ins(%t : !pto.tile_buf<vec, 32x32xbf16>) outs(%w : !part)
  // Nothing is said of this one, but PTOAS takes boxes of 16-bit elements for what they are.
  // CHECK: flow.tile @gm[%p] extents [16, 16, 2, 16] strides [256, 16, 4096, 1]
  %b = pto.make_tensor_view %p, shape = [%c2, %c16, %c16, %c16], strides = [%c4096, %c256, %c16, %c1] : !boxes
  %a = pto.partition_view %b, offsets = [%c0, %c0, %c0, %c0], sizes = [%c2, %c16, %c16, %c16] : !boxes -> !all
  %wide = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 256x32xbf16>
  pto.tload ins(%a : !all) outs(%wide : !pto.tile_buf<vec, 256x32xbf16>)
  return
}

// CHECK-LABEL: flow.func @columns_first
func.func @columns_first(%p: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %at = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 4x16xf32>
  %v = pto.make_tensor_view %p, shape = [%c2, %c4, %c8], strides = [%c32, %c1, %c4] {layout = #pto.layout<dn>} : !column
  %w = pto.partition_view %v, offsets = [%c0, %c0, %c0], sizes = [%c2, %c4, %c8] : !column -> !columns
  // CHECK: flow.tile @gm[%p] extents [4, 2, 8] strides [1, 32, 4]
  pto.tload ins(%w : !columns) outs(%t : !pto.tile_buf<vec, 4x16xf32>)
  return
}
