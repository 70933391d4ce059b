// RUN: loom-opt -p vmi-mask-granularity-assignment,vmi-layout-assignment %s | filecheck %s
// The first layout of a value stays; whoever needs another gets it changed in front.

!p = !pto.ptr<f32, ub>
!v = !pto.vmi.vreg<128xf32>

// CHECK-LABEL: @two_users
func.func @two_users(%h: !pto.ptr<f16, ub>, %p: !p, %o: index, %m: !pto.vmi.mask<128xpred>) {
  %n = pto.vmi.load %h[%o] : !pto.ptr<f16, ub> -> !pto.vmi.vreg<128xf16>
  // CHECK: [[W:%.*]] = pto.vmi.extf
  %w = pto.vmi.extf %n : !pto.vmi.vreg<128xf16> -> !v
  // CHECK: [[C:%.*]] = pto.vmi.ensure_layout [[W]] : !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>> -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
  // CHECK: pto.vmi.interleave_store [[C]], {{.*}}
  pto.vmi.interleave_store %w, %w, %p[%o] : !v, !v, !p
  // CHECK: pto.vmi.store [[W]]
  pto.vmi.store %w, %p[%o] : !v, !p
  return
}

// CHECK-LABEL: @channels
func.func @channels(%p: !p, %o: index) {
  // CHECK: [[V:%.*]] = pto.vmi.load {{.*}} #pto.vmi.layout<deinterleaved = 2>>
  %v = pto.vmi.load %p[%o] : !p -> !v
  // CHECK: "pto.vmi.channel_split"([[V]])
  %a, %b = "pto.vmi.channel_split"(%v) : (!v) -> (!pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>)
  // CHECK: "pto.vmi.channel_merge"{{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  %m = "pto.vmi.channel_merge"(%b, %a) : (!pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>) -> !v
  pto.vmi.store %m, %p[%o] : !v, !p
  return
}

// Layouts that a text has are kept.
// CHECK-LABEL: @given
func.func @given(%v: !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>, %p: !p, %o: index) {
  // CHECK: pto.vmi.broadcast {{.*}} #pto.vmi.layout<deinterleaved = 2>>
  %one = arith.constant 1.0 : f32
  %b = pto.vmi.broadcast %one : f32 -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  %s = pto.vmi.addf %v, %b : !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>, !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>> -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  pto.vmi.store %s, %p[%o] : !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>, !p
  return
}
