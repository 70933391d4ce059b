// RUN: loom-opt -p pto-validate-vmi-layout-ir --split-input-file --verify-diagnostics %s | filecheck %s

// CHECK: error: VMI-PASS-INVARIANT: layout-assigned VMI IR requires !pto.vmi.vreg with layout and !pto.vmi.mask with b8/b16/b32 granularity plus layout
func.func @surface(%a: !pto.vmi.vreg<128xf32>) {
  return
}

// -----

// CHECK: error: VMI-PASS-INVARIANT: VMI pack/unpack helper appears before VMI-to-VPTO physicalization
func.func @registers(%a: !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>) {
  %b = "pto.vmi.unpack"(%a) : (!pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>) -> !pto.vreg<64xf32>
  return
}

// -----

// CHECK: error: VMI-LAYOUT-CONTRACT: pto.vmi.store has no registered contiguous-memory layout support: value layout does not match a supported dense store table row; VMI types: operand#0=!pto.vmi.vreg<128xf32, #pto.vmi.layout<block_deinterleaved = 2>>; store a contiguous or deinterleaved vector
func.func @store(%v: !pto.vmi.vreg<128xf32, #pto.vmi.layout<block_deinterleaved = 2>>, %p: !pto.ptr<f32, ub>, %o: index) {
  pto.vmi.store %v, %p[%o] : !pto.vmi.vreg<128xf32, #pto.vmi.layout<block_deinterleaved = 2>>, !pto.ptr<f32, ub>
  return
}

// -----

// CHECK: error: VMI-LAYOUT-CONTRACT: pto.vmi.extf has no registered layout support: source/result layouts do not match a legal cast table row
func.func @wider(%v: !pto.vmi.vreg<128xf16, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.extf %v : !pto.vmi.vreg<128xf16, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-LAYOUT-CONTRACT: pto.vmi.group_reduce_maxf has no registered group_slots layout support: group_reduce source/mask/result layouts do not match a legal layout table row for the group size
func.func @reduce(%v: !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>, %m: !pto.vmi.mask<64xb32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.group_reduce_maxf %v, %m {num_groups = 8} : !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>, !pto.vmi.mask<64xb32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<8xf32, #pto.vmi.layout<num_groups = 8, slots = 1>>
  return
}

// -----

// CHECK: error: VMI-LAYOUT-CONTRACT: pto.vmi.negf operand #0 has type !pto.vmi.vreg<100xf32, #pto.vmi.layout<deinterleaved = 2>> but requires !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>>; pto.vmi.ensure_layout has no registered materialization support: source/result layouts do not match a supported ensure_layout table row
func.func @change(%v: !pto.vmi.vreg<100xf32, #pto.vmi.layout<deinterleaved = 2>>) {
  %0 = pto.vmi.ensure_layout %v : !pto.vmi.vreg<100xf32, #pto.vmi.layout<deinterleaved = 2>> -> !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>>
  %1 = pto.vmi.negf %0 : !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>>
  return
}
