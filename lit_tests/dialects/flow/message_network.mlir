// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: flow.fabric @messages
// CHECK:         flow.message_network @comm
flow.fabric @messages target "wse3" grid 2 by 1 {
  flow.color @comm = 18
  flow.message_network @comm
  flow.units @u on [:, :] words 8 {
    flow.queue input @in id 2 colors [@comm on [:, :]]
    flow.queue output @out id 3 colors [@comm on [:, :]]
    flow.func @main {
      // CHECK:      %i = flow.queue_stream @in extent 4 message : !flow.stream<f32>
      // CHECK-NEXT: %o = flow.queue_stream @out extent 4 message : !flow.stream<f16>
      %i = flow.queue_stream @in extent 4 message : !flow.stream<f32>
      %o = flow.queue_stream @out extent 4 message : !flow.stream<f16>
    }
  }
}
// -----
// CHECK: error: @comm is not defined in flow.fabric @missing
flow.fabric @missing target "wse3" grid 1 by 1 {
  flow.message_network @comm
}
// -----
// CHECK: error: a message of a network ends with one control wavelet and carries one element in each; leave out control
flow.fabric @control target "wse3" grid 1 by 1 {
  flow.color @comm = 18
  flow.message_network @comm
  flow.units @u on [:, :] words 8 {
    flow.queue output @out id 3 colors [@comm on [:, :]]
    flow.func @main {
      %o = flow.queue_stream @out extent 4 control message : !flow.stream<f32>
    }
  }
}
// -----
// CHECK: error: color @comm is a network of messages and has routes or a stream of the host; use another color
flow.fabric @both target "wse3" grid 2 by 1 {
  flow.color @comm = 18
  flow.message_network @comm
  flow.route @comm on [0, :] from [ramp] to [east]
}
