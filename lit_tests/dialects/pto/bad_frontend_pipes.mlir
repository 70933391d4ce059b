// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Kernels that use pipes against the rules; messages contain the wording of the public verifier.

// CHECK: error: 'pto.aic_initialize_pipe' op must be inside a cube kernel function or section
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// A section decides, not the function around it.
// CHECK: error: 'pto.aiv_initialize_pipe' op must be inside a vector kernel function or section
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.section.cube {
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 64}(c2v_consumer_buf = %a : i32)
  }
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op must be nested under a func.func
builtin.module {
  pto.section.cube {
    %a = "test.op"() : () -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64}(c2v_consumer_buf = %a : i32)
  }
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op requires 'id' to be unique across frontend initialize_pipe ops in the function
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {id = 2, dir_mask = 1, slot_size = 64}(c2v_consumer_buf = %a : i32)
  pto.aic_initialize_pipe {id = 2, dir_mask = 1, slot_size = 64}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'id' to be non-negative
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {id = -1, dir_mask = 1, slot_size = 64}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'dir_mask' to be 1, 2, or 3
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 4, slot_size = 64}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// PTO-022
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'slot_size' to be greater than 0
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 0}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// PTO-023
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'slot_num' to be greater than 0
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64, slot_num = 0}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'c2v_consumer_buf' when dir_mask is 1
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64}(v2c_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'v2c_consumer_buf' when dir_mask is 2
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 2, slot_size = 64}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects both 'c2v_consumer_buf' and 'v2c_consumer_buf' when dir_mask is 3
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 3, slot_size = 64}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects local pipe init to provide at least one consumer buffer operand
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64}()
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op 'local_slot_num' is only supported for a2/a3 frontend pipe lowering
module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64, local_slot_num = 2}(c2v_consumer_buf = %a : i32)
    return
  }
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'local_slot_num' to be greater than 0
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64, local_slot_num = 0}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// Without slot_num there are 8 slots, or 4 for each of two directions.
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'local_slot_num' to be less than or equal to slot_num (8) for dir_mask = 1
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64, local_slot_num = 9}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'local_slot_num' to be less than or equal to slot_num (4) for dir_mask = 3
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 3, slot_size = 64, local_slot_num = 5}(c2v_consumer_buf = %a : i32, v2c_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op 'gm_slot_tensor' cannot be combined with 'gm_slot_buffer'
func.func @f(%p: !pto.ptr<f32>, %t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %p : !pto.ptr<f32>, gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op GM-backed tile pipe init currently supports only dir_mask = 1 with 'gm_slot_tensor' and 'c2v_consumer_buf'
func.func @f(%a: i32, %t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 2, slot_size = 1024}(gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>, v2c_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op globaltensor pipe init does not use 'local_slot_num'
func.func @f(%t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, local_slot_num = 2}(gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'slot_size' to equal gm_slot_tensor byte size or twice gm_slot_tensor byte size for split GlobalTensor entries (got slot_size = 1000, gm_slot_tensor byte size = 1024)
func.func @f(%t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1000}(gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'gm_slot_tensor' to be !pto.tensor_view
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_tensor = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'gm_slot_tensor' to describe one slot entry tensor
func.func @f(%t: !pto.tensor_view<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 4}(gm_slot_tensor = %t : !pto.tensor_view<f32>)
  return
}
// -----
// A consumer takes tiles in its own memory.
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'v2c_consumer_buf' to be reserved with location = #pto.address_space<mat>, where its consumer pops tiles, not vec
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aic_initialize_pipe {dir_mask = 2, slot_size = 64}(v2c_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op must be inside a cube kernel function or section
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) {
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects 'split' to be 0, 1, 2, 3, or 4
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {split = 5}
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects 'id' = 3 to match a frontend initialize_pipe op in the same function
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {id = 3, split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects 'id' = 0 to reference initialize_pipe with dir_mask = 1 or 3
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 2, slot_size = 1024}(v2c_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aiv' op expects 'id' = 0 to reference initialize_pipe with dir_mask = 2 or 3
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  %m = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 16x16xf32>
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects 'id' to be non-negative
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {id = -2, split = 0}
  return
}
// -----
// PTO-017, PTO-018
// CHECK: error: 'pto.tpush_to_aiv' op expects a tile with loc=acc, which the cube core pushes, not vec
func.func @f(%a: i32, %t: !pto.tile_buf<vec, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<vec, 16x16xf32>) {split = 0}
  return
}
// -----
// PTO-019
// CHECK: error: 'pto.tpush_to_aic' op expects a tile with loc=vec, which the vector core pushes, not acc
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 1024}(v2c_consumer_buf = %a : i32)
  pto.tpush_to_aic(%t : !pto.tile_buf<acc, 16x16xf32>) {split = 0}
  return
}
// -----
// PTO-022
// CHECK: error: 'pto.tpush_to_aiv' op expects a slot_size of at least 65536, the bytes of the tile, not 65535
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 128x128xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 65535}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 128x128xf32>) {split = 0}
  return
}
// -----
// PTO-026
// CHECK: error: 'pto.tpush_to_aiv' op expects a statically even valid-row count for split = 1
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32, valid=15x15>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32, valid=15x15>) {split = 1}
  return
}
// -----
// PTO-027
// CHECK: error: 'pto.tpush_to_aiv' op expects a statically even valid-column count for split = 2
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32, valid=15x15>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32, valid=15x15>) {split = 2}
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects a statically odd valid-row count for split = 3
func.func @f(%p: !pto.ptr<f32>, %a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {split = 3}
  return
}
// -----
// The cube core pops the whole, of which each vector core has pushed half.
// CHECK: error: 'pto.tpop_from_aiv' op expects a statically even valid-row count for split = 1; there are 15
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 2, slot_size = 1024}(v2c_consumer_buf = %a : i32)
  %t = pto.tpop_from_aiv {split = 1} -> !pto.tile_buf<mat, 16x16xf32, valid=15x15>
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects a statically odd valid-column count for split = 4
func.func @f(%p: !pto.ptr<f32>, %a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {split = 4}
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op supports odd split modes (split = 3 or 4) only for a unidirectional C2V GM-backed tile pipe with both GM slot and C2V consumer buffers
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32, valid=15x15>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32, valid=15x15>) {split = 3}
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aic' op supports odd split modes (split = 3 or 4) from V2C only on A2/A3, for a GM-backed tile pipe with both GM slot and V2C consumer buffers
func.func @f(%a: i32, %t: !pto.tile_buf<vec, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 1024}(v2c_consumer_buf = %a : i32)
  pto.tpush_to_aic(%t : !pto.tile_buf<vec, 16x16xf32>) {split = 4}
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op supports odd split modes (split = 3 or 4) only for tile entries
func.func @f(%a: i32, %t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>, c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tensor_view<16x16xf32>) {split = 3}
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op expects odd C2V split tpop to provide per-sub-core valid_row and valid_col operands
func.func @f(%p: !pto.ptr<f32>, %a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %p : !pto.ptr<f32>, c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 3} -> !pto.tile_buf<vec, 8x16xf32>
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op expects tile result to have dynamic validShape (?, ?) when valid_row/valid_col operands are provided
func.func @f(%a: i32, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic(%n, %n) {split = 1} -> !pto.tile_buf<vec, 8x16xf32>
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op does not accept valid_row/valid_col when result is !pto.tensor_view
func.func @f(%t: !pto.tensor_view<16x16xf32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>)
  %e = pto.tpop_from_aic(%n, %n) {split = 0} -> !pto.tensor_view<16x16xf32>
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op expects 'aiv_subblockid' only when 'split' is 1, 2, 3, or 4
func.func @f(%a: i32, %n: i64) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} aiv_subblockid(%n) -> !pto.tile_buf<vec, 16x16xf32>
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op does not support 'aiv_subblockid' for !pto.tensor_view pipe entries
func.func @f(%t: !pto.tensor_view<16x16xf32>, %n: i64) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>)
  %e = pto.tpop_from_aic {split = 1} aiv_subblockid(%n) -> !pto.tensor_view<16x16xf32>
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op expects 'aiv_subblockid' only on AIV-side vector tile pipe entries
func.func @f(%a: i32, %n: i64) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 1} aiv_subblockid(%n) -> !pto.tile_buf<mat, 16x16xf32>
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op expects 'id' = 0 to reference initialize_pipe with 'gm_slot_tensor' when the pipe entry is !pto.tensor_view
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tensor_view<16x16xf32>
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op expects pipe entry element type to match gm_slot_tensor element type
func.func @f(%t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>)
  %e = pto.tpop_from_aic {split = 0} -> !pto.tensor_view<16x16xf16>
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op expects pipe entry rank to match gm_slot_tensor rank
func.func @f(%t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>)
  %e = pto.tpop_from_aic {split = 0} -> !pto.tensor_view<256xf32>
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op expects pipe entry dimension 1 to match gm_slot_tensor dimension 16
func.func @f(%t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>)
  %e = pto.tpop_from_aic {split = 0} -> !pto.tensor_view<16x8xf32>
  return
}
// -----
// CHECK: error: 'pto.tfree_from_aic' op expects 'id' = 7 to match a frontend initialize_pipe op in the same function
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  pto.tfree_from_aic {id = 7, split = 0}
  return
}
// -----
// CHECK: error: 'pto.talloc_to_aic' op must be inside a vector kernel function or section
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %e = pto.talloc_to_aic {split = 0} -> !pto.tensor_view<16x16xf32>
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op does not allow unpublished fixpipe attr 'stPhase'; STPhase / AtomicType / SubBlockId / ClipReluMode / IsChannelSplit are not part of the PTOIR frontend surface
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {split = 0} {stPhase = 1 : i32}
  return
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op expects valid_row and valid_col operands to be provided together
func.func @f(%a: i32, %m: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  %t = "pto.tpop_from_aic"(%m) <{split = 0 : i8, operandSegmentSizes = array<i32: 1, 0, 0>}> : (index) -> !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  return
}
