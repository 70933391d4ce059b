// RUN: loom-opt -p vmi-lower-unified-to-legacy %s | filecheck %s

!p = !pto.ptr<f32, ub>
!v = !pto.vmi.vreg<64xf32>
!s = !pto.vmi.vreg<8xf32>

// CHECK-LABEL: @loads
func.func @loads(%p: !p, %o: index) {
  %c8 = arith.constant 8 : index
  %b = arith.constant 1 : i16
  // CHECK: pto.vmi.load %p[%o]
  %0 = pto.vmi.vload %p[%o] : !p -> !v
  // CHECK: pto.vmi.deinterleave_load %p[%o]
  %1, %2 = pto.vmi.vload %p[%o] {dist_mode = "dintlv"} : !p -> !v, !v
  // CHECK: pto.vmi.group_load %p[%o], %c8 {num_groups = 8 : i64}
  %3 = pto.vmi.vload %p[%o], %c8 {group = 8} : !p -> !v
  // CHECK: pto.vmi.group_slot_load %p[%o], %c8 {num_groups = 8 : i64}
  %4 = pto.vmi.vload %p[%o], %c8 {group = 8} : !p -> !s
  // CHECK: [[ONE:%.*]] = arith.constant 1 : index
  // CHECK: pto.vmi.group_slot_load %p[%o], [[ONE]] {num_groups = 8 : i64}
  %5 = pto.vmi.vload %p[%o] : !p -> !s
  // CHECK: pto.vmi.group_broadcast_load %p[%o], {{.*}} {num_groups = 1 : i64}
  %6 = pto.vmi.vload %p[%o] {dist_mode = "brc"} : !p -> !v
  // CHECK: [[ALL:%.*]] = pto.vmi.create_mask
  // CHECK: pto.vmi.stride_load %p[%o], %b, %b, [[ALL]]
  %7 = pto.vmi.vload %p[%o], %b, %b : !p -> !v
  return
}

// CHECK-LABEL: @stores
func.func @stores(%p: !p, %o: index, %v: !v, %s: !s, %m: !pto.vmi.mask<64xpred>) {
  // CHECK: pto.vmi.store %v
  pto.vmi.vstore %v, %p[%o] : !v, !p
  // CHECK: pto.vmi.masked_store %v, %p[%o], %m
  pto.vmi.vstore %v, %p[%o], %m : !v, !p, !pto.vmi.mask<64xpred>
  // CHECK: pto.vmi.interleave_store %v, %v
  pto.vmi.vstore %v, %v, %p[%o] {dist_mode = "dintlv"} : !v, !v, !p
  // CHECK: pto.vmi.group_store %s, {{.*}} {num_groups = 8 : i64}
  pto.vmi.vstore %s, %p[%o] : !s, !p
  return
}

// A reduction is one of groups, of which a whole vector is one.
// CHECK-LABEL: @reductions
func.func @reductions(%v: !v, %m: !pto.vmi.mask<64xpred>) {
  // CHECK: pto.vmi.group_reduce_addf %v, %m {num_groups = 8 : i64, reassoc}
  %0 = pto.vmi.vcadd %v, %m {group = 8, reassoc} : !v, !pto.vmi.mask<64xpred> -> !s
  // CHECK: pto.vmi.group_reduce_maxf %v, %m {num_groups = 1 : i64}
  %1 = pto.vmi.vcmax %v, %m : !v, !pto.vmi.mask<64xpred> -> !pto.vmi.vreg<1xf32>
  return
}
