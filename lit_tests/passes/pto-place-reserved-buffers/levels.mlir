// RUN: loom-opt -p 'pto-place-reserved-buffers{level=1}' --split-input-file --verify-diagnostics %s | filecheck %s --check-prefix=AUTO
// RUN: loom-opt -p 'pto-place-reserved-buffers{level=2}' --split-input-file --verify-diagnostics %s | filecheck %s --check-prefix=AUTO
// RUN: loom-opt -p 'pto-place-reserved-buffers{level=3}' --split-input-file --verify-diagnostics %s | filecheck %s --check-prefix=STATED
// Who places buffers, by the level of the public compiler.

func.func @stated() {
  // AUTO: error: 'pto.reserve_buffer' op pto.reserve_buffer with explicit 'base' (auto = false) is not supported when --pto-level=level1 or level2
  // STATED: name = "a", size = 64, location = #pto.address_space<vec>, auto = false, base = 0}
  %a = pto.reserve_buffer {name = "a", size = 64, location = #pto.address_space<vec>, auto = false, base = 0} -> i32
  return
}

// -----

func.func @automatic() {
  // AUTO: name = "a", size = 64, location = #pto.address_space<vec>, auto = false, base = 0}
  // STATED: error: 'pto.reserve_buffer' op pto.reserve_buffer requires 'auto = false' and explicit 'base' when --pto-level=level3
  %a = pto.reserve_buffer {name = "a", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  return
}
