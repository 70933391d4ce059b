// RUN: loom-opt -p pto-lower-frontend-pipe-ops --split-input-file %s | filecheck %s
// Where slots lie depends on the chip; what kernels leave open is filled in (PTO-009, PTO-012, PTO-022, PTO-023).

// On a5, in the consumer's memory; one pipe for both directions, of 4 slots each.
// CHECK-LABEL: func.func @cube_a5(
module attributes {pto.target_arch = "a5"} {
  func.func @cube_a5(%to_vec: i32, %to_cube: i32, %tile: !pto.tile_buf<acc, 16x16xf32>, %l: !pto.tile_buf<left, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    // CHECK-NEXT: %[[PIPE:.*]] = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4}(%to_vec : i32, %to_cube : i32) {__pto.frontend_id = 0 : i32} -> !pto.pipe
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 1024}(c2v_consumer_buf = %to_vec : i32, v2c_consumer_buf = %to_cube : i32)
    // CHECK-NEXT: pto.tpush(%tile, %[[PIPE]] : !pto.tile_buf<loc=acc, {{.*}}>, !pto.pipe) {split = 1}
    pto.tpush_to_aiv(%tile : !pto.tile_buf<acc, 16x16xf32>) {split = 1}
    // CHECK-NEXT: %got = pto.declare_tile -> !pto.tile_buf<loc=mat,
    // CHECK-NEXT: pto.tpop(%got, %[[PIPE]] : !pto.tile_buf<loc=mat, {{.*}}>, !pto.pipe) {split = 1}
    %got = pto.tpop_from_aiv {split = 1} -> !pto.tile_buf<mat, 16x16xf32>
    // CHECK-NEXT: pto.tmov ins(%got :
    pto.tmov ins(%got : !pto.tile_buf<mat, 16x16xf32>) outs(%l : !pto.tile_buf<left, 16x16xf32>)
    // CHECK-NEXT: pto.tfree(%[[PIPE]] : !pto.pipe) {split = 1}
    pto.tfree_from_aiv {split = 1}
    return
  }
}

// -----

// On a2 and a3, in global memory, and as many in the consumer's: a pipe is made of the pointer to the slots and the
// addresses of the buffers (PTO-016). Where no number of local slots is given, there are as many as slots (PTO-013).
// CHECK-LABEL: func.func @vec_a3(
module attributes {pto.target_arch = "a3"} {
  func.func @vec_a3(%gm: !pto.ptr<f32>, %buffer: i32, %lane: i64, %m: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // CHECK-NEXT: %[[IN:.*]] = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 8}(%gm : !pto.ptr<f32>, %buffer : i32) {__pto.frontend_id = 1 : i32} -> !pto.pipe
    pto.aiv_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buffer : i32, v2c_consumer_buf = %buffer : i32)
    // CHECK-NEXT: %[[OUT:.*]] = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 512, slot_num = 6, local_slot_num = 2, nosplit = false}(%gm : !pto.ptr<f32>, %buffer : i32) {__pto.frontend_id = 2 : i32} -> !pto.pipe
    pto.aiv_initialize_pipe {id = 2, dir_mask = 2, slot_size = 512, slot_num = 6, local_slot_num = 2, nosplit = false}(gm_slot_buffer = %gm : !pto.ptr<f32>, v2c_consumer_buf = %buffer : i32)
    // Valid rows and columns are set before the tile is bound.
    // CHECK-NEXT: %got = pto.declare_tile -> !pto.tile_buf<
    // CHECK-NEXT: pto.set_validshape %got, %m, %m :
    // CHECK-NEXT: pto.tpop(%got, %[[IN]] : {{.*}}) {split = 2} aiv_subblockid(%lane)
    %got = pto.tpop_from_aic(%m, %m) {id = 1, split = 2} aiv_subblockid(%lane) -> !pto.tile_buf<vec, 8x16xf32, valid=?x?>
    // CHECK-NEXT: pto.tpush(%got, %[[OUT]] : {{.*}}) {split = 1} aiv_subblockid(%lane)
    pto.tpush_to_aic(%got : !pto.tile_buf<vec, 8x16xf32, valid=?x?>) {id = 2, split = 1} aiv_subblockid(%lane)
    // CHECK-NEXT: pto.tfree(%[[IN]] : !pto.pipe) {split = 2}
    pto.tfree_from_aic {id = 1, split = 2}
    return
  }
}

// -----

// Tensors stay in global memory on every chip (PTO-004, PTO-010, PTO-011).
// CHECK-LABEL: func.func @tensors(
module attributes {pto.target_arch = "a5"} {
  func.func @tensors(%slots: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    // CHECK-NEXT: %[[PIPE:.*]] = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4}(%slots : !pto.tensor_view<16x16xf32>) {__pto.frontend_id = 0 : i32} -> !pto.pipe
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 1024}(gm_slot_tensor = %slots : !pto.tensor_view<16x16xf32>)
    // CHECK-NEXT: %slot = pto.declare_global -> !pto.tensor_view<16x16xf32>
    // CHECK-NEXT: pto.talloc(%slot, %[[PIPE]] : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
    %slot = pto.talloc_to_aiv {split = 0} -> !pto.tensor_view<16x16xf32>
    // CHECK-NEXT: pto.tpush(%slot, %[[PIPE]] : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
    pto.tpush_to_aiv(%slot : !pto.tensor_view<16x16xf32>) {split = 0}
    // CHECK-NEXT: %entry = pto.declare_global -> !pto.tensor_view<16x16xf32>
    // CHECK-NEXT: pto.tpop(%entry, %[[PIPE]] : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
    %entry = pto.tpop_from_aiv {split = 0} -> !pto.tensor_view<16x16xf32>
    // CHECK-NEXT: pto.tfree(%entry, %[[PIPE]] : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
    pto.tfree_from_aiv(%entry : !pto.tensor_view<16x16xf32>) {split = 0}
    return
  }
}

// -----

// Inside a loop, a pipe of outside it.
// CHECK-LABEL: func.func @loop(
func.func @loop(%gm: !pto.ptr<f32>, %buffer: i32, %lb: index, %ub: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK-NEXT: %[[PIPE:.*]] = pto.initialize_l2g2l_pipe {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buffer : i32)
  // CHECK: scf.for
  scf.for %i = %lb to %ub step %ub {
    // CHECK-NEXT: %got = pto.declare_tile
    // CHECK-NEXT: pto.tpop(%got, %[[PIPE]] :
    %got = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
    // CHECK-NEXT: pto.tfree(%[[PIPE]] :
    pto.tfree_from_aic {split = 0}
  }
  return
}
