// RUN: loom-opt -p lower-to-flow %s | filecheck %s
// Switches stay as they are; a color that has one gets an id for which the machine has switches.

// CHECK-LABEL: flow.fabric @turns
wse.program @turns target "wse3" rectangle 3 x 1 {
  wse.color @a = 0
  wse.color @b = 1
  wse.color @d = 2
  wse.color @e = 3
  wse.color @f = 4
  wse.color @g = 5
  wse.color @h = 6
  wse.color @i = 7
  wse.color @j = 8
  wse.color @k = 9
  // CHECK: flow.color @plain = 10
  wse.color @plain
  // CHECK-NEXT: flow.color @moves = 12
  wse.color @moves
  // CHECK-NEXT: flow.route @moves on [0, 0] from [ramp] to [east] switch [to [ramp], from [west]] at 1 ring always_pop
  wse.route @moves on [0, 0] from [ramp] to [east] switch [to [ramp], from [west]] at 1 ring always_pop
  // CHECK-NEXT: flow.route @moves on [1:, 0] from [west] to [ramp]{{$}}
  wse.route @moves on [1:, 0] from [west] to [ramp]
  wse.pe @p on [0, 0] {
    wse.output_queue @out color @moves id 2
    wse.func @send(%x: i32) {
      // CHECK: %o = flow.queue_stream @out extent 1 control advance_switch : !flow.stream<i32>
      %o = dsd.fabout @out extent 1 {control, advance_switch} : !dsd.fabout<i32>
      // CHECK: flow.queue_stream @out extent 2 : !flow.stream<f32>
      %s = dsd.fabout @out extent 2 {simd = simd_64} : !dsd.fabout<f32>
      wse.return
    }
  }
}
