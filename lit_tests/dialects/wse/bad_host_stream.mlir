// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Streams of the host that are wrong, each with its error.

// CHECK: error: @in is not defined
wse.program @missing target "wse3" rectangle 1 x 1 {
  wse.host_stream @in in
}
