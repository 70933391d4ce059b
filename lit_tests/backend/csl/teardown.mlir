// RUN: loom-opt -t csl %s | filecheck %s
// A teardown phase at the start as a field of a color's configuration.

wse.program @torn target "wse3" rectangle 1 x 1 {
  wse.color @c = 4 changes
  wse.route @c on [0, 0] from [ramp] to [ramp] teardown
}

// CHECK: @set_color_config(0, 0, c, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ RAMP } }, .teardown = true });
