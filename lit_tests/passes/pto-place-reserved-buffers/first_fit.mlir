// RUN: loom-opt -p pto-place-reserved-buffers --split-input-file %s | filecheck %s
// RUN: loom-opt -p pto-place-reserved-buffers,pto-place-reserved-buffers --split-input-file %s | filecheck %s
// Every buffer gets the first aligned address where it fits, in the memory of its consumer.

// CHECK-LABEL: func.func @holes(
func.func @holes() {
  %c256 = arith.constant 256 : i64
  %c1024 = arith.constant 1024 : i64
  %first = pto.alloc_tile addr = %c256 : !pto.tile_buf<vec, 8x16xf32>
  %second = pto.alloc_tile addr = %c1024 : !pto.tile_buf<vec, 1x16xf32>
  %elsewhere = pto.alloc_tile addr = %c1024 : !pto.tile_buf<acc, 128x128xf32>
  // Before the tiles.
  // CHECK: name = "a", size = 256, location = #pto.address_space<vec>, auto = false, base = 0}
  %a = pto.reserve_buffer {name = "a", size = 256, location = #pto.address_space<vec>, auto = true} -> i32
  // Behind all of them, at a multiple of 256.
  // CHECK: name = "b", size = 512, location = #pto.address_space<vec>, auto = false, base = 1280}
  %b = pto.reserve_buffer {name = "b", size = 512, location = #pto.address_space<vec>, auto = true} -> i32
  // Between two.
  // CHECK: name = "c", size = 100, location = #pto.address_space<vec>, auto = false, base = 768}
  %c = pto.reserve_buffer {name = "c", size = 100, location = #pto.address_space<vec>, auto = true} -> i32
  // Around one that stands further down.
  // CHECK: name = "d", size = 64, location = #pto.address_space<vec>, auto = false, base = 2048}
  %d = pto.reserve_buffer {name = "d", size = 64, location = #pto.address_space<vec>, auto = true} -> i32
  // CHECK: name = "e", size = 256, location = #pto.address_space<vec>, auto = false, base = 1792}
  %e = pto.reserve_buffer {name = "e", size = 256, location = #pto.address_space<vec>, auto = false, base = 1792} -> i32
  // In the other memory.
  // CHECK: name = "f", size = 524288, location = #pto.address_space<mat>, auto = false, base = 0}
  %f = pto.reserve_buffer {name = "f", size = 524288, location = #pto.address_space<mat>, auto = true} -> i32
  return
}

// Another function begins anew.
// CHECK-LABEL: func.func @other(
func.func @other() {
  // CHECK: name = "a", size = 196608, location = #pto.address_space<vec>, auto = false, base = 0}
  %a = pto.reserve_buffer {name = "a", size = 196608, location = #pto.address_space<vec>, auto = true} -> i32
  return
}

// -----

// A vector core of a5 has 248 KiB.
module attributes {pto.target_arch = "a5"} {
  func.func @large() {
    // CHECK: name = "a", size = 253952, location = #pto.address_space<vec>, auto = false, base = 0}
    %a = pto.reserve_buffer {name = "a", size = 253952, location = #pto.address_space<vec>, auto = true} -> i32
    return
  }
}
