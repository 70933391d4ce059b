// RUN: loom-opt -p vmi-mask-granularity-assignment,vmi-layout-assignment %s | filecheck %s
// Values that branches, loops, calls and returns pass on have one layout.

!p16 = !pto.ptr<f16, ub>
!h = !pto.vmi.vreg<128xf16>
!f = !pto.vmi.vreg<128xf32>

// CHECK-LABEL: @loop
func.func @loop(%a: !p16, %b: !pto.ptr<f32, ub>, %n: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: pto.vmi.broadcast {{.*}} #pto.vmi.layout<deinterleaved = 2>>
  %none = pto.vmi.broadcast %zero : f32 -> !f
  // CHECK: scf.for {{.*}} -> (!pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>)
  %sum = scf.for %i = %c0 to %n step %c128 iter_args(%s = %none) -> (!f) {
    %h = pto.vmi.load %a[%i] : !p16 -> !h
    %w = pto.vmi.extf %h : !h -> !f
    %t = pto.vmi.addf %s, %w : !f, !f -> !f
    scf.yield %t : !f
  }
  pto.vmi.store %sum, %b[%c0] : !f, !pto.ptr<f32, ub>
  return
}

// CHECK-LABEL: @choice
func.func @choice(%c: i1, %a: !p16, %o: index) {
  // CHECK: scf.if {{.*}} -> (!pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>)
  %r = scf.if %c -> (!f) {
    %h = pto.vmi.load %a[%o] : !p16 -> !h
    %w = pto.vmi.extf %h : !h -> !f
    scf.yield %w : !f
  } else {
    %one = arith.constant 1.0 : f32
    // CHECK: pto.vmi.broadcast {{.*}} #pto.vmi.layout<deinterleaved = 2>>
    %b = pto.vmi.broadcast %one : f32 -> !f
    scf.yield %b : !f
  }
  return
}

// CHECK-LABEL: @blocks
func.func @blocks(%c: i1, %a: !p16, %o: index) {
  %one = arith.constant 1.0 : f32
  // CHECK: pto.vmi.broadcast {{.*}} #pto.vmi.layout<deinterleaved = 2>>
  %b = pto.vmi.broadcast %one : f32 -> !f
  %h = pto.vmi.load %a[%o] : !p16 -> !h
  %w = pto.vmi.extf %h : !h -> !f
  cf.cond_br %c, ^join(%b : !f), ^join(%w : !f)
// CHECK: (%x: !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>)
^join(%x: !f):
  return
}

// CHECK-LABEL: @doubled(%x: !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>) -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
func.func private @doubled(%x: !f) -> !f {
  %y = pto.vmi.addf %x, %x : !f, !f -> !f
  return %y : !f
}
// CHECK-LABEL: @caller
func.func @caller(%a: !p16, %b: !pto.ptr<f32, ub>, %o: index) {
  %h = pto.vmi.load %a[%o] : !p16 -> !h
  %w = pto.vmi.extf %h : !h -> !f
  // CHECK: func.call @doubled
  %r = func.call @doubled(%w) : (!f) -> !f
  pto.vmi.store %r, %b[%o] : !f, !pto.ptr<f32, ub>
  return
}

// CHECK-LABEL: @while
func.func @while(%a: !p16, %o: index, %go: i1) {
  %h = pto.vmi.load %a[%o] : !p16 -> !h
  %w = pto.vmi.extf %h : !h -> !f
  // CHECK: scf.while {{.*}} (!pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>) -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  %r = scf.while (%x = %w) : (!f) -> !f {
    scf.condition(%go) %x : !f
  } do {
  ^next(%y: !f):
    scf.yield %y : !f
  }
  return
}
