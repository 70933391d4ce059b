// RUN: loom-opt -p 'pto-infer-slots{slot-num=infer}' --split-input-file %s | filecheck %s
// RUN: loom-opt -p pto-infer-slots --split-input-file %s | filecheck %s --check-prefix=KEEP
// As few slots as let both kernels come to their ends; by default numbers stay as they are.

!lane = !pto.tile_buf<vec, 8x16xf32>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>

// Nothing needs more than two; the buffer has as many. What is left out is left out where numbers are kept.
module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @cube(
  // KEEP-LABEL: func.func @cube(
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    %buf = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
    // CHECK: pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}
    // KEEP: pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %buf : i32)
    %acc = pto.alloc_tile : !acc
    scf.for %i = %c0 to %c40 step %c1 {
      pto.tpush_to_aiv(%acc : !acc) {split = 1}
    }
    return
  }
  // CHECK-LABEL: func.func @vec(
  // KEEP-LABEL: func.func @vec(
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    // CHECK: size = 2048
    // KEEP: size = 8192
    %buf = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    // CHECK: pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}
    // KEEP: pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %buf : i32)
    scf.for %i = %c0 to %c40 step %c1 {
      %t = pto.tpop_from_aic {split = 1} -> !lane
      pto.tfree_from_aic {split = 1}
    }
    return
  }
}

// -----

!lane = !pto.tile_buf<vec, 8x16xf32>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>

// Three entries are popped before the first is freed, through a pipe in global memory on a3: there a pop gives
// the slot back, so that two are enough; on a5 it takes three.
module attributes {pto.target_arch = "a3"} {
  // CHECK-LABEL: func.func @cube(
  // KEEP-LABEL: func.func @cube(
  func.func @cube(%gm: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %buf = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
    // CHECK: pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, local_slot_num = 2}
    // KEEP: pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 3}
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 3}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buf : i32)
    %acc = pto.alloc_tile : !acc
    pto.tpush_to_aiv(%acc : !acc) {split = 1}
    pto.tpush_to_aiv(%acc : !acc) {split = 1}
    pto.tpush_to_aiv(%acc : !acc) {split = 1}
    return
  }
  // CHECK-LABEL: func.func @vec(
  func.func @vec(%gm: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // CHECK: size = 2048
    %buf = pto.reserve_buffer {name = "fifo", size = 3072, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 3}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buf : i32)
    %t = pto.tpop_from_aic {split = 1} -> !lane
    %u = pto.tpop_from_aic {split = 1} -> !lane
    %v = pto.tpop_from_aic {split = 1} -> !lane
    pto.tfree_from_aic {split = 1}
    pto.tfree_from_aic {split = 1}
    pto.tfree_from_aic {split = 1}
    return
  }
}

// -----

!lane = !pto.tile_buf<vec, 8x16xf32>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>

module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @cube(
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %buf = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
    // CHECK: pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 3}
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(c2v_consumer_buf = %buf : i32)
    %acc = pto.alloc_tile : !acc
    pto.tpush_to_aiv(%acc : !acc) {split = 1}
    pto.tpush_to_aiv(%acc : !acc) {split = 1}
    pto.tpush_to_aiv(%acc : !acc) {split = 1}
    return
  }
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %buf = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(c2v_consumer_buf = %buf : i32)
    %t = pto.tpop_from_aic {split = 1} -> !lane
    %u = pto.tpop_from_aic {split = 1} -> !lane
    %v = pto.tpop_from_aic {split = 1} -> !lane
    pto.tfree_from_aic {split = 1}
    pto.tfree_from_aic {split = 1}
    pto.tfree_from_aic {split = 1}
    return
  }
}

// -----

!half = !pto.tile_buf<vec, 8x16xf32>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!mat = !pto.tile_buf<mat, 16x16xf32>

// One pipe for both directions: the cube core puts three entries in before it takes the first answer out, and the
// vector cores answer each before they free it.
module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @cube(
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c2v = pto.import_reserved_buffer {name = "there", peer_func = @vec} -> i32
    // CHECK: pto.reserve_buffer {name = "back", size = 3072
    %v2c = pto.reserve_buffer {name = "back", size = 4096, location = #pto.address_space<mat>, auto = true} -> i32
    // CHECK: pto.aic_initialize_pipe {dir_mask = 3, slot_size = 1024, slot_num = 3}
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 1024}(c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)
    %acc = pto.alloc_tile : !acc
    pto.tpush_to_aiv(%acc : !acc) {split = 1}
    pto.tpush_to_aiv(%acc : !acc) {split = 1}
    pto.tpush_to_aiv(%acc : !acc) {split = 1}
    %a = pto.tpop_from_aiv {split = 1} -> !mat
    pto.tfree_from_aiv {split = 1}
    %b = pto.tpop_from_aiv {split = 1} -> !mat
    pto.tfree_from_aiv {split = 1}
    %c = pto.tpop_from_aiv {split = 1} -> !mat
    pto.tfree_from_aiv {split = 1}
    return
  }
  // CHECK-LABEL: func.func @vec(
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // CHECK: pto.reserve_buffer {name = "there", size = 3072
    %c2v = pto.reserve_buffer {name = "there", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    %v2c = pto.import_reserved_buffer {name = "back", peer_func = @cube} -> i32
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 1024}(c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)
    %a = pto.tpop_from_aic {split = 1} -> !half
    %b = pto.tpop_from_aic {split = 1} -> !half
    %c = pto.tpop_from_aic {split = 1} -> !half
    pto.tpush_to_aic(%a : !half) {split = 1}
    pto.tfree_from_aic {split = 1}
    pto.tpush_to_aic(%b : !half) {split = 1}
    pto.tfree_from_aic {split = 1}
    pto.tpush_to_aic(%c : !half) {split = 1}
    pto.tfree_from_aic {split = 1}
    return
  }
}
