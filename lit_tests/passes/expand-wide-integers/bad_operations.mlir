// RUN: loom-opt %s -p expand-wide-integers --split-input-file --verify-diagnostics 2>&1 | filecheck %s

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    // CHECK: i100 has more than 64 bits and not a multiple of 64; use i128 and keep its upper bits as the sign, or zero
    wse.func @odd(%x: i100) {
    }
  }
}

// -----

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.func @f(%x: i128) {
      // CHECK: arith.floordivsi does not compute with i128; use integers of at most 64 bits there
      %y = arith.floordivsi %x, %x : i128
    }
  }
}

// -----

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.func @f(%x: i128) {
      // CHECK: scf.for does not count in i128; count its trips in i64
      scf.for %i = %x to %x step %x : i128 {
      }
    }
  }
}
