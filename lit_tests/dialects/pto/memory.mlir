// RUN: loom-opt %s | filecheck %s
// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// Pointers, views of global memory, and tiles.

!tile = !pto.tile_buf<loc=vec, dtype=bf16, rows=16, cols=32, v_row=16, v_col=32, blayout=row_major, slayout=none_box, fractal=512, pad=0>

// CHECK-LABEL: @types
// CHECK-SAME: !pto.ptr<f32>, !pto.ptr<f32>, !pto.ptr<i32, ub>, !pto.tensor_view<?x8xf32>, !pto.partition_tensor_view<8x128xf32>, !pto.tensor_view<4x!pto.hif8>
func.func private @types(!pto.ptr<f32>, !pto.ptr<f32, gm>, !pto.ptr<i32, vec>, !pto.tensor_view<?x8xf32>, !pto.partition_tensor_view<8 x 128 x f32>, !pto.tensor_view<4x!pto.hif8>)
// CHECK: @packed(!pto.hif8x2, !pto.f8E8M0, !pto.f4E1M2x2, !pto.f4E2M1x2)
func.func private @packed(!pto.hif8x2, !pto.f8E8M0, !pto.f4E1M2x2, !pto.f4E2M1x2)
// A tile written in short prints in full.
// CHECK: @short(!pto.tile_buf<loc=vec, dtype=bf16, rows=16, cols=32, v_row=16, v_col=32, blayout=row_major, slayout=none_box, fractal=512, pad=0>, !pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16, v_row=5, v_col=?, blayout=col_major, slayout=row_major, fractal=1024, pad=3, compact=2>)
func.func private @short(!pto.tile_buf<vec, 16x32xbf16>, !pto.tile_buf<acc, 16x16xf32, valid=5x?, blayout=col_major, slayout=row_major, fractal=1024, pad=3, compact=2>)

// CHECK-LABEL: func.func @memory(
func.func @memory(%p: !pto.ptr<f32>, %q: !pto.ptr<bf16>, %i: index, %a: i64) {
  // CHECK: %r = pto.addptr %p, %i : <f32> -> <f32>
  %r = pto.addptr %p, %i : !pto.ptr<f32> -> <f32>
  // CHECK: %v = pto.load_scalar %r[%i] : !pto.ptr<f32> -> f32
  %v = pto.load_scalar %r[%i] : !pto.ptr<f32> -> f32
  // CHECK: pto.store_scalar %v, %p[%i] : !pto.ptr<f32>, f32
  pto.store_scalar %v, %p[%i] : !pto.ptr<f32>, f32
  %n = arith.constant 64 : index
  %m = arith.constant 16 : index
  %z = arith.constant 0 : index
  // CHECK: %t = pto.make_tensor_view %q, shape = [%n, %i], strides = [%i, %m] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xbf16>
  %t = pto.make_tensor_view %q, shape = [%n, %i], strides = [%i, %m] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xbf16>
  // CHECK: pto.partition_view %t, offsets = [%z, %z], sizes = [%m, %n] : !pto.tensor_view<?x?xbf16> -> !pto.partition_tensor_view<16x64xbf16>
  %w = pto.partition_view %t, offsets = [%z, %z], sizes = [%m, %n] : !pto.tensor_view<?x?xbf16> -> !pto.partition_tensor_view<16x64xbf16>
  // The type of a part follows from its sizes.
  // CHECK: pto.partition_view %t, offsets = [%z, %z], sizes = [%m, %i] : !pto.tensor_view<?x?xbf16> -> !pto.partition_tensor_view<16x?xbf16>
  %x = pto.partition_view %t, offsets = [%z, %z], sizes = [%m, %i] : !pto.tensor_view<?x?xbf16>
  // CHECK: pto.alloc_tile addr = %a valid_row = %m valid_col = %i : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=?, v_col=?,
  %b = pto.alloc_tile addr = %a valid_row = %m valid_col = %i : !pto.tile_buf<vec, 16x64xf32, valid=?x?>
  // CHECK: pto.set_validshape %b, %m, %n : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=64, v_row=?, v_col=?,
  pto.set_validshape %b, %m, %n : !pto.tile_buf<vec, 16x64xf32, valid=?x?>
  // CHECK: pto.subview %b[%z, %m] sizes [8, 16] : !pto.tile_buf<{{.*}}> -> !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=8, v_col=16,
  %c = pto.subview %b[%z, %m] sizes [8, 16] : !pto.tile_buf<vec, 16x64xf32, valid=?x?>
  // CHECK: pto.subview %b[%z, %m] sizes [8, 16] valid [%i, %z] : !pto.tile_buf<{{.*}}> -> !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=?, v_col=0,
  %d = pto.subview %b[%z, %m] sizes [8, 16] valid [%i, %z] : !pto.tile_buf<vec, 16x64xf32, valid=?x?>
  // CHECK: pto.treshape %c : !pto.tile_buf<{{.*}}> -> !pto.tile_buf<loc=vec, dtype=f16, rows=16, cols=16,
  %e = pto.treshape %c : !pto.tile_buf<vec, 8x16xf32> -> !pto.tile_buf<vec, 16x16xf16>
  return
}
