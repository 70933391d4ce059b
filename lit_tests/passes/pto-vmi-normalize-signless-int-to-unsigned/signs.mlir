// RUN: loom-opt -p pto-vmi-normalize-signless-int-to-unsigned %s | filecheck %s

!v = !pto.vmi.vreg<64xi32>

// The larger of two numbers depends on their sign, their sum does not.
// CHECK-LABEL: @signs
func.func @signs(%v: !v, %w: !v) {
  // CHECK: [[A:%.*]] = pto.vmi.bitcast %v : !pto.vmi.vreg<64xi32> -> !pto.vmi.vreg<64xui32>
  // CHECK: [[B:%.*]] = pto.vmi.bitcast %w
  // CHECK: [[M:%.*]] = pto.vmi.maxi [[A]], [[B]]
  // CHECK: [[R:%.*]] = pto.vmi.bitcast [[M]] : !pto.vmi.vreg<64xui32> -> !pto.vmi.vreg<64xi32>
  %0 = pto.vmi.maxi %v, %w : !v, !v -> !v
  // CHECK: pto.vmi.addi [[R]], %w
  %1 = pto.vmi.addi %0, %w : !v, !v -> !v
  return
}
