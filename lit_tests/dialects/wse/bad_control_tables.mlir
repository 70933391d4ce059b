// RUN: loom-opt %s --split-input-file --verify-diagnostics -p lower-to-flow | filecheck %s
// Queues that have no control task table, each with its error.

// CHECK: error: output queue @out has a control_offset, but starts no tasks; remove it{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c = 3
  wse.pe @e on [:, :] {
    wse.output_queue @out color @c id 3 control_offset 4
  }
}
// -----
// CHECK: error: the control_offset of queue @in is -1; use 0 or more{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c = 3
  wse.pe @e on [:, :] {
    wse.input_queue @in color @c id 3 control_offset -1
  }
}
