// RUN: loom-opt %s -p expand-wide-integers | filecheck %s
// Integers of more than 64 bits become limbs of 64 bits, the low one first, wherever values go.

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    // A sum carries once; the number is known, so its limbs are.
    // CHECK-LABEL: wse.func @sum(%0: i64, %1: i64) -> (i64, i64)
    // CHECK-NEXT:    %2 = arith.constant 3 : i64
    // CHECK-NEXT:    %3 = arith.constant 2 : i64
    // CHECK-NEXT:    %4 = arith.addi %0, %2 : i64
    // CHECK-NEXT:    %5 = arith.cmpi ult, %4, %0 : i64
    // CHECK-NEXT:    %6 = arith.addi %1, %3 : i64
    // CHECK-NEXT:    %7 = arith.extui %5 : i1 to i64
    // CHECK-NEXT:    %8 = arith.addi %6, %7 : i64
    // CHECK-NEXT:    wse.return %4, %8 : i64, i64
    wse.func @sum(%x: i128) -> i128 {
      %n = arith.constant 36893488147419103235 : i128
      %y = arith.addi %x, %n : i128
      wse.return %y : i128
    }

    // A shift by whole limbs costs nothing, and what it lets in is zero.
    // CHECK-LABEL: wse.func @high(%0: i64, %z: i64) -> i64
    // CHECK-NOT:     arith.shrui
    // CHECK:         wse.return %z : i64
    wse.func @high(%x: i128) -> i64 {
      %n = arith.constant 64 : i128
      %y = arith.shrui %x, %n : i128
      %z = arith.trunci %y : i128 to i64
      wse.return %z : i64
    }

    // CHECK-LABEL: wse.func @carried
    // CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (i64, i64)
    // CHECK:           wse.call @sum(%{{.*}}, %{{.*}}) : (i64, i64) -> (i64, i64)
    // CHECK:           scf.if {{.*}} -> (i64, i64)
    // CHECK:             scf.yield %{{.*}}, %{{.*}} : i64, i64
    // CHECK-NOT:     i128
    wse.func @carried(%x: i128, %c: i1) -> i128 {
      %a = arith.constant 0 : index
      %b = arith.constant 5 : index
      %s = arith.constant 1 : index
      %r = scf.for %i = %a to %b step %s iter_args(%v = %x) -> (i128) {
        %w = wse.call @sum(%v) : (i128) -> i128
        %u = scf.if %c -> (i128) {
          scf.yield %w : i128
        } else {
          scf.yield %x : i128
        }
        scf.yield %u : i128
      }
      wse.return %r : i128
    }
  }
}
