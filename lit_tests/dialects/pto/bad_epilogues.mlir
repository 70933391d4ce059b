// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Conversions on the way out of the accumulator that break a rule, in the wording of the public verifier.

// CHECK: error: 'pto.aic_initialize_pipe' op expects fixpipe pipe (with 'acc_push_epilogue') to have dir_mask = 1 (C2V only)
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 2, slot_size = 64, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(v2c_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects fixpipe pipe (with 'acc_push_epilogue') to have nosplit = true
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 64, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects fixpipe pipe 'c2v_consumer_buf' to trace to reserve_buffer or import_reserved_buffer for peer contract verification
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'qs322bf16_pre_*' quantization modes to be used only on A5 target
module attributes {pto.target_arch = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = qs322bf16_pre_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
    return
  }
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    return
  }
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects 'qf322hif8_pre_scalar'/'qf322fp8_pre_scalar' to be used only on A5 target
module attributes {pto.target_arch = "a3"} {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = qf322hif8_pre_scalar, relu = no_relu>}(c2v_consumer_buf = %a : i32)
    return
  }
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    return
  }
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects peer consumer function to contain a matching aiv_initialize_pipe with the same consumer buffer contract
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects peer consumer pipe init to also have 'acc_push_epilogue' for fixpipe contract consistency
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects acc_push_epilogue.layout to match peer consumer (producer has nz2nd, consumer has nz2dn)
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2dn, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects acc_push_epilogue.quant to match peer consumer (producer has f32_f16, consumer has f32_bf16)
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f32_bf16, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aic_initialize_pipe' op expects acc_push_epilogue.relu to match peer consumer (producer has normal_relu, consumer has no_relu)
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = normal_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects consumer-side fixpipe pipe to use reserve_buffer, not import_reserved_buffer
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @other} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @other() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op cannot find peer import_reserved_buffer for consumer buffer 'b'
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op finds multiple peer import_reserved_buffer ops for consumer buffer 'b'
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @one() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  return
}
func.func @two() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects peer producer function to contain a matching aic_initialize_pipe with the same consumer buffer contract
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects peer producer pipe init to also have 'acc_push_epilogue' for fixpipe contract consistency
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects acc_push_epilogue.quant to match peer producer (consumer has f32_f16, producer has f32_bf16)
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f32_bf16, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects at least one tpop_from_aic for fixpipe pipe id = 0 to resolve the consumer entry type
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects all tpop_from_aic results for fixpipe pipe id = 0 to use the same tile type
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
  %u = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 8x16xf32>
  return
}
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects consumer element type to match acc_push_epilogue.quant f32_f16
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
  return
}
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects consumer tile layout to match acc_push_epilogue.layout nz2dn
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2dn, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
  return
}
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2dn, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects consumer-side fixpipe slot_size to be at least 1024 bytes for the resolved post-fixpipe consumer entry
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 512, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
  return
}
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects peer producer fixpipe slot_size to be at least 1024 bytes for the resolved post-fixpipe consumer entry
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
  return
}
func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 512, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects producer source element type and consumer tpop result element type to satisfy acc_push_epilogue.quant no_convert
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf32>
  return
}
func.func @cube(%t: !pto.tile_buf<acc, 16x16xi32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xi32>) {split = 0}
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects fixpipe TPUSH source tile to use loc=acc
func.func @cube(%t: !pto.tile_buf<vec, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<vec, 16x16xf32>) {split = 0}
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf16>
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects fixpipe TPUSH to have split = 0
func.func @cube(%t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {split = 1}
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = f32_f16, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf16>
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects fixpipe TPUSH source element type to match acc_push_epilogue.quant mode requirements
func.func @cube(%t: !pto.tile_buf<acc, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xf32>) {split = 0}
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf16>
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects a preceding pto.set_quant_scalar with id = 0 in the same block
func.func @cube(%t: !pto.tile_buf<acc, 16x16xi32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xi32>) {split = 0}
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf16>
  return
}
// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects a preceding pto.set_quant_vector with id = 0 in the same block
func.func @cube(%t: !pto.tile_buf<acc, 16x16xi32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  pto.tpush_to_aiv(%t : !pto.tile_buf<acc, 16x16xi32>) {split = 0}
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf16>
  return
}
// -----
// CHECK: error: 'pto.set_quant_scalar' op expects 'id' = 0 to match a frontend or lowered initialize_pipe op in the same function
func.func @f(%s: f32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.set_quant_scalar(%s : f32) {id = 0}
  return
}
// -----
// CHECK: error: 'pto.set_quant_scalar' op expects 'id' = 0 to reference a fixpipe pipe (with acc_push_epilogue)
func.func @f(%a: i32, %s: f32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  pto.set_quant_scalar(%s : f32) {id = 0}
  return
}
// -----
// CHECK: error: 'pto.set_quant_scalar' op operand #0 must be 32-bit float, but got 'f16'
func.func @f(%s: f16) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.set_quant_scalar(%s : f16) {id = 0}
  return
}
// -----
// CHECK: error: 'pto.set_quant_scalar' op expects 'id' = 0 to reference an aic_initialize_pipe or lowered producer pipe
func.func @f(%a: i32, %s: f32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  pto.set_quant_scalar(%s : f32) {id = 0}
  return
}
// -----
// CHECK: error: 'pto.set_quant_scalar' op expects 'id' = 0 to reference a pipe with scalar quantization mode, but found non-scalar mode
func.func @cube(%t: !pto.tile_buf<acc, 16x16xi32>, %s: f32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  pto.set_quant_scalar(%s : f32) {id = 0}
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf16>
  return
}
// -----
// CHECK: error: 'pto.set_quant_vector' op expects 'id' = 0 to reference a pipe with vector quantization mode, but found non-vector mode
func.func @cube(%t: !pto.tile_buf<acc, 16x16xi32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  pto.set_quant_vector(%t : !pto.tile_buf<acc, 16x16xi32>) {id = 0}
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_scalar, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf16>
  return
}
// -----
// CHECK: error: 'pto.set_quant_vector' op expects 'scaling_tile' to use loc=scaling
func.func @cube(%t: !pto.tile_buf<acc, 16x16xi32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  pto.set_quant_vector(%t : !pto.tile_buf<acc, 16x16xi32>) {id = 0}
  return
}
func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf16>
  return
}
// -----
// CHECK: error: 'pto.set_quant_vector' op expects 'scaling_tile' element type to be f16, bf16, or f32 on A5
module attributes {pto.target_arch = "a5"} {
  func.func @cube(%t: !pto.tile_buf<scaling, 1x16xi8>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
    pto.set_quant_vector(%t : !pto.tile_buf<scaling, 1x16xi8>) {id = 0}
    return
  }
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
    %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf16>
    return
  }
}
// -----
// CHECK: error: 'pto.set_quant_vector' op expects 'scaling_tile' element type to be packed i64/ui64 on A3
module attributes {pto.target_arch = "a3"} {
  func.func @cube(%t: !pto.tile_buf<scaling, 1x16xi8>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
    pto.set_quant_vector(%t : !pto.tile_buf<scaling, 1x16xi8>) {id = 0}
    return
  }
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
    %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x16xf16>
    return
  }
}
// -----
// CHECK: error: 'pto.tpop_from_aic' op expects fixpipe TPOP to have split = 0
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  %t = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<vec, 16x16xf32>
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.tfree_from_aic' op expects fixpipe TFREE to have split = 0
func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.tfree_from_aic {split = 1}
  %a = pto.reserve_buffer {name = "b", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.talloc_to_aiv' op expects fixpipe TALLOC to have split = 0
func.func @f(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %e = pto.talloc_to_aiv {split = 1} -> !pto.tensor_view<16x16xf32>
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}
// -----
// CHECK: error: 'pto.aiv_initialize_pipe' op expects fixpipe consumer tpop result to be !pto.tile_buf
module {
  func.func @cube() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %a = pto.import_reserved_buffer {name = "b", peer_func = @vec} -> i32
    pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
    return
  }
  func.func @vec() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %a = pto.reserve_buffer {name = "b", size = 8192, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(c2v_consumer_buf = %a : i32)
    %t = pto.tpop_from_aic {split = 0} -> !pto.tensor_view<16x16xf32>
    return
  }
}

// -----
// CHECK: error: 'pto.set_quant_vector' op expects 'scaling_tile' to be a tile type
func.func @f(%a: i32, %s: !pto.tensor_view<1x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.set_quant_vector(%s : !pto.tensor_view<1x16xf32>) {id = 0}
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = no_relu>}(c2v_consumer_buf = %a : i32)
  return
}

// -----
// CHECK: error: 'pto.tpush_to_aiv' op expects fixpipe TPUSH source tile to be a tile type
func.func @f(%a: i32, %s: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.tpush_to_aiv(%s : !pto.tensor_view<16x16xf32>) {split = 0}
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(gm_slot_tensor = %s : !pto.tensor_view<16x16xf32>, c2v_consumer_buf = %a : i32)
  return
}

// -----
// CHECK: error: 'pto.tpop_from_aic' op expects fixpipe TPOP result to be a tile type
func.func @f(%a: i32, %s: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %t = pto.tpop_from_aic {split = 0} -> !pto.tensor_view<16x16xf32>
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = no_convert, relu = no_relu>}(gm_slot_tensor = %s : !pto.tensor_view<16x16xf32>, c2v_consumer_buf = %a : i32)
  return
}
