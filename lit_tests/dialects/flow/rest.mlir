// RUN: loom-opt %s | loom-opt | filecheck %s
// A core that waits for a number in the memory that all cores share.

// CHECK-LABEL: flow.fabric @k target "a5" grid 1 by 2 {
// CHECK:         scf.while
// CHECK:           flow.rest_unless %holds, %found, %wanted for "flag 3 of AIC"
// CHECK:           scf.condition
flow.fabric @k target "a5" grid 1 by 2 {
  flow.space @gm 0
  flow.units @cube on [0, :] words 0 {
    flow.func @main(%address: i64, %wanted: i64) {
      %true = arith.constant true
      scf.while () : () -> () {
        %t = flow.tile @gm[%address] extents [1] strides [1] : !flow.tile<i64>
        %found = flow.tile_get %t : !flow.tile<i64> -> i64
        %holds = arith.cmpi sge, %found, %wanted : i64
        flow.rest_unless %holds, %found, %wanted for "flag 3 of AIC"
        %again = arith.xori %holds, %true : i1
        scf.condition(%again)
      } do {
        scf.yield
      }
      flow.return
    }
    flow.export @main as "main"
  }
}
