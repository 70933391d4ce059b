// RUN: loom-opt -p vmi-mask-granularity-assignment,vmi-layout-assignment %s | filecheck %s
// Who asks more urgently decides, wherever it is in the text.

!p = !pto.ptr<f16, ub>
!h = !pto.vmi.vreg<128xf16>
!f = !pto.vmi.vreg<128xf32>

// A reduction of all elements wants them in order, so the conversion before it takes every second lane.
// CHECK-LABEL: @reduction
func.func @reduction(%p: !p, %o: index, %n: index) {
  %m = pto.vmi.create_mask %n : index -> !pto.vmi.mask<128xpred>
  // CHECK: pto.vmi.load {{.*}} #pto.vmi.layout<contiguous, lane_stride = 2>>
  %h = pto.vmi.load %p[%o] : !p -> !h
  // CHECK: pto.vmi.extf {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
  %f = pto.vmi.extf %h : !h -> !f
  %s = pto.vmi.reduce_maxf %f, %m : !f, !pto.vmi.mask<128xpred> -> !pto.vmi.vreg<1xf32>
  return
}

// A conversion inside one register comes before a split into channels, which gets another layout.
// CHECK-LABEL: @one_register
func.func @one_register(%p: !p, %o: index) {
  // CHECK: [[H:%.*]] = pto.vmi.load {{.*}} #pto.vmi.layout<contiguous, lane_stride = 2>>
  %h = pto.vmi.load %p[%o] : !p -> !pto.vmi.vreg<64xf16>
  // CHECK: [[D:%.*]] = pto.vmi.ensure_layout [[H]] : {{.*}} -> !pto.vmi.vreg<64xf16, #pto.vmi.layout<deinterleaved = 2>>
  // CHECK: "pto.vmi.channel_split"([[D]])
  %a, %b = "pto.vmi.channel_split"(%h) : (!pto.vmi.vreg<64xf16>) -> (!pto.vmi.vreg<32xf16>, !pto.vmi.vreg<32xf16>)
  // CHECK: pto.vmi.extf [[H]]
  %f = pto.vmi.extf %h : !pto.vmi.vreg<64xf16> -> !pto.vmi.vreg<64xf32>
  return
}

// What narrows comes before what widens.
// CHECK-LABEL: @narrowing
func.func @narrowing(%p: !p, %o: index) {
  %h = pto.vmi.load %p[%o] : !p -> !h
  // CHECK: pto.vmi.extf {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
  %f = pto.vmi.extf %h : !h -> !f
  // CHECK: pto.vmi.truncf {{.*}} -> !pto.vmi.vreg<128xf16, #pto.vmi.layout<contiguous, lane_stride = 2>>
  %n = pto.vmi.truncf %f {saturate = "SAT"} : !f -> !h
  return
}

// Nobody asks but the store: few elements are spread over the register.
// CHECK-LABEL: @store
func.func @store(%p: !p, %o: index) {
  // CHECK: pto.vmi.load {{.*}} #pto.vmi.layout<contiguous, lane_stride = 2>>
  %h = pto.vmi.load %p[%o] : !p -> !pto.vmi.vreg<64xf16>
  pto.vmi.store %h, %p[%o] : !pto.vmi.vreg<64xf16>, !p
  return
}
