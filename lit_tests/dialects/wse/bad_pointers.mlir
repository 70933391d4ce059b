// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Addresses, views, initial values, exported pointers and prints that break a rule, each with its error.

// CHECK: error: @x is not defined in wse.pe @e or its program; define it or correct the name{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.func @main(%p: i16, %f: f32) {
      %a = wse.address_of @x : i16
    }
  }
}
// -----
// CHECK: error: parameter @c is used where a buffer is needed; name a buffer{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.func @main(%p: i16, %f: f32) {
      %a = wse.address_of @c : i16
    }
  }
}
// -----
// CHECK: error: a view of type memref<4xf32> is neither a one-dimensional array of open extent nor a single element; use memref<?xf32> or memref<f32>{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.func @main(%p: i16, %f: f32) {
      %m = wse.view %p : memref<4xf32>
    }
  }
}
// -----
// CHECK: error: a view of type memref<?x4xf32> is neither a one-dimensional array of open extent nor a single element; use memref<?xf32> or memref<f32>{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.func @main(%p: i16, %f: f32) {
      %m = wse.view %p : memref<?x4xf32>
    }
  }
}
// -----
// CHECK: error: memory cannot hold i64; use f16, bf16, f32, i8, i16 or i32{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.func @main(%p: i16, %f: f32) {
      %m = wse.view %p : memref<?xi64>
    }
  }
}
// -----
// CHECK: error: buffer @w has no element 2; choose one from 0 to 1{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.initialize @w[2] = address_of @u
  }
}
// -----
// CHECK: error: buffer @u holds f32, but an address is an i16; use that type{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.initialize @u[0] = address_of @w
  }
}
// -----
// CHECK: error: parameter @c has type f32, but buffer @w holds i16; make both agree{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.initialize @w[0] = param @c
  }
}
// -----
// CHECK: error: @x is not defined in wse.pe @e or its program; define it or correct the name{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.initialize @w[0] = param @x
  }
}
// -----
// CHECK: error: buffer @w of memref<2xi16> is not a pointer; points_to needs a memref<i16>, which holds a byte address{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.export @w as "y" points_to memref<4xf32>
  }
}
// -----
// CHECK: error: @n points to memref<?x4xf32>; only the extent of a single dimension can be open{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.export @n as "y" points_to memref<?x4xf32>
  }
}
// -----
// CHECK: error: buffer @n of memref<4xf32> cannot be exported as unsigned; only i8, i16 and i32 can{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.export @n as "y" points_to memref<4xf32> unsigned
  }
}
// -----
// CHECK: error: function @main cannot be unsigned, read_only or a pointer; remove the keyword{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.export @main as "y" points_to memref<4xf32>
    wse.func @main(%p: i16, %f: f32) {
      wse.return
    }
  }
}
// -----
// CHECK: error: '{q}' in the format is not a conversion; use {u}, {d}, {x}, {X}, {b}, {f}, or double the brace{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.func @main(%p: i16, %f: f32) {
      wse.print "a {q}", %p : i16
    }
  }
}
// -----
// CHECK: error: '}' in the format is not a conversion; use {u}, {d}, {x}, {X}, {b}, {f}, or double the brace{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.func @main(%p: i16, %f: f32) {
      wse.print "a }"
    }
  }
}
// -----
// CHECK: error: the format prints 1 operands, but there are 2; make both agree{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.func @main(%p: i16, %f: f32) {
      wse.print "{d}", %p, %p : i16, i16
    }
  }
}
// -----
// CHECK: error: operand 2 is a float; print it as {f}{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.func @main(%p: i16, %f: f32) {
      wse.print "{d} {d}", %p, %f : i16, f32
    }
  }
}
// -----
// CHECK: error: operand 1 is an integer; print it as {u}, {d}, {x}, {X} or {b}{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.buffer @n : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : f32 = dense<0.5>
    wse.func @main(%p: i16, %f: f32) {
      wse.print "{f}", %p : i16
    }
  }
}
