// RUN: loom-opt -p lower-to-flow %s | filecheck %s

// A body is lowered once for the programs that answer alike what it asks: @middle has its buffers at the same
// addresses as @left, @right at others.
// CHECK: flow.units @left
// CHECK: flow.func @where -> (i16) {
// CHECK-NEXT: arith.constant 4 : i16
// CHECK: flow.func @load -> (i16) {
// CHECK: flow.units @middle
// CHECK: flow.func @where -> (i16) shares @left::@where
// CHECK-NEXT: flow.func @load -> (i16) shares @left::@load
// CHECK: flow.units @right
// CHECK: flow.func @where -> (i16) {
// CHECK-NEXT: arith.constant 0 : i16
// CHECK: flow.func @load -> (i16) shares @left::@load
// CHECK: flow.units @last
// CHECK: flow.func @where -> (i16) shares @right::@where
// CHECK-NEXT: flow.func @load -> (i16) shares @left::@load
wse.program @addresses target "wse2" rectangle 4 x 1 {
  wse.pe @left on [0, 0] {
    wse.buffer @a : memref<2xi16>
    wse.buffer @b : memref<i16>
    wse.func @where() -> i16 {
      %p = wse.address_of @b : i16
      wse.return %p : i16
    }
    wse.func @load() -> i16 {
      %b = wse.get_buffer @b : memref<i16>
      %v = memref.load %b[] : memref<i16>
      wse.return %v : i16
    }
  }
  wse.pe @middle on [1, 0] {
    wse.buffer @a : memref<2xi16> = dense<1>
    wse.buffer @b : memref<i16>
    wse.func @where() -> i16 shares @left::@where
    wse.func @load() -> i16 shares @left::@load
  }
  wse.pe @right on [2, 0] {
    wse.buffer @b : memref<i16>
    wse.buffer @a : memref<2xi16>
    wse.func @where() -> i16 shares @left::@where
    wse.func @load() -> i16 shares @left::@load
  }
  wse.pe @last on [3, 0] {
    wse.buffer @b : memref<i16>
    wse.func @where() -> i16 shares @left::@where
    wse.func @load() -> i16 shares @left::@load
  }
}
