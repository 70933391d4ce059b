// RUN: loom-opt -p lower-pto-to-flow{protocol=a5} --split-input-file %s | filecheck %s
// A push writes into the consumer's memory, for each vector core its part; a pop is the slot itself.

// CHECK-LABEL: flow.units @cube
// CHECK:        %[[I:.*]] = flow.acquire @c2v_0 : i64
// CHECK-NEXT:   %[[UP:.*]] = flow.tile @acc[%[[ZERO:[0-9]+]]] extents [8, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:   %[[TO_UP:.*]] = flow.tile @vec[%[[BUFFER:[0-9]+]]] of @vector lane %[[ZERO]] slot @c2v_0[%[[I]]] of 8 by 1024 as written extents [8, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:   flow.tile_apply "copy" %[[TO_UP]](%[[UP]])
// CHECK-NEXT:   %[[DOWN:.*]] = flow.tile @acc[%[[HALF:[0-9]+]]] extents [8, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:   %[[TO_DOWN:.*]] = flow.tile @vec[%[[BUFFER]]] of @vector lane %[[ONE:[0-9]+]] slot @c2v_0[%[[I]]] of 8 by 1024 as written extents [8, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:   flow.tile_apply "copy" %[[TO_DOWN]](%[[DOWN]])
// CHECK-NEXT:   flow.commit @c2v_0
// CHECK-LABEL: flow.units @vector
// CHECK:        %[[I:.*]] = flow.wait @c2v_0 : i64
// CHECK-NEXT:   %tile = flow.tile @vec[%{{.*}}] slot @c2v_0[%[[I]]] of 8 by 1024 as read extents [8, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:   flow.tile_print "tile" %tile
// CHECK-NEXT:   flow.release @c2v_0
func.func @rows_up_and_down_c() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %c0 = arith.constant 0 : i64
  %buffer = arith.constant 256 : i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0, nosplit = false}(%buffer : i32) -> !pto.pipe
  %acc = pto.alloc_tile addr = %c0 : !pto.tile_buf<acc, 16x16xf32>
  pto.tpush(%acc, %pipe : !pto.tile_buf<acc, 16x16xf32>, !pto.pipe) {split = 1}
  return
}
func.func @rows_up_and_down_v() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = arith.constant 256 : i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 8, flag_base = 0, nosplit = false}(%buffer : i32) -> !pto.pipe
  %tile = pto.declare_tile -> !pto.tile_buf<vec, 8x16xf32>
  pto.tpop(%tile, %pipe : !pto.tile_buf<vec, 8x16xf32>, !pto.pipe) {split = 1}
  pto.tprint ins(%tile : !pto.tile_buf<vec, 8x16xf32>)
  pto.tfree(%pipe : !pto.pipe) {split = 1}
  return
}

// -----

// Columns, to the cube core: each vector core writes its part of the one tile there.

// CHECK-LABEL: flow.units @cube
// CHECK:        %[[I:.*]] = flow.wait @v2c_0 : i64
// CHECK-NEXT:   %tile = flow.tile @mat[%{{.*}}] slot @v2c_0[%[[I]]] of 2 by 2048 as read extents [16, 32] strides [32, 1] : !flow.tile<f32>
// CHECK-LABEL: flow.units @vector
// CHECK:        %[[COLUMN:.*]] = flow.coordinate x : index
// CHECK:        %[[LANE:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK:        %[[I:.*]] = flow.acquire @v2c_0 : i64
// CHECK:        %[[COLUMNS:.*]] = arith.muli %[[LANE]], %{{.*}} : i64
// CHECK:        %[[BYTES:.*]] = arith.muli %[[COLUMNS]], %{{.*}} : i64
// CHECK:        %[[ADDRESS:.*]] = arith.addi %{{.*}}, %[[BYTES]] : i64
// CHECK-NEXT:   flow.tile @mat[%[[ADDRESS]]] of @cube lane %{{.*}} slot @v2c_0[%[[I]]] of 2 by 2048 as written extents [16, 16] strides [32, 1] : !flow.tile<f32>
// CHECK:        flow.commit @v2c_0
func.func @columns_c() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %c0 = arith.constant 0 : i64
  %buffer = arith.constant 512 : i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 2048, slot_num = 2, flag_base = 0, nosplit = false}(%buffer : i32) -> !pto.pipe
  %tile = pto.declare_tile -> !pto.tile_buf<mat, 16x32xf32, blayout=col_major, slayout=row_major>
  pto.tpop(%tile, %pipe : !pto.tile_buf<mat, 16x32xf32, blayout=col_major, slayout=row_major>, !pto.pipe) {split = 2}
  %left = pto.alloc_tile addr = %c0 : !pto.tile_buf<left, 16x32xf32>
  pto.tmov ins(%tile : !pto.tile_buf<mat, 16x32xf32, blayout=col_major, slayout=row_major>) outs(%left : !pto.tile_buf<left, 16x32xf32>)
  pto.tfree(%pipe : !pto.pipe) {split = 2}
  return
}
func.func @columns_v() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : i64
  %buffer = arith.constant 512 : i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 2048, slot_num = 2, flag_base = 0, nosplit = false}(%buffer : i32) -> !pto.pipe
  %part = pto.alloc_tile addr = %c0 : !pto.tile_buf<vec, 16x16xf32>
  pto.tpush(%part, %pipe : !pto.tile_buf<vec, 16x16xf32>, !pto.pipe) {split = 2}
  return
}
