// RUN: loom-opt %s -t loom-tables --split-input-file | filecheck %s
// Structured control flow as jumps, with the costs of both ways.

// Each way of a branch is charged with what came before it; the second branch on a condition is none on the machine.
// CHECK-LABEL: program @branches wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   $0 = access @y byte 0 : i16
// CHECK-NEXT: body 0 @main (i16, i16) registers 3 numbers 0 descriptors 0 + 0 slots 1
// CHECK-NEXT:   0: cmpi_slt_i16 r2, r0, r1
// CHECK-NEXT:   1: branch_false r2, -> 5
// CHECK-NEXT:   2: addi_i16 r0, r0, r1
// CHECK-NEXT:   3: tick instruction 2, branch_not_taken 1
// CHECK-NEXT:   4: jump -> 7
// CHECK-NEXT:   5: move r0, r1
// CHECK-NEXT:   6: tick instruction 1, branch_taken 1
// CHECK-NEXT:   7: branch_false r2, -> 11
// CHECK-NEXT:   8: store r0, none, $0
// CHECK-NEXT:   9: tick access_16 1
// CHECK-NEXT:   10: jump -> 11
// CHECK-NEXT:   11: end
flow.fabric @branches target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<i16>
    flow.export @main as "main"
    flow.func @main(%n: i16, %m: i16) {
      %c = arith.cmpi slt, %n, %m : i16
      %r = scf.if %c -> (i16) {
        %a = arith.addi %n, %m : i16
        scf.yield %a : i16
      } else {
        scf.yield %m : i16
      }
      scf.if %c {
        flow.store %r, @y[] : i16
      }
      flow.return
    }
  }
}

// -----

// A loop's counter and end are in consecutive registers; values that change places take one register more.
// CHECK-LABEL: program @counted_loop wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   numbers 0, 1
// CHECK-NEXT:   $0 = access @y byte 0 : i16
// CHECK-NEXT:   $1 = access @y byte 2 : i16
// CHECK-NEXT: body 0 @main (i16, i16) registers 7 numbers 2 descriptors 0 + 0 slots 2
// CHECK-NEXT:   0: index_cast_i16_index r5, r2
// CHECK-NEXT:   1: tick instruction 1
// CHECK-NEXT:   2: move r4, r0
// CHECK-NEXT:   3: for_test r4, -> 10
// CHECK-NEXT:   4: move r6, r2
// CHECK-NEXT:   5: move r2, r3
// CHECK-NEXT:   6: move r3, r6
// CHECK-NEXT:   7: addi_index r4, r4, r1
// CHECK-NEXT:   8: tick instruction 2, loop 1
// CHECK-NEXT:   9: jump -> 3
// CHECK-NEXT:   10: store r2, none, $0
// CHECK-NEXT:   11: store r3, none, $1
// CHECK-NEXT:   12: tick instruction 1, branch_not_taken 1, access_16 2
// CHECK-NEXT:   13: end
flow.fabric @counted_loop target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<2xi16>
    flow.export @main as "main"
    flow.func @main(%n: i16, %m: i16) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %end = arith.index_cast %n : i16 to index
      %r, %s = scf.for %i = %zero to %end step %one iter_args(%a = %n, %b = %m) -> (i16, i16) {
        scf.yield %b, %a : i16, i16
      }
      flow.store %r, @y[%zero] : i16
      flow.store %s, @y[%one] : i16
      flow.return
    }
  }
}

// -----

// A loop with a condition is charged with a branch that is not taken on both ways.
// CHECK-LABEL: program @while_loop wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   numbers 0, 1
// CHECK-NEXT:   $0 = access @y byte 0 : i16
// CHECK-NEXT: body 0 @main (i16) registers 5 numbers 2 descriptors 0 + 0 slots 1
// CHECK-NEXT:   0: move r3, r0
// CHECK-NEXT:   1: cmpi_ne_i16 r4, r2, r0
// CHECK-NEXT:   2: branch_false r4, -> 8
// CHECK-NEXT:   3: step
// CHECK-NEXT:   4: shrui_i16 r2, r2, r1
// CHECK-NEXT:   5: addi_i16 r3, r3, r1
// CHECK-NEXT:   6: tick instruction 3, loop 1
// CHECK-NEXT:   7: jump -> 1
// CHECK-NEXT:   8: store r3, none, $0
// CHECK-NEXT:   9: tick instruction 1, branch_not_taken 1, access_16 1
// CHECK-NEXT:   10: end
flow.fabric @while_loop target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<i16>
    flow.export @main as "main"
    flow.func @main(%n: i16) {
      %one = arith.constant 1 : i16
      %zero = arith.constant 0 : i16
      %r, %s = scf.while (%a = %n, %count = %zero) : (i16, i16) -> (i16, i16) {
        %more = arith.cmpi ne, %a, %zero : i16
        scf.condition(%more) %a, %count : i16, i16
      } do {
      ^bb0(%a: i16, %count: i16):
        %b = arith.shrui %a, %one : i16
        %next = arith.addi %count, %one : i16
        scf.yield %b, %next : i16, i16
      }
      flow.store %s, @y[] : i16
      flow.return
    }
  }
}
