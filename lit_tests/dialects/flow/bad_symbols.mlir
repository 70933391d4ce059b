// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Names that are missing or of the wrong kind, uses that do not fit what is named, each with its error.

// The error is at the operation that made it, not at the fabric that found it.
// CHECK: bad_symbols.mlir:9:7: error: @x is not defined in flow.units @u; define it or correct the name{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @main {
      flow.activate @x
    }
  }
}
// -----
// CHECK: error: @x is not defined in flow.fabric @p; define it or correct the name{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.route @x on [:, :] from [ramp] to [east]
}
// -----
// CHECK: error: @x is not defined in flow.units @u; define it or correct the name{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.queue input @q id 0 colors [@x on [:, :]]
  }
}
// -----
// CHECK: error: buffer @a is used where a color is needed; name a color{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @q id 0 colors [@a on [:, :]]
  }
}
// -----
// CHECK: error: units @u is used where a color is needed; name a color{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.route @u on [:, :] from [ramp] to [east]
  flow.units @u on [:, :] words 8 {
  }
}
// -----
// DSD-191: only a local task can be activated.
// CHECK: error: data task @t cannot be activated; name a local task{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.task data @t id 2 on @in (%value: f32) {
    }
    flow.func @main {
      flow.activate @t
    }
  }
}
// -----
// CHECK: error: output queue @out cannot be blocked; name a task or an input queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main {
      flow.block @out
    }
  }
}
// -----
// CHECK: error: output queue @out is used where an input queue is needed; name an input queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.task data @t id 2 on @out (%value: f32) {
    }
  }
}
// -----
// CHECK: error: buffer @a is used where a parameter is needed; name a parameter{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %p = flow.get_param @a : f32
    }
  }
}
// -----
// CHECK: error: parameter @k has type f32, not i16; use its type{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.param @k = dense<0.5> : tensor<f32>
    flow.func @main {
      %p = flow.get_param @k : i16
    }
  }
}
// -----
// CHECK: error: parameter @k is used where a buffer is needed; name a buffer{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.param @k = dense<0.5> : tensor<f32>
    flow.func @main {
      %x = flow.load @k[] : f32
    }
  }
}
// -----
// CHECK: error: buffer @a has 1 dimension, but flow.load has indices for 0; give one for each{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %x = flow.load @a[] : f32
    }
  }
}
// -----
// CHECK: error: buffer @a holds f32, not i32; use its type{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %i = arith.constant 0 : index
      %x = flow.load @a[%i] : i32
    }
  }
}
// -----
// CHECK: error: buffer @a holds f32, not f16; use its type{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %i = arith.constant 0 : index
      %x = arith.constant 0.5 : f16
      flow.store %x, @a[%i] : f16
    }
  }
}
// -----
// CHECK: error: @x is not defined in flow.units @u; define it or correct the name{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.export @x as "x"
  }
}
// -----
// CHECK: error: input queue @a is used where a buffer is needed; name a buffer{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @a id 2 colors [@c on [:, :]]
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: a stream of f32 cannot walk over buffer @h of f16; use a type of that width, or another buffer on the same words{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @h at 0 : memref<4xf16>
    flow.func @main {
      %s = flow.stream @h at 0 strides [1] extents [2] : !flow.stream<i16>
      %t = flow.stream @h at 0 strides [1] extents [2] : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: buffer @a is used where a queue is needed; name a queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %s = flow.queue_stream @a extent 4 : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: input queue @in receives both control wavelets and data; only a stream of an output queue can be control{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main {
      %s = flow.queue_stream @in extent 4 control : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: local task @t is used where a function is needed; name a function{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.task local @t id 9 {
    }
    flow.func @main {
      flow.call @t() : () -> ()
    }
  }
}
// -----
// CHECK: error: function @f has type (i16) -> (), but is called as (i32) -> (); make both agree{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @f(%x: i16) {
    }
    flow.func @main {
      %one = arith.constant 1 : i32
      flow.call @f(%one) : (i32) -> ()
    }
  }
}
// -----
// CHECK: error: wse3 has no microthread 8; choose one from 0 to 7{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %in = flow.queue_stream @in extent 4 : !flow.stream<f32>
      flow.apply fmovs %a, %in async(microthread = 8) : !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// DSD-191: an operation activates a local task at its end.
// CHECK: error: function @main cannot be activated; name a local task{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %in = flow.queue_stream @in extent 4 : !flow.stream<f32>
      flow.apply fmovs %a, %in async(microthread = 0, activate = @main) : !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: function @f has no argument 1 to be unsigned; it takes 1, counted from 0{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @f(%x: i16) {
    }
    flow.export @f as "f" unsigned_arguments [1]
  }
}
// -----
// CHECK: error: argument 0 of function @f is f32, which has no sign; remove it from unsigned_arguments{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @f(%x: f32) {
    }
    flow.export @f as "f" unsigned_arguments [0]
  }
}
// -----
// CHECK: error: buffer @b takes no arguments; remove 'unsigned_arguments'{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @b at 0 : memref<1xi16>
    flow.export @b as "b" unsigned_arguments [0]
  }
}
