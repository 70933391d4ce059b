// RUN: loom-opt -p vmi-pre-assignment-combine %s | filecheck %s

!p = !pto.ptr<f32, ub>

// Rows that follow each other are one vector; others are not.
// CHECK-LABEL: @rows
func.func @rows(%p: !p, %o: index) {
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  // CHECK: pto.vmi.load %p[%o]
  %0 = pto.vmi.group_load %p[%o], %c16 {num_groups = 8} : !p -> !pto.vmi.vreg<128xf32>
  // CHECK: pto.vmi.group_load %p[%o], %c24
  %1 = pto.vmi.group_load %p[%o], %c24 {num_groups = 8} : !p -> !pto.vmi.vreg<128xf32>
  return
}

// An element for each group that is only repeated is loaded so; one that is used besides is not.
// CHECK-LABEL: @repeated
func.func @repeated(%p: !p, %o: index) {
  %c1 = arith.constant 1 : index
  // CHECK-NOT: group_slot_load
  // CHECK: pto.vmi.group_broadcast_load %p[%o], %c1 {num_groups = 8
  %0 = pto.vmi.group_slot_load %p[%o], %c1 {num_groups = 8} : !p -> !pto.vmi.vreg<8xf32>
  %1 = pto.vmi.group_broadcast %0 {num_groups = 8} : !pto.vmi.vreg<8xf32> -> !pto.vmi.vreg<64xf32>
  // CHECK: pto.vmi.group_slot_load
  // CHECK: pto.vmi.group_broadcast
  %2 = pto.vmi.group_slot_load %p[%o], %c1 {num_groups = 8} : !p -> !pto.vmi.vreg<8xf32>
  %3 = pto.vmi.group_broadcast %2 {num_groups = 8} : !pto.vmi.vreg<8xf32> -> !pto.vmi.vreg<64xf32>
  pto.vmi.group_store %2, %p[%o], %c1 {num_groups = 8} : !pto.vmi.vreg<8xf32>, !p
  return
}
