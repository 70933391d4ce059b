// RUN: loom-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s
// Control signals against the rules (PTO-021).

// CHECK: error: 'pto.tpush_signal_to_aic' op expects a signal of type i1, not i32; use a comparison
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 64}(v2c_consumer_buf = %a : i32)
  pto.tpush_signal_to_aic(%a : i32) {id = 0}
  return
}
// -----
// CHECK: error: 'pto.tpop_signal_from_aiv' op expects a signal of type i1, not i32
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 2, slot_size = 64}(v2c_consumer_buf = %a : i32)
  %s = pto.tpop_signal_from_aiv {id = 0} -> i32
  return
}
// -----
// Signals go from vector cores to the cube core.
// CHECK: error: 'pto.tpush_signal_to_aic' op must be inside a vector kernel function or section
func.func @f(%a: i32, %s: i1) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 2, slot_size = 64}(v2c_consumer_buf = %a : i32)
  pto.tpush_signal_to_aic(%s : i1) {id = 0}
  return
}
// -----
// CHECK: error: 'pto.tpop_signal_from_aiv' op must be inside a cube kernel function or section
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 64}(v2c_consumer_buf = %a : i32)
  %s = pto.tpop_signal_from_aiv {id = 0} -> i1
  return
}
// -----
// CHECK: error: 'pto.tpush_signal_to_aic' op expects 'id' = 0 to reference initialize_pipe with dir_mask = 2 or 3
func.func @f(%a: i32, %s: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 64}(c2v_consumer_buf = %a : i32)
  pto.tpush_signal_to_aic(%s : i1) {id = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush_signal_to_aic' op expects 'id' = 1 to match a frontend initialize_pipe op in the same function
func.func @f(%a: i32, %s: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 64}(v2c_consumer_buf = %a : i32)
  pto.tpush_signal_to_aic(%s : i1) {id = 1}
  return
}
// -----
// PTO-022: a slot holds all that goes through, tiles or signals.
// CHECK: error: 'pto.tpush_signal_to_aic' op expects a slot_size of at least 4, the bytes of a signal, not 2
func.func @f(%a: i32, %s: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 2}(v2c_consumer_buf = %a : i32)
  pto.tpush_signal_to_aic(%s : i1) {id = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aic' op expects a slot_size of at least 1024, the bytes of the tile, not 4
func.func @f(%a: i32, %s: i1, %t: !pto.tile_buf<vec, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 4}(v2c_consumer_buf = %a : i32)
  pto.tpush_signal_to_aic(%s : i1) {id = 0}
  pto.tpush_to_aic(%t : !pto.tile_buf<vec, 16x16xf32>) {id = 0, split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush_signal_to_aic' op expects 'id' = 0 to reference initialize_pipe with 'v2c_consumer_buf'
func.func @f(%t: !pto.tensor_view<16x16xf32>, %s: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 1024}(gm_slot_tensor = %t : !pto.tensor_view<16x16xf32>)
  pto.tpush_signal_to_aic(%s : i1) {id = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush_signal_to_aic' op expects 'split' to be 0, as a signal cannot be split; it is 1
func.func @f(%a: i32, %s: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 2, slot_size = 64}(v2c_consumer_buf = %a : i32)
  "pto.tpush_signal_to_aic"(%s) <{split = 1 : i8}> : (i1) -> ()
  return
}
// -----
// CHECK: error: 'pto.tpush_signal' op must be inside a vector kernel function or section
func.func @f(%a: i32, %s: i1) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 64, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpush_signal(%s, %p : i1, !pto.pipe)
  return
}
// -----
// CHECK: error: 'pto.tpop_signal' op must be inside a cube kernel function or section
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 64, slot_num = 8}(%a : i32) -> !pto.pipe
  %s = pto.tpop_signal(%p : !pto.pipe) -> i1
  return
}
// -----
// CHECK: error: 'pto.tpop_signal' op expects a pipe with dir_mask = 2 or 3, not 1
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 64, slot_num = 8}(%a : i32) -> !pto.pipe
  %s = pto.tpop_signal(%p : !pto.pipe) -> i1
  return
}
// -----
// CHECK: error: 'pto.tpush_signal' op expects a signal of type i1, not i32
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 64, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpush_signal(%a, %p : i32, !pto.pipe)
  return
}
// -----
// CHECK: error: 'pto.tpop_signal' op expects a slot_size of at least 4, the bytes of a signal, not 1
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 1, slot_num = 8}(%a : i32) -> !pto.pipe
  %s = pto.tpop_signal(%p : !pto.pipe) -> i1
  return
}
// -----
// CHECK: error: 'pto.tpush_signal' op expects a pipe with 'local_addr'; a pipe whose slots are tensors has no room for signals
func.func @f(%t: !pto.tensor_view<16x16xf32>, %s: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 8}(%t : !pto.tensor_view<16x16xf32>) -> !pto.pipe
  pto.tpush_signal(%s, %p : i1, !pto.pipe)
  return
}
// -----
// There is no other way to share a signal, so that there is no clause for it.
// CHECK: unexpected keyword 'split'; use one of id
func.func @f(%a: i32, %s: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.tpush_signal_to_aic(%s : i1) {id = 0, split = 0}
}
