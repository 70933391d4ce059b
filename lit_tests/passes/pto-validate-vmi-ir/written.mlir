// RUN: loom-opt -p pto-validate-vmi-ir %s | filecheck %s

// CHECK-LABEL: @sum
// CHECK: pto.vmi.vadd
func.func @sum(%a: !pto.vmi.vreg<100xf32>, %m: !pto.vmi.mask<100xpred>) {
  %b = pto.vmi.vadd %a, %a, %m : !pto.vmi.vreg<100xf32>, !pto.vmi.vreg<100xf32>, !pto.vmi.mask<100xpred> -> !pto.vmi.vreg<100xf32>
  return
}
