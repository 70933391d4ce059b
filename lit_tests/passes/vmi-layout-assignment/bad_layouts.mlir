// RUN: loom-opt -p vmi-mask-granularity-assignment,vmi-layout-assignment --split-input-file --verify-diagnostics %s | filecheck %s

// Both returns are one value: of two widths as they were loaded.
// CHECK: error: VMI-LAYOUT-CONTRACT: conflicting preferred layouts #pto.vmi.layout<deinterleaved = 2> and #pto.vmi.layout<deinterleaved = 4>; bring both to one width or shape before they meet
func.func @returns(%c: i1, %h: !pto.vmi.vreg<128xf16>, %b: !pto.vmi.vreg<128xf8E4M3FN>) -> !pto.vmi.vreg<128xf32> {
  cf.cond_br %c, ^one, ^other
^one:
  %0 = pto.vmi.extf %h : !pto.vmi.vreg<128xf16> -> !pto.vmi.vreg<128xf32>
  return %0 : !pto.vmi.vreg<128xf32>
^other:
  %1 = pto.vmi.extf %b : !pto.vmi.vreg<128xf8E4M3FN> -> !pto.vmi.vreg<128xf32>
  return %1 : !pto.vmi.vreg<128xf32>
}

// -----

// CHECK: error: VMI-LAYOUT-CONTRACT: pto.vmi.group_load group_size 16 requires constant positive row_stride divisible by 8 f32 elements for the block8 stride plan; stable gather fallback is not implemented; pad the rows to a multiple of 8 elements, not 20
func.func @rows(%p: !pto.ptr<f32, ub>, %o: index) {
  %c20 = arith.constant 20 : index
  %v = pto.vmi.group_load %p[%o], %c20 {num_groups = 8} : !pto.ptr<f32, ub> -> !pto.vmi.vreg<128xf32>
  return
}

// -----

// CHECK: error: VMI-LAYOUT-CONTRACT: cannot materialize requested VMI operand layout #pto.vmi.layout<num_groups = 4, slots = 1>; no layout exists for its operand, the result of pto.vmi.group_reduce_maxf at {{.*}}bad_layouts.mlir:31:3; use groups of a quarter, a half, 1, 2 or 4 blocks of 32 bytes, or of whole registers of 256
func.func @groups(%p: !pto.ptr<f32, ub>, %o: index, %n: index) {
  %c1 = arith.constant 1 : index
  %v = pto.vmi.load %p[%o] : !pto.ptr<f32, ub> -> !pto.vmi.vreg<96xf32>
  %m = pto.vmi.create_mask %n : index -> !pto.vmi.mask<96xpred>
  %s = pto.vmi.group_reduce_maxf %v, %m {num_groups = 4} : !pto.vmi.vreg<96xf32>, !pto.vmi.mask<96xpred> -> !pto.vmi.vreg<4xf32>
  pto.vmi.group_store %s, %p[%o], %c1 {num_groups = 4} : !pto.vmi.vreg<4xf32>, !pto.ptr<f32, ub>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.channel_split supports only 2 or 4 channels; do it in steps, not 3 at once
func.func @channels(%v: !pto.vmi.vreg<192xf32>) {
  %a, %b, %c = "pto.vmi.channel_split"(%v) : (!pto.vmi.vreg<192xf32>) -> (!pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>)
  return
}

// -----

// CHECK: error: VMI-LAYOUT-CONTRACT: VMI typed call requires a direct internal callee with a body; call a function of this module by name, or pass arrays
func.func @unknown(%v: !pto.vmi.vreg<64xf32>) {
  func.call @elsewhere(%v) : (!pto.vmi.vreg<64xf32>) -> ()
  return
}
func.func private @elsewhere(!pto.vmi.vreg<64xf32>)
