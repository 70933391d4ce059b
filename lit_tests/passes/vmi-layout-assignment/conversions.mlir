// RUN: loom-opt -p vmi-mask-granularity-assignment,vmi-layout-assignment %s | filecheck %s

!p16 = !pto.ptr<f16, ub>
!p32 = !pto.ptr<f32, ub>

// Twice as many registers hold every second element each, and arithmetic and the store follow.
// CHECK-LABEL: @wider
func.func @wider(%a: !p16, %b: !p32, %o: index) {
  // CHECK: pto.vmi.load {{.*}} -> !pto.vmi.vreg<128xf16, #pto.vmi.layout<contiguous>>
  %h = pto.vmi.load %a[%o] : !p16 -> !pto.vmi.vreg<128xf16>
  // CHECK: pto.vmi.extf {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  %f = pto.vmi.extf %h : !pto.vmi.vreg<128xf16> -> !pto.vmi.vreg<128xf32>
  // CHECK: pto.vmi.addf {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  %s = pto.vmi.addf %f, %f : !pto.vmi.vreg<128xf32>, !pto.vmi.vreg<128xf32> -> !pto.vmi.vreg<128xf32>
  // CHECK-NOT: ensure_layout
  // CHECK: pto.vmi.store {{.*}} #pto.vmi.layout<deinterleaved = 2>
  pto.vmi.store %s, %b[%o] : !pto.vmi.vreg<128xf32>, !p32
  return
}

// What fits one register stays in one: the narrow end leaves lanes free.
// CHECK-LABEL: @one_register
func.func @one_register(%a: !p16, %b: !p16, %o: index) {
  // CHECK: pto.vmi.load {{.*}} -> !pto.vmi.vreg<64xf16, #pto.vmi.layout<contiguous, lane_stride = 2>>
  %h = pto.vmi.load %a[%o] : !p16 -> !pto.vmi.vreg<64xf16>
  // CHECK: pto.vmi.extf {{.*}} -> !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>
  %f = pto.vmi.extf %h : !pto.vmi.vreg<64xf16> -> !pto.vmi.vreg<64xf32>
  // CHECK: pto.vmi.truncf {{.*}} -> !pto.vmi.vreg<64xf16, #pto.vmi.layout<contiguous, lane_stride = 2>>
  %n = pto.vmi.truncf %f {saturate = "SAT"} : !pto.vmi.vreg<64xf32> -> !pto.vmi.vreg<64xf16>
  pto.vmi.store %n, %b[%o] : !pto.vmi.vreg<64xf16>, !p16
  return
}

// A fourfold width takes four parts.
// CHECK-LABEL: @four
func.func @four(%a: !pto.ptr<ui8, ub>, %o: index) {
  %u = pto.vmi.load %a[%o] : !pto.ptr<ui8, ub> -> !pto.vmi.vreg<256xui8>
  // CHECK: pto.vmi.extui {{.*}} -> !pto.vmi.vreg<256xui32, #pto.vmi.layout<deinterleaved = 4>>
  %w = pto.vmi.extui %u : !pto.vmi.vreg<256xui8> -> !pto.vmi.vreg<256xui32>
  return
}

// Bits are read as elements of another width in order only.
// CHECK-LABEL: @bits
func.func @bits(%a: !p16, %b: !pto.ptr<i32, ub>, %o: index) {
  // CHECK: [[W:%.*]] = pto.vmi.extf {{.*}} #pto.vmi.layout<deinterleaved = 2>>
  %h = pto.vmi.load %a[%o] : !p16 -> !pto.vmi.vreg<128xf16>
  %f = pto.vmi.extf %h : !pto.vmi.vreg<128xf16> -> !pto.vmi.vreg<128xf32>
  // CHECK: pto.vmi.bitcast {{.*}} -> !pto.vmi.vreg<128xi32, #pto.vmi.layout<deinterleaved = 2>>
  %i = pto.vmi.bitcast %f : !pto.vmi.vreg<128xf32> -> !pto.vmi.vreg<128xi32>
  // CHECK: pto.vmi.bitcast {{.*}}#pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<64xi32, #pto.vmi.layout<contiguous>>
  %j = pto.vmi.bitcast %h : !pto.vmi.vreg<128xf16> -> !pto.vmi.vreg<64xi32>
  return
}
