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
