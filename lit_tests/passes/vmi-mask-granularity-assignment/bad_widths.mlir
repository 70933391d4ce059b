// RUN: loom-opt -p vmi-mask-granularity-assignment --split-input-file --verify-diagnostics %s | filecheck %s

!m = !pto.vmi.mask<64xpred>

// CHECK: bad_widths.mlir:11:3: error: VMI-LAYOUT-CONTRACT: conflicting mask granularities b32 and b16; one mask is for elements of 32 and of 16 bits; compare vectors of one width
func.func @branches(%c: i1, %h: !pto.vmi.vreg<64xf16>, %f: !pto.vmi.vreg<64xf32>) {
  %a = pto.vmi.cmpf "olt", %h, %h : !pto.vmi.vreg<64xf16>, !pto.vmi.vreg<64xf16> -> !m
  %b = pto.vmi.cmpf "olt", %f, %f : !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32> -> !m
  cf.cond_br %c, ^join(%a : !m), ^other
^other:
  cf.br ^join(%b : !m)
^join(%m: !m):
  return
}

// -----

!m = !pto.vmi.mask<64xpred>

// CHECK: error: VMI-LAYOUT-CONTRACT: conflicting mask granularities b16 and b32
func.func @combined(%h: !pto.vmi.vreg<64xf16>, %f: !pto.vmi.vreg<64xf32>) {
  %a = pto.vmi.cmpf "olt", %h, %h : !pto.vmi.vreg<64xf16>, !pto.vmi.vreg<64xf16> -> !m
  %b = pto.vmi.cmpf "olt", %f, %f : !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32> -> !m
  %both = pto.vmi.mask_and %a, %b : !m, !m -> !m
  return
}
