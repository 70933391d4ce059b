// RUN: loom-opt -t csl %s | filecheck %s
// Filters and color swaps as fields of a color's configuration; what differs from PE to PE is a table.

wse.program @some target "wse3" rectangle 2 x 2 {
  wse.color @c = 4
  wse.route @c on [:, 0] from [ramp] to [east] swap [x]
  wse.route @c on [:, 1] from [ramp] to [ramp] filter counter id 0 limit1 [5, 7] max_counter 4 count_data
}

// CHECK: const c_limit1 = [2, 2]u16{0, 0, 5, 7};
// CHECK: .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST }, .color_swap_x = true } }
// CHECK: .filter = .{ .kind = .{ .counter = true }, .limit1 = c_limit1[1, x], .max_counter = 4, .count_data = true },
