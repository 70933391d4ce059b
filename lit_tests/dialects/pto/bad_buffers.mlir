// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Reserved buffers that break a rule; messages contain the wording of the public verifier.

// CHECK: error: 'pto.reserve_buffer' op must be nested under a func.func
%a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
// -----
// CHECK: error: 'pto.reserve_buffer' op expects 'size' to be greater than 0
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 0, location = #pto.address_space<vec>, auto = true} -> i32
  return
}
// -----
// CHECK: error: 'pto.reserve_buffer' op expects 'location' to be #pto.address_space<vec> or #pto.address_space<mat>
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<acc>, auto = true} -> i32
  return
}
// -----
// CHECK: error: 'pto.reserve_buffer' op expects 'base' when 'auto' is false
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = false} -> i32
  return
}
// -----
// CHECK: error: 'pto.reserve_buffer' op expects 'base' to be non-negative when present
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = false, base = -4} -> i32
  return
}
// -----
// CHECK: error: 'pto.reserve_buffer' op requires 'name' to be unique within the function
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  %b = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<mat>, auto = true} -> i32
  return
}
// -----
// CHECK: error: 'pto.import_reserved_buffer' op expects 'peer_func' to reference an existing func.func
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @nobody} -> i32
  return
}
// -----
// CHECK: error: 'pto.import_reserved_buffer' op expects matching peer reserve_buffer to exist
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @g} -> i32
  return
}
func.func @g() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = arith.constant 0 : i32
  return
}
// -----
// CHECK: error: 'pto.import_reserved_buffer' op requires (name, peer_func) to be unique within the function
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @g} -> i32
  %b = pto.import_reserved_buffer {name = "b", peer_func = @g} -> i32
  return
}
func.func @g() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  return
}
// -----
// CHECK: error: 'pto.import_reserved_buffer' op must be nested under a func.func
%a = pto.import_reserved_buffer {name = "b", peer_func = @g} -> i32
// -----
// In another module only what is not private is found.
// CHECK: error: 'pto.import_reserved_buffer' op expects 'peer_func' to reference an existing func.func, the only one of that name that is not private
module {
  module {
    func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
      %a = pto.import_reserved_buffer {name = "b", peer_func = @g} -> i32
      return
    }
  }
  module {
    func.func private @g()
  }
}
