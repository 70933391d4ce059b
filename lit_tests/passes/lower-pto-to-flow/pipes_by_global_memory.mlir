// RUN: loom-opt -p lower-pto-to-flow{protocol=a2a3} --split-input-file %s | filecheck %s
// RUN: loom-opt -p lower-pto-to-flow --split-input-file %s | filecheck %s --check-prefix=IDEAL
// A push writes into a slot in global memory, a pop loads from there into the consumer's memory.

// On a2a3 the pop gives the slot back at once, and the free does nothing; ideally the free does.
// The second ring, of tiles to the cube core, lies behind the first.

// CHECK-LABEL: flow.units @cube
// CHECK:        %[[I:.*]] = flow.acquire @c2v_3 : i64
// CHECK-NEXT:   %[[SLOT:.*]] = flow.tile @gm[%slots] slot @c2v_3[%[[I]]] of 4 by 1024 as written extents [16, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:   flow.tile_apply "copy" %[[SLOT]](%acc)
// CHECK-NEXT:   flow.commit @c2v_3
// CHECK-NEXT:   %[[I:.*]] = flow.wait @v2c_3 : i64
// CHECK-NEXT:   %[[BEHIND:.*]] = arith.addi %slots, %{{.*}} : i64
// CHECK-NEXT:   %[[SLOT:.*]] = flow.tile @gm[%[[BEHIND]]] slot @v2c_3[%[[I]]] of 4 by 1024 as read extents [16, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:   %[[COPY:.*]] = flow.tile @mat[%{{.*}}] slot @v2c_3[%[[I]]] of 2 by 1024 as copied extents [16, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:   flow.tile_apply "copy" %[[COPY]](%[[SLOT]])
// CHECK-NEXT:   flow.release @v2c_3
// CHECK-NEXT:   flow.drain @c2v_3
// CHECK-NEXT:   flow.return
// CHECK-LABEL: flow.units @vector
// CHECK:        %[[LANE:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK:        flow.wait @c2v_3 : i64
// CHECK-NEXT:   %[[ROWS:.*]] = arith.muli %[[LANE]], %{{.*}} : i64
// CHECK-NEXT:   %[[ELEMENTS:.*]] = arith.muli %[[ROWS]], %{{.*}} : i64
// CHECK-NEXT:   %[[BYTES:.*]] = arith.muli %[[ELEMENTS]], %{{.*}} : i64
// CHECK-NEXT:   %[[PART:.*]] = arith.addi %slots, %[[BYTES]] : i64
// CHECK-NEXT:   flow.tile @gm[%[[PART]]] slot @c2v_3[%{{.*}}] of 4 by 1024 as read extents [8, 16] strides [16, 1] : !flow.tile<f32>
// CHECK:        flow.release @c2v_3
// CHECK-NEXT:   flow.acquire @v2c_3 : i64
// CHECK:        flow.commit @v2c_3
// CHECK-NEXT:   flow.drain @v2c_3
// CHECK-NEXT:   flow.return

// IDEAL-LABEL: flow.units @cube
// IDEAL:        flow.wait @v2c_3 : i64
// IDEAL:        flow.release @v2c_3
// IDEAL-NEXT:   flow.return
// IDEAL-LABEL: flow.units @vector
// IDEAL:        flow.commit @v2c_3
// IDEAL-NEXT:   flow.release @c2v_3
// IDEAL-NEXT:   flow.return
func.func @both_c(%slots: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %c0 = arith.constant 0 : i64
  %to_vector = arith.constant 1024 : i32
  %to_cube = arith.constant 2048 : i32
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4, local_slot_num = 2, flag_base = 0, nosplit = false}(%slots : !pto.ptr<f32>, %to_vector : i32, %to_cube : i32) {__pto.frontend_id = 3 : i32} -> !pto.pipe
  %acc = pto.alloc_tile addr = %c0 : !pto.tile_buf<acc, 16x16xf32>
  pto.tpush(%acc, %pipe : !pto.tile_buf<acc, 16x16xf32>, !pto.pipe) {split = 1}
  %tile = pto.declare_tile -> !pto.tile_buf<mat, 16x16xf32>
  pto.tpop(%tile, %pipe : !pto.tile_buf<mat, 16x16xf32>, !pto.pipe) {split = 1}
  pto.tfree(%pipe : !pto.pipe) {split = 1}
  return
}
func.func @both_v(%slots: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %to_vector = arith.constant 1024 : i32
  %to_cube = arith.constant 2048 : i32
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 4, local_slot_num = 2, flag_base = 0, nosplit = false}(%slots : !pto.ptr<f32>, %to_vector : i32, %to_cube : i32) {__pto.frontend_id = 3 : i32} -> !pto.pipe
  %tile = pto.declare_tile -> !pto.tile_buf<vec, 8x16xf32>
  pto.tpop(%tile, %pipe : !pto.tile_buf<vec, 8x16xf32>, !pto.pipe) {split = 1}
  pto.tpush(%tile, %pipe : !pto.tile_buf<vec, 8x16xf32>, !pto.pipe) {split = 1}
  pto.tfree(%pipe : !pto.pipe) {split = 1}
  return
}

// -----

// Columns: each part has the stride of the whole.

// CHECK-LABEL: flow.units @vector
// CHECK:        flow.tile @gm[%{{.*}}] slot @c2v_0[%{{.*}}] of 2 by 1024 as read extents [16, 8] strides [16, 1] : !flow.tile<f32>
// CHECK:        flow.tile @gm[%{{.*}}] slot @v2c_2[%{{.*}}] of 2 by 1024 as written extents [16, 8] strides [16, 1] : !flow.tile<f32>
func.func @columns_c(%slots: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %buffer = arith.constant 1024 : i32
  %other = arith.constant 2048 : i32
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = false}(%slots : !pto.ptr<f32>, %buffer : i32) -> !pto.pipe
  %back = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 2, flag_base = 2, nosplit = false}(%slots : !pto.ptr<f32>, %other : i32) -> !pto.pipe
  return
}
func.func @columns_v(%slots: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = arith.constant 1024 : i32
  %other = arith.constant 2048 : i32
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = false}(%slots : !pto.ptr<f32>, %buffer : i32) -> !pto.pipe
  %back = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 2, flag_base = 2, nosplit = false}(%slots : !pto.ptr<f32>, %other : i32) -> !pto.pipe
  %tile = pto.declare_tile -> !pto.tile_buf<vec, 16x8xf32>
  pto.tpop(%tile, %pipe : !pto.tile_buf<vec, 16x8xf32>, !pto.pipe) {split = 2}
  pto.tpush(%tile, %back : !pto.tile_buf<vec, 16x8xf32>, !pto.pipe) {split = 2}
  return
}

// -----

// The second of two unequal parts begins behind the first, which has one column more: the stride of the whole is twice
// the columns and the number of the core, less one. The number of the core may be given.

// CHECK-LABEL: flow.units @vector
// CHECK:        flow.wait @c2v_0 : i64
// CHECK-NEXT:   %[[SUM:.*]] = arith.addi %columns, %lane : i64
// CHECK-NEXT:   %[[OFFSET:.*]] = arith.muli %lane, %[[SUM]] : i64
// CHECK-NEXT:   %[[TWICE:.*]] = arith.muli %[[SUM]], %{{.*}} : i64
// CHECK-NEXT:   %[[STRIDE:.*]] = arith.addi %[[TWICE]], %{{.*}} : i64
// CHECK-NEXT:   %[[BYTES:.*]] = arith.muli %[[OFFSET]], %{{.*}} : i64
// CHECK-NEXT:   %[[PART:.*]] = arith.addi %slots, %[[BYTES]] : i64
// CHECK-NEXT:   flow.tile @gm[%[[PART]]] slot @c2v_0[%{{.*}}] of 2 by 1024 as read extents [%rows, %columns] strides [%[[STRIDE]], 1] : !flow.tile<f32>
func.func @odd_c(%slots: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %buffer = arith.constant 1024 : i32
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = false}(%slots : !pto.ptr<f32>, %buffer : i32) -> !pto.pipe
  return
}
func.func @odd_v(%slots: !pto.ptr<f32>, %rows: i64, %columns: i64, %lane: i64) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = arith.constant 1024 : i32
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = false}(%slots : !pto.ptr<f32>, %buffer : i32) -> !pto.pipe
  %m = arith.index_cast %rows : i64 to index
  %n = arith.index_cast %columns : i64 to index
  %tile = pto.declare_tile -> !pto.tile_buf<vec, 16x8xf32, valid=?x?>
  pto.set_validshape %tile, %m, %n : !pto.tile_buf<vec, 16x8xf32, valid=?x?>
  pto.tpop(%tile, %pipe : !pto.tile_buf<vec, 16x8xf32, valid=?x?>, !pto.pipe) {split = 4} aiv_subblockid(%lane)
  return
}
