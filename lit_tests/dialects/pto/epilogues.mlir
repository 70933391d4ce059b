// RUN: loom-opt %s | filecheck %s
// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// Conversions on the way out of the accumulator, set up on both ends of a pipe.

module attributes {"pto.device-spec" = "Ascend950PR"} {
  // CHECK-LABEL: func.func @cube(
  func.func @cube(%acc: !pto.tile_buf<acc, 16x16xi32>, %f: !pto.tile_buf<acc, 16x16xf32>, %scales: !pto.tile_buf<scaling, 1x16xf32>, %scale: f32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %a = pto.import_reserved_buffer {name = "halves", peer_func = @vec} -> i32
    %b = pto.import_reserved_buffer {name = "bytes", peer_func = @vec} -> i32
    // CHECK: pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 512, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = normal_relu>}(c2v_consumer_buf = %a : i32)
    pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 512, nosplit = true,
      acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = normal_relu>}(c2v_consumer_buf = %a : i32)
    pto.aic_initialize_pipe {id = 1, dir_mask = 1, slot_size = 256, nosplit = true,
      acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2dn, quant = qf322b8_pre_vec, relu = no_relu>}(c2v_consumer_buf = %b : i32)
    // CHECK: pto.set_quant_scalar(%scale : f32) {id = 0}
    pto.set_quant_scalar(%scale : f32) {id = 0}
    pto.tpush_to_aiv(%acc : !pto.tile_buf<acc, 16x16xi32>) {id = 0, split = 0}
    // CHECK: pto.set_quant_vector(%scales : !pto.tile_buf<loc=scaling, dtype=f32, {{.*}}>) {id = 1}
    pto.set_quant_vector(%scales : !pto.tile_buf<scaling, 1x16xf32>) {id = 1}
    pto.tpush_to_aiv(%f : !pto.tile_buf<acc, 16x16xf32>) {id = 1, split = 0}
    return
  }
  // CHECK-LABEL: func.func @vec(
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %a = pto.reserve_buffer {name = "halves", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    %b = pto.reserve_buffer {name = "bytes", size = 2048, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 512, nosplit = true,
      acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = normal_relu>}(c2v_consumer_buf = %a : i32)
    pto.aiv_initialize_pipe {id = 1, dir_mask = 1, slot_size = 256, nosplit = true,
      acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2dn, quant = qf322b8_pre_vec, relu = no_relu>}(c2v_consumer_buf = %b : i32)
    // CHECK: pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<loc=vec, dtype=f16,
    %h = pto.tpop_from_aic {id = 0, split = 0} -> !pto.tile_buf<vec, 16x16xf16>
    // CHECK: pto.tpop_from_aic {id = 1, split = 0} -> !pto.tile_buf<loc=vec, dtype=si8,
    %c = pto.tpop_from_aic {id = 1, split = 0} -> !pto.tile_buf<vec, 16x16xsi8, blayout=col_major>
    pto.tfree_from_aic {id = 0, split = 0}
    pto.tfree_from_aic {id = 1, split = 0}
    return
  }
}
