// RUN: loom-opt -p lower-pto-to-flow %s | filecheck %s
// Loops and branches stay; inside, tiles and tensors are what they are outside.

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
    // CHECK-NEXT: flow.assert %[[INSIDE]], "valid rows and columns stay within the tile, which has {{[0-9]+}} of them here"
    // CHECK-NEXT: %[[ROWS:.*]] = flow.tile @vec[%{{.*}}] extents [%[[I]], 16] strides [16, 1]
    pto.set_validshape %t, %i, %c16 : !pto.tile_buf<vec, 16x16xf32, valid=?x?>
    // CHECK-NEXT: flow.tile_print "t" %[[ROWS]]
    pto.tprint ins(%t : !pto.tile_buf<vec, 16x16xf32, valid=?x?>)
    // CHECK-NEXT: %[[BELOW:.*]] = arith.cmpi ule, %[[I]], %n : i64
    // CHECK-NEXT: flow.assert %[[BELOW]], "the partition stays within its tensor; correct offsets or sizes"
    // CHECK-NEXT: %[[END:.*]] = arith.addi %[[I]], %{{.*}} : i64
    // CHECK-NEXT: %[[FITS:.*]] = arith.cmpi ule, %[[END]], %n : i64
    // CHECK-NEXT: flow.assert %[[FITS]], "the partition stays within its tensor; correct offsets or sizes"
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
  // CHECK-NEXT: flow.assert %[[SMALL]], "valid rows and columns stay within the tile, which has 16 of them here"
  // CHECK-NEXT: flow.tile @vec[%{{.*}}] extents [%[[SUM]], 1] strides [16, 1]
  pto.set_validshape %t, %sum, %c1 : !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  pto.tprint ins(%t : !pto.tile_buf<vec, 16x16xf32, valid=?x?>)
  return
}
