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
