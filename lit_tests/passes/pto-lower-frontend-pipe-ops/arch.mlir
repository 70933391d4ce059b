// RUN: loom-opt -p 'pto-lower-frontend-pipe-ops{arch="a5"}' %s | filecheck %s --check-prefix=A5
// RUN: loom-opt -p pto-lower-frontend-pipe-ops %s | filecheck %s --check-prefix=A3
// A module that names no chip is for the one of the option, else for a2 and a3.

// A3-LABEL: func.func @vec(
// A5-LABEL: func.func @vec(
func.func @vec(%gm: !pto.ptr<f32>, %buffer: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // A5: pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%buffer : i32)
  // A3: pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 8}(%gm : !pto.ptr<f32>, %buffer : i32)
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buffer : i32)
  return
}
