// RUN: loom-opt %s --split-input-file --parsing-diagnostics | filecheck %s
// Text that is not a fabric, each with its error.

// CHECK: Expected 'at'{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a : memref<4xf32>
  }
}
// -----
// CHECK: a buffer has a memref type, for example memref<64xf32>{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : f32
  }
}
// -----
// CHECK: a buffer cannot hold i64; use f16, bf16, f32, i8, i16 or i32{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xi64> = dense<0>
  }
}
// -----
// CHECK: Expected one of 'east', 'north', 'ramp', 'south', 'west'{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.route @c on [:, :] from [up] to [ramp]
}
// -----
// CHECK: Expected one of 'input', 'output'{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue both @q id 0 colors [@c on [:, :]]
  }
}
// -----
// CHECK: a stream cannot hold i64; use f16, bf16, f32, i16 or i32{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @f(%s: !flow.stream<i64>) {
    }
  }
}
// -----
// CHECK: a body has one block; use scf.if, scf.for and scf.while for its branches{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @f {
      %one = arith.constant 1 : i16
    ^next:
      flow.return
    }
  }
}
// -----
// CHECK: 70000 does not fit a field of a stream; choose a number from -65535 to 65535{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %s = flow.stream @a at 70000 strides [1] extents [4] : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: flow.stream makes a value of type !flow.stream{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %s = flow.stream @a at 0 strides [1] extents [4] : f32
    }
  }
}
// -----
// CHECK: flow.queue_stream makes a value of type !flow.stream{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main {
      %s = flow.queue_stream @in extent 4 : f32
    }
  }
}
// -----
// CHECK: flow.apply has 2 operands, but types for 1{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      flow.apply fmovs %a, %a : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: Expected one of 'activate', 'on_control', 'priority', 'unblock'{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      flow.apply fmovs %a, %a async(microthread = 0, ut = 3) : !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: Expected one of 'x', 'y'{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @main {
      %x = flow.coordinate z : i16
    }
  }
}
