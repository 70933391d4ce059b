// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: flow.fabric @streams
// CHECK:         flow.host_stream @in in on [:, :]
// CHECK-NEXT:    flow.host_stream @in out on [0, :] + [-1, 0]
flow.fabric @streams target "wse3" grid 3 by 1 {
  flow.color @in = 3
  flow.host_stream @in in on [:, :]
  flow.host_stream @in out on [0, :] + [-1, 0]
}
