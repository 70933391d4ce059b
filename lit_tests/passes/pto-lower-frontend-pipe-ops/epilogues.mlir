// RUN: loom-opt -p pto-lower-frontend-pipe-ops %s | filecheck %s
// RUN: loom-opt -p pto-lower-frontend-pipe-ops %s | loom-opt | filecheck %s
// Both ends of a pipe that converts say which buffer they share; its scale still names the pipe's number.

module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @cube(
  func.func @cube(%acc: !pto.tile_buf<acc, 16x16xi32>, %scale: f32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %a = pto.import_reserved_buffer {name = "halves", peer_func = @vec} -> i32
    // CHECK: %[[PIPE:.*]] = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 512, slot_num = 8, nosplit = true}(%a : i32) {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>, __pto.frontend_id = 3 : i32, __pto.peer_owner_func = @vec, __pto.peer_reserve_name = "halves", __pto.peer_dir_mask = 1 : i8} -> !pto.pipe
    pto.aic_initialize_pipe {id = 3, dir_mask = 1, slot_size = 512, nosplit = true,
      acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>}(c2v_consumer_buf = %a : i32)
    // CHECK-NEXT: pto.set_quant_scalar(%scale : f32) {id = 3}
    pto.set_quant_scalar(%scale : f32) {id = 3}
    // CHECK-NEXT: pto.tpush(%acc, %[[PIPE]] :
    pto.tpush_to_aiv(%acc : !pto.tile_buf<acc, 16x16xi32>) {id = 3, split = 0}
    return
  }
  // CHECK-LABEL: func.func @vec(
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %a = pto.reserve_buffer {name = "halves", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    // CHECK: __pto.frontend_id = 0 : i32, __pto.peer_owner_func = @vec, __pto.peer_reserve_name = "halves", __pto.peer_dir_mask = 1 : i8}
    pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 512, nosplit = true,
      acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>}(c2v_consumer_buf = %a : i32)
    %h = pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<vec, 16x16xf16>
    pto.tfree_from_aic {id = 0, split = 0}
    return
  }
}
