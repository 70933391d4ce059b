// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Views, tiles and operations on tiles that break a rule, each with its error.

// CHECK: error: 'pto.tadd' op expects 2 operands in ins(...), not 1
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>) {
  pto.tadd ins(%t : !pto.tile_buf<vec, 16x32xf32>) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
// -----
// CHECK: error: 'pto.trowsum' op expects 1 or 2 operands in ins(...), not 3
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>) {
  pto.trowsum ins(%t, %t, %t : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 16x32xf32>) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
// -----
// CHECK: error: 'pto.tadds' op expects operand 2 to be a number, not index
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %i: index) {
  pto.tadds ins(%t, %i : !pto.tile_buf<vec, 16x32xf32>, index) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
// -----
// CHECK: error: 'pto.tneg' op expects operand 1 to be !pto.tile_buf<...>, not f32
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %x: f32) {
  pto.tneg ins(%x : f32) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
// -----
// CHECK: error: 'pto.tneg' op expects outs(...) to be !pto.tile_buf<...>, not f32
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %x: f32) {
  pto.tneg ins(%t : !pto.tile_buf<vec, 16x32xf32>) outs(%x : f32)
  return
}
// -----
// CHECK: error: 'pto.tadd' op expects all tiles to have the same valid rows and columns; they are 16 x 32 and 16 x 64 and 16 x 32
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %w: !pto.tile_buf<vec, 16x64xf32>) {
  pto.tadd ins(%t, %w : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
// -----
// CHECK: error: 'pto.trowmax' op expects the result to have as many valid rows as the tile
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %r: !pto.tile_buf<vec, 8x1xf32>) {
  pto.trowmax ins(%t : !pto.tile_buf<vec, 16x32xf32>) outs(%r : !pto.tile_buf<vec, 8x1xf32>)
  return
}
// -----
// CHECK: error: 'pto.trowexpandmul' op expects the result to have the valid rows and columns of the first tile
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %r: !pto.tile_buf<vec, 8x1xf32>, %w: !pto.tile_buf<vec, 16x64xf32>) {
  pto.trowexpandmul ins(%t, %r : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 8x1xf32>) outs(%w : !pto.tile_buf<vec, 16x64xf32>)
  return
}
// -----
// CHECK: error: 'pto.tcolexpandmul' op expects the result to have the valid shape of the first tile, and as many columns as the second
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %r: !pto.tile_buf<vec, 8x1xf32>) {
  pto.tcolexpandmul ins(%t, %r : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 8x1xf32>) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
// -----
// CHECK: error: 'pto.tcolexpand' op expects the result to have as many valid columns as the tile
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %r: !pto.tile_buf<vec, 8x1xf32>) {
  pto.tcolexpand ins(%r : !pto.tile_buf<vec, 8x1xf32>) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
// -----
// CHECK: error: 'pto.tconcat' op expects tiles of the same valid rows, and a result as wide as both together
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>) {
  pto.tconcat ins(%t, %t : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 16x32xf32>) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
// -----
// CHECK: error: 'pto.tmatmul' op expects lhs, rhs, and dst to use the left, right, and acc address spaces; they are vec, vec, acc
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %a: !pto.tile_buf<acc, 16x16xf32>) {
  pto.tmatmul ins(%t, %t : !pto.tile_buf<vec, 16x32xf32>, !pto.tile_buf<vec, 16x32xf32>) outs(%a : !pto.tile_buf<acc, 16x16xf32>)
  return
}
// -----
// CHECK: error: 'pto.tmatmul' op expects static matmul tile shapes lhs[M,K], rhs[K,N], and dst[M,N]; they are 16 x 32 and 16 x 32 and 16 x 16
func.func @f(%l: !pto.tile_buf<left, 16x32xf32>, %r: !pto.tile_buf<right, 16x32xf32>, %a: !pto.tile_buf<acc, 16x16xf32>) {
  pto.tmatmul ins(%l, %r : !pto.tile_buf<left, 16x32xf32>, !pto.tile_buf<right, 16x32xf32>) outs(%a : !pto.tile_buf<acc, 16x16xf32>)
  return
}
// -----
// CHECK: error: 'pto.tmatmul' op expects m, k, and n valid sizes to be in [0, 4095]; they are 4096, 16, 16
func.func @f(%l: !pto.tile_buf<left, 4096x16xf16>, %r: !pto.tile_buf<right, 16x16xf16>, %a: !pto.tile_buf<acc, 4096x16xf32>) {
  pto.tmatmul ins(%l, %r : !pto.tile_buf<left, 4096x16xf16>, !pto.tile_buf<right, 16x16xf16>) outs(%a : !pto.tile_buf<acc, 4096x16xf32>)
  return
}
// -----
// CHECK: error: 'pto.tload' op expects ins(...) to be a part of a tensor
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>) {
  pto.tload ins(%t : !pto.tile_buf<vec, 16x32xf32>) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
// -----
// CHECK: error: 'pto.tload' op expects a tile with loc=vec, loc=mat or loc=scaling, not acc
func.func @f(%p: !pto.partition_tensor_view<16x16xf32>, %a: !pto.tile_buf<acc, 16x16xf32>) {
  pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%a : !pto.tile_buf<acc, 16x16xf32>)
  return
}
// -----
// CHECK: error: 'pto.tstore' op expects outs(...) to be a part of a tensor
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>) {
  pto.tstore ins(%t : !pto.tile_buf<vec, 16x32xf32>) outs(%t : !pto.tile_buf<vec, 16x32xf32>)
  return
}
// -----
// CHECK: error: 'pto.tstore' op expects a tile with loc=vec, loc=mat or loc=acc, not left
func.func @f(%p: !pto.partition_tensor_view<16x16xf32>, %l: !pto.tile_buf<left, 16x16xf32>) {
  pto.tstore ins(%l : !pto.tile_buf<left, 16x16xf32>) outs(%p : !pto.partition_tensor_view<16x16xf32>)
  return
}
// -----
// CHECK: error: 'pto.tcvt' op expects both tiles to have the same valid rows and columns; they are 16 x 32 and 16 x 64
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %w: !pto.tile_buf<vec, 16x64xf32>) {
  pto.tcvt ins(%t : !pto.tile_buf<vec, 16x32xf32>) outs(%w : !pto.tile_buf<vec, 16x64xf32>)
  return
}
// -----
// CHECK: error: 'pto.tprint' op expects printable tile_buf without tmp to be in vec address space
func.func @f(%a: !pto.tile_buf<acc, 16x16xf32>) {
  pto.tprint ins(%a : !pto.tile_buf<acc, 16x16xf32>)
  return
}
// -----
// CHECK: error: 'pto.syncall' op expects hard syncall to have no operands
func.func @f(%p: !pto.ptr<i32>) {
  pto.syncall(%p : !pto.ptr<i32>) mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
  return
}
// -----
// CHECK: error: 'pto.syncall' op expects soft syncall to have gm_workspace and optional used_cores
func.func @f() {
  pto.syncall() mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<mix>
  return
}
// -----
// CHECK: error: 'pto.addptr' op expects ptr and result to be of one type
func.func @f(%p: !pto.ptr<f32>, %i: index) {
  %q = pto.addptr %p, %i : <f32> -> <i32>
  return
}
// -----
// CHECK: error: 'pto.load_scalar' op expects a value of the pointer's element type f32, not i32
func.func @f(%p: !pto.ptr<f32>, %i: index) {
  %q = pto.load_scalar %p[%i] : !pto.ptr<f32> -> i32
  return
}
// -----
// CHECK: error: 'pto.make_tensor_view' op expects as many shape and strides operands as tensor_view has dimensions, 2; there are 1 and 2
func.func @f(%p: !pto.ptr<f32>, %i: index) {
  %q = pto.make_tensor_view %p, shape = [%i], strides = [%i, %i] : !pto.tensor_view<?x?xf32>
  return
}
// -----
// CHECK: error: 'pto.make_tensor_view' op expects shape operand 0 to be 8, as its type says, not 16
func.func @f(%p: !pto.ptr<f32>) {
  %i = arith.constant 16 : index
  %q = pto.make_tensor_view %p, shape = [%i], strides = [%i] : !pto.tensor_view<8xf32>
  return
}
// -----
// CHECK: error: 'pto.partition_view' op expects as many offsets and sizes as the source has dimensions, 1; there are 2 and 1
func.func @f(%v: !pto.tensor_view<16xf32>, %i: index) {
  %q = pto.partition_view %v, offsets = [%i, %i], sizes = [%i] : !pto.tensor_view<16xf32> -> !pto.partition_tensor_view<?xf32>
  return
}
// -----
// CHECK: error: 'pto.partition_view' op expects result elements of f32, as the source has, not f16
func.func @f(%v: !pto.tensor_view<16xf32>, %i: index) {
  %q = pto.partition_view %v, offsets = [%i], sizes = [%i] : !pto.tensor_view<16xf32> -> !pto.partition_tensor_view<?xf16>
  return
}
// -----
// CHECK: error: 'pto.partition_view' op size at dim 0 must be positive, got 0; leave the part out
func.func @f(%v: !pto.tensor_view<16xf32>, %i: index) {
  %s = arith.constant 0 : index
  %q = pto.partition_view %v, offsets = [%i], sizes = [%s] : !pto.tensor_view<16xf32> -> !pto.partition_tensor_view<?xf32>
  return
}
// -----
// CHECK: error: 'pto.partition_view' op size/result mismatch at dim 1: size operand=8 result type dim=4; make them agree
func.func @f(%v: !pto.tensor_view<16x16xf32>, %i: index) {
  %s = arith.constant 8 : index
  %q = pto.partition_view %v, offsets = [%i, %i], sizes = [%s, %s] : !pto.tensor_view<16x16xf32> -> !pto.partition_tensor_view<?x4xf32>
  return
}
// -----
// CHECK: error: 'pto.partition_view' op expects offset 0 and size 0 to stay within the 16 elements of dimension 0; 8 + 12 is more
func.func @f(%v: !pto.tensor_view<16xf32>, %i: index) {
  %o = arith.constant 8 : index
  %s = arith.constant 12 : index
  %q = pto.partition_view %v, offsets = [%o], sizes = [%s] : !pto.tensor_view<16xf32> -> !pto.partition_tensor_view<12xf32>
  return
}
// -----
// CHECK: error: 'pto.partition_view' op expects offset 0 not to be negative, as -1 is
func.func @f(%v: !pto.tensor_view<16xf32>, %i: index) {
  %o = arith.constant -1 : index
  %q = pto.partition_view %v, offsets = [%o], sizes = [%i] : !pto.tensor_view<16xf32> -> !pto.partition_tensor_view<?xf32>
  return
}
// -----
// CHECK: error: 'pto.alloc_tile' op expects no valid_row operand, as the type says v_row=16; write v_row=?
func.func @f(%i: index) {
  %t = pto.alloc_tile valid_row = %i : !pto.tile_buf<vec, 16x32xf32>
  return
}
// -----
// CHECK: error: 'pto.subview' op expects its 8 rows from 12 on to be within the 16 of the source
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>) {
  %r = arith.constant 12 : index
  %c = arith.constant 0 : index
  %s = pto.subview %t[%r, %c] sizes [8, 8] : !pto.tile_buf<vec, 16x32xf32>
  return
}
// -----
// CHECK: error: 'pto.subview' op expects two offsets and two sizes, for rows and columns
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %i: index) {
  %s = pto.subview %t[%i] sizes [8, 8] : !pto.tile_buf<vec, 16x32xf32>
  return
}
// -----
// CHECK: error: 'pto.subview' op expects result elements of f32, as the source has, not f16
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %i: index) {
  %s = pto.subview %t[%i, %i] sizes [8, 8] : !pto.tile_buf<vec, 16x32xf32> -> !pto.tile_buf<vec, 8x8xf16>
  return
}
// -----
// CHECK: error: 'pto.subview' op expects the result in vec, where the source is, not mat
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %i: index) {
  %s = pto.subview %t[%i, %i] sizes [8, 8] : !pto.tile_buf<vec, 16x32xf32> -> !pto.tile_buf<mat, 8x8xf32>
  return
}
// -----
// CHECK: error: 'pto.set_validshape' op expects a tile with v_row=?, v_col=?
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>, %i: index) {
  pto.set_validshape %t, %i, %i : !pto.tile_buf<vec, 16x32xf32>
  return
}
// -----
// CHECK: error: 'pto.set_validshape' op expects row operand <= shape dim (16), not 17
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32, valid=?x?>) {
  %r = arith.constant 17 : index
  pto.set_validshape %t, %r, %r : !pto.tile_buf<vec, 16x32xf32, valid=?x?>
  return
}
// -----
// CHECK: error: 'pto.treshape' op expects a result of 2048 bytes, as the tile has, not 1024
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>) {
  %s = pto.treshape %t : !pto.tile_buf<vec, 16x32xf32> -> !pto.tile_buf<vec, 16x16xf32>
  return
}
// -----
// CHECK: error: 'pto.treshape' op expects the result in vec, where the tile is, not mat
func.func @f(%t: !pto.tile_buf<vec, 16x32xf32>) {
  %s = pto.treshape %t : !pto.tile_buf<vec, 16x32xf32> -> !pto.tile_buf<mat, 16x32xf32>
  return
}
// -----
// CHECK: error: 'pto.subview' op expects sizes greater than 0; it takes 0 rows
func.func @f(%t: !pto.tile_buf<vec, 16x16xf32>, %i: index) {
  %s = pto.subview %t[%i, %i] sizes [0, 16] : !pto.tile_buf<vec, 16x16xf32> -> !pto.tile_buf<vec, 16x16xf32>
  return
}

// -----
// CHECK: error: 'pto.tprint' op expects a tile or a part of a tensor, not i32
func.func @f(%n: i32) {
  pto.tprint ins(%n : i32)
  return
}
