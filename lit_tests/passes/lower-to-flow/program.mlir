// RUN: loom-opt -p lower-to-flow %s | filecheck %s
// The shape of a program: colors, routes, classes of PEs and what they own.

// CHECK-LABEL: flow.fabric @layout target "wse3" grid 4 by 3 {
wse.program @layout target "wse3" rectangle 4 x 3 {
  // A free color gets the lowest id that no other color has.
  // CHECK-NEXT: flow.color @first = 0
  wse.color @first
  // CHECK-NEXT: flow.color @fixed = 1
  wse.color @fixed = 1
  // CHECK-NEXT: flow.color @second = 2
  wse.color @second
  // CHECK-NEXT: flow.route @first on [0, :] + [2:, :] from [north, ramp] to [south]
  wse.route @first on [0, :] + [2:, :] from [north, ramp] to [south]

  // CHECK-LABEL: flow.units @edge on [0, :] + [-1, :] + [0, 0] words 2 {
  wse.pe @edge on [0, :] + [-1, :] + [0, 0] {
    wse.buffer @v : memref<i16>
  }
  // CHECK-LABEL: flow.units @inner on [1:3, :] words {{[0-9]+}} {
  wse.pe @inner on [1:3, :] {
    // CHECK-NEXT: flow.buffer @v at 0 : memref<3xi16> = dense<[1, 2, 3]>
    wse.buffer @v : memref<3xi16> = dense<[1, 2, 3]>
    // CHECK-NEXT: flow.param @one = dense<5.000000e-01> : tensor<f32>
    wse.param @one : f32 = dense<0.5>
    // CHECK-NEXT: flow.param @each = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11{{\]\]}}> : tensor<3x4xi16>
    wse.param @each : i16 over 4 x 3 = dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]>
    // CHECK-NEXT: flow.export @v as "values" unsigned read_only
    wse.export @v as "values" unsigned read_only
    // CHECK-NEXT: flow.export @main as "main"
    wse.export @main
    // CHECK-NEXT: flow.queue input @in id 3 colors [@first on [0:2, :], @second on [2, :] + [3, 1]]
    wse.input_queue @in colors [@first on [0:2, :], @second on [2, :] + [3, 1]] id 3
    // CHECK-NEXT: flow.queue output @out id 2 colors [@fixed on [:, :]]
    wse.output_queue @out color @fixed id 2
    // CHECK-NEXT: flow.func @main(%n: i16) {
    wse.func @main(%n: i16) {
      // CHECK-NEXT: flow.return
      wse.return
    }
  }
}
