// RUN: loom-opt -p lower-pto-to-flow{protocol=a2a3} --split-input-file %s | filecheck %s
// RUN: loom-opt -p lower-pto-to-flow --split-input-file %s | filecheck %s --check-prefix=IDEAL
// A control signal is one word in its slot, 1 if it is true (PTO-021).

// By way of global memory: the cube core reads the word where it lies, and on a2a3 gives the slot back at once.

// CHECK-LABEL: flow.units @cube
// CHECK:        %[[I:.*]] = flow.wait @v2c_0 : i64
// CHECK-NEXT:   %[[WORD:.*]] = flow.tile @gm[%slots] slot @v2c_0[%[[I]]] of 2 by 1024 as read extents [1] strides [1] : !flow.tile<i32>
// CHECK-NEXT:   %[[VALUE:.*]] = flow.tile_get %[[WORD]] : !flow.tile<i32> -> i32
// CHECK-NEXT:   flow.release @v2c_0
// CHECK-NEXT:   %again = arith.cmpi eq, %[[VALUE]], %{{.*}} : i32
// CHECK-NEXT:   scf.if %again
// CHECK-NOT:    flow.release
// CHECK-LABEL: flow.units @vector
// CHECK:        %[[VALUE:.*]] = arith.extui %again : i1 to i64
// CHECK-NEXT:   %[[I:.*]] = flow.acquire @v2c_0 : i64
// CHECK-NEXT:   %[[WORD:.*]] = flow.tile @gm[%slots] slot @v2c_0[%[[I]]] of 2 by 1024 as written extents [1] strides [1] : !flow.tile<i32>
// CHECK-NEXT:   flow.tile_apply "fill" %[[WORD]](%[[VALUE]])
// CHECK-NEXT:   flow.commit @v2c_0

// IDEAL:        flow.wait @v2c_0 : i64
// IDEAL:        flow.tile_get
// IDEAL-NEXT:   %again = arith.cmpi
// IDEAL-NEXT:   flow.release @v2c_0
// IDEAL-NEXT:   scf.if %again
func.func @cube(%slots: !pto.ptr<f32>, %out: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %c0 = arith.constant 0 : index
  %seven = arith.constant 7 : i32
  %buffer = arith.constant 2048 : i32
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = true}(%slots : !pto.ptr<f32>, %buffer : i32) -> !pto.pipe
  %again = pto.tpop_signal(%pipe : !pto.pipe) -> i1
  pto.tfree(%pipe : !pto.pipe) {split = 0}
  scf.if %again {
    pto.store_scalar %seven, %out[%c0] : !pto.ptr<i32>, i32
  }
  return
}
func.func @vector(%slots: !pto.ptr<f32>, %n: i32, %m: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %again = arith.cmpi slt, %n, %m : i32
  %buffer = arith.constant 2048 : i32
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = true}(%slots : !pto.ptr<f32>, %buffer : i32) -> !pto.pipe
  pto.tpush_signal(%again, %pipe : i1, !pto.pipe)
  return
}

// -----

// From one core's memory to the other's: the word is in that of the cube core, and only one vector core sends it.

// IDEAL:      flow.channel @v2c_2 from @vector to @cube depth 4 {{.*}}lanes 1
// IDEAL:      flow.units @cube
// IDEAL:        %[[I:.*]] = flow.wait @v2c_2 : i64
// IDEAL-NEXT:   flow.tile @mat[%{{.*}}] slot @v2c_2[%[[I]]] of 4 by 32 as read extents [1] strides [1] : !flow.tile<i32>
// IDEAL:        flow.release @v2c_2
// IDEAL:      flow.units @vector
// IDEAL:        scf.if
// IDEAL-NEXT:     arith.extui
// IDEAL-NEXT:     %[[I:.*]] = flow.acquire @v2c_2 : i64
// IDEAL-NEXT:     flow.tile @mat[%{{.*}}] {{.*}}@cube{{.*}} slot @v2c_2[%[[I]]] of 4 by 32 as written extents [1] strides [1] : !flow.tile<i32>
// IDEAL-NEXT:     flow.tile_apply "fill"
// IDEAL-NEXT:     flow.commit @v2c_2
func.func @near_cube(%out: !pto.ptr<i32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %c0 = arith.constant 0 : index
  %buffer = arith.constant 2048 : i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 32, slot_num = 4, flag_base = 2, nosplit = true}(%buffer : i32) -> !pto.pipe
  %again = pto.tpop_signal(%pipe : !pto.pipe) -> i1
  %word = arith.extui %again : i1 to i32
  pto.store_scalar %word, %out[%c0] : !pto.ptr<i32>, i32
  pto.tfree(%pipe : !pto.pipe) {split = 0}
  return
}
func.func @near_vector(%n: i64) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %lane = pto.get_subblock_idx
  %again = arith.cmpi eq, %lane, %n : i64
  %buffer = arith.constant 2048 : i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 2, slot_size = 32, slot_num = 4, flag_base = 2, nosplit = true}(%buffer : i32) -> !pto.pipe
  pto.tpush_signal(%again, %pipe : i1, !pto.pipe)
  return
}
