// RUN: loom-opt -p pto-validate-vmi-layout-ir %s | filecheck %s

// CHECK-LABEL: @layout
func.func @layout(%a: !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>, %m: !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>>) {
  return
}
