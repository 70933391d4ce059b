// RUN: loom-opt -p lower-pto-to-flow{protocol=a2a3} %s | filecheck %s
// A barrier of all cores of a block: the vector cores tell the cube core, and it tells them.

// CHECK:      flow.channel @arrived from @vector to @cube depth 1 period 1 lanes 2 seed 0
// CHECK-NEXT: flow.channel @all_here from @cube to @vector depth 1 period 1 lanes 2 seed 0
// CHECK-LABEL: flow.func @c
// CHECK-NEXT:   flow.wait @arrived : i64
// CHECK-NEXT:   flow.release @arrived
// CHECK-NEXT:   flow.acquire @all_here : i64
// CHECK-NEXT:   flow.commit @all_here
// CHECK-NEXT:   flow.return
// CHECK-LABEL: flow.func @v
// CHECK-NEXT:   flow.acquire @arrived : i64
// CHECK-NEXT:   flow.commit @arrived
// CHECK-NEXT:   flow.wait @all_here : i64
// CHECK-NEXT:   flow.release @all_here
// CHECK-NEXT:   flow.return
func.func @c() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aic_only>
  pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
  return
}
func.func @v() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>
  return
}
