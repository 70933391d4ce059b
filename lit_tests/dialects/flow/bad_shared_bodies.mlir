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
