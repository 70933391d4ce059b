// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Pipes as values, used against the rules; messages contain the wording of the public verifier.

// CHECK: error: 'pto.initialize_l2l_pipe' op expects 'dir_mask' to be 1, 2, or 3
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 0, slot_size = 64, slot_num = 8}(%a : i32) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.initialize_l2l_pipe' op expects 'slot_size' to be greater than 0
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 0, slot_num = 8}(%a : i32) -> !pto.pipe
  return
}
// -----
// PTO-023
// CHECK: error: 'pto.initialize_l2l_pipe' op expects 'slot_num' to be greater than 0
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 64, slot_num = 0}(%a : i32) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.initialize_l2l_pipe' op expects 'flag_base' to be non-negative when present
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 64, slot_num = 8, flag_base = -1}(%a : i32) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.initialize_l2l_pipe' op requires 'flag_base' and dir_mask to fit within 16 hardware flag ids; it takes 2 from 15 on
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 64, slot_num = 8, flag_base = 15}(%a : i32) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.initialize_l2l_pipe' op requires 'flag_base' and dir_mask to fit within 16 hardware flag ids; it takes 4 from 13 on
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 64, slot_num = 8, flag_base = 13}(%a : i32, %a : i32) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.initialize_l2l_pipe' op expects 'peer_local_addr' when dir_mask is 3
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 64, slot_num = 8}(%a : i32) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.initialize_l2l_pipe' op 'peer_local_addr' is only allowed when dir_mask is 3
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 64, slot_num = 8}(%a : i32, %a : i32) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.initialize_l2g2l_pipe' op expects 'peer_local_addr' when dir_mask is 3
func.func @f(%g: !pto.ptr<f32>, %a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 64, slot_num = 8}(%g : !pto.ptr<f32>, %a : i32) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.initialize_l2g2l_pipe' op expects 'local_slot_num' to be greater than 0
func.func @f(%g: !pto.ptr<f32>, %a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 64, slot_num = 8, local_slot_num = 0}(%g : !pto.ptr<f32>, %a : i32) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.initialize_l2g2l_pipe' op expects 'local_slot_num' to be less than or equal to slot_num
func.func @f(%g: !pto.ptr<f32>, %a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 64, slot_num = 8, local_slot_num = 9}(%g : !pto.ptr<f32>, %a : i32) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.initialize_l2g2l_pipe' op 'local_slot_num' is only allowed when 'local_addr' is present
func.func @f(%g: !pto.ptr<f32>, %a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 64, slot_num = 8, local_slot_num = 2}(%g : !pto.ptr<f32>) -> !pto.pipe
  return
}
// -----
// CHECK: error: 'pto.tpush' op must be inside pto.section.cube/vector or a kernel_kind function
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tile_buf<acc, 16x16xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// A text includes no headers, so of PTO-005 remains that the pipe of a push is a TPipe: what opens one is all there is.
// CHECK: error: 'pto.tpush' op pipe_handle must be produced by pto.initialize_l2l_pipe or pto.initialize_l2g2l_pipe
func.func @f(%p: !pto.pipe, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.tpush(%t, %p : !pto.tile_buf<acc, 16x16xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects 'split' to be 0, 1, 2, 3, or 4
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tile_buf<acc, 16x16xf32>, !pto.pipe) {split = -1}
  return
}
// -----
// CHECK: error: 'pto.tpush' op supports odd split modes (split = 3 or 4) only for a unidirectional C2V pto.initialize_l2g2l_pipe with a local consumer buffer
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tile_buf<acc, 16x16xf32>, !pto.pipe) {split = 3}
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects a statically even valid-row count for split = 1
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32, valid=15x15>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tile_buf<acc, 16x16xf32, valid=15x15>, !pto.pipe) {split = 1}
  return
}
// -----
// The cube core pops the whole.
// CHECK: error: 'pto.tpop' op expects a statically even valid-column count for split = 2; there are 15
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 8}(%a : i32) -> !pto.pipe
  %t = pto.declare_tile -> !pto.tile_buf<mat, 16x16xf32, valid=16x15>
  pto.tpop(%t, %p : !pto.tile_buf<mat, 16x16xf32, valid=16x15>, !pto.pipe) {split = 2}
  return
}
// -----
// PTO-022
// CHECK: error: 'pto.tpush' op expects a slot_size of at least 65536, the bytes of the tile, not 1024
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 128x128xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tile_buf<acc, 128x128xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// PTO-017
// CHECK: error: 'pto.tpush' op tile type must map to a supported producer pipe
func.func @f(%a: i32, %t: !pto.tile_buf<mat, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tile_buf<mat, 16x16xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpop' op tile type and target arch must map to a supported consumer pipe
func.func @f(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpop(%t, %p : !pto.tile_buf<acc, 16x16xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects 'aiv_subblockid' only when 'split' is 1, 2, 3, or 4
func.func @f(%a: i32, %n: i64, %t: !pto.tile_buf<vec, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tile_buf<vec, 16x16xf32>, !pto.pipe) {split = 0} aiv_subblockid(%n)
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects !pto.tensor_view pipe entry to use a pipe produced by pto.initialize_l2g2l_pipe
func.func @f(%a: i32, %t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%a : i32) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects !pto.tensor_view pipe entry to use global-only pto.initialize_l2g2l_pipe without local_addr
func.func @f(%g: !pto.ptr<f32>, %a: i32, %t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%g : !pto.ptr<f32>, %a : i32) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects !pto.tensor_view pipe entry to use pto.initialize_l2g2l_pipe gm_addr with tensor_view slot type
func.func @f(%g: !pto.ptr<f32>, %a: i32, %t: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%g : !pto.ptr<f32>) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects pipe entry element type to match initialize_l2g2l_pipe gm_addr element type
func.func @f(%s: !pto.tensor_view<16x16xf32>, %t: !pto.tensor_view<16x16xf16>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%s : !pto.tensor_view<16x16xf32>) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tensor_view<16x16xf16>, !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects pipe entry rank to match initialize_l2g2l_pipe gm_addr rank
func.func @f(%s: !pto.tensor_view<16x16xf32>, %t: !pto.tensor_view<256xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%s : !pto.tensor_view<16x16xf32>) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tensor_view<256xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects pipe entry dimension 0 to match initialize_l2g2l_pipe gm_addr dimension 16
func.func @f(%s: !pto.tensor_view<16x16xf32>, %t: !pto.tensor_view<8x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%s : !pto.tensor_view<16x16xf32>) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tensor_view<8x16xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects pipe entry byte size to match initialize_l2g2l_pipe slot_size (got entry byte size = 512, slot_size = 1024)
func.func @f(%s: !pto.tensor_view<?x16xf32>, %t: !pto.tensor_view<8x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%s : !pto.tensor_view<?x16xf32>) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tensor_view<8x16xf32>, !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush' op expects pipe entry byte size to match initialize_l2g2l_pipe slot_size or half slot_size for split entries (got entry byte size = 256, slot_size = 1024)
func.func @f(%s: !pto.tensor_view<?x16xf32>, %t: !pto.tensor_view<4x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%s : !pto.tensor_view<?x16xf32>) -> !pto.pipe
  pto.tpush(%t, %p : !pto.tensor_view<4x16xf32>, !pto.pipe) {split = 1}
  return
}
// -----
// CHECK: error: 'pto.tfree' op pipe_handle must be produced by pto.initialize_l2l_pipe or pto.initialize_l2g2l_pipe
func.func @f(%p: !pto.pipe) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.tfree(%p : !pto.pipe) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.initialize_l2g2l_pipe' op 'peer_local_addr' requires 'local_addr'
func.func @f(%gm: !pto.ptr<f32>, %a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = "pto.initialize_l2g2l_pipe"(%gm, %a) <{dir_mask = 3 : i8, slot_size = 1024 : i32, slot_num = 8 : i32, operandSegmentSizes = array<i32: 1, 0, 1>}> : (!pto.ptr<f32>, i32) -> !pto.pipe
  return
}
