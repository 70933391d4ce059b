// RUN: loom-opt -t loom-tables %s | filecheck %s
// Colors whose routes change, and routes that begin in a teardown phase, in tables.

flow.fabric @torn target "wse3" grid 1 by 1 {
  flow.color @c = 4 changes
  flow.route @c on [0, 0] from [ramp] to [ramp] teardown
  flow.units @u on [:, :] words 8 {
  }
}

// CHECK: color 0 @c id 4 label @c changes
// CHECK: route @c on {{.*}} from [ramp] to [ramp]{{.*}} teardown
