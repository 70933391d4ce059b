// RUN: loom-opt -p lower-pto-to-flow %s | filecheck %s
// Tiles by their layouts, valid shapes and parts; views of global memory by their offsets.

func.func @tiles(%p: !pto.ptr<f32>, %m: index, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %a0 = arith.constant 0 : i64
  %a1 = arith.constant 4096 : i64
  // CHECK-LABEL: flow.func @tiles(%p: i64, %m: i64, %n: i64)

  // CHECK: %rows = flow.tile @vec[%[[ZERO:.*]]] extents [16, 32] strides [32, 1] : !flow.tile<f32>
  %rows = pto.alloc_tile addr = %a0 : !pto.tile_buf<vec, 16x32xf32>
  // CHECK-NEXT: %columns = flow.tile @vec[%[[ZERO]]] extents [16, 32] strides [1, 16] : !flow.tile<f32>
  %columns = pto.alloc_tile addr = %a0 : !pto.tile_buf<vec, 16x32xf32, blayout=col_major>
  // A tile of boxes has the order of the elements in a box.
  // CHECK-NEXT: %boxes = flow.tile @vec[%[[OTHER:.*]]] extents [16, 32] strides [32, 1] : !flow.tile<f32>
  %boxes = pto.alloc_tile addr = %a1 : !pto.tile_buf<vec, 16x32xf32, blayout=col_major, slayout=row_major>
  // CHECK-NEXT: %transposed = flow.tile @vec[%[[ZERO]]] extents [32, 16] strides [1, 32] : !flow.tile<f32>
  %transposed = pto.alloc_tile addr = %a0 : !pto.tile_buf<vec, 32x16xf32, blayout=row_major, slayout=col_major>
  // CHECK-NEXT: %longer = flow.tile @vec[%[[ZERO]]] extents [16, 32] strides [33, 1] : !flow.tile<f32>
  %longer = pto.alloc_tile addr = %a0 : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=32, v_row=16, v_col=32, blayout=row_major, slayout=none_box, fractal=512, pad=0, compact=2>
  pto.tneg ins(%columns : !pto.tile_buf<vec, 16x32xf32, blayout=col_major>) outs(%rows : !pto.tile_buf<vec, 16x32xf32>)
  pto.tneg ins(%boxes : !pto.tile_buf<vec, 16x32xf32, blayout=col_major, slayout=row_major>) outs(%longer : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=32, v_row=16, v_col=32, blayout=row_major, slayout=none_box, fractal=512, pad=0, compact=2>)
  pto.tprint ins(%transposed : !pto.tile_buf<vec, 32x16xf32, blayout=row_major, slayout=col_major>)

  // CHECK: %given = flow.tile @vec[%[[OTHER]]] extents [%m, 8] strides [32, 1] : !flow.tile<f32>
  %given = pto.alloc_tile addr = %a1 valid_row = %m valid_col = %c8 : !pto.tile_buf<vec, 16x32xf32, valid=?x?>
  // CHECK-NEXT: flow.tile_print "given" %given
  pto.tprint ins(%given : !pto.tile_buf<vec, 16x32xf32, valid=?x?>)
  pto.set_validshape %given, %c2, %n : !pto.tile_buf<vec, 16x32xf32, valid=?x?>
  // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi ule, %{{.*}}, %{{.*}} : i64
  // CHECK-NEXT: flow.assert %[[INSIDE]], "valid rows and columns stay within the tile; correct them (one of them is {d}, not 0 to {{[0-9]+}})"
  // CHECK-NEXT: %[[CHANGED:.*]] = flow.tile @vec[%[[OTHER]]] extents [2, %n] strides [32, 1] : !flow.tile<f32>
  // CHECK-NEXT: flow.tile_print "given" %[[CHANGED]]
  pto.tprint ins(%given : !pto.tile_buf<vec, 16x32xf32, valid=?x?>)

  // CHECK: %part = flow.tile @vec[%{{.*}}] extents [8, 16] strides [32, 1] : !flow.tile<f32>
  %part = pto.subview %rows[%c8, %c16] sizes [8, 16] : !pto.tile_buf<vec, 16x32xf32>
  pto.tprint ins(%part : !pto.tile_buf<vec, 8x16xf32>)
  // CHECK: %line = flow.tile @vec[%[[ZERO]]] extents [1, 512] strides [512, 1] : !flow.tile<i32>
  %line = pto.treshape %rows : !pto.tile_buf<vec, 16x32xf32> -> !pto.tile_buf<vec, 1x512xi32>
  pto.tprint ins(%line : !pto.tile_buf<vec, 1x512xi32>)

  // CHECK: %[[ROWS:.*]] = arith.muli %m, %{{.*}} : i64
  // CHECK-NEXT: %[[COLUMNS:.*]] = arith.addi %[[ROWS]], %{{.*}} : i64
  // CHECK-NEXT: %[[BYTES:.*]] = arith.muli %[[COLUMNS]], %{{.*}} : i64
  // CHECK-NEXT: %[[ADDRESS:.*]] = arith.addi %p, %[[BYTES]] : i64
  %whole = pto.make_tensor_view %p, shape = [%c1, %n, %c512], strides = [%c512, %c512, %c1] : !pto.tensor_view<1x?x512xf32>
  %piece = pto.partition_view %whole, offsets = [%c0, %m, %c8], sizes = [%c1, %c16, %c32] : !pto.tensor_view<1x?x512xf32> -> !pto.partition_tensor_view<1x16x32xf32>
  // CHECK-NEXT: %[[PIECE:.*]] = flow.tile @gm[%[[ADDRESS]]] extents [16, 32] strides [512, 1] : !flow.tile<f32>
  // CHECK-NEXT: flow.tile_apply "copy" %rows(%[[PIECE]])
  pto.tload ins(%piece : !pto.partition_tensor_view<1x16x32xf32>) outs(%rows : !pto.tile_buf<vec, 16x32xf32>)

  // A tile that is larger than what is loaded, and one that is smaller: what both have.
  // CHECK-NEXT: %[[LARGE:.*]] = flow.tile @gm[%p] extents [8, 32] strides [32, 1]
  // CHECK-NEXT: %[[SMALL:.*]] = flow.tile @vec[%[[ZERO]]] extents [8, 32] strides [32, 1]
  // CHECK-NEXT: flow.tile_apply "copy" %[[SMALL]](%[[LARGE]])
  %half = pto.make_tensor_view %p, shape = [%c8, %c32], strides = [%c32, %c1] : !pto.tensor_view<8x32xf32>
  pto.tload ins(%half : !pto.tensor_view<8x32xf32>) outs(%rows : !pto.tile_buf<vec, 16x32xf32>)

  // CHECK: %[[OFFSET:.*]] = arith.muli %m, %{{.*}} : i64
  // CHECK-NEXT: %[[ELEMENT:.*]] = arith.addi %p, %[[OFFSET]] : i64
  // CHECK-NEXT: %[[ONE:.*]] = flow.tile @gm[%[[ELEMENT]]] extents [1] strides [1] : !flow.tile<f32>
  // CHECK-NEXT: %x = flow.tile_get %[[ONE]] : !flow.tile<f32> -> f32
  // CHECK-NEXT: %{{.*}} = arith.addi %p, %{{.*}} : i64
  // CHECK-NEXT: %{{.*}} = arith.addi %{{.*}}, %{{.*}} : i64
  // CHECK-NEXT: %[[TARGET:.*]] = flow.tile @gm[%{{.*}}] extents [1] strides [1] : !flow.tile<f32>
  // CHECK-NEXT: flow.tile_apply "fill" %[[TARGET]](%x) : !flow.tile<f32>(f32)
  %x = pto.load_scalar %p[%m] : !pto.ptr<f32> -> f32
  %q = pto.addptr %p, %c16 : <f32> -> <f32>
  pto.store_scalar %x, %q[%c2] : !pto.ptr<f32>, f32
  return
}
