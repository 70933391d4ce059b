// RUN: loom-opt -p vmi-layout-rematerialize %s | filecheck %s

!c = !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
!d = !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
!h = !pto.vmi.vreg<128xf16, #pto.vmi.layout<contiguous>>

// CHECK-LABEL: @made
func.func @made(%x: f32, %n: index) -> (!d, !pto.vmi.mask<128xb32, #pto.vmi.layout<deinterleaved = 2>>) {
  // CHECK-NOT: ensure
  // CHECK: pto.vmi.broadcast %x : f32 -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  %b = pto.vmi.broadcast %x : f32 -> !c
  %0 = pto.vmi.ensure_layout %b : !c -> !d
  // CHECK: pto.vmi.create_mask %n : index -> !pto.vmi.mask<128xb32, #pto.vmi.layout<deinterleaved = 2>>
  %m = pto.vmi.create_mask %n : index -> !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>>
  %1 = pto.vmi.ensure_mask_layout %m : !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>> -> !pto.vmi.mask<128xb32, #pto.vmi.layout<deinterleaved = 2>>
  return %0, %1 : !d, !pto.vmi.mask<128xb32, #pto.vmi.layout<deinterleaved = 2>>
}

// Arithmetic is done in the layout needed; what is loaded is changed before it.
// CHECK-LABEL: @computed
func.func @computed(%v: !c) -> !d {
  // CHECK: [[V:%.*]] = pto.vmi.ensure_layout %v
  // CHECK: pto.vmi.negf [[V]] : {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  %n = pto.vmi.negf %v : !c -> !c
  %0 = pto.vmi.ensure_layout %n : !c -> !d
  return %0 : !d
}

// A load is not made again.
// CHECK-LABEL: @loaded
func.func @loaded(%p: !pto.ptr<f32, ub>, %o: index) -> !d {
  %v = pto.vmi.load %p[%o] : !pto.ptr<f32, ub> -> !c
  // CHECK: pto.vmi.ensure_layout
  %0 = pto.vmi.ensure_layout %v : !c -> !d
  return %0 : !d
}

// Elements made wider in order would take a source of two registers instead of one.
// CHECK-LABEL: @wider
func.func @wider(%h: !h) -> !c {
  // CHECK: [[W:%.*]] = pto.vmi.extf %h : {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  // CHECK: pto.vmi.ensure_layout [[W]]
  %w = pto.vmi.extf %h : !h -> !d
  %0 = pto.vmi.ensure_layout %w : !d -> !c
  return %0 : !c
}
