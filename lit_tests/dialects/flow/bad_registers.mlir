// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Registers and loads that do not fit, each with its error.

// CHECK: error: wse3 has no src0 register 99; choose one from 0 to 15{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @main {
      %r = flow.register src0 99 : !flow.stream<i16>
    }
  }
}
// -----
// CHECK: error: flow.resize uses the content of a register, which only flow.apply can; pass it the stream{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.func @main(%n: i16) {
      %r = flow.register src0 1 : !flow.stream<i16>
      %q = flow.resize %r, %n : !flow.stream<i16>
    }
  }
}
// -----
// CHECK: error: async is for streams of queues (DSR-036), not for a walk over buffer @a; remove it{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<8xi16>
    flow.func @main {
      %s = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<i16>
      flow.load_register src1 2, %s async(microthread = 2) : !flow.stream<i16>
    }
  }
}
// -----
// CHECK: error: save_address is for walks over memory (DSR-037), not for a stream of output queue @out; remove it{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main {
      %o = flow.queue_stream @out extent 4 : !flow.stream<i16>
      flow.load_register dest 2, %o save_address : !flow.stream<i16>
    }
  }
}
