// RUN: loom-opt -p dsd-assign-microthreads %s | filecheck %s

// Where the queue of a shared body has another id, the microthread is another: those that agree share a body.
// CHECK: wse.pe @one
// CHECK: async(ut = 2)
// CHECK: wse.pe @two
// CHECK: wse.func @main() shares @one::@main
// CHECK: wse.pe @three
// CHECK: async(ut = 3)
// CHECK: wse.pe @four
// CHECK: wse.func @main() shares @three::@main
wse.program @queues target "wse2" rectangle 4 x 1 {
  wse.color @c
  wse.pe @one on [0, 0] {
    wse.output_queue @out color @c id 2
    wse.func @main() {
      %zero = arith.constant 0.0 : f32
      %o = dsd.fabout @out extent 4 : !dsd.fabout<f32>
      dsd.fmovs %o, %zero async() : !dsd.fabout<f32>, f32
      wse.return
    }
  }
  wse.pe @two on [1, 0] {
    wse.output_queue @out color @c id 2
    wse.func @main() shares @one::@main
  }
  wse.pe @three on [2, 0] {
    wse.output_queue @out color @c id 3
    wse.func @main() shares @one::@main
  }
  wse.pe @four on [3, 0] {
    wse.output_queue @out color @c id 3
    wse.func @main() shares @one::@main
  }
}
