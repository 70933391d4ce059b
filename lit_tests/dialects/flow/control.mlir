// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK:       flow.queue input @in id 2 colors [@c on [:, :]] unblocked
// CHECK:       %m = flow.indexed %o, %k : !flow.stream<i16>
// CHECK:       flow.apply mov16 %s, %i async(microthread = 2, on_control = activate @t) : !flow.stream<i16>, !flow.stream<i16>
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<8xi16>
    flow.queue input @in id 2 colors [@c on [:, :]] unblocked
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main(%k: i16) {
      %o = flow.queue_stream @out extent 4 : !flow.stream<i16>
      %m = flow.indexed %o, %k : !flow.stream<i16>
      %s = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<i16>
      %i = flow.queue_stream @in extent 4 : !flow.stream<i16>
      flow.apply mov16 %s, %i async(microthread = 2, on_control = activate @t) : !flow.stream<i16>, !flow.stream<i16>
    }
    flow.task local @t id 9 {
    }
  }
}
