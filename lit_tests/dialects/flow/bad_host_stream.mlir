// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Streams of the host that are wrong, each with its error.

// CHECK: error: @in is not defined in flow.fabric @missing
flow.fabric @missing target "wse3" grid 1 by 1 {
  flow.host_stream @in in on [:, :]
}
