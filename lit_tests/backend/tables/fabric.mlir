// RUN: loom-opt %s -t loom-tables --split-input-file | filecheck %s
// The grid: colors, routes, switches, and what joins the host.

// Two colors of one name are told apart; regions without a PE are left out.
// CHECK-LABEL: program @grid wse2 4 x 3
// CHECK: color 0 @red id 3 label 'red'
// CHECK-NEXT: color 1 @other id 4 label 'red' (id 4)
// CHECK-NEXT: color 2 @in id 5 label @in
// CHECK-NEXT: route @red on [0:3:2, 1] from [ramp] to [east, south]
// CHECK-NEXT: route @red on [1:4:2, 0:3] from [west] to [ramp] switch {{\[\[}}north] to [ramp], invalid, [north] to [south]] at 1 ring pop 2
// CHECK-NEXT: host_stream in @in on [0, 0:3]
// CHECK-NEXT: host_stream out @other on [3, 0:3]
// CHECK-NEXT: class 0 @left on [0:2, 0:3] words 2
// CHECK-NEXT: class 1 @right on [2, 0:3] + [3, 1] words 8
flow.fabric @grid target "wse2" grid 4 by 3 {
  flow.color @red = 3 attributes {loom.name = "red"}
  flow.color @other = 4 attributes {loom.name = "red"}
  flow.color @in = 5
  flow.route @red on [::2, 1] + [8:, :] from [ramp] to [east, south]
  flow.route @red on [1::2, :] from [west] to [ramp] switch [from [north], invalid, to [south]] at 1 ring pop_on_advance
  flow.host_stream @in in on [0, :]
  flow.host_stream @other out on [3, :]
  flow.units @left on [0:2, :] words 0 {
  }
  flow.units @right on [2, :] + [3, 1] words 8 {
  }
}

// -----

// A color that is a network of messages.
// CHECK-LABEL: program @network wse3 2 x 2
// CHECK: color 0 @messages id 3 label @messages
// CHECK-NEXT: network @messages
// CHECK-NEXT: class 0 @all on [0:2, 0:2] words 2
flow.fabric @network target "wse3" grid 2 by 2 {
  flow.color @messages = 3
  flow.message_network @messages
  flow.units @all on [:, :] words 2 {
  }
}
