// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Microthreads that no program can block, each with its error.

// CHECK: error: wse3 has no microthread 8; choose one from 0 to 7{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.blocked_microthread 8
  }
}
// -----
// CHECK: error: wse3 has no microthread -1; choose one from 0 to 7{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.func @main() {
      %ut = arith.constant -1 : i16
      wse.unblock_microthread %ut : i16
      wse.return
    }
  }
}
// -----
// CHECK: error: on wse2 a program cannot block a microthread; block the task that issues the operation, or compile for WSE-3 (Microthread IDs){{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.blocked_microthread 1
  }
}
// -----
// CHECK: error: on wse2 a program cannot block a microthread; block the task that issues the operation, or compile for WSE-3 (Microthread IDs){{$}}
flow.fabric @p target "wse2" grid 1 by 1 {
  flow.units @cell on [:, :] words 8 {
    flow.func @main(%ut: i16) {
      flow.block_microthread %ut : i16
      flow.return
    }
  }
}
