// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Accesses at addresses, initial values, exported pointers and prints that break a rule, each with its error.

// CHECK: error: flow.load at an address takes one index or none, not 2; memory has one dimension{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.func @main(%p: i16, %i: index) {
      %a = flow.load %p[%i, %i] : f32
    }
  }
}
// -----
// CHECK: error: memory cannot hold i64; use f16, bf16, f32, i8, i16 or i32{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.func @main(%p: i16, %i: index) {
      %a = flow.load %p[%i] : i64
    }
  }
}
// -----
// CHECK: error: memory cannot hold index; use f16, bf16, f32, i8, i16 or i32{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.func @main(%p: i16, %i: index) {
      flow.store %i, %p[] : index
    }
  }
}
// -----
// CHECK: error: flow.stream takes either a buffer or an address; give exactly one{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.func @main(%p: i16, %i: index) {
      %s = "flow.stream"() <{static_offset = 0 : i64, static_strides = array<i64: 1>, static_extents = array<i64: 4>, operandSegmentSizes = array<i32: 0, 0, 0, 0>}> : () -> !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: flow.load takes either a buffer or an address; give exactly one{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.func @main(%p: i16, %i: index) {
      %s = "flow.load"(%p, %i) <{buffer = @u, operandSegmentSizes = array<i32: 1, 1>}> : (i16, index) -> f32
    }
  }
}
// -----
// CHECK: error: buffer @w has no element 2; choose one from 0 to 1{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.initialize @w[2] = 3
  }
}
// -----
// CHECK: error: buffer @u holds f32, not numbers such as addresses; use i8, i16 or i32{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.initialize @u[0] = 3
  }
}
// -----
// CHECK: error: parameter @c has type f32, but buffer @w holds i16; make both agree{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.initialize @w[0] = @c
  }
}
// -----
// CHECK: error: buffer @u of memref<4xf32> is not a pointer; points_to needs a memref<i16>, which holds a byte address{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.export @u as "y" points_to memref<4xf32>
  }
}
// -----
// CHECK: error: memory cannot hold i64; use f16, bf16, f32, i8, i16 or i32{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.export @n as "y" points_to memref<4xi64>
  }
}
// -----
// CHECK: error: operand 1 is an integer; print it as {u}, {d}, {x}, {X} or {b}{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.func @main(%p: i16, %i: index) {
      flow.print "{f}", %p : i16
    }
  }
}
// -----
// CHECK: error: flow.resize changes a walk of 2 dimensions over memory; it needs a stream of one dimension{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 16 {
    flow.buffer @u at 0 : memref<4xf32>
    flow.buffer @n at 8 : memref<i16>
    flow.buffer @w at 9 : memref<2xi16>
    flow.param @c = dense<0.5> : tensor<f32>
    flow.func @main(%p: i16, %i: index) {
      %s = flow.stream %p at 0 strides [1, 1] extents [2, 2] : !flow.stream<f32>
      %t = flow.resize %s, %p : !flow.stream<f32>
    }
  }
}
