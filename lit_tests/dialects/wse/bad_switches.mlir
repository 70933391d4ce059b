// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Routes with switches that no router can have, each with its error.

// CHECK: error: the switch has 4 positions besides the route; a router has 3{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [east] switch [to [west], to [north], to [south], to [east]]
}
// -----
// CHECK: error: a switch position takes the color from 2 ports; name exactly one{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [east] switch [from [west, north]]
}
// -----
// CHECK: error: switch position 0: the route comes from no port; name at least one{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [] to [east] switch [from [west]]
}
// -----
// CHECK: error: switch position 1: the route sends the color back to east, where it comes from; remove one{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [east] switch [from [east]]
}
// -----
// CHECK: error: switch position 2: the route names a port twice in 'to'; name it once{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [east] switch [to [west], to [south, south]]
}
// -----
// CHECK: error: the switch starts at position 2, which the route does not have; choose one of 0, 1, 3{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [east] switch [to [west], invalid, to [south]] at 2
}
// -----
// CHECK: error: the switch starts at position 4, which the route does not have; choose one of 0, 1{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [east] switch [to [west]] at 4
}
// -----
// CHECK: error: color @c has id 10, for which wse3 has no switches; choose one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 20, 21{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c = 10
  wse.route @c on [:, :] from [ramp] to [east] switch [to [west]]
}
// -----
// CHECK: error: switch position 1 changes where the color comes from and where it goes; on wse2 a position changes one of them{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [east] switch [from [west] to [ramp]]
}
// -----
// CHECK: error: switch position 2 sends the color to 2 ports; on wse2 a position names exactly one{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [east] switch [from [west], to [ramp, south]]
}
