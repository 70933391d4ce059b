// RUN: loom-opt -p 'pto-infer-slots{report=true}' --split-input-file %s 2>&1 | filecheck %s
// What numbers of slots cost and gain, and why that may not be known.

!lane = !pto.tile_buf<vec, 8x16xf32>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>

module attributes {pto.target_arch = "a5"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c20 = arith.constant 20 : index
    %buf = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
    // CHECK: report.mlir:[[# @LINE + 6]]:5: remark: the pipe of 'fifo': slot_num = 1: 1024 bytes, sync period 1, 19 of 20 pushes wait, deadlock: {{.*}}push 1 of the pipe of 'fifo' on @cube waits for free 0 of the pipe of 'fifo' on @vec, which follows pop 1
    // CHECK: slot_num = 2: 2048 bytes, sync period 2, 9 of 20 pushes wait, push 3 may overwrite its slot
    // CHECK: slot_num = 3: 3072 bytes, sync period 1, 17 of 20 pushes wait, safe
    // CHECK: slot_num = 4: 4096 bytes, sync period 2, 8 of 20 pushes wait, push 5 may overwrite its slot
    // CHECK: slot_num = 5: 5120 bytes, sync period 2, 7 of 20 pushes wait, push 5 may overwrite its slot (the pipe's)
    // CHECK: remark: the pipe of 'fifo': with slot_num = 5, the longest safe sync period is 1
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 5}(c2v_consumer_buf = %buf : i32)
    %acc = pto.alloc_tile : !acc
    scf.for %i = %c0 to %c20 step %c1 {
      pto.tpush_to_aiv(%acc : !acc) {split = 1}
    }
    return
  }
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c10 = arith.constant 10 : index
    %buf = pto.reserve_buffer {name = "fifo", size = 5120, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, slot_num = 5}(c2v_consumer_buf = %buf : i32)
    scf.for %i = %c0 to %c10 step %c1 {
      %t = pto.tpop_from_aic {split = 1} -> !lane
      %u = pto.tpop_from_aic {split = 1} -> !lane
      pto.tfree_from_aic {split = 1}
      pto.tfree_from_aic {split = 1}
    }
    return
  }
}

// -----

!lane = !pto.tile_buf<vec, 8x16xf32>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>

module attributes {pto.target_arch = "a5"} {
  func.func @cube(%c0: index, %c1: index, %c20: index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %buf = pto.import_reserved_buffer {name = "fifo", peer_func = @vec} -> i32
    // CHECK: remark: the pipe of 'fifo': slot_num = 8 stays, as a trip count in @cube depends on values
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %buf : i32)
    %acc = pto.alloc_tile : !acc
    scf.for %i = %c0 to %c20 step %c1 {
      pto.tpush_to_aiv(%acc : !acc) {split = 1}
    }
    return
  }
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %buf = pto.reserve_buffer {name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %buf : i32)
    %t = pto.tpop_from_aic {split = 1} -> !lane
    pto.tfree_from_aic {split = 1}
    return
  }
}
