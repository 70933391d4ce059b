// RUN: loom-opt %s | filecheck %s
// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// The text of the public dialect prints as it was written.

!acc = !pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16, v_row=16, v_col=16, blayout=col_major, slayout=row_major, fractal=1024, pad=0>
!half = !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=8, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>
!open = !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=?, v_col=?, blayout=row_major, slayout=none_box, fractal=512, pad=1, compact=1>
!mat = !pto.tile_buf<loc=mat, dtype=f32, rows=16, cols=16, v_row=16, v_col=16, blayout=col_major, slayout=row_major, fractal=512, pad=0>

module attributes {pto.target_arch = "a5"} {
  // Pipes in both directions, their buffers reserved by the consumers.
  // CHECK-LABEL: func.func @cube(
  func.func @cube(%gm: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    // CHECK: pto.reserve_buffer {name = "to_cube", size = 4096, location = #pto.address_space<mat>, auto = false, base = 4096} -> i32
    %in = pto.reserve_buffer {name = "to_cube", size = 4096, location = <mat>, auto = false, base = 4096} -> i32
    // CHECK: pto.import_reserved_buffer {name = "to_vec", peer_func = @vec} -> i32
    %out = pto.import_reserved_buffer {name = "to_vec", peer_func = @vec} -> i32
    // CHECK: pto.aic_initialize_pipe {id = 0, dir_mask = 3, slot_size = 1024, slot_num = 4, nosplit = false}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %out : i32, v2c_consumer_buf = %in : i32) {tag = "both"}
    pto.aic_initialize_pipe {id = 0, dir_mask = 3, slot_size = 1024, slot_num = 4, nosplit = false}
      (gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %out : i32, v2c_consumer_buf = %in : i32) {tag = "both"}
    %tile = pto.alloc_tile : !acc
    // CHECK: pto.tpush_to_aiv(%tile : !pto.tile_buf<loc=acc, dtype=f32, rows=16, cols=16, v_row=16, v_col=16, blayout=col_major, slayout=row_major, fractal=1024, pad=0>) {id = 0, split = 1}
    pto.tpush_to_aiv(%tile : !acc) {id = 0, split = 1}
    // CHECK: %got = pto.tpop_from_aiv {split = 1} -> !pto.tile_buf<loc=mat,
    %got = pto.tpop_from_aiv {split = 1} -> !mat
    // CHECK: pto.tfree_from_aiv {split = 1}
    pto.tfree_from_aiv {split = 1}
    return
  }
  // CHECK-LABEL: func.func @vec(
  func.func @vec(%gm: !pto.ptr<f32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    // CHECK: pto.reserve_buffer {name = "to_vec", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    %in = pto.reserve_buffer {name = "to_vec", size = 4096, location = #pto.address_space<vec>, auto = true} -> i32
    %out = pto.import_reserved_buffer {name = "to_cube", peer_func = @cube} -> i32
    // CHECK: pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 1024}(
    pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 1024}
      (gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %in : i32, v2c_consumer_buf = %out : i32)
    // CHECK: %lane = pto.get_subblock_idx
    %lane = pto.get_subblock_idx
    // CHECK: pto.tpop_from_aic(%n, %n) {id = 0, split = 1} aiv_subblockid(%lane) -> !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=?, v_col=?, blayout=row_major, slayout=none_box, fractal=512, pad=1, compact=1>
    %got = pto.tpop_from_aic(%n, %n) {id = 0, split = 1} aiv_subblockid(%lane) -> !open
    %tile = pto.alloc_tile : !half
    // CHECK: pto.tpush_to_aic(%tile : !pto.tile_buf<loc=vec, {{.*}}>) {id = 0, split = 1} aiv_subblockid(%lane)
    pto.tpush_to_aic(%tile : !half) {id = 0, split = 1} aiv_subblockid(%lane)
    // CHECK: pto.tfree_from_aic {id = 0, split = 1}
    pto.tfree_from_aic {id = 0, split = 1}
    return
  }
}

// Entries that are slots in global memory.
module {
  // CHECK-LABEL: func.func @slots(
  func.func @slots(%slot: !pto.tensor_view<16x16xf32>, %p: !pto.partition_tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>, pto.entry} {
    // CHECK: pto.aic_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024}(gm_slot_tensor = %slot : !pto.tensor_view<16x16xf32>)
    pto.aic_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024}(gm_slot_tensor = %slot : !pto.tensor_view<16x16xf32>)
    // CHECK: %e = pto.talloc_to_aiv {id = 1, split = 0} -> !pto.tensor_view<16x16xf32>
    %e = pto.talloc_to_aiv {id = 1, split = 0} -> !pto.tensor_view<16x16xf32>
    // CHECK: pto.tpush_to_aiv(%e : !pto.tensor_view<16x16xf32>) {id = 1, split = 0}
    pto.tpush_to_aiv(%e : !pto.tensor_view<16x16xf32>) {id = 1, split = 0}
    return
  }
  // CHECK-LABEL: func.func @slots_out(
  func.func @slots_out(%slot: !pto.tensor_view<16x16xf32>) {
    // CHECK: pto.section.vector {
    pto.section.vector {
      pto.aiv_initialize_pipe {dir_mask = 3, slot_size = 1024}(gm_slot_tensor = %slot : !pto.tensor_view<16x16xf32>)
      %e = pto.tpop_from_aic {split = 0} -> !pto.tensor_view<16x16xf32>
      // CHECK: pto.tfree_from_aic(%e : !pto.tensor_view<16x16xf32>) {split = 0}
      pto.tfree_from_aic(%e : !pto.tensor_view<16x16xf32>) {split = 0}
      // CHECK: pto.talloc_to_aic {split = 0} -> !pto.tensor_view<16x16xf32>
      %f = pto.talloc_to_aic {split = 0} -> !pto.tensor_view<16x16xf32>
    }
    // CHECK: pto.section.cube {
    pto.section.cube {
    }
    return
  }
}

// Pipes as values.
// CHECK-LABEL: func.func @lowered(
func.func @lowered(%gm: memref<256xf32, #pto.address_space<gm>>, %a: i32, %b: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: %l = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 8, flag_base = 2}(%a : i32, %b : i32) -> !pto.pipe
  %l = pto.initialize_l2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 8, flag_base = 2}(%a : i32, %b : i32) -> !pto.pipe
  // CHECK: %g = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 2, flag_base = 0, nosplit = true}(%gm : memref<256xf32, #pto.address_space<gm>>, %a : i32) {acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = normal_relu>, note = 1 : i32} -> !pto.pipe
  %g = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, local_slot_num = 2, flag_base = 0, nosplit = true}(%gm : memref<256xf32, #pto.address_space<gm>>, %a : i32) {note = 1 : i32, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = normal_relu>} -> !pto.pipe
  // CHECK: %t = pto.declare_tile -> !pto.tile_buf<loc=vec,
  %t = pto.declare_tile -> !half
  // CHECK: pto.tpop(%t, %l : !pto.tile_buf<loc=vec, {{.*}}>, !pto.pipe) {split = 1}
  pto.tpop(%t, %l : !half, !pto.pipe) {split = 1}
  %lane = pto.get_subblock_idx
  // CHECK: pto.tpush(%t, %l : !pto.tile_buf<loc=vec, {{.*}}>, !pto.pipe) {split = 1} aiv_subblockid(%lane)
  pto.tpush(%t, %l : !half, !pto.pipe) {split = 1} aiv_subblockid(%lane)
  // CHECK: pto.tfree(%l : !pto.pipe) {split = 1}
  pto.tfree(%l : !pto.pipe) {split = 1}
  return
}
// CHECK-LABEL: func.func @lowered_slots(
func.func @lowered_slots(%gm: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // CHECK: %g = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%gm : !pto.tensor_view<16x16xf32>) -> !pto.pipe
  %g = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8}(%gm : !pto.tensor_view<16x16xf32>) -> !pto.pipe
  // CHECK: %e = pto.declare_global -> !pto.tensor_view<16x16xf32>
  %e = pto.declare_global -> !pto.tensor_view<16x16xf32>
  // CHECK: pto.talloc(%e, %g : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  pto.talloc(%e, %g : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  // CHECK: pto.tfree(%e, %g : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  pto.tfree(%e, %g : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  return
}
