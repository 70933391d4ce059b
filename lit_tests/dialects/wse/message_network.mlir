// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: loom-opt %s --split-input-file --verify-diagnostics -p lower-to-flow | filecheck %s --check-prefix FLOW
// A color that carries messages, and what sends and receives them.

// CHECK-LABEL: wse.program @messages
// CHECK:         wse.message_network @comm
// FLOW-LABEL:  flow.fabric @messages
// FLOW:          flow.message_network @comm
wse.program @messages target "wse3" rectangle 2 x 2 {
  wse.color @comm = 18
  wse.message_network @comm
  wse.pe @pe on [:, :] {
    wse.buffer @a : memref<8xf32>
    wse.input_queue @in color @comm id 2
    wse.output_queue @out color @comm id 3
    wse.func @main() {
      %a = wse.get_buffer @a : memref<8xf32>
      %d = dsd.mem1d %a extent 8 : memref<8xf32>
      // CHECK:      %i = dsd.fabin @in extent 8 {message} : !dsd.fabin<f32>
      // CHECK-NEXT: %o = dsd.fabout @out extent 8 {message} : !dsd.fabout<f32>
      // FLOW:       %i = flow.queue_stream @in extent 8 message : !flow.stream<f32>
      // FLOW-NEXT:  %o = flow.queue_stream @out extent 8 message : !flow.stream<f32>
      %i = dsd.fabin @in extent 8 {message} : !dsd.fabin<f32>
      %o = dsd.fabout @out extent 8 {message} : !dsd.fabout<f32>
      dsd.fmovs %d, %i : !dsd.mem1d<f32>, !dsd.fabin<f32>
      dsd.fmovs %o, %d : !dsd.fabout<f32>, !dsd.mem1d<f32>
      wse.return
    }
  }
}
