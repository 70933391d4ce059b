// RUN: loom-opt --split-input-file --verify-diagnostics %s | filecheck %s
// Memory of other units is that of a class that has such a space.

flow.fabric @k target "a5" grid 2 by 1 {
  flow.units @cube on [0, :] words 0 {
    flow.func @main() {
      %z = arith.constant 0 : i64
      // CHECK: bad_tiles.mlir:[[# @LINE + 1]]:7: error: {{.*}}@vec is not a space of units @vector; name one of its spaces
      %t = flow.tile @vec[%z] of @vector lane %z extents [16, 16] strides [16, 1] : !flow.tile<f32>
      flow.return
    }
  }
  flow.units @vector on [1, :] words 0 {
    flow.space @other 1024
  }
}

// -----

flow.fabric @k target "a5" grid 2 by 1 {
  flow.space @gm 0
  flow.units @cube on [0, :] words 0 {
    flow.func @main() {
      %z = arith.constant 0 : i64
      // CHECK: bad_tiles.mlir:[[# @LINE + 1]]:7: error: {{.*}}space @gm is used where a class of units is needed; name a class of units
      %t = flow.tile @vec[%z] of @gm lane %z extents [16, 16] strides [16, 1] : !flow.tile<f32>
      flow.return
    }
  }
}
