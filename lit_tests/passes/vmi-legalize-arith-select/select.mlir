// RUN: loom-opt -p vmi-legalize-arith-select %s | filecheck %s

// CHECK-LABEL: @select
func.func @select(%c: i1, %v: !pto.vmi.vreg<64xf32>, %w: !pto.vmi.vreg<64xf32>, %i: index) {
  // CHECK: scf.if %c -> (!pto.vmi.vreg<64xf32>) {
  // CHECK-NEXT: scf.yield %v
  // CHECK: scf.yield %w
  %0 = arith.select %c, %v, %w : !pto.vmi.vreg<64xf32>
  // CHECK: arith.select %c, %i, %i : index
  %1 = arith.select %c, %i, %i : index
  return
}
