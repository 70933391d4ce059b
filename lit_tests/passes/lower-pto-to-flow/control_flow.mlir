// RUN: loom-opt -p lower-pto-to-flow %s | filecheck %s
// Loops and branches stay. What they change of tiles and tensors, they carry as numbers.

func.func @loops(%p: !pto.ptr<f32>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c = arith.cmpi eq, %n, %c0 : index
  %at = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %at valid_row = %c16 valid_col = %c16 : !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  %v = pto.make_tensor_view %p, shape = [%n, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x16xf32>
  // The same tensor from both branches.
  // CHECK: scf.if %c {
  %w = scf.if %c -> (!pto.tensor_view<?x16xf32>) {
    pto.tprint ins(%t : !pto.tile_buf<vec, 16x16xf32, valid=?x?>)
    scf.yield %v : !pto.tensor_view<?x16xf32>
  } else {
    scf.yield %v : !pto.tensor_view<?x16xf32>
  }
  // CHECK: %sum = scf.for %i = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%s = %{{.*}}) -> (index) {
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (index) {
    // CHECK-NEXT: %[[I:.*]] = arith.index_cast %i : index to i64
    // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi ule, %{{.*}}, %{{.*}} : i64
    // CHECK-NEXT: flow.assert %[[INSIDE]], "valid rows and columns stay within the tile; correct them (one of them is {d}, not 0 to {{[0-9]+}})"
    // CHECK-NEXT: %[[ROWS:.*]] = flow.tile @vec[%{{.*}}] extents [%[[I]], 16] strides [16, 1]
    pto.set_validshape %t, %i, %c16 : !pto.tile_buf<vec, 16x16xf32, valid=?x?>
    // CHECK-NEXT: flow.tile_print "t" %[[ROWS]]
    pto.tprint ins(%t : !pto.tile_buf<vec, 16x16xf32, valid=?x?>)
    // CHECK-NEXT: %[[BELOW:.*]] = arith.cmpi ule, %[[I]], %n : i64
    // CHECK-NEXT: flow.assert %[[BELOW]], "the partition stays within its tensor; correct offsets or sizes (the {{[a-z]+}} is {d}
    // CHECK-NEXT: %[[END:.*]] = arith.addi %[[I]], %{{.*}} : i64
    // CHECK-NEXT: %[[FITS:.*]] = arith.cmpi ule, %[[END]], %n : i64
    // CHECK-NEXT: flow.assert %[[FITS]], "the partition stays within its tensor; correct offsets or sizes (the end is {d}
    // CHECK-NEXT: %[[ELEMENTS:.*]] = arith.muli %[[I]], %{{.*}} : i64
    // CHECK-NEXT: %[[BYTES:.*]] = arith.muli %[[ELEMENTS]], %{{.*}} : i64
    // CHECK-NEXT: %[[ADDRESS:.*]] = arith.addi %p, %[[BYTES]] : i64
    // CHECK-NEXT: flow.tile @gm[%[[ADDRESS]]] extents [1, 16] strides [16, 1]
    %row = pto.partition_view %w, offsets = [%i, %c0], sizes = [%c1, %c16] : !pto.tensor_view<?x16xf32> -> !pto.partition_tensor_view<1x16xf32>
    pto.tprint ins(%row : !pto.partition_tensor_view<1x16xf32>)
    // CHECK: %next = arith.addi %s, %i : index
    // CHECK-NEXT: scf.yield %next : index
    %next = arith.addi %s, %i : index
    scf.yield %next : index
  }
  // Behind the loop it may be set again.
  // CHECK: %[[SUM:.*]] = arith.index_cast %sum : index to i64
  // CHECK-NEXT: %[[SMALL:.*]] = arith.cmpi ule, %[[SUM]], %{{.*}} : i64
  // CHECK-NEXT: flow.assert %[[SMALL]], "valid rows and columns stay within the tile; correct them (one of them is {d}, not 0 to {{[0-9]+}})"
  // CHECK-NEXT: flow.tile @vec[%{{.*}}] extents [%[[SUM]], 1] strides [16, 1]
  pto.set_validshape %t, %sum, %c1 : !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  pto.tprint ins(%t : !pto.tile_buf<vec, 16x16xf32, valid=?x?>)
  return
}

!tile = !pto.tile_buf<vec, 16x16xf32>
!open = !pto.tile_buf<vec, 16x16xf32, valid=?x?>

// Of tiles that trade places, the addresses are carried.
// CHECK-LABEL: flow.func @trading_places
func.func @trading_places(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = arith.constant 0 : i64
  %behind = arith.constant 1024 : i64
  // CHECK-DAG: %[[FIRST:.*]] = arith.constant 0 : i64
  // CHECK-DAG: %[[BEHIND:.*]] = arith.constant 1024 : i64
  %t = pto.alloc_tile addr = %first : !tile
  %u = pto.alloc_tile addr = %behind : !tile
  // CHECK: %{{.*}}, %[[LAST:.*]] = scf.for %i = %{{.*}} iter_args(%[[A:.*]] = %[[FIRST]], %[[B:.*]] = %[[BEHIND]]) -> (i64, i64) {
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t, %b = %u) -> (!tile, !tile) {
    // CHECK-NEXT: %[[TILE:.*]] = flow.tile @vec[%[[A]]] extents [16, 16] strides [16, 1]
    // CHECK-NEXT: flow.tile_print "a" %[[TILE]]
    pto.tprint ins(%a : !tile)
    // CHECK-NEXT: scf.yield %[[B]], %[[A]] : i64, i64
    scf.yield %b, %a : !tile, !tile
  }
  // CHECK: flow.tile @vec[%[[LAST]]]
  pto.tprint ins(%r#1 : !tile)
  return
}

// What a trip sets, the next begins with; what it sets anew before it is used is not carried.
// CHECK-LABEL: flow.func @valid_rows
func.func @valid_rows(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %first = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %first valid_row = %c16 valid_col = %c16 : !open
  // CHECK: %[[ROWS:.*]] = scf.for %{{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (i64) {
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-NEXT: %[[TILE:.*]] = flow.tile @vec[%{{.*}}] extents [%[[BEFORE]], 16] strides [16, 1]
    // CHECK-NEXT: flow.tile_print "t" %[[TILE]]
    pto.tprint ins(%t : !open)
    // CHECK: %[[I:.*]] = arith.index_cast
    // CHECK: scf.yield %[[I]] : i64
    pto.set_validshape %t, %i, %c16 : !open
  }
  // CHECK: flow.tile @vec[%{{.*}}] extents [%[[ROWS]], 16] strides [16, 1]
  pto.tprint ins(%t : !open)
  // CHECK: scf.for %{{[a-z]*}} = %{{[a-z0-9]*}} to %{{[a-z0-9]*}} step %{{[a-z0-9]*}} {
  scf.for %j = %c0 to %n step %c1 {
    pto.set_validshape %t, %j, %c16 : !open
    pto.tprint ins(%t : !open)
  }
  return
}

// The way taken gives the address and the extents; where there is no other way, it is the one from before.
// CHECK-LABEL: flow.func @ways
func.func @ways(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c = arith.cmpi eq, %n, %c0 : index
  %first = arith.constant 0 : i64
  %behind = arith.constant 1024 : i64
  %t = pto.alloc_tile addr = %first valid_row = %c16 valid_col = %c16 : !open
  %u = pto.alloc_tile addr = %behind valid_row = %c16 valid_col = %c16 : !open
  // CHECK: %[[SHORT:.*]] = scf.if %c -> (i64) {
  // CHECK-NEXT: scf.yield %[[FOUR:.*]] : i64
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[ALL:.*]] : i64
  scf.if %c {
    pto.set_validshape %t, %c4, %c16 : !open
  }
  // CHECK: %[[PLACE:.*]], %[[LONG:.*]] = scf.if %c -> (i64, i64) {
  // CHECK-NEXT: scf.yield %{{.*}}, %[[SHORT]] : i64, i64
  %x = scf.if %c -> (!open) {
    scf.yield %t : !open
  } else {
    scf.yield %u : !open
  }
  // CHECK: flow.tile @vec[%[[PLACE]]] extents [%[[LONG]], 16] strides [16, 1]
  pto.tprint ins(%x : !open)
  // CHECK: %[[SELECTED:.*]] = arith.select %c, %{{.*}}, %{{.*}} : i64
  // CHECK: flow.tile @vec[%[[SELECTED]]]
  %s = arith.select %c, %u, %x : !open
  pto.tprint ins(%s : !open)
  return
}
