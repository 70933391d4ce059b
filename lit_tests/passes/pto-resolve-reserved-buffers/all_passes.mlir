// RUN: loom-opt -p pto-assign-default-frontend-pipe-id,pto-lower-frontend-pipe-ops,pto-infer-validate-pipe-init,pto-place-reserved-buffers,pto-resolve-reserved-buffers %s | filecheck %s
// Kernels of both cores from pipes by number to pipes with flags and addresses.

module attributes {pto.target_arch = "a3"} {
  // CHECK-LABEL: func.func @cube(
  func.func @cube(%gm: !pto.ptr<f32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    // CHECK: %[[OUT:.*]] = arith.constant 1024 : i32
    %out = pto.import_reserved_buffer {name = "sums", peer_func = @vec} -> i32
    // CHECK-NEXT: %[[IN:.*]] = arith.constant 0 : i32
    %in = pto.reserve_buffer {name = "factors", size = 4096, location = #pto.address_space<mat>, auto = true} -> i32
    // CHECK-NEXT: %[[PIPE:.*]] = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4, local_slot_num = 4, flag_base = 0, nosplit = false}(%gm : !pto.ptr<f32>, %[[OUT]] : i32, %[[IN]] : i32)
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 1024}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %out : i32, v2c_consumer_buf = %in : i32)
    %sum = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32>
    scf.for %i = %zero to %n step %one {
      // CHECK: %factor = pto.declare_tile
      // CHECK-NEXT: pto.tpop(%factor, %[[PIPE]] : {{.*}}) {split = 1}
      %factor = pto.tpop_from_aiv {split = 1} -> !pto.tile_buf<mat, 16x16xf32>
      // CHECK-NEXT: pto.tfree(%[[PIPE]] : !pto.pipe) {split = 1}
      pto.tfree_from_aiv {split = 1}
      // CHECK-NEXT: pto.tpush(%sum, %[[PIPE]] : {{.*}}) {split = 1}
      pto.tpush_to_aiv(%sum : !pto.tile_buf<acc, 16x16xf32>) {split = 1}
    }
    return
  }
  // CHECK-LABEL: func.func @vec(
  func.func @vec(%gm: !pto.ptr<f32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %nought = arith.constant 0 : i64
    %tile = pto.alloc_tile addr = %nought : !pto.tile_buf<vec, 16x16xf32>
    %half = pto.alloc_tile addr = %nought : !pto.tile_buf<vec, 8x16xf32>
    // CHECK: %[[IN:.*]] = arith.constant 1024 : i32
    %in = pto.reserve_buffer {name = "sums", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    // CHECK-NEXT: %[[OUT:.*]] = arith.constant 0 : i32
    %out = pto.import_reserved_buffer {name = "factors", peer_func = @cube} -> i32
    // CHECK-NEXT: %[[PIPE:.*]] = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4, local_slot_num = 4, flag_base = 0, nosplit = false}(%gm : !pto.ptr<f32>, %[[IN]] : i32, %[[OUT]] : i32)
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 1024}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %in : i32, v2c_consumer_buf = %out : i32)
    scf.for %i = %zero to %n step %one {
      // CHECK: pto.tpush(%half, %[[PIPE]] : {{.*}}) {split = 1}
      pto.tpush_to_aic(%half : !pto.tile_buf<vec, 8x16xf32>) {split = 1}
      // CHECK: pto.tpop(%sum, %[[PIPE]] : {{.*}}) {split = 1}
      %sum = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 8x16xf32>
      pto.tfree_from_aic {split = 1}
    }
    return
  }
}
