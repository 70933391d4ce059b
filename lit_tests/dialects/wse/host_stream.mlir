// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: loom-opt %s --split-input-file --verify-diagnostics -p lower-to-flow | filecheck %s --check-prefix FLOW
// Colors that are connected with the host, on all PEs or on some.

// CHECK-LABEL: wse.program @streams
// CHECK:         wse.host_stream @in in
// CHECK-NEXT:    wse.host_stream @out out on [-1, :]
// FLOW-LABEL:  flow.fabric @streams
// FLOW:          flow.host_stream @in in on [:, :]
// FLOW-NEXT:     flow.host_stream @out out on [-1, :]
wse.program @streams target "wse3" rectangle 2 x 2 {
  wse.color @in
  wse.color @out
  wse.host_stream @in in
  wse.host_stream @out out on [-1, :]
}
