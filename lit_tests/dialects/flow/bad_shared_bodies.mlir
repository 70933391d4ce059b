// RUN: loom-opt --split-input-file --verify-diagnostics %s | filecheck %s
// Bodies whose symbols mean something else in the class of units that shares them.

flow.fabric @queues target "wse2" grid 2 by 1 {
  flow.color @c = 1
  flow.units @left on [0, 0] words 8 {
    flow.queue input @q id 0 colors [@c on [:, :]]
    flow.func @main {
      %s = flow.queue_stream @q extent 4 : !flow.stream<i16>
      flow.return
    }
  }
  flow.units @right on [1, 0] words 8 {
    // CHECK: @q is not defined in flow.units @right; define it or correct the name
    flow.func @main shares @left::@main
  }
}

// -----

flow.fabric @directions target "wse2" grid 3 by 1 {
  flow.color @c = 1
  flow.units @left on [0, 0] words 8 {
    flow.buffer @u at 0 : memref<4xi16>
    flow.queue input @q id 0 colors [@c on [:, :]]
    flow.func @main {
      %d = flow.stream @u at 0 strides [1] extents [4] : !flow.stream<i16>
      %s = flow.queue_stream @q extent 4 : !flow.stream<i16>
      // CHECK: output queue
      flow.apply mov16 %d, %s : !flow.stream<i16>, !flow.stream<i16>
      flow.return
    }
  }
  flow.units @middle on [1, 0] words 8 {
    flow.buffer @u at 4 : memref<4xi16>
    flow.queue input @q id 3 colors [@c on [:, :]]
    flow.func @main shares @left::@main
  }
  flow.units @right on [2, 0] words 8 {
    flow.buffer @u at 0 : memref<4xi16>
    flow.queue output @q id 0 colors [@c on [:, :]]
    flow.func @main shares @left::@main
  }
}
