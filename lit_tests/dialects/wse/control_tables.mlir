// RUN: loom-opt %s --split-input-file --verify-diagnostics -p lower-to-flow | filecheck %s
// Input queues with a control task table of their own.

// CHECK: flow.queue input @in id 3 colors [@c on [:, :]] control_offset 4 unblocked
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c = 3
  wse.pe @e on [:, :] {
    wse.input_queue @in color @c id 3 control_offset 4 unblocked
  }
}
