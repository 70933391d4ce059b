// RUN: loom-opt -p vmi-layout-rematerialize-weak-producers %s | filecheck %s
// Each operation that uses a constant has its own; one that uses it twice has one.

// CHECK-LABEL: @users
func.func @users(%v: !pto.vmi.vreg<64xf32>, %x: f32) {
  %b = pto.vmi.broadcast %x : f32 -> !pto.vmi.vreg<64xf32>
  // CHECK: [[A:%.*]] = pto.vmi.broadcast %x
  // CHECK: pto.vmi.addf %v, [[A]]
  %0 = pto.vmi.addf %v, %b : !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32> -> !pto.vmi.vreg<64xf32>
  // CHECK: pto.vmi.mulf [[B:%.*]], [[B]]
  %1 = pto.vmi.mulf %b, %b : !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32> -> !pto.vmi.vreg<64xf32>
  return
}
