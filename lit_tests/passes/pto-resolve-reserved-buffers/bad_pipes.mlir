// RUN: loom-opt -p pto-resolve-reserved-buffers --split-input-file --verify-diagnostics %s | filecheck %s
// Pipes without two ends that agree, or without flags; messages contain the wording of the public compiler.

// A buffer that nobody reserves.
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op requires local_addr to come from pto.reserve_buffer or pto.import_reserved_buffer when 'flag_base' is not explicit
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  return
}

// -----

// One end only.
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "a", size = 2048, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op requires a complete compatible peer init pair when local_addr comes from pto.reserve_buffer or pto.import_reserved_buffer
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  return
}

// -----

// Both ends in one function.
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "a", size = 2048, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op requires a complete compatible peer init pair when local_addr comes from pto.reserve_buffer or pto.import_reserved_buffer
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  return
}

// -----

// Two pipes into one buffer.
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "a", peer_func = @g} -> i32
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op requires a complete compatible peer init pair when local_addr comes from pto.reserve_buffer or pto.import_reserved_buffer
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  %q = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  return
}
func.func @g() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "a", size = 2048, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  return
}

// -----

// PTO-012, PTO-022: slots of different size.
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "a", peer_func = @g} -> i32
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op requires peer pipe init ops to agree on direction and pipe shape
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a : i32) -> !pto.pipe
  return
}
func.func @g() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "a", size = 2048, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 512, slot_num = 2}(%a : i32) -> !pto.pipe
  return
}

// -----

func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "a", peer_func = @g} -> i32
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 2}(%a : i32) -> !pto.pipe
  return
}
func.func @g() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "a", size = 2048, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op conflicting explicit flag_base across peer pipe inits
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 4}(%a : i32) -> !pto.pipe
  return
}

// -----

func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 2}(%a : i32) -> !pto.pipe
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op conflicting flag_base across peer pipe init components in the same function
  %q = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 2, flag_base = 0}(%a : i32, %a : i32) -> !pto.pipe
  return
}

// -----

// Nine pipes of two flags each.
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a0 = pto.import_reserved_buffer {name = "a0", peer_func = @g} -> i32
  %a1 = pto.import_reserved_buffer {name = "a1", peer_func = @g} -> i32
  %a2 = pto.import_reserved_buffer {name = "a2", peer_func = @g} -> i32
  %a3 = pto.import_reserved_buffer {name = "a3", peer_func = @g} -> i32
  %a4 = pto.import_reserved_buffer {name = "a4", peer_func = @g} -> i32
  %a5 = pto.import_reserved_buffer {name = "a5", peer_func = @g} -> i32
  %a6 = pto.import_reserved_buffer {name = "a6", peer_func = @g} -> i32
  %a7 = pto.import_reserved_buffer {name = "a7", peer_func = @g} -> i32
  %a8 = pto.import_reserved_buffer {name = "a8", peer_func = @g} -> i32
  %p0 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a0 : i32) -> !pto.pipe
  %p1 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a1 : i32) -> !pto.pipe
  %p2 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a2 : i32) -> !pto.pipe
  %p3 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a3 : i32) -> !pto.pipe
  %p4 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a4 : i32) -> !pto.pipe
  %p5 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a5 : i32) -> !pto.pipe
  %p6 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a6 : i32) -> !pto.pipe
  %p7 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a7 : i32) -> !pto.pipe
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.initialize_l2l_pipe' op requires all pipe components in a function to fit within 16 hardware flag ids
  %p8 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a8 : i32) -> !pto.pipe
  return
}
func.func @g() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a0 = pto.reserve_buffer {name = "a0", size = 2048, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  %a1 = pto.reserve_buffer {name = "a1", size = 2048, location = #pto.address_space<vec>, auto = false, base = 2048} -> i32
  %a2 = pto.reserve_buffer {name = "a2", size = 2048, location = #pto.address_space<vec>, auto = false, base = 4096} -> i32
  %a3 = pto.reserve_buffer {name = "a3", size = 2048, location = #pto.address_space<vec>, auto = false, base = 6144} -> i32
  %a4 = pto.reserve_buffer {name = "a4", size = 2048, location = #pto.address_space<vec>, auto = false, base = 8192} -> i32
  %a5 = pto.reserve_buffer {name = "a5", size = 2048, location = #pto.address_space<vec>, auto = false, base = 10240} -> i32
  %a6 = pto.reserve_buffer {name = "a6", size = 2048, location = #pto.address_space<vec>, auto = false, base = 12288} -> i32
  %a7 = pto.reserve_buffer {name = "a7", size = 2048, location = #pto.address_space<vec>, auto = false, base = 14336} -> i32
  %a8 = pto.reserve_buffer {name = "a8", size = 2048, location = #pto.address_space<vec>, auto = false, base = 16384} -> i32
  %p0 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a0 : i32) -> !pto.pipe
  %p1 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a1 : i32) -> !pto.pipe
  %p2 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a2 : i32) -> !pto.pipe
  %p3 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a3 : i32) -> !pto.pipe
  %p4 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a4 : i32) -> !pto.pipe
  %p5 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a5 : i32) -> !pto.pipe
  %p6 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a6 : i32) -> !pto.pipe
  %p7 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a7 : i32) -> !pto.pipe
  %p8 = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%a8 : i32) -> !pto.pipe
  return
}

// -----

// A buffer without an address.
func.func @f() {
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.reserve_buffer' op expects 'base' to be resolved before address materialization
  %a = pto.reserve_buffer {name = "a", size = 2048, location = #pto.address_space<vec>, auto = true} -> i32
  return
}

// -----

func.func @f() {
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: 'pto.import_reserved_buffer' op expects peer reserve_buffer base to be resolved
  %a = pto.import_reserved_buffer {name = "a", peer_func = @g} -> i32
  return
}
func.func @g() {
  %a = pto.reserve_buffer {name = "a", size = 2048, location = #pto.address_space<vec>, auto = true} -> i32
  return
}
