// RUN: loom-opt -p 'pto-infer-slots{slot-size=infer}' %s | filecheck %s
// Slots as large as the largest entry: a tile, or those of both vector cores where they share it.

!half = !pto.tile_buf<vec, 8x16xf32>
!small = !pto.tile_buf<vec, 4x16xf32>
!acc = !pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!product = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!mat = !pto.tile_buf<mat, 16x16xf32>

module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @cube(
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c2v = pto.import_reserved_buffer {name = "there", peer_func = @vec} -> i32
    // CHECK: pto.reserve_buffer {name = "back", size = 4096
    %v2c = pto.reserve_buffer {name = "back", size = 32768, location = #pto.address_space<mat>, auto = true} -> i32
    // CHECK: pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 512, slot_num = 4}
    pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 4096, slot_num = 4}(c2v_consumer_buf = %c2v : i32)
    // CHECK: pto.aic_initialize_pipe {id = 1, dir_mask = 2, slot_size = 1024, slot_num = 4}
    pto.aic_initialize_pipe {id = 1, dir_mask = 2, slot_size = 8192, slot_num = 4}(v2c_consumer_buf = %v2c : i32)
    %c0 = arith.constant 0 : index
    %product = pto.alloc_tile : !product
    %acc = pto.subview %product[%c0, %c0] sizes [8, 16] : !product -> !acc
    pto.tpush_to_aiv(%acc : !acc) {id = 0, split = 1}
    %answer = pto.tpop_from_aiv {id = 1, split = 1} -> !mat
    pto.tfree_from_aiv {id = 1, split = 1}
    return
  }
  // CHECK-LABEL: func.func @vec(
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // CHECK: pto.reserve_buffer {name = "there", size = 2048
    %c2v = pto.reserve_buffer {name = "there", size = 16384, location = #pto.address_space<vec>, auto = true} -> i32
    %v2c = pto.import_reserved_buffer {name = "back", peer_func = @cube} -> i32
    // CHECK: pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 512, slot_num = 4}
    pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 4096, slot_num = 4}(c2v_consumer_buf = %c2v : i32)
    // CHECK: pto.aiv_initialize_pipe {id = 1, dir_mask = 2, slot_size = 1024, slot_num = 4}
    pto.aiv_initialize_pipe {id = 1, dir_mask = 2, slot_size = 8192, slot_num = 4}(v2c_consumer_buf = %v2c : i32)
    %t = pto.tpop_from_aic {id = 0, split = 1} -> !small
    pto.tfree_from_aic {id = 0, split = 1}
    %u = pto.alloc_tile : !half
    pto.tpush_to_aic(%u : !half) {id = 1, split = 1}
    return
  }
}
