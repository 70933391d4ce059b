// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s -p dsd-assign-queues,dsd-assign-microthreads,dsr-allocate,lower-to-flow | filecheck %s --check-prefix FLOW
// AMB-34: a queue may have no color; the run reports what is sent or awaited on it.

// CHECK: wse.input_queue @in colors [] id 2
// CHECK: wse.output_queue @out colors []
// FLOW: flow.queue input @in id 2 colors []
// FLOW: flow.queue output @out id 0 colors []
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.input_queue @in colors [] id 2
    wse.output_queue @out colors []
    wse.func @main() {
      wse.return
    }
  }
}
