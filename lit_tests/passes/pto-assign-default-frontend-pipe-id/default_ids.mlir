// RUN: loom-opt -p pto-assign-default-frontend-pipe-id %s | filecheck %s
// Operations that name no pipe work on pipe 0; numbers that are there stay.

// CHECK-LABEL: func.func @cube(
func.func @cube(%to_vec: i32, %to_cube: i32, %tile: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // CHECK: pto.aic_initialize_pipe {id = 0, dir_mask = 3, slot_size = 1024}(
  pto.aic_initialize_pipe {dir_mask = 3, slot_size = 1024}(c2v_consumer_buf = %to_vec : i32, v2c_consumer_buf = %to_cube : i32)
  // CHECK: pto.aic_initialize_pipe {id = 4, dir_mask = 1, slot_size = 1024}(
  pto.aic_initialize_pipe {id = 4, dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %to_vec : i32)
  // CHECK: pto.tpush_to_aiv({{.*}}) {id = 0, split = 1}
  pto.tpush_to_aiv(%tile : !pto.tile_buf<acc, 16x16xf32>) {split = 1}
  // CHECK: pto.tpush_to_aiv({{.*}}) {id = 4, split = 0}
  pto.tpush_to_aiv(%tile : !pto.tile_buf<acc, 16x16xf32>) {id = 4, split = 0}
  // CHECK: pto.tpop_from_aiv {id = 0, split = 1}
  %got = pto.tpop_from_aiv {split = 1} -> !pto.tile_buf<mat, 16x16xf32>
  // CHECK: pto.tfree_from_aiv {id = 0, split = 1}
  pto.tfree_from_aiv {split = 1}
  return
}

// CHECK-LABEL: func.func @vec(
func.func @vec(%to_vec: i32, %to_cube: i32, %tile: !pto.tile_buf<vec, 8x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: pto.aiv_initialize_pipe {id = 0, dir_mask = 3, slot_size = 1024}(
  pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 1024}(c2v_consumer_buf = %to_vec : i32, v2c_consumer_buf = %to_cube : i32)
  scf.execute_region {
    // CHECK: pto.tpush_to_aic({{.*}}) {id = 0, split = 1}
    pto.tpush_to_aic(%tile : !pto.tile_buf<vec, 8x16xf32>) {split = 1}
    scf.yield
  }
  // CHECK: pto.tpop_from_aic {id = 0, split = 1}
  %got = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 8x16xf32>
  // CHECK: pto.tfree_from_aic {id = 0, split = 1}
  pto.tfree_from_aic {split = 1}
  return
}
