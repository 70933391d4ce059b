// RUN: loom-opt -p pto-place-tiles --split-input-file %s | filecheck %s
// RUN: loom-opt -p pto-place-tiles,pto-place-tiles --split-input-file %s | filecheck %s
// Every tile gets the first aligned address where it fits, in its memory; what has one keeps it.

// CHECK-LABEL: func.func @memories(
func.func @memories(%n: index) {
  // CHECK: %[[AT:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[AT]] : !pto.tile_buf<loc=vec
  %a = pto.alloc_tile : !pto.tile_buf<vec, 1x16xf32>
  // CHECK: %[[AT:.*]] = arith.constant 256 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[AT]] valid_row = %n valid_col = %n {note = "kept"} : !pto.tile_buf<loc=vec
  %b = pto.alloc_tile valid_row = %n valid_col = %n {note = "kept"} : !pto.tile_buf<vec, 16x16xf32, valid=?x?>
  // CHECK: %[[AT:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[AT]] : !pto.tile_buf<loc=left
  %c = pto.alloc_tile : !pto.tile_buf<left, 16x16xf32>
  // Operands of products are at multiples of 4096.
  // CHECK: %[[AT:.*]] = arith.constant 4096 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[AT]] : !pto.tile_buf<loc=left
  %d = pto.alloc_tile : !pto.tile_buf<left, 16x16xf32>
  // CHECK: %[[AT:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[AT]] : !pto.tile_buf<loc=acc
  %e = pto.alloc_tile : !pto.tile_buf<acc, 16x16xf32>
  // CHECK: %[[AT:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[AT]] : !pto.tile_buf<loc=bias
  %f = pto.alloc_tile : !pto.tile_buf<bias, 1x16xf32>
  return
}

// Around a tile with an address, whose memory others may have, and a buffer with one; in both branches.
// CHECK-LABEL: func.func @around(
func.func @around(%cond: i1) {
  %c256 = arith.constant 256 : i64
  %given = pto.alloc_tile addr = %c256 : !pto.tile_buf<vec, 1x64xf32>
  %same = pto.alloc_tile addr = %c256 : !pto.tile_buf<vec, 1x64xf32>
  %buffer = pto.reserve_buffer {name = "a", size = 256, location = #pto.address_space<vec>, auto = false, base = 768} -> i32
  scf.if %cond {
    // CHECK: scf.if
    // CHECK-NEXT: %[[AT:.*]] = arith.constant 1024 : i64
    // CHECK-NEXT: pto.alloc_tile addr = %[[AT]]
    %a = pto.alloc_tile : !pto.tile_buf<vec, 2x64xf32>
  } else {
    // CHECK: } else {
    // CHECK-NEXT: %[[AT:.*]] = arith.constant 0 : i64
    // CHECK-NEXT: pto.alloc_tile addr = %[[AT]]
    %a = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
  }
  return
}

// Around the tiles of what is called.
// CHECK-LABEL: func.func @caller(
func.func @caller() {
  // CHECK-NEXT: %[[AT:.*]] = arith.constant 512 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[AT]]
  %a = pto.alloc_tile : !pto.tile_buf<vec, 1x64xf32>
  func.call @called() : () -> ()
  return
}
// CHECK-LABEL: func.func @called(
func.func @called() {
  // CHECK-NEXT: %[[AT:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: pto.alloc_tile addr = %[[AT]]
  %a = pto.alloc_tile : !pto.tile_buf<vec, 2x64xf32>
  return
}

// A tile whose rows are one element longer takes 1084 bytes.
// CHECK-LABEL: func.func @longer_rows(
func.func @longer_rows() {
  %a = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=16, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0, compact=2>
  // CHECK: arith.constant 1280 : i64
  %b = pto.alloc_tile : !pto.tile_buf<vec, 1x16xf32>
  return
}

// -----

// A vector core of a5 has 248 KiB.
module attributes {pto.target_arch = "a5"} {
  // CHECK-LABEL: func.func @large(
  func.func @large() {
    %a = pto.alloc_tile : !pto.tile_buf<vec, 192x256xf32>
    // CHECK: arith.constant 196608 : i64
    %b = pto.alloc_tile : !pto.tile_buf<vec, 56x256xf32>
    return
  }
}
