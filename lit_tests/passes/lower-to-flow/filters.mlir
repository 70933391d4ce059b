// RUN: loom-opt -p lower-to-flow %s | filecheck %s
// RUN: loom-opt %s | filecheck %s --check-prefix SAME
// Filters and color swaps stay as they are.

// CHECK-LABEL: flow.fabric @some
wse.program @some target "wse3" rectangle 3 x 1 {
  wse.color @c = 4
  // CHECK: flow.route @c on [0, 0] from [ramp] to [east] swap [x, y]{{$}}
  // SAME: wse.route @c on [0, 0] from [ramp] to [east] swap [x, y]{{$}}
  wse.route @c on [0, 0] from [ramp] to [east] swap [x, y]
  // CHECK-NEXT: flow.route @c on [1:, 0] from [west] to [ramp] switch [to []] filter range id 0 min_idx [0, 3] max_idx 9{{$}}
  // SAME-NEXT: wse.route @c on [1:, 0] from [west] to [ramp] switch [to []] filter range id 0 min_idx [0, 3] max_idx 9{{$}}
  wse.route @c on [1:, 0] from [west] to [ramp] switch [to []] filter range id 0 min_idx [0, 3] max_idx 9
  wse.color @d = 6
  // CHECK: flow.route @d on [:, 0] from [ramp] to [ramp] filter sparse_counter id 1 init_counter 1 limit1 5 limit2 7 max_counter 4 count_data count_control{{$}}
  wse.route @d on [:, 0] from [ramp] to [ramp] filter sparse_counter id 1 init_counter 1 limit1 5 limit2 7 max_counter 4 count_data count_control
}
