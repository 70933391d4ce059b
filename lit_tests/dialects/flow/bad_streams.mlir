// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Streams used against the way they flow, each with its error.

// DSD-102: a receiving stream cannot be a destination.
// CHECK: error: the destination of fmovs may be a stream of input queue @in, which sends nothing; name an output queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %in = flow.queue_stream @in extent 4 : !flow.stream<f32>
      flow.apply fmovs %in, %a : !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// DSD-102: a sending stream cannot be a source.
// CHECK: error: source 2 of fadds may be a stream of output queue @out, which receives nothing; name an input queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %out = flow.queue_stream @out extent 4 : !flow.stream<f32>
      flow.apply fadds %a, %a, %out : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: the destination of fmovs may be a stream of input queue @in, which sends nothing; name an output queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %in = flow.queue_stream @in extent 4 : !flow.stream<f32>
      %out = flow.queue_stream @out extent 4 : !flow.stream<f32>
      %c = arith.constant true
      %s = scf.if %c -> (!flow.stream<f32>) {
        scf.yield %out : !flow.stream<f32>
      } else {
        scf.yield %in : !flow.stream<f32>
      }
      flow.apply fmovs %s, %a : !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: source 1 of fmovs may be a stream of output queue @out, which receives nothing; name an input queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %out = flow.queue_stream @out extent 4 : !flow.stream<f32>
      %one = arith.constant 1 : i16
      %s = scf.for %i = %one to %one step %one iter_args(%t = %a) -> (!flow.stream<f32>) : i16 {
        flow.apply fmovs %a, %t : !flow.stream<f32>, !flow.stream<f32>
        scf.yield %out : !flow.stream<f32>
      }
    }
  }
}
// -----
// CHECK: error: source 1 of fmovs may be a stream of output queue @out, which receives nothing; name an input queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %out = flow.queue_stream @out extent 4 : !flow.stream<f32>
      %s = scf.while (%t = %out) : (!flow.stream<f32>) -> !flow.stream<f32> {
        %c = arith.constant true
        scf.condition(%c) %t : !flow.stream<f32>
      } do {
      ^bb0(%u: !flow.stream<f32>):
        scf.yield %u : !flow.stream<f32>
      }
      flow.apply fmovs %a, %s : !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: the destination of fmovs may be a stream of input queue @in, which sends nothing; name an output queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @same(%s: !flow.stream<f32>) -> (!flow.stream<f32>) {
      flow.return %s : !flow.stream<f32>
    }
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %in = flow.queue_stream @in extent 4 : !flow.stream<f32>
      %one = arith.constant 1 : i16
      %s = flow.resize %in, %one : !flow.stream<f32>
      %t = flow.call @same(%s) : (!flow.stream<f32>) -> !flow.stream<f32>
      flow.apply fmovs %t, %a : !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: fadds may have 2 fabric inputs, but wse3 takes 1; receive one of them into memory first{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue input @in2 id 3 colors [@c on [:, :]]
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      %in = flow.queue_stream @in extent 4 : !flow.stream<f32>
      %b = flow.queue_stream @in2 extent 4 : !flow.stream<f32>
      flow.apply fadds %a, %in, %b : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// DSD-183: only operations on the fabric are asynchronous.
// CHECK: error: fmovs is asynchronous but moves no wavelets (DSD-183); remove async, or use a queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<f32>
      flow.apply fmovs %a, %a async(microthread = 0) : !flow.stream<f32>, !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: flow.advance changes a stream of input queue @in; it needs a walk over memory{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main {
      %in = flow.queue_stream @in extent 4 : !flow.stream<f32>
      %one = arith.constant 1 : i16
      %s = flow.advance %in, %one : !flow.stream<f32>
    }
  }
}
// -----
// DSD-173: the length of a walk of several dimensions cannot be set.
// CHECK: error: flow.resize changes a walk of 2 dimensions over buffer @a; it needs a stream of one dimension{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1, 1] extents [2, 2] : !flow.stream<f32>
      %one = arith.constant 1 : i16
      %s = flow.resize %a, %one : !flow.stream<f32>
    }
  }
}
// -----
// DSD-177: only the stride of a walk of one dimension can be set.
// CHECK: error: flow.restride changes a walk of 2 dimensions over buffer @a; it needs a walk over memory of one dimension{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<4xf32>
    flow.func @main {
      %a = flow.stream @a at 0 strides [1, 1] extents [2, 2] : !flow.stream<f32>
      %one = arith.constant 1 : i16
      %s = flow.restride %a, %one : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: flow.restride changes a stream of output queue @out; it needs a walk over memory of one dimension{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main {
      %out = flow.queue_stream @out extent 4 : !flow.stream<f32>
      %one = arith.constant 1 : i16
      %s = flow.restride %out, %one : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: a wavelet carries two values of 16 bits, not of f32; leave out packed{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main {
      %in = flow.queue_stream @in extent 4 packed : !flow.stream<f32>
      flow.return
    }
  }
}
// -----
// AMB-30.
// CHECK: error: wraparound 0 does not fit a stream; choose one from 1 to 65535{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 16 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main(%n: i16) {
      %a = flow.circular_stream @a extent 4 wraparound 0 : !flow.stream<f32>
    }
  }
}
// -----
// AMB-30.
// CHECK: error: extent 65536 does not fit a stream; choose one from 0 to 65535{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 16 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main(%n: i16) {
      %a = flow.circular_stream @a extent 65536 wraparound 4 : !flow.stream<f32>
    }
  }
}
// -----
// Elements have the width of the buffer's.
// CHECK: error: a stream of f16 cannot walk over buffer @a of f32; use a type of that width, or another buffer on the same words{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 16 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main(%n: i16) {
      %a = flow.circular_stream @a extent 4 wraparound 4 : !flow.stream<f16>
    }
  }
}
// -----
// A ring has no stride.
// CHECK: error: flow.restride changes a circular walk over buffer @a; it needs a walk over memory of one dimension{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 16 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main(%n: i16) {
      %a = flow.circular_stream @a extent 4 wraparound 4 : !flow.stream<f32>
      %b = flow.restride %a, %n : !flow.stream<f32>
    }
  }
}
// -----
// DSD-245.
// CHECK: error: input queue @in sends nothing; only a stream of an output queue can set a source to zero{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 16 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main(%n: i16) {
      %a = flow.queue_stream @in extent 4 zero first : !flow.stream<f32>
    }
  }
}
// -----
// DSD-258.
// CHECK: error: a wavelet that carries two values has no index for control_transform to mark; leave out one of the two{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 16 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main(%n: i16) {
      %a = flow.queue_stream @in extent 4 packed control_transform : !flow.stream<f16>
    }
  }
}
// -----
// DSD-241.
// CHECK: error: in_pairs says for how many wavelets a receive waits; leave it out of what is sent{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 16 {
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main {
      %a = flow.queue_stream @out extent 4 in_pairs : !flow.stream<f16>
    }
  }
}
