// RUN: loom-opt %s -p lower-to-flow | filecheck %s
// RUN: loom-opt %s -p lower-to-flow -t loom-tables | filecheck %s --check-prefix=TABLES
// RUN: loom-opt %s -t csl | filecheck %s --check-prefix=CSL
// Blocks and unblocks of microthreads, in `flow`, as instructions and as CSL.

// CHECK-LABEL:   flow.units @cell
// CHECK-NEXT:      flow.blocked_microthread 3
// CHECK:             flow.block_microthread %ut : i16
// CHECK-NEXT:        [[THREE:%[a-z0-9]+]] = arith.constant 3 : i16
// CHECK-NEXT:        flow.unblock_microthread [[THREE]] : i16

// TABLES:     class 0 @cell
// TABLES:       blocked microthread 3
// TABLES:     block_microthread r1
// TABLES:     unblock_microthread r0

// CSL:      @block(@get_ut_id(@bitcast(u16, ut)));
// CSL-NEXT: @unblock(@get_ut_id(3));
// CSL:      comptime {
// CSL:        @block(@get_ut_id(3));
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.blocked_microthread 3
    wse.export @main as "main"
    wse.func @main(%ut: i16) {
      wse.block_microthread %ut : i16
      %three = arith.constant 3 : i16
      wse.unblock_microthread %three : i16
      wse.return
    }
  }
}
