// RUN: loom-opt %s | filecheck %s
// A push takes a pipe, what goes through it and how vector cores share that; there is one for tiles and one for slots
// (PTO-002, PTO-003, PTO-004). The text is that of the public compiler, not of the instruction set's manual (PTO-036).

// CHECK-LABEL: func.func @tiles(
func.func @tiles(%a: i32, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {id = 3, dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  // CHECK: pto.tpush_to_aiv(%t : !pto.tile_buf<loc=acc, {{.*}}>) {id = 3, split = 1}
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {id = 3, split = 1}
  return
}

// CHECK-LABEL: func.func @slots(
func.func @slots(%s: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {id = 3, dir_mask = 1, slot_size = 1024}(gm_slot_tensor = %s : !pto.tensor_view<16x16xf32>)
  %e = pto.talloc_to_aiv {id = 3, split = 0} -> !pto.tensor_view<16x16xf32>
  // CHECK: pto.tpush_to_aiv(%e : !pto.tensor_view<16x16xf32>) {id = 3, split = 0}
  pto.tpush_to_aiv(%e : !pto.tensor_view<16x16xf32>) {id = 3, split = 0}
  return
}

// A tile and a slot as the entries of pipes that are values; the split is always stated, and has no default.
// CHECK-LABEL: func.func @values(
func.func @values(%a: i32, %s: !pto.tensor_view<16x16xf32>, %t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%s : !pto.tensor_view<16x16xf32>) -> !pto.pipe
  // CHECK: pto.tpush(%t, %p : !pto.tile_buf<loc=acc, {{.*}}>, !pto.pipe) {split = 2}
  pto.tpush(%t, %p : !pto.tile_buf<acc, 16x16xf32>, !pto.pipe) {split = 2}
  // CHECK: pto.tpush(%s, %q : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  pto.tpush(%s, %q : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  return
}

// Vector cores have parts, which may have any number of rows: of 10, each has 5.
// CHECK-LABEL: func.func @parts(
func.func @parts(%a: i32, %t: !pto.tile_buf<vec, 8x16xf32, valid=5x16>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {id = 3, dir_mask = 2, slot_size = 1024}(v2c_consumer_buf = %a : i32)
  %p = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  // CHECK: pto.tpush_to_aic(%t : {{.*}}v_row=5{{.*}}>) {id = 3, split = 1}
  pto.tpush_to_aic(%t : !pto.tile_buf<vec, 8x16xf32, valid=5x16>) {id = 3, split = 1}
  // CHECK: pto.tpush(%t, %p : {{.*}}v_row=5{{.*}}>, !pto.pipe) {split = 1}
  pto.tpush(%t, %p : !pto.tile_buf<vec, 8x16xf32, valid=5x16>, !pto.pipe) {split = 1}
  return
}
