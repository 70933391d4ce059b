// RUN: loom-opt -p vmi-mask-granularity-assignment %s | filecheck %s

!h = !pto.vmi.vreg<64xf16>
!f = !pto.vmi.vreg<64xf32>
!m = !pto.vmi.mask<64xpred>

// A comparison decides the width; what selects elements of another width has the mask changed.
// CHECK-LABEL: @compared
func.func @compared(%h: !h, %f: !f) {
  // CHECK: [[M:%.*]] = pto.vmi.cmpf "olt", %h, %h : {{.*}} -> !pto.vmi.mask<64xb16>
  %m = pto.vmi.cmpf "olt", %h, %h : !h, !h -> !m
  // CHECK: pto.vmi.select [[M]], %h, %h
  %0 = pto.vmi.select %m, %h, %h : !m, !h, !h -> !h
  // CHECK: [[W:%.*]] = pto.vmi.ensure_mask_granularity [[M]] : !pto.vmi.mask<64xb16> -> !pto.vmi.mask<64xb32>
  // CHECK: pto.vmi.select [[W]], %f, %f
  %1 = pto.vmi.select %m, %f, %f : !m, !f, !f -> !f
  return
}

// A mask of the first elements is made again.
// CHECK-LABEL: @made
func.func @made(%h: !h, %f: !f, %n: index) {
  // CHECK: pto.vmi.create_mask %n : index -> !pto.vmi.mask<64xb32>
  %m = pto.vmi.create_mask %n : index -> !m
  // CHECK: pto.vmi.create_mask %n : index -> !pto.vmi.mask<64xb16>
  %0 = pto.vmi.select %m, %h, %h : !m, !h, !h -> !h
  return
}

// What a loop carries has one width, and so have functions.
// CHECK-LABEL: @carried(%h: !pto.vmi.vreg<64xf16>, %start: !pto.vmi.mask<64xb16>) -> !pto.vmi.mask<64xb16>
func.func @carried(%h: !h, %start: !m) -> !m {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: scf.for {{.*}} iter_args(%all = %start) -> (!pto.vmi.mask<64xb16>)
  %end = scf.for %i = %c0 to %c4 step %c1 iter_args(%all = %start) -> (!m) {
    %m = pto.vmi.cmpf "olt", %h, %h : !h, !h -> !m
    %both = pto.vmi.mask_and %all, %m : !m, !m -> !m
    scf.yield %both : !m
  }
  return %end : !m
}
