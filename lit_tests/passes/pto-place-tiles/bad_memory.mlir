// RUN: loom-opt -p pto-place-tiles --split-input-file --verify-diagnostics %s | filecheck %s
// Tiles that do not fit, the largest first; the message contains the wording of the public compiler.

func.func @too_many(%f: f32) {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 64x256xf32>
  // CHECK: bad_memory.mlir:[[# @LINE + 1]]:3: error: 'pto.alloc_tile' op does not fit: vec overflow, requires 2113536 bits while 1572864 bits available, and sharing addresses does not save enough; make tiles smaller, the largest first: %b of 131072 bytes (128x256xf32) at {{.*}}, %c of 67584 bytes (66x256xf32) at {{.*}}, %a of 65536 bytes
  %b = pto.alloc_tile : !pto.tile_buf<vec, 128x256xf32>
  %c = pto.alloc_tile : !pto.tile_buf<vec, 66x256xf32>
  pto.texpands ins(%f : f32) outs(%a : !pto.tile_buf<vec, 64x256xf32>)
  pto.texpands ins(%f : f32) outs(%b : !pto.tile_buf<vec, 128x256xf32>)
  pto.texpands ins(%f : f32) outs(%c : !pto.tile_buf<vec, 66x256xf32>)
  pto.tprint ins(%a : !pto.tile_buf<vec, 64x256xf32>)
  pto.tprint ins(%b : !pto.tile_buf<vec, 128x256xf32>)
  pto.tprint ins(%c : !pto.tile_buf<vec, 66x256xf32>)
  return
}

// -----

func.func @no_room_for_a_buffer() {
  %buffer = pto.reserve_buffer {name = "a", size = 1024, location = #pto.address_space<mat>, auto = true} -> i32
  // CHECK: error: 'pto.alloc_tile' op does not fit: mat overflow, requires 4202496 bits while 4194304 bits available, and sharing addresses does not save enough beside 1024 bytes in use; make tiles smaller
  %a = pto.alloc_tile : !pto.tile_buf<mat, 512x256xf32>
  return
}
