// RUN: loom-opt -p pto-validate-vmi-ir --split-input-file --verify-diagnostics %s | filecheck %s

// CHECK: bad_written.mlir:4:1: error: VMI-PASS-INVARIANT: VMI producer boundary requires surface !pto.vmi.vreg or !pto.vmi.mask<Nxpred> type
func.func @layout(%a: !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>) {
  return
}

// -----

// CHECK: error: VMI-PASS-INVARIANT: VMI producer boundary requires surface !pto.vmi.vreg or !pto.vmi.mask<Nxpred> type
func.func @mask(%a: !pto.vmi.mask<128xb32>) {
  return
}

// -----

// CHECK: error: VMI-PASS-INVARIANT: VMI typed value is used by a non-VMI semantic op
func.func @cast(%a: !pto.vmi.vreg<128xf32>) {
  %b = builtin.unrealized_conversion_cast %a : !pto.vmi.vreg<128xf32> to !pto.vmi.vreg<128xf32>
  return
}

// -----

// CHECK: error: VMI-PASS-INVARIANT: VMI type appears in a non-signature attribute
module attributes {hidden = [!pto.vmi.vreg<128xf32>]} {
}

// -----

// CHECK: error: VMI-LAYOUT-CONTRACT: VMI typed function declaration requires an explicit external ABI materialization plan; define @other here
func.func private @other(!pto.vmi.vreg<128xf32>)
