// RUN: loom-opt -p lower-pto-to-flow --split-input-file %s | filecheck %s
// What operations on tiles compute, by the table of functions on tiles.

!t = !pto.tile_buf<vec, 16x32xf32>
!column = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!row = !pto.tile_buf<vec, 1x32xf32>
!wide = !pto.tile_buf<vec, 16x64xf32>
!whole = !pto.tile_buf<vec, 16x32xi32>
!zeros = !pto.tile_buf<vec, 16x64xf32, pad=1>
!padded = !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=16, v_col=64, blayout=row_major, slayout=none_box, fractal=512, pad=3>

func.func @arithmetic(%s: f32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a0 = arith.constant 0 : i64
  %a1 = arith.constant 8192 : i64
  %a = pto.alloc_tile addr = %a0 : !t
  %b = pto.alloc_tile addr = %a1 : !t
  %m = pto.alloc_tile addr = %a0 : !column
  %n = pto.alloc_tile addr = %a0 : !row
  %w = pto.alloc_tile addr = %a1 : !wide
  %p = pto.alloc_tile addr = %a0 : !padded
  %z = pto.alloc_tile addr = %a0 : !zeros
  %i = pto.alloc_tile addr = %a0 : !whole
  %flat = pto.alloc_tile addr = %a1 : !pto.tile_buf<vec, 1x16xf32>
  // CHECK-LABEL: flow.func @arithmetic
  // CHECK: flow.tile_apply "add" %b(%a, %b) : !flow.tile<f32>(!flow.tile<f32>, !flow.tile<f32>)
  pto.tadd ins(%a, %b : !t, !t) outs(%b : !t)
  // CHECK-NEXT: flow.tile_apply "multiply" %b(%a, %s) : !flow.tile<f32>(!flow.tile<f32>, f32)
  pto.tmuls ins(%a, %s : !t, f32) outs(%b : !t)
  // CHECK-NEXT: flow.tile_apply "fill" %b(%s) : !flow.tile<f32>(f32)
  pto.texpands ins(%s : f32) outs(%b : !t)
  // CHECK-NEXT: flow.tile_apply "exponential" %b(%a)
  pto.texp ins(%a : !t) outs(%b : !t)
  // CHECK-NEXT: flow.tile_apply "row_sum" %m(%a)
  pto.trowsum ins(%a, %b : !t, !t) outs(%m : !column)
  // CHECK-NEXT: flow.tile_apply "row_maximum" %m(%a)
  pto.trowmax ins(%a, %b : !t, !t) outs(%m : !column)
  // CHECK-NEXT: flow.tile_apply "subtract" %b(%a, %m)
  pto.trowexpandsub ins(%a, %m : !t, !column) outs(%b : !t)
  // One number for each row, but they are in a row.
  // CHECK-NEXT: %[[FLAT:.*]] = flow.tile @vec[%{{.*}}] extents [16, 1] strides [1, 16]
  // CHECK-NEXT: flow.tile_apply "divide" %b(%a, %[[FLAT]])
  pto.trowexpanddiv ins(%a, %flat : !t, !pto.tile_buf<vec, 1x16xf32>) outs(%b : !t)
  // CHECK-NEXT: flow.tile_apply "multiply" %b(%a, %n)
  pto.tcolexpandmul ins(%a, %n : !t, !row) outs(%b : !t)
  // CHECK-NEXT: flow.tile_apply "fill" %b(%n)
  pto.tcolexpand ins(%n : !row) outs(%b : !t)
  // CHECK-NEXT: flow.tile_apply "concatenate" %w(%a, %b)
  pto.tconcat ins(%a, %b : !t, !t) outs(%w : !wide)
  // CHECK-NEXT: flow.tile_apply "pad" %p(%a) {value = 0xff800000 : f32}
  pto.tfillpad ins(%a : !t) outs(%p : !padded)
  // CHECK-NEXT: flow.tile_apply "pad" %p(%a) {value = 0.000000e+00 : f32}
  pto.tfillpad ins(%a : !t) outs(%z : !zeros)
  // CHECK-NEXT: flow.tile_apply "copy" %i(%a) {rounding = "floor", saturate}
  pto.tcvt ins(%a {rmode = #pto<round_mode FLOOR>, satmode = #pto<saturation_mode ON>} : !t) outs(%i : !whole)
  // CHECK-NEXT: flow.tile_apply "copy" %a(%i) : !flow.tile<f32>(!flow.tile<i32>)
  pto.tcvt ins(%i {rmode = #pto<round_mode NONE>} : !whole) outs(%a : !t)
  return
}

// -----

!left = !pto.tile_buf<left, 16x32xf32, blayout=col_major, slayout=row_major>
!right = !pto.tile_buf<right, 32x16xf32, slayout=col_major>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!mat = !pto.tile_buf<mat, 64x64xf32, blayout=col_major, slayout=row_major>

func.func @products(%p: !pto.ptr<f16>, %row: index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %a0 = arith.constant 0 : i64
  %bits = arith.constant 1073741824 : i64
  %l = pto.alloc_tile addr = %a0 : !left
  %r = pto.alloc_tile addr = %a0 : !right
  %acc = pto.alloc_tile addr = %a0 : !acc
  %mat = pto.alloc_tile addr = %a0 : !mat
  %v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf16>
  // CHECK: flow.space @fixpipe 1024
  // CHECK-LABEL: flow.func @products
  // CHECK: %[[PART:.*]] = flow.tile @mat[%{{.*}}] extents [16, 32] strides [64, 1]
  // CHECK-NEXT: flow.tile_apply "copy" %l(%[[PART]])
  pto.textract ins(%mat, %row, %c16 : !mat, index, index) outs(%l : !left)
  // CHECK-NEXT: flow.tile_apply "matrix_multiply" %acc(%l, %r)
  pto.tmatmul ins(%l, %r : !left, !right) outs(%acc : !acc)
  // CHECK-NEXT: flow.tile_apply "matrix_multiply_add" %acc(%acc, %l, %r)
  pto.tmatmul.acc ins(%acc, %l, %r : !acc, !left, !right) outs(%acc : !acc)
  // CHECK: flow.tile_apply "copy" %{{.*}}(%acc) {relu, accumulate} : !flow.tile<f16>(!flow.tile<f32>)
  pto.tstore ins(%acc : !acc) outs(%v : !pto.tensor_view<16x16xf16>) {reluPreMode = #pto<relu_pre_mode normal_relu>, atomicType = #pto<atomic_type atomic_add>}
  // Scaled by a number in the lower half of 64 bits, in a place of the conversion's own.
  // CHECK: %[[HALF:.*]] = arith.trunci %{{.*}} : i64 to i32
  // CHECK-NEXT: %[[SCALE:.*]] = arith.bitcast %[[HALF]] : i32 to f32
  // CHECK-NEXT: %[[SCALED:.*]] = flow.tile @fixpipe[%{{.*}}] extents [16, 16] strides [16, 1] : !flow.tile<f32>
  // CHECK-NEXT: flow.tile_apply "multiply" %[[SCALED]](%acc, %[[SCALE]])
  // CHECK-NEXT: flow.tile_apply "copy" %{{.*}}(%[[SCALED]]) {saturate} : !flow.tile<f16>(!flow.tile<f32>)
  pto.tstore ins(%acc : !acc, %bits : i64) outs(%v : !pto.tensor_view<16x16xf16>)
  return
}
