// RUN: loom-opt -p lower-pto-to-flow{protocol=a5} %s | filecheck %s
// RUN: loom-opt -p lower-pto-to-flow{protocol=a5\ lanes=2} %s | filecheck %s --check-prefix=TWO
// RUN: loom-opt -p lower-pto-to-flow{protocol=a2a3} %s | filecheck %s --check-prefix=OLDER
// RUN: loom-opt -p lower-pto-to-flow{blocks=24} %s | filecheck %s --check-prefix=BLOCKS
// Of a pipe whose tiles are not shared, the first vector core takes part; the other gets zeros. On a2a3 both do.

// CHECK:      grid 2 by 1
// CHECK:      flow.channel @c2v_0 {{.*}} lanes 1
// CHECK-NOT:  scf.if

// TWO:        grid 3 by 1
// TWO:        flow.channel @c2v_0 {{.*}} lanes 1
// TWO-LABEL:  flow.units @vector
// TWO:          %[[FIRST:.*]] = arith.cmpi eq, %[[LANE:[0-9]+]], %{{.*}} : i64
// TWO-NEXT:     %[[I:.*]] = scf.if %[[FIRST]] -> (i64) {
// TWO-NEXT:       %[[TAKEN:.*]] = flow.wait @c2v_0 : i64
// TWO-NEXT:       scf.yield %[[TAKEN]] : i64
// TWO-NEXT:     } else {
// TWO-NEXT:       scf.yield %{{.*}} : i64
// TWO:          %[[SLOT:.*]] = arith.remsi %[[I]], %{{.*}} : i64
// TWO:          %[[OTHER:.*]] = arith.cmpi ne, %[[LANE]], %{{.*}} : i64
// TWO-NEXT:     scf.if %[[OTHER]] {
// TWO-NEXT:       flow.tile @vec
// TWO-NEXT:       flow.tile_apply "fill"
// TWO:          scf.if
// TWO-NEXT:       flow.release @c2v_0

// OLDER:      grid 3 by 1
// OLDER:      flow.channel @c2v_0 {{.*}} lanes 2
// OLDER:      flow.tile @vec[%{{.*}}] of @vector lane %[[ZERO:[0-9]+]]
// OLDER:      flow.tile @vec[%{{.*}}] of @vector lane %[[ONE:[0-9]+]]
// OLDER-NOT:  scf.if

// BLOCKS:     grid 2 by 24
func.func @c() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %at = arith.constant 0 : i64
  %buffer = arith.constant 256 : i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = true}(%buffer : i32) -> !pto.pipe
  %acc = pto.alloc_tile addr = %at : !pto.tile_buf<acc, 16x16xf32>
  pto.tpush(%acc, %pipe : !pto.tile_buf<acc, 16x16xf32>, !pto.pipe) {split = 0}
  return
}
func.func @v() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %buffer = arith.constant 256 : i32
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = true}(%buffer : i32) -> !pto.pipe
  %tile = pto.declare_tile -> !pto.tile_buf<vec, 16x16xf32>
  pto.tpop(%tile, %pipe : !pto.tile_buf<vec, 16x16xf32>, !pto.pipe) {split = 0}
  pto.tprint ins(%tile : !pto.tile_buf<vec, 16x16xf32>)
  pto.tfree(%pipe : !pto.pipe) {split = 0}
  return
}
