// RUN: loom-opt -p pto-infer-validate-pipe-init --verify-diagnostics %s | filecheck %s
// A control signal is not shared (PTO-021), and so is nothing else on its pipe.

// CHECK: error: {{.*}}cannot mix 'split = 0' with 'split = 1'
func.func @cube(%own: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %pipe = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 8}(%own : i32) -> !pto.pipe
  %again = pto.tpop_signal(%pipe : !pto.pipe) -> i1
  pto.tfree(%pipe : !pto.pipe) {split = 1}
  return
}
