// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: channel @c joins units of wse3, which have clocks, but its entries have no times; use queues and FIFOs there, or a target of a2a3 or a5
flow.fabric @k target "wse3" grid 2 by 1 {
  flow.channel @c from @left to @right depth 2 period 1 lanes 1 seed 0
  flow.units @left on [0, :] words 16 {
  }
  flow.units @right on [1, :] words 16 {
  }
}
