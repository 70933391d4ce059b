// RUN: loom-opt -p vmi-mask-granularity-assignment,vmi-layout-assignment %s | filecheck %s

!p = !pto.ptr<f32, ub>
!s = !pto.vmi.vreg<8xf32>

// Groups of one block of 32 bytes: in order, and one element for each group in one register.
// CHECK-LABEL: @one_block
func.func @one_block(%p: !p, %o: index, %n: index) {
  %c1 = arith.constant 1 : index
  // CHECK: pto.vmi.create_mask {{.*}} -> !pto.vmi.mask<64xb32, #pto.vmi.layout<contiguous>>
  %m = pto.vmi.create_mask %n : index -> !pto.vmi.mask<64xpred>
  // CHECK: pto.vmi.load {{.*}} #pto.vmi.layout<contiguous>>
  %v = pto.vmi.load %p[%o] : !p -> !pto.vmi.vreg<64xf32>
  // CHECK: pto.vmi.group_reduce_addf {{.*}} -> !pto.vmi.vreg<8xf32, #pto.vmi.layout<num_groups = 8, slots = 8>>
  %s = pto.vmi.group_reduce_addf %v, %m {num_groups = 8, reassoc} : !pto.vmi.vreg<64xf32>, !pto.vmi.mask<64xpred> -> !s
  pto.vmi.group_store %s, %p[%o], %c1 {num_groups = 8} : !s, !p
  return
}

// Of two blocks: blocks of a group are in two parts, so the vector and its mask are loaded and made so.
// CHECK-LABEL: @two_blocks
func.func @two_blocks(%p: !p, %o: index, %n: index) {
  // CHECK: pto.vmi.create_mask {{.*}} -> !pto.vmi.mask<128xb32, #pto.vmi.layout<deinterleaved = 2>>
  %m = pto.vmi.create_mask %n : index -> !pto.vmi.mask<128xpred>
  // CHECK: pto.vmi.load {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  %v = pto.vmi.load %p[%o] : !p -> !pto.vmi.vreg<128xf32>
  %s = pto.vmi.group_reduce_maxf %v, %m {num_groups = 8} : !pto.vmi.vreg<128xf32>, !pto.vmi.mask<128xpred> -> !s
  // CHECK: pto.vmi.group_broadcast {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  %b = pto.vmi.group_broadcast %s {num_groups = 8} : !s -> !pto.vmi.vreg<128xf32>
  // CHECK: pto.vmi.subf {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<deinterleaved = 2>>
  %d = pto.vmi.subf %v, %b : !pto.vmi.vreg<128xf32>, !pto.vmi.vreg<128xf32> -> !pto.vmi.vreg<128xf32>
  pto.vmi.store %d, %p[%o] : !pto.vmi.vreg<128xf32>, !p
  return
}

// Rows that are apart in memory are loaded block by block.
// CHECK-LABEL: @rows
func.func @rows(%p: !p, %o: index, %n: index) {
  %c24 = arith.constant 24 : index
  // CHECK: pto.vmi.group_load {{.*}} -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<block_deinterleaved = 2>>
  %v = pto.vmi.group_load %p[%o], %c24 {num_groups = 8} : !p -> !pto.vmi.vreg<128xf32>
  // CHECK: pto.vmi.create_mask {{.*}} #pto.vmi.layout<block_deinterleaved = 2>>
  %m = pto.vmi.create_mask %n : index -> !pto.vmi.mask<128xpred>
  %s = pto.vmi.group_reduce_addf %v, %m {num_groups = 8, reassoc} : !pto.vmi.vreg<128xf32>, !pto.vmi.mask<128xpred> -> !s
  return
}

// Groups of whole registers: each result is in a register of its own. The distance in memory decides for a load.
// CHECK-LABEL: @whole
func.func @whole(%p: !p, %o: index, %n: index) {
  %c8 = arith.constant 8 : index
  %m = pto.vmi.create_mask %n : index -> !pto.vmi.mask<512xpred>
  %v = pto.vmi.load %p[%o] : !p -> !pto.vmi.vreg<512xf32>
  // CHECK: pto.vmi.group_reduce_addf {{.*}} -> !pto.vmi.vreg<8xf32, #pto.vmi.layout<num_groups = 8, slots = 1>>
  %s = pto.vmi.group_reduce_addf %v, %m {num_groups = 8, reassoc} : !pto.vmi.vreg<512xf32>, !pto.vmi.mask<512xpred> -> !s
  // CHECK: pto.vmi.group_slot_load {{.*}} -> !pto.vmi.vreg<8xf32, #pto.vmi.layout<num_groups = 8, slots = 1>>
  %l = pto.vmi.group_slot_load %p[%o], %c8 {num_groups = 8} : !p -> !s
  // CHECK: pto.vmi.addf {{.*}} -> !pto.vmi.vreg<8xf32, #pto.vmi.layout<num_groups = 8, slots = 1>>
  %t = pto.vmi.addf %s, %l : !s, !s -> !s
  return
}
