// RUN: loom-opt -p lower-pto-to-flow{protocol=a2a3} %s | filecheck %s --check-prefixes=CHECK,OLDER
// RUN: loom-opt -p lower-pto-to-flow{protocol=a5} %s | filecheck %s --check-prefixes=CHECK,NEWER
// How pto.tcvt rounds, and what becomes of numbers that do not fit. Nothing said is CAST_RINT and OFF.

!t = !pto.tile_buf<vec, 16x16xf32>
!half = !pto.tile_buf<vec, 16x16xf16>
!short = !pto.tile_buf<vec, 16x16xi16>
!long = !pto.tile_buf<vec, 16x16xi32>

func.func @conversions() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %at = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %at : !t
  %h = pto.alloc_tile addr = %at : !half
  %s = pto.alloc_tile addr = %at : !short
  %l = pto.alloc_tile addr = %at : !long
  // CHECK: flow.tile_apply "copy" %h(%t) : !flow.tile<f16>(!flow.tile<f32>)
  pto.tcvt ins(%t : !t) outs(%h : !half)
  // CHECK: flow.tile_apply "copy" %h(%t) {rounding = "odd"} :
  pto.tcvt ins(%t {rmode = #pto<round_mode ODD>} : !t) outs(%h : !half)
  // Floats of one type become whole numbers.
  // CHECK: flow.tile_apply "copy" %t(%t) {rounding = "rint"} :
  pto.tcvt ins(%t : !t) outs(%t : !t)
  // Narrow integers keep the lower bits on all chips, wide ones on a5.
  // CHECK: flow.tile_apply "copy" %s(%t) {wrap} :
  pto.tcvt ins(%t : !t) outs(%s : !short)
  // OLDER: flow.tile_apply "copy" %l(%t) : !flow.tile<i32>(!flow.tile<f32>)
  // NEWER: flow.tile_apply "copy" %l(%t) {wrap} : !flow.tile<i32>(!flow.tile<f32>)
  pto.tcvt ins(%t : !t) outs(%l : !long)
  // CHECK: flow.tile_apply "copy" %s(%t) {rounding = "round", saturate} :
  pto.tcvt ins(%t {rmode = #pto<round_mode ROUND>, satmode = #pto<saturation_mode ON>} : !t) outs(%s : !short)
  // No rounding mode is to zero for integers, and else to nearest even.
  // CHECK: flow.tile_apply "copy" %s(%t) {rounding = "trunc", wrap} :
  pto.tcvt ins(%t {rmode = #pto<round_mode NONE>} : !t) outs(%s : !short)
  // CHECK: flow.tile_apply "copy" %h(%t) : !flow.tile<f16>(!flow.tile<f32>)
  pto.tcvt ins(%t {rmode = #pto<round_mode NONE>} : !t) outs(%h : !half)
  return
}
