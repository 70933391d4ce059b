// RUN: loom-opt -p pto-resolve-buffer-select --split-input-file %s | filecheck %s
// A tile for each slot; a slot that is known only at run time is chosen among them, if there is such a slot.

// CHECK-LABEL: func.func @placed_by_the_compiler(
func.func @placed_by_the_compiler(%slot: index, %n: index) {
  // CHECK: %[[FIRST:.*]] = pto.alloc_tile valid_row = %n : !pto.tile_buf<loc=vec
  // CHECK-NEXT: %[[SECOND:.*]] = pto.alloc_tile valid_row = %n : !pto.tile_buf<loc=vec
  // CHECK-NEXT: %[[THIRD:.*]] = pto.alloc_tile valid_row = %n : !pto.tile_buf<loc=vec
  // CHECK-NOT: multi_tile
  %several = pto.alloc_multi_tile valid_row = %n : !pto.multi_tile_buf<vec, 4x8xf32, valid=?x8, count=3>
  // CHECK: %[[COUNT:.*]] = arith.constant 3 : index
  // CHECK: %[[THERE:.*]] = arith.cmpi ult, %slot, %[[COUNT]] : index
  // CHECK: cf.assert %[[THERE]], "the slot is one of the 3 that there are; correct its number"
  // CHECK: %[[LATE:.*]] = arith.select %{{.*}}, %[[SECOND]], %[[THIRD]]
  // CHECK: %chosen = arith.select %{{.*}}, %[[FIRST]], %[[LATE]]
  %chosen = pto.multi_tile_get %several[%slot] : !pto.multi_tile_buf<vec, 4x8xf32, valid=?x8, count=3> -> !pto.tile_buf<vec, 4x8xf32, valid=?x8>
  // CHECK: pto.tprint ins(%chosen
  pto.tprint ins(%chosen : !pto.tile_buf<vec, 4x8xf32, valid=?x8>)
  return
}

// -----

// CHECK-LABEL: func.func @placed_by_its_author(
func.func @placed_by_its_author() {
  %c1 = arith.constant 1 : index
  %base = arith.constant 256 : i64
  // CHECK: arith.constant 256 : i64
  // CHECK: pto.alloc_tile addr = %{{.*}} : !pto.tile_buf<loc=vec
  // CHECK: %[[AT:.*]] = arith.constant 384 : i64
  // CHECK-NEXT: %[[SECOND:.*]] = pto.alloc_tile addr = %[[AT]] : !pto.tile_buf<loc=vec
  %several = pto.alloc_multi_tile addr = %base : !pto.multi_tile_buf<vec, 4x8xf32, count=2>
  %second = pto.multi_tile_get %several[%c1] : !pto.multi_tile_buf<vec, 4x8xf32, count=2> -> !pto.tile_buf<vec, 4x8xf32>
  // CHECK: pto.tprint ins(%[[SECOND]]
  pto.tprint ins(%second : !pto.tile_buf<vec, 4x8xf32>)
  return
}
