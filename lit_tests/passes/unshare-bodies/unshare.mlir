// RUN: loom-opt -p unshare-bodies %s | filecheck %s
// RUN: loom-opt -p lower-to-flow,unshare-bodies %s | filecheck %s --check-prefix FLOW

// CHECK: wse.pe @right
// CHECK-NEXT: wse.func @add(%x: i16) -> i16 {
// CHECK-NEXT: arith.addi %x, %x : i16
// CHECK-NEXT: wse.return
// FLOW: flow.units @right
// FLOW-NEXT: flow.func @add(%x: i16) -> (i16) {
// FLOW-NEXT: arith.addi %x, %x : i16
wse.program @two target "wse2" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
    wse.func @add(%x: i16) -> i16 {
      %y = arith.addi %x, %x : i16
      wse.return %y : i16
    }
  }
  wse.pe @right on [1, 0] {
    wse.func @add(i16) -> i16 shares @left::@add
  }
}
