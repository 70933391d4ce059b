// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Names that are missing or of the wrong kind, and ids the target lacks, each with its error.

// The error is at the operation that made it, not at the program that found it.
// CHECK: bad_symbols.mlir:9:7: error: @x is not defined in wse.pe @e or its program; define it or correct the name{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.func @main() {
      wse.activate @x
      wse.return
    }
  }
}
// -----
// CHECK: error: @x is not defined in wse.pe @e or its program; define it or correct the name{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.input_queue @q color @x
  }
}
// -----
// CHECK: error: buffer @u is used where a color is needed; name a color{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<f32>
    wse.output_queue @q color @u
  }
}
// -----
// CHECK: error: PE program @e is used where a color is needed; name a color{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.route @e on [:, :] from [ramp] to [east]
  wse.pe @e on [:, :] {
  }
}
// -----
// DSD-191: only a task bound as local can be activated.
// CHECK: error: data task @t cannot be activated; name a local task (wse.task ... local){{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.input_queue @q color @c
    wse.task @t data @q (%value: f32) {
      wse.activate @t
      wse.return
    }
  }
}
// -----
// DSD-193: on WSE-3 a color cannot be unblocked.
// CHECK: error: color @c cannot be unblocked on wse3; name a local task, a data task or an input queue{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.func @main() {
      wse.unblock @c
      wse.return
    }
  }
}
// -----
// DSD-192: on WSE-2 an input queue cannot be unblocked; its color can.
// CHECK: error: input queue @q cannot be blocked on wse2; name a local task, a data task or a color{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.input_queue @q color @c
    wse.func @main() {
      wse.unblock @c
      wse.block @q
      wse.return
    }
  }
}
// -----
// CHECK: error: function @f has type (i16) -> f32, but is called as (i16) -> f16; make both agree{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.func @f(%x: i16) -> f32 {
      %c = arith.constant 0.0 : f32
      wse.return %c : f32
    }
    wse.task @t local {
      %x = wse.coordinate x : i16
      %y = wse.call @f(%x) : (i16) -> f16
      wse.return
    }
  }
}
// -----
// CHECK: error: local task @t is used where a function is needed; name a function{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.task @t local {
      wse.call @t() : () -> ()
      wse.return
    }
  }
}
// -----
// CHECK: error: buffer @u has type memref<4xf32>, not memref<8xf32>; use its type{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.func @main() {
      %u = wse.get_buffer @u : memref<8xf32>
      wse.return
    }
  }
}
// -----
// CHECK: error: parameter @c has type f32, not f16; use its type{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.param @c : f32 = dense<1.0>
    wse.func @main() {
      %c = wse.get_param @c : f16
      wse.return
    }
  }
}
// -----
// CHECK: error: color @c cannot be exported; export a buffer or a function{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.export @c
  }
}
// -----
// CHECK: error: buffer @u of memref<4xf32> cannot be exported as unsigned; only i8, i16 and i32 can{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.export @u unsigned
  }
}
// -----
// CHECK: error: function @main cannot be unsigned, read_only or a pointer; remove the keyword{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.export @main read_only
    wse.func @main() {
      wse.return
    }
  }
}
// -----
// DSD-220: queue ids end at 7.
// CHECK: error: input queue @q has id 8, which wse3 does not have; choose one from 0 to 7{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.input_queue @q color @c id 8
  }
}
// -----
// DSD-219: WSE-2 has no output queue 6; WSE-3 has, and both have input queue 6.
// CHECK: error: output queue @q has id 6, which wse2 does not have; choose one from 0 to 5{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.input_queue @i color @c id 6
    wse.output_queue @q color @c id 6
  }
}
// -----
// CHECK: wse.output_queue @q color @c id 6
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.output_queue @q color @c id 6
  }
}
// -----
// CHECK: error: local task @t has id 7, which wse3 does not offer; choose one from 8 to 30{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.task @t local id 7 {
      wse.return
    }
  }
}
// -----
// CHECK: error: local task @t has id 30, which wse3 reserves for the system; choose another{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.task @t local id 30 {
      wse.return
    }
  }
}
// -----
// CHECK: error: local task @b has id 9, which @a has already; give one another id{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.task @a local id 9 {
      wse.return
    }
    wse.task @control control id 9 {
      wse.return
    }
    wse.task @b local id 9 {
      wse.return
    }
  }
}
// -----
// CHECK: error: output queue @q is used where an input queue is needed; name an input queue{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @e on [:, :] {
    wse.output_queue @q color @c
    wse.task @t data @q (%value: f32) {
      wse.return
    }
  }
}
