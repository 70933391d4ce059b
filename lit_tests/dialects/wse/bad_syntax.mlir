// RUN: loom-opt %s --split-input-file --parsing-diagnostics | filecheck %s
// Text that is not a program, each with its error.

// CHECK: a buffer has a memref type, for example memref<64xf32>{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : f32
  }
}
// -----
// CHECK: i64 takes no initial value; use f16, bf16, f32, i8, i16 or i32{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xi64> = dense<0>
  }
}
// -----
// CHECK: Shape mismatch in dense literal. Expected [2, 3] shape from the type, but got [3, 2] shape.{{$}}
wse.program @p target "wse3" rectangle 3 x 2 {
  wse.pe @e on [:, :] {
    wse.param @row : i16 over 3 x 2 = dense<[[0, 0], [1, 1], [2, 2]]>
  }
}
// -----
// CHECK: coordinates and extents are of type i16{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.func @main() {
      %x = wse.coordinate x : i32
      wse.return
    }
  }
}
// -----
// CHECK: Expected `ramp`, `north`, `south`, `east`, or `west`
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [up]
}
// -----
// CHECK: expected an index or a slice, for example 0:4, ::2 or 3{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [x, :] {
  }
}
// -----
// CHECK: Expected `in`, or `out`.
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.host_stream @c sideways
}
// -----
// CHECK: empty_action is given twice; give it once
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory empty_action fault empty_action fault
  }
}
// -----
// CHECK: the result of dsd.mov16 is an i1
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory
    wse.func @go() {
      %f = dsd.fifo @f : !dsd.fifo<i16>
      %n = arith.constant 7 : i16
      %r = dsd.mov16 %f, %n : !dsd.fifo<i16>, i16 -> i16
    }
  }
}
// -----
// CHECK: a switch position is written 'from [port]', 'to [port, ...]', both, or 'invalid'{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to [east] switch [west]
}
// -----
// CHECK: an argument of a body needs a name, as in %x: i16{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.func @main(i16) {
      wse.return
    }
  }
}
// -----
// CHECK: 'shares' names a PE program and its function or task, as in @cell::@main{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.func @main() shares @e
  }
}
