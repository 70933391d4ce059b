// RUN: loom-opt -p 'pto-infer-slots{slot-num=infer}' --verify-diagnostics %s | filecheck %s
// Each kernel takes an entry out before it puts one in.

!tile = !pto.tile_buf<vec, 16x16xf32>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!mat = !pto.tile_buf<mat, 16x16xf32>

module attributes {pto.target_arch = "a5"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c2v = pto.import_reserved_buffer {name = "there", peer_func = @vec} -> i32
    %v2c = pto.reserve_buffer {name = "back", size = 4096, location = #pto.address_space<mat>, auto = true} -> i32
    pto.aic_initialize_pipe {dir_mask = 3, slot_size = 1024}(c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)
    %answer = pto.tpop_from_aiv {split = 0} -> !mat
    pto.tfree_from_aiv {split = 0}
    %acc = pto.alloc_tile : !acc
    pto.tpush_to_aiv(%acc : !acc) {split = 0}
    return
  }
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c2v = pto.reserve_buffer {name = "there", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    %v2c = pto.import_reserved_buffer {name = "back", peer_func = @cube} -> i32
    // CHECK: bad_order.mlir:[[# @LINE + 1]]:5: error: 'pto.aiv_initialize_pipe' op opens a pipe that deadlocks or overwrites with any number of slots: {{.*}}pop 0 of the pipe of 'there' on @vec waits for push 0 of the pipe of 'there' on @cube, which follows pop 0 of the pipe of 'back' on @cube{{.*}}; pop and free entries in the order in which they are pushed
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 1024}(c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)
    %t = pto.tpop_from_aic {split = 0} -> !tile
    pto.tfree_from_aic {split = 0}
    %u = pto.alloc_tile : !tile
    pto.tpush_to_aic(%u : !tile) {split = 0}
    return
  }
}
