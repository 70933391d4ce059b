// RUN: loom-opt -p vmi-layout-fold %s | filecheck %s

!p = !pto.ptr<f32, ub>
!c = !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
!d = !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>

// CHECK-LABEL: @loaded
func.func @loaded(%p: !p, %o: index) -> !d {
  // CHECK-NEXT: pto.vmi.load {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  // CHECK-NEXT: return
  %v = pto.vmi.load %p[%o] : !p -> !c
  %0 = pto.vmi.ensure_layout %v : !c -> !d
  return %0 : !d
}

// CHECK-LABEL: @stored
func.func @stored(%v: !d, %p: !p, %o: index) {
  // CHECK-NEXT: pto.vmi.store %v
  // CHECK-NEXT: return
  %0 = pto.vmi.ensure_layout %v : !d -> !c
  pto.vmi.store %0, %p[%o] : !c, !p
  return
}

// CHECK-LABEL: @there_and_back
func.func @there_and_back(%v: !d) -> !d {
  // CHECK-NEXT: return %v
  %0 = pto.vmi.ensure_layout %v : !d -> !c
  %1 = pto.vmi.ensure_layout %0 : !c -> !d
  return %1 : !d
}

// One user takes it as it is: nothing is loaded otherwise.
// CHECK-LABEL: @both
func.func @both(%p: !p, %o: index) -> (!c, !d) {
  // CHECK: pto.vmi.load {{.*}} #pto.vmi.layout<contiguous>>
  // CHECK: pto.vmi.ensure_layout
  %v = pto.vmi.load %p[%o] : !p -> !c
  %0 = pto.vmi.ensure_layout %v : !c -> !d
  return %v, %0 : !c, !d
}

// Two users want two layouts.
// CHECK-LABEL: @two
func.func @two(%p: !p, %o: index) -> (!pto.vmi.vreg<256xf32, #pto.vmi.layout<deinterleaved = 2>>, !pto.vmi.vreg<256xf32, #pto.vmi.layout<deinterleaved = 4>>) {
  // CHECK: pto.vmi.load {{.*}} #pto.vmi.layout<contiguous>>
  // CHECK: pto.vmi.ensure_layout
  // CHECK: pto.vmi.ensure_layout
  %v = pto.vmi.load %p[%o] : !p -> !pto.vmi.vreg<256xf32, #pto.vmi.layout<contiguous>>
  %0 = pto.vmi.ensure_layout %v : !pto.vmi.vreg<256xf32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<256xf32, #pto.vmi.layout<deinterleaved = 2>>
  %1 = pto.vmi.ensure_layout %v : !pto.vmi.vreg<256xf32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<256xf32, #pto.vmi.layout<deinterleaved = 4>>
  return %0, %1 : !pto.vmi.vreg<256xf32, #pto.vmi.layout<deinterleaved = 2>>, !pto.vmi.vreg<256xf32, #pto.vmi.layout<deinterleaved = 4>>
}
