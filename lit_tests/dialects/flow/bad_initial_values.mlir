// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Elements that a buffer does not have, and numbers that an element does not hold.

// CHECK: error: buffer @b is undefined and has an initial value; remove one of them{{$}}
flow.fabric @p target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 8 {
    flow.buffer @b at 0 : memref<4xi16> = dense<1> undefined
  }
}
// -----
// CHECK: error: buffer @b has no element -1; choose one from 0 to 3{{$}}
flow.fabric @p target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 8 {
    flow.buffer @b at 0 : memref<4xi16>
    flow.initialize @b[-1] = 0
  }
}
// -----
// CHECK: error: buffer @b has no element -9223372036854775808; choose one from 0 to 3{{$}}
"builtin.module"() ({
  "flow.fabric"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "flow.units"() <{sym_name = "u", regions = [#wse.region<[:, :]>], words = 8 : i64}> ({
      "flow.buffer"() <{sym_name = "b", address = 0 : i64, type = memref<4xi16>}> : () -> ()
      "flow.initialize"() <{buffer = @b, element = 9223372036854775808 : i64, number = 0 : i64}> : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: buffer @b has no element 4; choose one from 0 to 3{{$}}
flow.fabric @p target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 8 {
    flow.buffer @b at 0 : memref<4xi16>
    flow.initialize @b[4] = 0
  }
}
// -----
// CHECK: error: buffer @b holds i16, in which 65536 does not fit; use another number{{$}}
flow.fabric @p target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 8 {
    flow.buffer @b at 0 : memref<4xi16>
    flow.initialize @b[0] = 65536
  }
}
// -----
// CHECK: error: buffer @b holds i32, in which -2147483649 does not fit; use another number{{$}}
flow.fabric @p target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 8 {
    flow.buffer @b at 0 : memref<4xi32>
    flow.initialize @b[0] = -2147483649
  }
}
