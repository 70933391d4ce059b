// RUN: loom-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s
// Text that is not of the dialect, each with its error.

// CHECK: tile_buf rows/cols must be positive
func.func private @f(!pto.tile_buf<vec, 0x16xf32>)
// -----
// CHECK: tile_buf valid_row (17) exceeds row (16)
func.func private @f(!pto.tile_buf<vec, 16x16xf32, valid=17x16>)
// -----
// CHECK: tile_buf valid_col (20) exceeds col (16)
func.func private @f(!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=16, v_col=20, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// -----
// CHECK: unknown loc: ub; use one of mat, left, right, acc, vec, bias, scaling
func.func private @f(!pto.tile_buf<ub, 16x16xf32>)
// -----
// CHECK: unknown blayout: rows; use one of row_major, col_major
func.func private @f(!pto.tile_buf<vec, 16x16xf32, blayout=rows>)
// -----
// CHECK: unknown slayout: none; use one of none_box, row_major, col_major
func.func private @f(!pto.tile_buf<vec, 16x16xf32, slayout=none>)
// -----
// CHECK: unsupported s_fractal_size: 100, must be one of {32, 512, 1024}
func.func private @f(!pto.tile_buf<vec, 16x16xf32, fractal=100>)
// -----
// CHECK: unknown pad: 4
func.func private @f(!pto.tile_buf<vec, 16x16xf32, pad=4>)
// -----
// CHECK: unknown compact: 3
func.func private @f(!pto.tile_buf<vec, 16x16xf32, compact=3>)
// -----
// CHECK: tile_buf compact syntax expects exactly two shape dims
func.func private @f(!pto.tile_buf<vec, 16x16x16xf32>)
// -----
// CHECK: tile_buf valid must have exactly two dims
func.func private @f(!pto.tile_buf<vec, 16x16xf32, valid=16>)
// -----
// CHECK: duplicate pad in tile_buf compact syntax
func.func private @f(!pto.tile_buf<vec, 16x16xf32, pad=0, pad=1>)
// -----
// CHECK: unknown key in tile_buf compact syntax: count
func.func private @f(!pto.tile_buf<vec, 16x16xf32, count=2>)
// -----
// CHECK: v_row must be '?', -1, or a non-negative integer
func.func private @f(!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=-2, v_col=20, blayout=row_major, slayout=none_box, fractal=512, pad=0>)
// -----
// CHECK: expected one of cube, vector, not 'scalar'
func.func private @f() attributes {pto.kernel_kind = #pto.kernel_kind<scalar>}
// -----
// CHECK: expected one of no_relu, normal_relu, not 'pwl'
func.func private @f() attributes {x = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = pwl>}
// -----
// CHECK: unexpected keyword 'depth'; use one of id, dir_mask, slot_size, slot_num, local_slot_num, nosplit, acc_push_epilogue
func.func @f(%a: i32) {
  pto.aic_initialize_pipe {depth = 2}(c2v_consumer_buf = %a : i32)
}
// -----
// CHECK: duplicate 'id' clause
func.func @f(%a: i32) {
  pto.aic_initialize_pipe {id = 0, id = 1, dir_mask = 1, slot_size = 2}(c2v_consumer_buf = %a : i32)
}
// -----
// CHECK: expected 'dir_mask' clause
func.func @f(%a: i32) {
  pto.aic_initialize_pipe {slot_size = 2}(c2v_consumer_buf = %a : i32)
}
// -----
// CHECK: expected 'slot_size' clause
func.func @f(%a: i32) {
  pto.aic_initialize_pipe {dir_mask = 1}(c2v_consumer_buf = %a : i32)
}
// -----
// CHECK: unexpected initialize_pipe operand 'buf'; use one of gm_slot_buffer, gm_slot_tensor, c2v_consumer_buf, v2c_consumer_buf
func.func @f(%a: i32) {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2}(buf = %a : i32)
}
// -----
// CHECK: duplicate 'c2v_consumer_buf' operand
func.func @f(%a: i32) {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 2}(c2v_consumer_buf = %a : i32, c2v_consumer_buf = %a : i32)
}
// -----
// CHECK: expected 'split' clause
func.func @f(%a: i32) {
  pto.tfree_from_aic {id = 0}
}
// -----
// CHECK: expected an entry and a pipe
func.func @f(%a: i32) {
  pto.tpush(%a : i32) {split = 0}
}
// -----
// CHECK: 2 operands have 1 types; give one for each
func.func @f(%a: i32) {
  pto.tadd ins(%a, %a : i32) outs(%a : i32)
}
// -----
// CHECK: expected result type pto.tensor_view<...>
func.func @f(%p: !pto.ptr<f32>) {
  %v = pto.make_tensor_view %p, shape = [], strides = [] : f32
}
// -----
// CHECK: expected a !pto.tensor_view<...>
func.func @f(%p: !pto.ptr<f32>) {
  %v = pto.partition_view %p, offsets = [], sizes = [] : !pto.ptr<f32>
}
// -----
// CHECK: i32 is not a pointer; use !pto.ptr<...>
func.func @f(%a: i32) {
  pto.set_ffts %a : i32
}
// -----
// CHECK: cannot specify both satmode and sat_mode
func.func @f(%t: !pto.tile_buf<vec, 16x16xf32>) {
  pto.tcvt ins(%t {satmode = #pto<saturation_mode ON>, sat_mode = #pto<saturation_mode ON>} : !pto.tile_buf<vec, 16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
}
// -----
// CHECK: operation pto.tdrain is not registered
func.func @f(%a: i32) {
  pto.tdrain(%a : i32)
}
// -----
// CHECK: expected 1 to 2 addresses, not 0
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}() -> !pto.pipe
}

// -----
// CHECK: expected 1 to 3 addresses, not 4
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%a : i32, %a : i32, %a : i32, %a : i32) -> !pto.pipe
}

// -----
// CHECK: syncall takes at most a workspace and a number of cores
func.func @f(%p: !pto.ptr<i32>, %n: i32) {
  pto.syncall(%p, %n, %n : !pto.ptr<i32>, i32, i32) mode = #pto.sync_all_mode<soft>, core_type = #pto.sync_core_type<mix>
}

// -----
// CHECK: expected rows and columns: valid [%m, %n]
func.func @f(%t: !pto.tile_buf<vec, 16x16xf32>, %i: index) {
  %s = pto.subview %t[%i, %i] sizes [8, 8] valid [%i] : !pto.tile_buf<vec, 16x16xf32>
}

// -----
// CHECK: expected a !pto.tile_buf<...>, with two sizes
func.func @f(%t: !pto.tile_buf<vec, 16x16xf32>, %i: index) {
  %s = pto.subview %t[%i] sizes [8] : !pto.tile_buf<vec, 16x16xf32>
}

// -----
// CHECK: expected a tile of scales or an i64
func.func @f(%t: !pto.tile_buf<vec, 16x16xf32>, %n: i32) {
  pto.tmov ins(%t : !pto.tile_buf<vec, 16x16xf32>, %n : i32) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
}

// -----
// CHECK: expected a tile, a row, a column and optionally an i64
func.func @f(%t: !pto.tile_buf<vec, 16x16xf32>, %n: index) {
  pto.textract ins(%t, %n : !pto.tile_buf<vec, 16x16xf32>, index) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
}

// -----
// CHECK: expected a tile and optionally one for intermediate results
func.func @f(%t: !pto.tile_buf<vec, 16x16xf32>) {
  pto.tcvt ins(%t, %t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
}

// -----
// CHECK: expected a tile and optionally scratch memory
func.func @f(%t: !pto.tile_buf<vec, 16x16xf32>) {
  pto.tprint ins(%t, %t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>)
}
// -----
// PTO-021: control tiles belong to a direction that the text does not have.
// CHECK: unknown loc: ctrl; use one of mat, left, right, acc, vec, bias, scaling
func.func private @f(!pto.tile_buf<ctrl, 1x1xi32>)

// -----
// PTO-015: the text has no EN_UNIT_FLAG; it is false.
// CHECK: unexpected keyword 'en_unit_flag'; use one of id, dir_mask, slot_size, slot_num, local_slot_num, nosplit, acc_push_epilogue
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, en_unit_flag = true}(c2v_consumer_buf = %a : i32)
}
