// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// What cannot be unblocked, indexed or activated, each with its error.

// CHECK: error: output queue @out is unblocked, but starts no tasks; remove 'unblocked'{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue output @out id 2 colors [@c on [:, :]] unblocked
  }
}
// -----
// CHECK: error: flow.indexed changes a stream of input queue @in; it needs a stream of an output queue{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main(%k: i16) {
      %i = flow.queue_stream @in extent 4 : !flow.stream<i16>
      %m = flow.indexed %i, %k : !flow.stream<i16>
    }
  }
}
// -----
// CHECK: error: flow.indexed puts an index where !flow.stream<f32> has data; send 16-bit values (AMB-26){{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main(%k: i16) {
      %o = flow.queue_stream @out extent 4 : !flow.stream<f32>
      %m = flow.indexed %o, %k : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: data task @t cannot be activated; name a local task{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<8xi16>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main {
      %s = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<i16>
      %i = flow.queue_stream @in extent 4 : !flow.stream<i16>
      flow.apply mov16 %s, %i async(microthread = 2, on_control = activate @t) : !flow.stream<i16>, !flow.stream<i16>
    }
    flow.task data @t id 2 on @in (%x: i16) {
    }
  }
}
// -----
// CHECK: error: mov16 drops data wavelets; only a mov32 without result and on_control can{{$}}
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<8xi16>
    flow.queue input @in id 2 colors [@c on [:, :]]
    flow.func @main {
      %s = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<i16>
      %i = flow.queue_stream @in extent 4 : !flow.stream<i16>
      flow.apply mov16 %s, %i async(microthread = 2) drops_data : !flow.stream<i16>, !flow.stream<i16>
    }
  }
}
