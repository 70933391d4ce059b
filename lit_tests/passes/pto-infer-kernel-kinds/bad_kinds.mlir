// RUN: loom-opt -p pto-infer-kernel-kinds --split-input-file --verify-diagnostics %s | filecheck %s

// CHECK: bad_kinds.mlir:8:3: error: 'func.func' op @branch contains an uncovered top-level op segment whose section kind cannot be inferred uniquely; saw both vector-like and cube-like ops in the same segment; wrap the ambiguous region in pto.section.cube or pto.section.vector to specify its physical section explicitly
func.func @branch(%a: !pto.partition_tensor_view<16x16xf32>, %c: i1) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %m = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>
  // Here.
  scf.if %c {
    pto.tload ins(%a : !pto.partition_tensor_view<16x16xf32>) outs(%m : !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>)
  } else {
    pto.tload ins(%a : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  }
  return
}

// -----

// CHECK: error: a result of scf.for, which runs on one kind of core, is used outside of its section; compute it in front of both sections, or write these
func.func @carried(%a: !pto.partition_tensor_view<16x16xf32>, %n: index) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %m = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>
  %last = scf.for %i = %n to %n step %n iter_args(%k = %n) -> (index) {
    pto.tload ins(%a : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
    scf.yield %i : index
  }
  scf.for %i = %n to %last step %n {
    pto.tload ins(%a : !pto.partition_tensor_view<16x16xf32>) outs(%m : !pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>)
  }
  return
}
