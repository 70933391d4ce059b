// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Programs that break a rule of one operation, each with its error.

// CHECK: error: unknown target 'wse1'; choose one of wse2, wse3{{$}}
wse.program @p target "wse1" rectangle 1 x 1 {
}
// -----
// CHECK: error: rectangle 0 x 4 contains no PE; both sides must be at least 1{{$}}
wse.program @p target "wse3" rectangle 0 x 4 {
}
// -----
// CHECK: error: arith.constant does not belong in a wse.program directly; only colors, routes, host streams, message networks and PE programs do{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  %c = arith.constant 0 : i16
}
// -----
// CHECK: error: color @c has id 24, which wse3 does not offer; choose one from 0 to 23{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c = 24
}
// -----
// CHECK: error: color @d has id 3, which @c has already; give one another id{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c = 3
  wse.color @d = 3
}
// -----
// CHECK: error: @c is already the name of the color above; give this color another{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.color @c
}
// -----
// CHECK: error: the route goes to no port; name at least one{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [ramp] to []
}
// -----
// CHECK: error: the route names a port twice in 'from'; name it once{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [west, west] to [east]
}
// -----
// CHECK: error: the route sends the color back to west, where it comes from; remove one{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.route @c on [:, :] from [west] to [ramp, west]
}
// -----
// CHECK: error: wse.coordinate does not belong in a wse.pe directly; put it into a wse.func or wse.task{{$}}
"builtin.module"() ({
  "wse.program"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "wse.pe"() <{sym_name = "e", placement = [#wse.region<[:, :]>]}> ({
      "wse.coordinate"() <{axis = #wse<axis x>}> : () -> i16
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: "main" is exported twice; give one of them another name{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.export @main
    wse.export @u as "main"
    wse.func @main() {
      wse.return
    }
  }
}
// -----
// CHECK: error: a buffer cannot hold i64; use f16, bf16, f32, i8, i16 or i32{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xi64>
  }
}
// -----
// CHECK: error: buffer type memref<?xf32> has an open extent; a PE's memory is laid out at compile time, so give every extent{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<?xf32>
  }
}
// -----
// CHECK: error: alignment 12 is not a power of two of at least 2 bytes; choose one{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xi16> align 12
  }
}
// -----
// CHECK: error: an undefined buffer has an initial value; remove one of them{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xi16> = dense<1> undefined
  }
}
// -----
// CHECK: error: initial value of shape [3] does not fit memref<4xi16>; give it that shape{{$}}
"builtin.module"() ({
  "wse.program"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "wse.pe"() <{sym_name = "e", placement = [#wse.region<[:, :]>]}> ({
      "wse.buffer"() <{sym_name = "u", type = memref<4xi16>, value = dense<0> : tensor<3xi16>}> : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: parameter @row has values over 2 x 2 PEs, but the rectangle is 3 x 2; give one value for each PE{{$}}
wse.program @p target "wse3" rectangle 3 x 2 {
  wse.pe @e on [:, :] {
    wse.param @row : i16 over 2 x 2 = dense<0>
  }
}
// -----
// CHECK: error: values of shape [2] do not fit a rectangle; give one value or a row of values for each row of PEs{{$}}
"builtin.module"() ({
  "wse.program"() <{sym_name = "p", target = "wse3", width = 2 : i64, height = 1 : i64}> ({
    "wse.pe"() <{sym_name = "e", placement = [#wse.region<[:, :]>]}> ({
      "wse.param"() <{sym_name = "c", value = dense<0> : tensor<2xi16>}> : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: local task @t takes arguments, but nothing passes any to it; keep the values in buffers{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.task @t local (%x: i16) {
      wse.return
    }
  }
}
// -----
// CHECK: error: data task @t takes no argument; give it one for the wavelet, or two of 16 bits{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.input_queue @q color @c
    wse.task @t data @q {
      wse.return
    }
  }
}
// -----
// CHECK: error: data task @t takes more than a wavelet holds; give it one argument of 16 or 32 bits, or two of 16 bits{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.input_queue @q color @c
    wse.task @t data @q (%low: i16, %high: f32) {
      wse.return
    }
  }
}
// -----
// CHECK: error: a wavelet cannot hold i64; use f16, bf16, f32, i16 or i32{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.input_queue @q color @c
    wse.task @t data @q (%value: i64) {
      wse.return
    }
  }
}
// -----
// CHECK: error: data task @t has an id, which its queue gives it; remove the id{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.input_queue @q color @c
    wse.task @t data @q id 3 (%value: i32) {
      wse.return
    }
  }
}
// -----
// CHECK: error: control task @t has no id, so no control wavelet can name it; give it one{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.task @t control {
      wse.return
    }
  }
}
// -----
// CHECK: error: control task @t cannot be active; only local tasks are activated{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.task @t control id 2 active {
      wse.return
    }
  }
}
// -----
// CHECK: error: data task @t needs the input queue that starts it; only data tasks have one{{$}}
"builtin.module"() ({
  "wse.program"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "wse.pe"() <{sym_name = "e", placement = [#wse.region<[:, :]>]}> ({
      "wse.task"() <{sym_name = "t", kind = #wse<task_kind data>}> ({
      ^bb0(%value: i32):
        "wse.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: wse.return does not return what its function or task declares (f32); make both agree{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.func @f() -> f32 {
    }
  }
}
// -----
// CHECK: error: the body of function @f does not take the arguments of its type; make both agree{{$}}
"builtin.module"() ({
  "wse.program"() <{sym_name = "p", target = "wse3", width = 1 : i64, height = 1 : i64}> ({
    "wse.pe"() <{sym_name = "e", placement = [#wse.region<[:, :]>]}> ({
      "wse.func"() <{sym_name = "f", function_type = (i16) -> ()}> ({
        "wse.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// CHECK: error: 'low' is not a priority of the main thread; use one of medium_low, medium, medium_high, high{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] main_thread low {
  }
}
