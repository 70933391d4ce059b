// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK:       flow.load_register src1 2, %s save_address : !flow.stream<i16>
// CHECK-NEXT:  flow.load_register dest 0, %o async(microthread = 2, activate = @t) : !flow.stream<i16>
// CHECK:       %r = flow.register src1 2 : !flow.stream<i16>
// CHECK:       flow.apply mov16 %q, %r : !flow.stream<i16>, !flow.stream<i16>
flow.fabric @p target "wse3" grid 1 by 1 {
  flow.color @c = 3
  flow.units @u on [:, :] words 8 {
    flow.buffer @a at 0 : memref<8xi16>
    flow.queue output @out id 2 colors [@c on [:, :]]
    flow.func @main {
      %s = flow.stream @a at 0 strides [1] extents [4] : !flow.stream<i16>
      %o = flow.queue_stream @out extent 4 : !flow.stream<i16>
      flow.load_register src1 2, %s save_address : !flow.stream<i16>
      flow.load_register dest 0, %o async(microthread = 2, activate = @t) : !flow.stream<i16>
    }
    flow.task local @t id 9 {
      %r = flow.register src1 2 : !flow.stream<i16>
      %q = flow.register dest 0 : !flow.stream<i16>
      flow.apply mov16 %q, %r : !flow.stream<i16>, !flow.stream<i16>
    }
  }
}
