// RUN: loom-opt -p pto-lower-frontend-pipe-ops,pto-infer-validate-pipe-init %s | filecheck %s
// Control signals stay values (PTO-021), and go through as whole tiles do: one vector core takes part.

module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @vec(
  func.func @vec(%again: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %answers = pto.import_reserved_buffer {name = "answers", peer_func = @cube} -> i32
    // CHECK: %[[PIPE:.*]] = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 4, slot_num = 8, nosplit = true}
    pto.aiv_initialize_pipe {id = 1, dir_mask = 2, slot_size = 4}(v2c_consumer_buf = %answers : i32)
    // CHECK-NEXT: pto.tpush_signal(%again, %[[PIPE]] : i1, !pto.pipe) {tag = "last"}
    pto.tpush_signal_to_aic(%again : i1) {id = 1} {tag = "last"}
    return
  }
  // CHECK-LABEL: func.func @cube(
  func.func @cube(%n: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %answers = pto.reserve_buffer {name = "answers", size = 32, location = #pto.address_space<mat>, auto = true} -> i32
    // CHECK: %[[PIPE:.*]] = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 4, slot_num = 8, nosplit = true}
    pto.aic_initialize_pipe {id = 0, dir_mask = 2, slot_size = 4}(v2c_consumer_buf = %answers : i32)
    // CHECK-NEXT: %again = pto.tpop_signal(%[[PIPE]] : !pto.pipe) -> i1
    %again = pto.tpop_signal_from_aiv {id = 0} -> i1
    // CHECK-NEXT: pto.tfree(%[[PIPE]] : !pto.pipe) {split = 0}
    pto.tfree_from_aiv {id = 0, split = 0}
    // CHECK-NEXT: arith.select %again, %n, %n : i32
    %m = arith.select %again, %n, %n : i32
    return
  }
}
