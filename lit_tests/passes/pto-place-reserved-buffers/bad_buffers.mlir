// RUN: loom-opt -p pto-place-reserved-buffers --split-input-file --verify-diagnostics %s | filecheck %s
// Buffers that have no place; messages contain the wording of the public compiler.

func.func @full() {
  %a = pto.reserve_buffer {name = "a", size = 196352, location = #pto.address_space<vec>, auto = true} -> i32
  // CHECK: bad_buffers.mlir:[[# @LINE + 1]]:3: error: 'pto.reserve_buffer' op failed to allocate local memory hole for reserve_buffer: there is none of 257 bytes of 196608 bytes in 'vec'
  %b = pto.reserve_buffer {name = "b", size = 257, location = #pto.address_space<vec>, auto = true} -> i32
  return
}

// -----

func.func @both() {
  // CHECK: error: 'pto.reserve_buffer' op unexpected 'base' on auto reserve_buffer: expects 'base' to be absent when 'auto' is true
  %a = pto.reserve_buffer {name = "a", size = 64, location = #pto.address_space<vec>, auto = true, base = 0} -> i32
  return
}

// -----

func.func @uneven() {
  // CHECK: error: 'pto.reserve_buffer' op expects 'base' to satisfy the address-space alignment
  %a = pto.reserve_buffer {name = "a", size = 64, location = #pto.address_space<vec>, auto = false, base = 128} -> i32
  return
}

// -----

func.func @beyond() {
  // CHECK: error: 'pto.reserve_buffer' op exceeds available local memory capacity
  %a = pto.reserve_buffer {name = "a", size = 257, location = #pto.address_space<mat>, auto = false, base = 524032} -> i32
  return
}

// -----

func.func @twice() {
  %a = pto.reserve_buffer {name = "a", size = 512, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  // CHECK: error: 'pto.reserve_buffer' op overlaps another reserve_buffer of the function
  %b = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = false, base = 256} -> i32
  return
}
