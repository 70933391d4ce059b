// RUN: loom-opt -p lower-pto-to-flow{protocol=a2a3} %s | filecheck %s --check-prefixes=CHECK,CHIP
// RUN: loom-opt -p lower-pto-to-flow %s | filecheck %s --check-prefixes=CHECK,IDEAL
// Entries that are tensors in global memory: what is stored there goes into the slot, and the push only commits it.
// On the chips, the second ring begins where the first does.

// CHECK-LABEL: flow.units @cube
// CHECK:        %[[I:.*]] = flow.acquire @c2v_0 : i64
// CHECK:        %[[PART:.*]] = flow.tile @gm[%{{.*}}] slot @c2v_0[%[[I]]] of 2 by 1024 as written extents [8, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:   flow.tile_apply "copy" %[[PART]](%acc)
// CHECK-NEXT:   flow.commit @c2v_0
// CHECK-NEXT:   %[[J:.*]] = flow.wait @v2c_0 : i64
// IDEAL-NEXT:   %[[BEHIND:.*]] = arith.addi %slots, %{{.*}} : i64
// CHECK-NEXT:   %mat = flow.tile @mat
// CHIP-NEXT:    flow.tile @gm[%slots] slot @v2c_0[%[[J]]] of 2 by 1024 as read extents [16, 16] strides [16, 1] : !flow.tile<f32>
// IDEAL-NEXT:   flow.tile @gm[%[[BEHIND]]] slot @v2c_0[%[[J]]] of 2 by 1024 as read extents [16, 16] strides [16, 1] : !flow.tile<f32>
// CHECK:        flow.release @v2c_0
func.func @c(%slots: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %at = arith.constant 0 : i64
  %slot = pto.make_tensor_view %slots, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = true}(%slot : !pto.tensor_view<16x16xf32>) -> !pto.pipe
  %acc = pto.alloc_tile addr = %at : !pto.tile_buf<acc, 8x16xf32>
  %entry = pto.declare_global -> !pto.tensor_view<16x16xf32>
  pto.talloc(%entry, %pipe : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  %lower = pto.partition_view %entry, offsets = [%c8, %c0], sizes = [%c8, %c16] : !pto.tensor_view<16x16xf32> -> !pto.partition_tensor_view<8x16xf32>
  pto.tstore ins(%acc : !pto.tile_buf<acc, 8x16xf32>) outs(%lower : !pto.partition_tensor_view<8x16xf32>)
  pto.tpush(%entry, %pipe : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  %answer = pto.declare_global -> !pto.tensor_view<16x16xf32>
  pto.tpop(%answer, %pipe : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  %mat = pto.alloc_tile addr = %at : !pto.tile_buf<mat, 16x16xf32>
  pto.tload ins(%answer : !pto.tensor_view<16x16xf32>) outs(%mat : !pto.tile_buf<mat, 16x16xf32>)
  pto.tfree(%answer, %pipe : !pto.tensor_view<16x16xf32>, !pto.pipe) {split = 0}
  return
}
func.func @v(%slots: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %slot = pto.make_tensor_view %slots, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<16x16xf32>
  %pipe = pto.initialize_l2g2l_pipe {dir_mask = 3, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = true}(%slot : !pto.tensor_view<16x16xf32>) -> !pto.pipe
  return
}
