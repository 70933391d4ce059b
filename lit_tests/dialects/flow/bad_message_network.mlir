// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Networks of messages that are wrong, each with its error.

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
