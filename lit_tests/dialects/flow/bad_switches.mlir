// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Routes with switches that no router can have, each with its error.

// CHECK: error: the switch has 4 positions besides the route; a router has 3{{$}}
flow.fabric @f target "wse3" grid 1 by 1 {
  flow.color @c = 4
  flow.route @c on [:, :] from [ramp] to [east] switch [to [west], to [north], to [south], to [east]]
}
// -----
// CHECK: error: a switch position takes the color from 2 ports; name exactly one{{$}}
flow.fabric @f target "wse3" grid 1 by 1 {
  flow.color @c = 4
  flow.route @c on [:, :] from [ramp] to [east] switch [from [west, north]]
}
// -----
// CHECK: error: switch position 0: the route comes from no port; name at least one{{$}}
flow.fabric @f target "wse3" grid 1 by 1 {
  flow.color @c = 4
  flow.route @c on [:, :] from [] to [east] switch [from [west]]
}
// -----
// CHECK: error: switch position 1: the route sends the color back to east, where it comes from; remove one{{$}}
flow.fabric @f target "wse3" grid 1 by 1 {
  flow.color @c = 4
  flow.route @c on [:, :] from [ramp] to [east] switch [from [east]]
}
// -----
// CHECK: error: switch position 2: the route names a port twice in 'to'; name it once{{$}}
flow.fabric @f target "wse3" grid 1 by 1 {
  flow.color @c = 4
  flow.route @c on [:, :] from [ramp] to [east] switch [to [west], to [south, south]]
}
// -----
// CHECK: error: the switch starts at position 2, which the route does not have; choose one of 0, 1, 3{{$}}
flow.fabric @f target "wse3" grid 1 by 1 {
  flow.color @c = 4
  flow.route @c on [:, :] from [ramp] to [east] switch [to [west], invalid, to [south]] at 2
}
// -----
// CHECK: error: the switch starts at position 4, which the route does not have; choose one of 0, 1{{$}}
flow.fabric @f target "wse3" grid 1 by 1 {
  flow.color @c = 4
  flow.route @c on [:, :] from [ramp] to [east] switch [to [west]] at 4
}
// -----
// CHECK: error: color @c has id 11, for which wse3 has no switches; choose one of 0, 1, {{.*}}20, 21{{$}}
flow.fabric @f target "wse3" grid 1 by 1 {
  flow.color @c = 11
  flow.route @c on [:, :] from [ramp] to [east] switch [to [west]]
}
// -----
// CHECK: error: {{.*}}@q{{.*}} sends nothing; only a stream of an output queue can advance a switch{{$}}
flow.fabric @f target "wse3" grid 1 by 1 {
  flow.color @c = 4
  flow.units @u on [:, :] words 8 {
    flow.queue input @q id 2 colors [@c on [:, :]]
    flow.task local @t id 9 active {
      %i = flow.queue_stream @q extent 1 advance_switch : !flow.stream<i32>
    }
  }
}
