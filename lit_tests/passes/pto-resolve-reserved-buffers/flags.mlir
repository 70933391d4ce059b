// RUN: loom-opt -p pto-resolve-reserved-buffers --split-input-file %s | filecheck %s
// Pipes take the first even flags that are free at both their ends; buffers become addresses.

// In the order of the least number a pipe has in its kernels, not of the text; two flags, four for both directions.
// CHECK-LABEL: func.func @cube(
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // CHECK-NEXT: %[[A:.*]] = arith.constant 4096 : i32
  %a = pto.import_reserved_buffer {name = "a", peer_func = @vec} -> i32
  // CHECK-NEXT: %[[B:.*]] = arith.constant 8192 : i32
  %b = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  // CHECK-NEXT: %[[C:.*]] = arith.constant 512 : i32
  %c = pto.reserve_buffer {name = "c", size = 2048, location = #pto.address_space<mat>, auto = false, base = 512} -> i32
  // CHECK-NEXT: flag_base = 4}(%[[A]] : i32)
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) {__pto.frontend_id = 7 : i32} -> !pto.pipe
  // CHECK-NEXT: flag_base = 0}(%[[B]] : i32, %[[C]] : i32)
  %q = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 2}(%b : i32, %c : i32) {__pto.frontend_id = 1 : i32} -> !pto.pipe
  return
}
// CHECK-LABEL: func.func @vec(
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK-NEXT: %[[A:.*]] = arith.constant 4096 : i32
  %a = pto.reserve_buffer {name = "a", size = 2048, location = #pto.address_space<vec>, auto = false, base = 4096} -> i32
  // CHECK-NEXT: %[[B:.*]] = arith.constant 8192 : i32
  %b = pto.reserve_buffer {name = "b", size = 2048, location = #pto.address_space<vec>, auto = false, base = 8192} -> i32
  // CHECK-NEXT: %[[C:.*]] = arith.constant 512 : i32
  %c = pto.import_reserved_buffer {name = "c", peer_func = @cube} -> i32
  // CHECK-NEXT: flag_base = 4}(%[[A]] : i32)
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) {__pto.frontend_id = 6 : i32} -> !pto.pipe
  // CHECK-NEXT: flag_base = 0}(%[[B]] : i32, %[[C]] : i32)
  %q = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 2}(%b : i32, %c : i32) {__pto.frontend_id = 9 : i32} -> !pto.pipe
  return
}

// -----

// Around flags that are stated, also an odd one; each function has its own.
// CHECK-LABEL: func.func @stated(
func.func @stated(%x: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "a", peer_func = @peer} -> i32
  // CHECK: flag_base = 4}
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  // CHECK: flag_base = 1}
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 1}(%x : i32) -> !pto.pipe
  return
}
// CHECK-LABEL: func.func @peer(
func.func @peer(%x: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "a", size = 2048, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  // CHECK: flag_base = 4}
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  // CHECK: flag_base = 0}
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0}(%x : i32) -> !pto.pipe
  return
}

// -----

// Sections for different cores state the flags of the two ends of one pipe.
// CHECK-LABEL: func.func @sections(
func.func @sections(%x: i32) {
  pto.section.cube {
    // CHECK: flag_base = 0}
    %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0}(%x : i32) -> !pto.pipe
  }
  pto.section.vector {
    // CHECK: flag_base = 0}
    %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0}(%x : i32) -> !pto.pipe
  }
  return
}

// -----

// Pipes of tensors, in any number of kernels.
// CHECK-LABEL: func.func @first(
func.func @first(%slots: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // CHECK: flag_base = 2}
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%slots : !pto.tensor_view<16x16xf32>) {__pto.frontend_id = 3 : i32} -> !pto.pipe
  // CHECK: flag_base = 0}
  %p = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%slots : !pto.tensor_view<16x16xf32>) {__pto.frontend_id = 2 : i32} -> !pto.pipe
  return
}
// CHECK-LABEL: func.func @second(
func.func @second(%slots: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: flag_base = 2}
  %q = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%slots : !pto.tensor_view<16x16xf32>) {__pto.frontend_id = 3 : i32} -> !pto.pipe
  return
}
