// RUN: loom-opt -p vmi-lower-unified-to-legacy %s | filecheck %s
// One instruction for any elements becomes one for floats or integers, by sign where that matters.

!f = !pto.vmi.vreg<64xf32>
!i = !pto.vmi.vreg<64xsi32>
!u = !pto.vmi.vreg<64xui32>

// CHECK-LABEL: @arithmetic
func.func @arithmetic(%f: !f, %i: !i, %u: !u) {
  // CHECK: pto.vmi.addf
  %0 = pto.vmi.vadd %f, %f : !f, !f -> !f
  // CHECK: pto.vmi.addi
  %1 = pto.vmi.vadd %i, %i : !i, !i -> !i
  // CHECK: pto.vmi.shrsi
  %2 = pto.vmi.vshr %i, %i : !i, !i -> !i
  // CHECK: pto.vmi.shrui
  %3 = pto.vmi.vshr %u, %u : !u, !u -> !u
  // CHECK: pto.vmi.fma %f, %f, %0
  %4 = pto.vmi.vmula %0, %f, %f : !f, !f, !f -> !f
  return
}

// CHECK-LABEL: @conversions
func.func @conversions(%f: !f, %u: !u) {
  // CHECK: pto.vmi.truncf %f {saturate = "SAT"}
  %0 = pto.vmi.vcvt %f {saturate = "SAT"} : !f -> !pto.vmi.vreg<64xf16>
  // CHECK: pto.vmi.extf
  %1 = pto.vmi.vcvt %0 : !pto.vmi.vreg<64xf16> -> !f
  // CHECK: pto.vmi.fptosi
  %2 = pto.vmi.vcvt %1 {saturate = "SAT"} : !f -> !i
  // CHECK: pto.vmi.trunci
  %3 = pto.vmi.vcvt %u {saturate = "NOSAT"} : !u -> !pto.vmi.vreg<64xui16>
  // CHECK: pto.vmi.extui
  %4 = pto.vmi.vcvt %3 : !pto.vmi.vreg<64xui16> -> !u
  return
}

// A mask of all bits adds nothing to a comparison, and is not made.
// CHECK-LABEL: @compare
func.func @compare(%f: !f, %u: !u, %some: !pto.vmi.mask<64xpred>) {
  // CHECK-NOT: create_mask
  %all = pto.vmi.pset "PAT_ALL" : !pto.vmi.mask<64xpred>
  // CHECK: pto.vmi.cmpf "olt"
  // CHECK-NOT: mask_and
  %0 = pto.vmi.vcmp %f, %f, %all {cmp = "lt"} : !f, !f, !pto.vmi.mask<64xpred> -> !pto.vmi.mask<64xpred>
  // CHECK: [[M:%.*]] = pto.vmi.cmpi "ult"
  // CHECK: pto.vmi.mask_and [[M]], %some
  %1 = pto.vmi.vcmp %u, %u, %some {cmp = "lt"} : !u, !u, !pto.vmi.mask<64xpred> -> !pto.vmi.mask<64xpred>
  return
}

// What keeps elements whose bit is off has no other form.
// CHECK-LABEL: @merge
func.func @merge(%f: !f, %some: !pto.vmi.mask<64xpred>) {
  // CHECK: pto.vmi.vadd
  %0 = pto.vmi.vadd %f, %f, %some {pmode = "merge"} : !f, !f, !pto.vmi.mask<64xpred> -> !f
  return
}
