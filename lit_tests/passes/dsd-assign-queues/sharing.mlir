// RUN: loom-opt -p dsd-assign-queues %s | filecheck %s
// PE programs go on sharing a body whose descriptors get queues of the same names, and have one of their own otherwise.

// CHECK-LABEL: wse.program @shared
wse.program @shared target "wse2" rectangle 3 x 1 {
  wse.color @a
  wse.color @b
  wse.pe @first on [0, 0] {
    wse.output_queue @out color @a id 2
    wse.func @main() {
      // CHECK: dsd.fabout @b_out extent 4
      // CHECK: dsd.fabout @out extent 4
      %0 = dsd.fabout color @b extent 4 : !dsd.fabout<f32>
      %1 = dsd.fabout @out extent 4 : !dsd.fabout<f32>
      wse.return
    }
  }
  // CHECK: wse.pe @second
  wse.pe @second on [1, 0] {
    wse.output_queue @out color @b id 2
    // CHECK: wse.func @main() {
    // CHECK-NEXT: dsd.fabout @out extent 4
    // CHECK-NEXT: dsd.fabout @out extent 4
    wse.func @main() shares @first::@main
  }
  // CHECK: wse.pe @third
  wse.pe @third on [2, 0] {
    wse.output_queue @out color @a id 2
    // CHECK: wse.output_queue @b_out color @b
    // CHECK-NEXT: wse.func @main() shares @first::@main
    wse.func @main() shares @first::@main
  }
}
