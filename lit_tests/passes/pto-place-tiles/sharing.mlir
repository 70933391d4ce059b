// RUN: loom-opt -p pto-place-tiles,pto-place-reserved-buffers %s | filecheck %s
// Where memory is short, tiles that are not of use at the same time share it.

!t = !pto.tile_buf<vec, 96x256xf32>

// Two of 96 KiB fit, so the third shares with the first.
// CHECK-LABEL: func.func @one_after_the_other(
func.func @one_after_the_other(%f: f32) {
  // CHECK: arith.constant 0 : i64
  %a = pto.alloc_tile : !t
  // CHECK: arith.constant 98304 : i64
  %b = pto.alloc_tile : !t
  // CHECK: arith.constant 0 : i64
  %c = pto.alloc_tile : !t
  pto.texpands ins(%f : f32) outs(%a : !t)
  pto.tneg ins(%a : !t) outs(%b : !t)
  pto.tneg ins(%b : !t) outs(%c : !t)
  pto.tprint ins(%c : !t)
  return
}

// Written anew in every round, the tiles of a loop do not last from one to the next.
// CHECK-LABEL: func.func @rounds(
func.func @rounds(%f: f32, %from: index, %to: index, %step: index) {
  // CHECK: arith.constant 0 : i64
  %a = pto.alloc_tile : !t
  // CHECK: arith.constant 98304 : i64
  %b = pto.alloc_tile : !t
  // CHECK: arith.constant 0 : i64
  %c = pto.alloc_tile : !t
  scf.for %i = %from to %to step %step {
    pto.texpands ins(%f : f32) outs(%a : !t)
    pto.tneg ins(%a : !t) outs(%b : !t)
    pto.tneg ins(%b : !t) outs(%c : !t)
    pto.tprint ins(%c : !t)
  }
  return
}

// What is written before a loop and read in it lasts until the loop's end.
// CHECK-LABEL: func.func @lasting(
func.func @lasting(%f: f32, %from: index, %to: index, %step: index) {
  // CHECK: arith.constant 0 : i64
  %a = pto.alloc_tile : !t
  pto.texpands ins(%f : f32) outs(%a : !t)
  scf.for %i = %from to %to step %step {
    pto.tprint ins(%a : !t)
    // CHECK: arith.constant 98304 : i64
    %b = pto.alloc_tile : !t
    pto.texpands ins(%f : f32) outs(%b : !t)
    pto.tprint ins(%b : !t)
    // CHECK: arith.constant 98304 : i64
    %c = pto.alloc_tile : !t
    pto.texpands ins(%f : f32) outs(%c : !t)
    pto.tprint ins(%c : !t)
  }
  return
}

// A part of a tile is the tile, also when it is handed on.
// CHECK-LABEL: func.func @parts(
func.func @parts(%f: f32, %cond: i1) {
  %zero = arith.constant 0 : index
  // CHECK: arith.constant 0 : i64
  %a = pto.alloc_tile : !t
  // CHECK: arith.constant 98304 : i64
  %b = pto.alloc_tile : !t
  pto.texpands ins(%f : f32) outs(%a : !t)
  pto.texpands ins(%f : f32) outs(%b : !t)
  %part = pto.subview %a[%zero, %zero] sizes [96, 256] : !t
  %either = scf.if %cond -> (!t) {
    scf.yield %part : !t
  } else {
    scf.yield %part : !t
  }
  pto.tprint ins(%b : !t)
  // CHECK: arith.constant 98304 : i64
  %c = pto.alloc_tile : !t
  pto.texpands ins(%f : f32) outs(%c : !t)
  pto.tprint ins(%either : !t)
  pto.tprint ins(%c : !t)
  return
}

// A branch that is not taken, or a loop without rounds, leaves a tile as it was.
// CHECK-LABEL: func.func @perhaps(
func.func @perhaps(%f: f32, %cond: i1) {
  // CHECK: arith.constant 0 : i64
  %a = pto.alloc_tile : !t
  // CHECK: arith.constant 98304 : i64
  %b = pto.alloc_tile : !t
  // CHECK: arith.constant 98304 : i64
  %c = pto.alloc_tile : !t
  pto.texpands ins(%f : f32) outs(%a : !t)
  pto.texpands ins(%f : f32) outs(%b : !t)
  pto.tprint ins(%b : !t)
  pto.texpands ins(%f : f32) outs(%c : !t)
  pto.tprint ins(%c : !t)
  scf.if %cond {
    pto.texpands ins(%f : f32) outs(%a : !t)
  }
  pto.tprint ins(%a : !t)
  return
}
// CHECK-LABEL: func.func @no_rounds(
func.func @no_rounds(%f: f32, %from: index, %to: index, %step: index) {
  // CHECK: arith.constant 0 : i64
  %a = pto.alloc_tile : !t
  // CHECK: arith.constant 98304 : i64
  %b = pto.alloc_tile : !t
  // CHECK: arith.constant 98304 : i64
  %c = pto.alloc_tile : !t
  pto.texpands ins(%f : f32) outs(%a : !t)
  pto.texpands ins(%f : f32) outs(%b : !t)
  pto.tprint ins(%b : !t)
  pto.texpands ins(%f : f32) outs(%c : !t)
  pto.tprint ins(%c : !t)
  scf.for %i = %from to %to step %step {
    pto.texpands ins(%f : f32) outs(%a : !t)
  }
  pto.tprint ins(%a : !t)
  return
}

// Tiles share so that a buffer finds room behind them.
// CHECK-LABEL: func.func @room_for_a_buffer(
func.func @room_for_a_buffer(%f: f32) {
  // CHECK: size = 98304, location = #pto.address_space<vec>, auto = false, base = 98304}
  %buffer = pto.reserve_buffer {name = "a", size = 98304, location = #pto.address_space<vec>, auto = true} -> i32
  // CHECK: arith.constant 0 : i64
  %a = pto.alloc_tile : !t
  pto.texpands ins(%f : f32) outs(%a : !t)
  pto.tprint ins(%a : !t)
  // CHECK: arith.constant 0 : i64
  %b = pto.alloc_tile : !t
  pto.texpands ins(%f : f32) outs(%b : !t)
  pto.tprint ins(%b : !t)
  return
}
