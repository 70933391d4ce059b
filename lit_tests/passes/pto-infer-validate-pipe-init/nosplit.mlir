// RUN: loom-opt -p pto-infer-validate-pipe-init --split-input-file %s | filecheck %s
// Both ends of a pipe get `nosplit` from what goes through either (PTO-025 to PTO-027).

// Whole tiles at one end; nothing goes through the other.
// CHECK-LABEL: func.func @cube(
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %buffer = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
  // CHECK: pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, nosplit = true}
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%buffer : i32) -> !pto.pipe
  return
}
// CHECK-LABEL: func.func @vec(
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  // CHECK: pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, nosplit = true}
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%buffer : i32) -> !pto.pipe
  pto.tfree(%pipe : !pto.pipe) {split = 0}
  return
}

// -----

// Of two directions, one buffer suffices to know the other end; parts go through.
// CHECK-LABEL: func.func @cube(
func.func @cube(%own: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %buffer = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
  // CHECK: pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4, nosplit = false}
  %pipe = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4}(%buffer : i32, %own : i32) -> !pto.pipe
  pto.tfree(%pipe : !pto.pipe) {split = 2}
  return
}
// CHECK-LABEL: func.func @vec(
func.func @vec(%other: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = pto.reserve_buffer {name = "fifo", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
  // CHECK: pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4, nosplit = false}
  %pipe = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4}(%buffer : i32, %other : i32) -> !pto.pipe
  // Nothing goes through this one, and nothing is known of its other end (PTO-014).
  // CHECK: pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 512, slot_num = 4, flag_base = 4, nosplit = false}
  %idle = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 512, slot_num = 4, flag_base = 4}(%other : i32) -> !pto.pipe
  // CHECK: pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 256, slot_num = 4, flag_base = 6, nosplit = true}
  %stated = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 256, slot_num = 4, flag_base = 6, nosplit = true}(%other : i32) -> !pto.pipe
  return
}

// -----

// Pipes of tensors are one if they had one number and direction.
// CHECK-LABEL: func.func @cube(
func.func @cube(%slots: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // CHECK: pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, nosplit = true}
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%slots : !pto.tensor_view<16x16xf32>) {__pto.frontend_id = 5 : i32} -> !pto.pipe
  // CHECK: pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 8, nosplit = false}
  %back = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 8}(%slots : !pto.tensor_view<16x16xf32>) {__pto.frontend_id = 5 : i32} -> !pto.pipe
  return
}
// CHECK-LABEL: func.func @vec(
func.func @vec(%slots: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, nosplit = true}
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%slots : !pto.tensor_view<16x16xf32>) {__pto.frontend_id = 5 : i32} -> !pto.pipe
  pto.tfree(%pipe : !pto.pipe) {split = 0}
  return
}
