// RUN: loom-opt -t csl %s | filecheck %s
// Switch positions as fields of a color's configuration.

wse.program @turns target "wse3" rectangle 2 x 1 {
  wse.color @c = 4
  wse.route @c on [0, 0] from [ramp] to [east] switch [from [west], invalid, to [ramp, south]] at 1 ring always_pop
  wse.route @c on [1, 0] from [west] to [ramp] switch [to []]
}

// CHECK: @set_color_config(0, 0, c, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } }, .switches = .{
// CHECK-NEXT: .pos1 = .{ .rx = WEST },
// CHECK-NEXT: .pos3 = .{ .tx = .{ RAMP, SOUTH } },
// CHECK-NEXT: .current_switch_pos = 1,
// CHECK-NEXT: .ring_mode = true,
// CHECK-NEXT: .pop_mode = .{ .always_pop = true },
// CHECK-NEXT: } });
// CHECK: .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP } }, .switches = .{ .pos1 = .{ .tx = .{} } } },
