// RUN: loom-opt %s | filecheck %s
// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// Operations on tiles and on the cores that run them.

!f = !pto.tile_buf<vec, 16x32xf32>
!h = !pto.tile_buf<vec, 16x32xf16>
!row = !pto.tile_buf<vec, 16x1xf32, blayout=col_major>
!wide = !pto.tile_buf<vec, 16x64xf32>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!mat = !pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>
!padded = !pto.tile_buf<mat, 16x32xf32, blayout=col_major, slayout=row_major, pad=2>
!part = !pto.partition_tensor_view<16x32xf32>

// CHECK-LABEL: func.func @moves(
func.func @moves(%p: !part, %f: !f, %h: !h, %acc: !acc, %mat: !mat, %fp: !pto.tile_buf<scaling, 1x16xi64>, %s: i64, %i: index, %v: f32, %q: !pto.tile_buf<vec, 16x16xf16>) {
  // CHECK: pto.tload ins(%p : !pto.partition_tensor_view<16x32xf32>) outs(%f : !pto.tile_buf<loc=vec, dtype=f32, {{.*}}>)
  pto.tload ins(%p : !part) outs(%f : !f)
  // CHECK: pto.tload {{.*}} pad_mode = #pto.padmode<PadValue> pad_value = %v : f32
  pto.tload ins(%p : !part) outs(%f : !f) pad_mode = #pto.padmode<PadValue> pad_value = %v : f32
  // CHECK: pto.tstore ins(%f : !pto.tile_buf<{{.*}}>) outs(%p : !pto.partition_tensor_view<16x32xf32>) {atomicType = #pto<atomic_type atomic_add>, stPhase = #pto<st_phase final>}
  pto.tstore ins(%f : !f) outs(%p : !part) {atomicType = #pto<atomic_type atomic_add>, stPhase = #pto<st_phase final>}
  // CHECK: pto.tstore ins(%acc : !pto.tile_buf<{{.*}}> fp %fp : !pto.tile_buf<loc=scaling, {{.*}}>) outs(
  pto.tstore ins(%acc : !acc fp %fp : !pto.tile_buf<scaling, 1x16xi64>) outs(%p : !part)
  // CHECK: pto.tstore ins(%acc : !pto.tile_buf<{{.*}}>, %s : i64) outs(
  pto.tstore ins(%acc : !acc, %s : i64) outs(%p : !part)
  // CHECK: pto.tmov ins(%acc : !pto.tile_buf<{{.*}}>, %fp : !pto.tile_buf<{{.*}}>) outs(%q : !pto.tile_buf<{{.*}}>) {accToVecMode = #pto.acc_to_vec_mode<single_mode_vec1>, reluPreMode = #pto<relu_pre_mode normal_relu>}
  pto.tmov ins(%acc : !acc, %fp : !pto.tile_buf<scaling, 1x16xi64>) outs(%q : !pto.tile_buf<vec, 16x16xf16>) {accToVecMode = #pto.acc_to_vec_mode<single_mode_vec1>, reluPreMode = #pto<relu_pre_mode normal_relu>}
  // CHECK: pto.tmov ins(%acc : !pto.tile_buf<{{.*}}>, %s : i64) outs(%mat : !pto.tile_buf<{{.*}}>)
  pto.tmov ins(%acc : !acc, %s : i64) outs(%mat : !mat)
  // CHECK: pto.textract ins(%acc, %i, %i : !pto.tile_buf<{{.*}}>, index, index) outs(%mat :
  pto.textract ins(%acc, %i, %i : !acc, index, index) outs(%mat : !mat)
  // CHECK: pto.textract ins(%acc, %i, %i, %s : !pto.tile_buf<{{.*}}>, index, index, i64) outs(%mat :
  pto.textract ins(%acc, %i, %i, %s : !acc, index, index, i64) outs(%mat : !mat)
  // CHECK: pto.textract ins(%acc, %i, %i : !pto.tile_buf<{{.*}}>, index, index fp %fp : !pto.tile_buf<{{.*}}>) outs(%mat :
  pto.textract ins(%acc, %i, %i : !acc, index, index fp %fp : !pto.tile_buf<scaling, 1x16xi64>) outs(%mat : !mat)
  // CHECK: pto.tcvt ins(%f {rmode = #pto<round_mode ROUND>} : !pto.tile_buf<{{.*}}>) outs(%h :
  pto.tcvt ins(%f {rmode = #pto<round_mode ROUND>} : !f) outs(%h : !h)
  // CHECK: pto.tcvt ins(%f, %f {satmode = #pto<saturation_mode ON>} : !pto.tile_buf<{{.*}}>, !pto.tile_buf<{{.*}}>) outs(%h :
  pto.tcvt ins(%f, %f {satmode = #pto<saturation_mode ON>} : !f, !f) outs(%h : !h)
  // CHECK: pto.tprint ins(%f : !pto.tile_buf<{{.*}}>) {printFormat = #pto<print_format width8_precision2>}
  pto.tprint ins(%f : !f) {printFormat = #pto<print_format width8_precision2>}
  return
}
// CHECK-LABEL: func.func @arithmetic(
func.func @arithmetic(%f: !f, %m: !padded, %r: !row, %one: !pto.tile_buf<vec, 1x32xf32>, %w: !wide, %x: f32) {
  // CHECK: pto.tadd ins(%f, %f : !pto.tile_buf<{{.*}}>, !pto.tile_buf<{{.*}}>) outs(%f : !pto.tile_buf<{{.*}}>)
  pto.tadd ins(%f, %f : !f, !f) outs(%f : !f)
  // CHECK: pto.tsub
  pto.tsub ins(%f, %f : !f, !f) outs(%f : !f)
  // CHECK: pto.tmul
  pto.tmul ins(%f, %f : !f, !f) outs(%f : !f)
  // CHECK: pto.tdiv {{.*}} {precisionType = #pto<div_precision high_precision>}
  pto.tdiv ins(%f, %f : !f, !f) outs(%f : !f) {precisionType = #pto<div_precision high_precision>}
  // CHECK: pto.tmax
  pto.tmax ins(%f, %f : !f, !f) outs(%f : !f)
  // CHECK: pto.tadds ins(%f, %x : !pto.tile_buf<{{.*}}>, f32) outs(%f : !pto.tile_buf<{{.*}}>)
  pto.tadds ins(%f, %x : !f, f32) outs(%f : !f)
  // CHECK: pto.tsubs
  pto.tsubs ins(%f, %x : !f, f32) outs(%f : !f)
  // CHECK: pto.tmuls
  pto.tmuls ins(%f, %x : !f, f32) outs(%f : !f)
  // CHECK: pto.tmaxs
  pto.tmaxs ins(%f, %x : !f, f32) outs(%f : !f)
  // CHECK: pto.tmins
  pto.tmins ins(%f, %x : !f, f32) outs(%f : !f)
  // CHECK: pto.tneg ins(%f : !pto.tile_buf<{{.*}}>) outs(%f : !pto.tile_buf<{{.*}}>)
  pto.tneg ins(%f : !f) outs(%f : !f)
  // CHECK: pto.texp
  pto.texp ins(%f : !f) outs(%f : !f)
  // CHECK: pto.tlog
  pto.tlog ins(%f : !f) outs(%f : !f)
  // CHECK: pto.tsqrt
  pto.tsqrt ins(%f : !f) outs(%f : !f)
  // CHECK: pto.trecip
  pto.trecip ins(%f : !f) outs(%f : !f)
  // CHECK: pto.texpands ins(%x : f32) outs(%f : !pto.tile_buf<{{.*}}>)
  pto.texpands ins(%x : f32) outs(%f : !f)
  // CHECK: pto.trowsum ins(%f : !pto.tile_buf<{{.*}}>) outs(%r : !pto.tile_buf<{{.*}}>)
  pto.trowsum ins(%f : !f) outs(%r : !row)
  // CHECK: pto.trowmax ins(%f, %f : !pto.tile_buf<{{.*}}>, !pto.tile_buf<{{.*}}>) outs(%r : !pto.tile_buf<{{.*}}>)
  pto.trowmax ins(%f, %f : !f, !f) outs(%r : !row)
  // CHECK: pto.trowexpandmul ins(%f, %r : !pto.tile_buf<{{.*}}>, !pto.tile_buf<{{.*}}>) outs(%f : !pto.tile_buf<{{.*}}>)
  pto.trowexpandmul ins(%f, %r : !f, !row) outs(%f : !f)
  // CHECK: pto.trowexpandsub ins(%f, %r, %f :
  pto.trowexpandsub ins(%f, %r, %f : !f, !row, !f) outs(%f : !f)
  // CHECK: pto.trowexpanddiv
  pto.trowexpanddiv ins(%f, %r : !f, !row) outs(%f : !f)
  // CHECK: pto.tcolexpand ins(%one : !pto.tile_buf<{{.*}}>) outs(%f : !pto.tile_buf<{{.*}}>)
  pto.tcolexpand ins(%one : !pto.tile_buf<vec, 1x32xf32>) outs(%f : !f)
  // CHECK: pto.tcolexpandadd
  pto.tcolexpandadd ins(%f, %one : !f, !pto.tile_buf<vec, 1x32xf32>) outs(%f : !f)
  // CHECK: pto.tcolexpandmul
  pto.tcolexpandmul ins(%f, %one : !f, !pto.tile_buf<vec, 1x32xf32>) outs(%f : !f)
  // CHECK: pto.tconcat
  pto.tconcat ins(%f, %f : !f, !f) outs(%w : !wide)
  // CHECK: pto.tfillpad {{.*}} {padValue = #pto.pad_value<max>}
  pto.tfillpad ins(%m : !padded) outs(%m : !padded) {padValue = #pto.pad_value<max>}
  return
}
// CHECK-LABEL: func.func @products(
func.func @products(%l: !pto.tile_buf<left, 16x32xf16>, %r: !pto.tile_buf<right, 32x16xf16>, %acc: !acc) {
  // CHECK: pto.tmatmul ins(%l, %r : !pto.tile_buf<loc=left, {{.*}}>, !pto.tile_buf<loc=right, {{.*}}>) outs(%acc : !pto.tile_buf<loc=acc, {{.*}}>)
  pto.tmatmul ins(%l, %r : !pto.tile_buf<left, 16x32xf16>, !pto.tile_buf<right, 32x16xf16>) outs(%acc : !acc)
  // CHECK: pto.tmatmul.acc ins(%acc, %l, %r : {{.*}}) outs(%acc : !pto.tile_buf<loc=acc, {{.*}}>) {accPhase = #pto<acc_phase final>}
  pto.tmatmul.acc ins(%acc, %l, %r : !acc, !pto.tile_buf<left, 16x32xf16>, !pto.tile_buf<right, 32x16xf16>) outs(%acc : !acc) {accPhase = #pto<acc_phase final>}
  return
}
// CHECK-LABEL: func.func @cores(
func.func @cores(%p: !pto.ptr<i64>, %n: i32, %w: !pto.ptr<i32>) {
  // CHECK: %b = pto.get_block_idx
  %b = pto.get_block_idx
  // CHECK: %c = pto.get_block_num
  %c = pto.get_block_num
  // CHECK: %s = pto.get_subblock_num
  %s = pto.get_subblock_num
  // CHECK: pto.barrier <PIPE_ALL>
  pto.barrier <PIPE_ALL>
  // CHECK: pto.barrier <PIPE_MTE2>
  pto.barrier #pto.pipe<PIPE_MTE2>
  // CHECK: pto.set_ffts %p : !pto.ptr<i64>
  pto.set_ffts %p : <i64>
  // CHECK: pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
  pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
  // CHECK: pto.syncall(%w, %n : !pto.ptr<i32>, i32) mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<aiv_only>
  pto.syncall(%w, %n : !pto.ptr<i32>, i32) mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<aiv_only>
  return
}
