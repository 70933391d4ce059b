// RUN: loom-opt -t csl %s | filecheck %s
// A queue whose control tasks begin further on names a control task table; tables begin one entry point apart.

wse.program @tables target "wse3" rectangle 1 x 1 {
  wse.color @c = 4
  wse.route @c on [:, :] from [ramp] to [ramp]
  wse.pe @cell on [:, :] {
    wse.input_queue @orders color @c id 3 control_offset 2 unblocked
    wse.task @obey control id 7 {
      wse.return
    }
  }
}

// CHECK: @initialize_queue(orders, .{ .color = c, .ctrl_table_id = 2 });
// CHECK-NEXT: @unblock(orders);
