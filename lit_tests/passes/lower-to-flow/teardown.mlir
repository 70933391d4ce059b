// RUN: loom-opt %s -p lower-to-flow | filecheck %s
// RUN: loom-opt %s | filecheck %s --check-prefix SAME
// Colors whose routes change, and routes that begin in a teardown phase, keep that.

wse.program @torn target "wse3" rectangle 2 x 1 {
  // CHECK: flow.color @c = 4 changes
  // SAME: wse.color @c = 4 changes
  wse.color @c = 4 changes
  // CHECK-NEXT: flow.route @c on [0, 0] from [ramp] to [east] switch [from [west]] teardown
  // SAME-NEXT: wse.route @c on [0, 0] from [ramp] to [east] switch [from [west]] teardown
  wse.route @c on [0, 0] from [ramp] to [east] switch [from [west]] teardown
  // CHECK-NEXT: flow.route @c on [1, 0] from [west] to [ramp] teardown
  // SAME-NEXT: wse.route @c on [1, 0] from [west] to [ramp] teardown
  wse.route @c on [1, 0] from [west] to [ramp] teardown
}
