// RUN: loom-opt %s | loom-opt | filecheck %s
// Microthreads that are blocked: at the start, and by numbers that are known at compile time or not.

// CHECK-LABEL:   wse.pe @cell
// CHECK-NEXT:      wse.blocked_microthread 3
// CHECK:             wse.block_microthread %ut : i16
// CHECK-NEXT:        wse.unblock_microthread %three : i16
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.blocked_microthread 3
    wse.func @main(%ut: i16) {
      %three = arith.constant 3 : i16
      wse.block_microthread %ut : i16
      wse.unblock_microthread %three : i16
      wse.return
    }
  }
}
