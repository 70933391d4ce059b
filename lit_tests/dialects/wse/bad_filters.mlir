// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Filters and color swaps that no router can have, each with its error.

// CHECK: error: a counter filter has no 'min_idx'; it has init_counter, limit1, max_counter, count_data, count_control, filter_control{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [ramp] filter counter id 0 min_idx 2
}
// -----
// CHECK: error: a range filter needs 'max_idx'{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [ramp] filter range id 0 min_idx 2
}
// -----
// CHECK: error: a filter has id 6; a PE of wse3 has 6 filters{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [ramp] filter counter id 6 limit1 2
}
// -----
// CHECK: error: 'limit1' of a filter has 2 numbers; it needs one, or one for each of the route's 3 PEs{{$}}
wse.program @p target "wse3" rectangle 3 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [ramp] filter counter id 0 limit1 [2, 3]
}
// -----
// CHECK: error: 'max_counter' of a filter is 0 to 65535, not 65536{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [ramp] filter counter id 0 max_counter 65536
}
// -----
// CHECK: error: color @c swaps with the color whose id differs in the lowest bit, so it needs an id; give it one{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [west] to [ramp] swap [x]
}
// -----
// CHECK: error: a color swap names x, y or both, each once, not [x, x]{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c = 3
  wse.route @c on [:, :] from [west] to [ramp] swap [x, x]
}
