// RUN: loom-opt -p share-bodies --split-input-file %s | filecheck %s

// Bodies are alike if operations, symbols and places in the source are.
// CHECK-LABEL: wse.program @alike
// CHECK: wse.pe @right
// CHECK-NEXT: wse.buffer
// CHECK-NEXT: wse.func @store(i16) shares @left::@store
// CHECK-NEXT: wse.task @step local id 9 shares @left::@step
// CHECK-NEXT: wse.func @elsewhere() {
// CHECK: wse.func @number() {
wse.program @alike target "wse2" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
    wse.buffer @u : memref<i16>
    wse.func @store(%x: i16) {
      %u = wse.get_buffer @u : memref<i16> loc("a.csl":1:1)
      memref.store %x, %u[] : memref<i16> loc("a.csl":1:2)
      wse.return loc("a.csl":1:3)
    }
    wse.task @step local id 7 active {
      wse.return loc("a.csl":2:1)
    }
    wse.func @elsewhere() {
      wse.return loc("a.csl":3:1)
    }
    wse.func @number() {
      %x = arith.constant 1 : i16 loc("a.csl":4:1)
      wse.return loc("a.csl":4:2)
    }
  }
  wse.pe @right on [1, 0] {
    wse.buffer @u : memref<i16> = dense<5>
    wse.func @store(%x: i16) {
      %u = wse.get_buffer @u : memref<i16> loc("a.csl":1:1)
      memref.store %x, %u[] : memref<i16> loc("a.csl":1:2)
      wse.return loc("a.csl":1:3)
    }
    wse.task @step local id 9 {
      wse.return loc("a.csl":2:1)
    }
    wse.func @elsewhere() {
      wse.return loc("a.csl":3:2)
    }
    wse.func @number() {
      %x = arith.constant 2 : i16 loc("a.csl":4:1)
      wse.return loc("a.csl":4:2)
    }
  }
}

// -----

// Names in messages are those of the function or task that has the body, so another name is not sharing; nor is the
// same operation on other operands.
// CHECK-LABEL: wse.program @different
// CHECK-NOT: shares
wse.program @different target "wse2" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
    wse.func @one() {
      wse.return loc("a.csl":1:1)
    }
    wse.func @two(%x: i16, %y: i16) -> i16 {
      %z = arith.subi %x, %y : i16 loc("a.csl":2:1)
      wse.return %z : i16 loc("a.csl":2:2)
    }
  }
  wse.pe @right on [1, 0] {
    wse.func @other() {
      wse.return loc("a.csl":1:1)
    }
    wse.func @two(%x: i16, %y: i16) -> i16 {
      %z = arith.subi %y, %x : i16 loc("a.csl":2:1)
      wse.return %z : i16 loc("a.csl":2:2)
    }
  }
}
