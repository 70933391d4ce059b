// RUN: loom-opt %s | filecheck %s
// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// Control signals, to the cube core (PTO-021): the text is ours.

// CHECK-LABEL: func.func @vec(
func.func @vec(%buffer: i32, %again: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {id = 0, dir_mask = 2, slot_size = 4}(v2c_consumer_buf = %buffer : i32)
  pto.aiv_initialize_pipe {id = 1, dir_mask = 3, slot_size = 1024}(c2v_consumer_buf = %buffer : i32, v2c_consumer_buf = %buffer : i32)
  // CHECK: pto.tpush_signal_to_aic(%again : i1) {}
  pto.tpush_signal_to_aic(%again : i1) {}
  // CHECK-NEXT: pto.tpush_signal_to_aic(%again : i1) {id = 1} {tag = "last"}
  pto.tpush_signal_to_aic(%again : i1) {id = 1} {tag = "last"}
  return
}
// CHECK-LABEL: func.func @cube(
func.func @cube(%buffer: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {id = 1, dir_mask = 2, slot_size = 4}(v2c_consumer_buf = %buffer : i32)
  // CHECK: %again = pto.tpop_signal_from_aiv {id = 1} {tag = "last"} -> i1
  %again = pto.tpop_signal_from_aiv {id = 1} {tag = "last"} -> i1
  // CHECK-NEXT: pto.tfree_from_aiv {id = 1, split = 0}
  pto.tfree_from_aiv {id = 1, split = 0}
  return
}
// CHECK-LABEL: func.func @values(
func.func @values(%buffer: i32, %slots: !pto.ptr<f32>, %again: i1) {
  pto.section.vector {
    %pipe = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 4, slot_num = 2}(%slots : !pto.ptr<f32>, %buffer : i32) -> !pto.pipe
    // CHECK: pto.tpush_signal(%again, %pipe : i1, !pto.pipe) {tag = "last"}
    pto.tpush_signal(%again, %pipe : i1, !pto.pipe) {tag = "last"}
  }
  pto.section.cube {
    %pipe = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 4, slot_num = 2}(%buffer : i32) -> !pto.pipe
    // CHECK: %got = pto.tpop_signal(%pipe{{.*}} : !pto.pipe) {tag = "last"} -> i1
    %got = pto.tpop_signal(%pipe : !pto.pipe) {tag = "last"} -> i1
    pto.tfree(%pipe : !pto.pipe) {split = 0}
  }
  return
}
