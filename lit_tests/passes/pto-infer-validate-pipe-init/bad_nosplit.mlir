// RUN: loom-opt -p pto-infer-validate-pipe-init --split-input-file --verify-diagnostics %s | filecheck %s
// Ends of a pipe that contradict each other; messages contain the wording of the public compiler.

// PTO-025, PTO-026: whole and in parts at one end.
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %buffer = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%buffer : i32) -> !pto.pipe
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  // CHECK: bad_nosplit.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op cannot mix 'split = 0' with 'split = 1', 'split = 2', 'split = 3', or 'split = 4' on the same logical pipe
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%buffer : i32) -> !pto.pipe
  pto.tfree(%pipe : !pto.pipe) {split = 0}
  pto.tfree(%pipe : !pto.pipe) {split = 1}
  return
}

// -----

// PTO-025, PTO-027: whole at one end, in parts at the other.
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %buffer = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%buffer : i32) -> !pto.pipe
  pto.tfree(%pipe : !pto.pipe) {split = 0}
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  // CHECK: bad_nosplit.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op conflicting pipe split usage across peer pipe init ops
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%buffer : i32) -> !pto.pipe
  pto.tfree(%pipe : !pto.pipe) {split = 2}
  return
}

// -----

func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %buffer = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, nosplit = true}(%buffer : i32) -> !pto.pipe
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  // CHECK: bad_nosplit.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op conflicting explicit 'nosplit' across peer pipe init ops
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, nosplit = false}(%buffer : i32) -> !pto.pipe
  return
}

// -----

// Stated at one end, used at the other.
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %buffer = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
  // CHECK: bad_nosplit.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op explicit 'nosplit = false' conflicts with downstream users that require split = 0
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, nosplit = false}(%buffer : i32) -> !pto.pipe
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%buffer : i32) -> !pto.pipe
  pto.tfree(%pipe : !pto.pipe) {split = 0}
  return
}

// -----

func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %buffer = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%buffer : i32) -> !pto.pipe
  pto.tfree(%pipe : !pto.pipe) {split = 1}
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  // CHECK: bad_nosplit.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op explicit 'nosplit = true' conflicts with downstream users that require split = 1, 2, 3, or 4
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, nosplit = true}(%buffer : i32) -> !pto.pipe
  return
}
