// RUN: loom-opt -p vmi-layout-sink-materialization %s | filecheck %s

!c = !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
!d = !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>

// CHECK-LABEL: @sum
func.func @sum(%v: !d, %w: !d) -> !c {
  // CHECK-NEXT: [[S:%.*]] = pto.vmi.addf %v, %w
  // CHECK-NEXT: [[C:%.*]] = pto.vmi.ensure_layout [[S]]
  // CHECK-NEXT: return [[C]]
  %0 = pto.vmi.ensure_layout %v : !d -> !c
  %1 = pto.vmi.ensure_layout %w : !d -> !c
  %2 = pto.vmi.addf %0, %1 : !c, !c -> !c
  return %2 : !c
}

// One operand that has the layout keeps the change of the other.
// CHECK-LABEL: @one
func.func @one(%v: !d, %w: !c) -> !c {
  // CHECK-NEXT: [[C:%.*]] = pto.vmi.ensure_layout %v
  // CHECK-NEXT: pto.vmi.addf [[C]], %w
  %0 = pto.vmi.ensure_layout %v : !d -> !c
  %1 = pto.vmi.addf %0, %w : !c, !c -> !c
  return %1 : !c
}

// A comparison changes its mask.
// CHECK-LABEL: @compare
func.func @compare(%v: !d) -> !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>> {
  // CHECK: [[M:%.*]] = pto.vmi.cmpf "olt", %v, %v
  // CHECK: pto.vmi.ensure_mask_layout [[M]]
  %0 = pto.vmi.ensure_layout %v : !d -> !c
  %1 = pto.vmi.cmpf "olt", %0, %0 : !c, !c -> !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>>
  return %1 : !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>>
}
