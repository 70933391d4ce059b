// RUN: loom-opt %s -t loom-tables --split-input-file | filecheck %s
// Branches that a compiler leaves out are not charged: structured code tests again what a jump has decided.

// `a and b`: where a decides, the branch on both is the only one.
// CHECK-LABEL: program @and
// CHECK:        0: cmpi_eq_i16 r3, r1, r2
// CHECK-NEXT:   1: branch_false r3, -> 5
// CHECK-NEXT:   2: cmpi_slt_i16 r2, r1, r2
// CHECK-NEXT:   3: tick instruction 2, branch_not_taken 1
// CHECK-NEXT:   4: jump -> 7
// CHECK-NEXT:   5: move r2, r0
// CHECK-NEXT:   6: tick instruction 1
// CHECK-NEXT:   7: branch_false r2, -> 11
// CHECK-NEXT:   8: store r1, none, $0
// CHECK-NEXT:   9: tick branch_not_taken 1, access_16 1
// CHECK-NEXT:   10: jump -> 12
// CHECK-NEXT:   11: tick branch_taken 1
// CHECK-NEXT:   12: end
flow.fabric @and target "wse3" grid 1 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<i16>
    flow.export @main as "main"
    flow.func @main(%n: i16, %m: i16) {
      %no = arith.constant false
      %a = arith.cmpi eq, %n, %m : i16
      %both = scf.if %a -> (i1) {
        %b = arith.cmpi slt, %n, %m : i16
        scf.yield %b : i1
      } else {
        scf.yield %no : i1
      }
      scf.if %both {
        flow.store %n, @y[] : i16
      }
      flow.return
    }
  }
}

// -----

// `a or b`: where a is false, the test of b is next.
// CHECK-LABEL: program @or
// CHECK:        1: branch_false r3, -> 5
// CHECK-NEXT:   2: move r3, r0
// CHECK-NEXT:   3: tick instruction 1
// CHECK-NEXT:   4: jump -> 7
// CHECK-NEXT:   5: cmpi_slt_i16 r3, r1, r2
// CHECK-NEXT:   6: tick instruction 2, branch_not_taken 1
// CHECK-NEXT:   7: branch_false r3, -> 11
// CHECK-NEXT:   8: store r1, none, $0
// CHECK-NEXT:   9: tick branch_not_taken 1, access_16 1
// CHECK-NEXT:   10: jump -> 12
// CHECK-NEXT:   11: tick branch_taken 1
flow.fabric @or target "wse3" grid 1 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<i16>
    flow.export @main as "main"
    flow.func @main(%n: i16, %m: i16) {
      %yes = arith.constant true
      %a = arith.cmpi eq, %n, %m : i16
      %either = scf.if %a -> (i1) {
        scf.yield %yes : i1
      } else {
        %b = arith.cmpi slt, %n, %m : i16
        scf.yield %b : i1
      }
      scf.if %either {
        flow.store %n, @y[] : i16
      }
      flow.return
    }
  }
}

// -----

// A return in a loop: `%done` costs nothing, neither where the loop tests it, which charges its own branch, nor behind
// the loop. What no constant decides does.
// CHECK-LABEL: program @return
// CHECK:        2: branch_false r5, -> 5
// CHECK:        6: tick instruction 1{{$}}
// CHECK-NEXT:   7: branch_false r6, -> 26
// CHECK:        11: branch_false r6, -> 16
// CHECK:        14: tick instruction 1, branch_not_taken 1, loop 1, access_16 2
// CHECK:        17: tick instruction 1, branch_taken 1, loop 1, access_16 1
// CHECK-NEXT:   18: branch_false r6, -> 21
// CHECK:        22: tick instruction 1{{$}}
// CHECK:        26: branch_false r5, -> 30
// CHECK:        28: tick branch_not_taken 1, access_16 1
// CHECK:        30: tick branch_not_taken 1{{$}}
flow.fabric @return target "wse3" grid 1 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<i16>
    flow.export @main as "main"
    flow.func @main(%n: i16, %m: i16) {
      %no = arith.constant false
      %one = arith.constant 1 : i16
      %zero = arith.constant 0 : i16
      %last, %found = scf.while (%i = %zero, %done = %no) : (i16, i1) -> (i16, i1) {
        %goes_on = scf.if %done -> (i1) {
          scf.yield %no : i1
        } else {
          %more = arith.cmpi slt, %i, %n : i16
          scf.yield %more : i1
        }
        scf.condition(%goes_on) %i, %done : i16, i1
      } do {
      ^bb0(%i: i16, %done: i1):
        %x = flow.load @y[] : i16
        %hit = arith.cmpi eq, %x, %m : i16
        %ends = scf.if %hit -> (i1) {
          %yes = arith.constant true
          flow.store %one, @y[] : i16
          scf.yield %yes : i1
        } else {
          scf.yield %done : i1
        }
        %next = scf.if %ends -> (i16) {
          scf.yield %i : i16
        } else {
          %following = arith.addi %i, %one : i16
          scf.yield %following : i16
        }
        scf.yield %next, %ends : i16, i1
      }
      scf.if %found {
        flow.store %last, @y[] : i16
      }
      flow.return
    }
  }
}
