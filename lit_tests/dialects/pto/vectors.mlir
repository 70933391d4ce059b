// RUN: loom-opt %s | filecheck %s
// The pipes of the TPUSH document's examples: two slots of 128 x 128 elements.

!acc = !pto.tile_buf<acc, 128x128xf32>
!f32 = !pto.tile_buf<vec, 128x128xf32>
!f16 = !pto.tile_buf<vec, 128x128xf16>
!slot = !pto.tensor_view<1x1x1x128x128xf32>
!part = !pto.partition_tensor_view<1x1x1x128x128xf32>

// PTO-033: an accumulator tile for the vector cores.
// CHECK-LABEL: func.func @cube_to_vector(
func.func @cube_to_vector(%fifo: !pto.ptr<f32>, %tile: !acc) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %zero = arith.constant 0 : i32
  pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 65536, slot_num = 2}
    (gm_slot_buffer = %fifo : !pto.ptr<f32>, c2v_consumer_buf = %zero : i32, v2c_consumer_buf = %zero : i32)
  // CHECK: pto.tpush_to_aiv({{.*}}) {id = 0, split = 0}
  pto.tpush_to_aiv(%tile : !acc) {id = 0, split = 0}
  return
}
// PTO-034: a tile of the vector cores for the cube core, of 32-bit and of 16-bit elements; PTO-020: one pipe for both.
// CHECK-LABEL: func.func @vector_to_cube(
func.func @vector_to_cube(%fifo: !pto.ptr<f32>, %tile: !f32, %half: !f16) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0 : i32
  pto.aiv_initialize_pipe {id = 0, dir_mask = 2, slot_size = 65536, slot_num = 2}
    (gm_slot_buffer = %fifo : !pto.ptr<f32>, c2v_consumer_buf = %zero : i32, v2c_consumer_buf = %zero : i32)
  // CHECK: pto.tpush_to_aic({{.*}}) {id = 0, split = 0}
  pto.tpush_to_aic(%tile : !f32) {id = 0, split = 0}
  pto.aiv_initialize_pipe {id = 1, dir_mask = 3, slot_size = 32768, slot_num = 2}
    (gm_slot_buffer = %fifo : !pto.ptr<f32>, c2v_consumer_buf = %zero : i32, v2c_consumer_buf = %zero : i32)
  // CHECK: pto.tpush_to_aic({{.*}}) {id = 1, split = 0}
  pto.tpush_to_aic(%half : !f16) {id = 1, split = 0}
  return
}
// PTO-035: a slot is taken, written and handed over.
// CHECK-LABEL: func.func @slot(
func.func @slot(%fifo: !slot, %tile: !acc) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 128 : index
  pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 65536, slot_num = 2}(gm_slot_tensor = %fifo : !slot)
  // CHECK: %slot = pto.talloc_to_aiv {id = 0, split = 0} -> !pto.tensor_view<1x1x1x128x128xf32>
  %slot = pto.talloc_to_aiv {id = 0, split = 0} -> !slot
  %whole = pto.partition_view %slot, offsets = [%zero, %zero, %zero, %zero, %zero], sizes = [%one, %one, %one, %n, %n] : !slot -> !part
  // CHECK: pto.tstore
  pto.tstore ins(%tile : !acc) outs(%whole : !part)
  // CHECK: pto.tpush_to_aiv(%slot : !pto.tensor_view<1x1x1x128x128xf32>) {id = 0, split = 0}
  pto.tpush_to_aiv(%slot : !slot) {id = 0, split = 0}
  return
}
