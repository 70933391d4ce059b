// RUN: loom-opt %s -t csl --split-input-file --verify-diagnostics | filecheck %s
// What CSL cannot say: each error is at an operation and names it.

// CHECK: bad_programs.mlir:[[# @LINE + 6]]:7: error: math.tan cannot be written in CSL; replace it before printing
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @y : memref<f32>
    wse.func @main(%x: f32) {
      %y = wse.get_buffer @y : memref<f32>
      %t = math.tan %x : f32
      memref.store %t, %y[] : memref<f32>
      wse.return
    }
  }
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 8]]:7: error: dsr.load names a DSR and leaves open which registers go with it; run dsr-allocate first
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @y : memref<4xf32>
    wse.func @main() {
      %y = wse.get_buffer @y : memref<4xf32>
      %d = dsd.circbuf %y extent 8 : memref<4xf32>
      %x = dsr.get_xdsr : !dsr.xdsr
      %r = dsr.load %d xdsr %x : !dsd.circbuf<f32>, !dsr.xdsr -> !dsr.dest<f32, 2>
      wse.return
    }
  }
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 3]]:5: error: function @two returns 2 values, and CSL's return one; store the others
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.func @two(%x: i16) -> (i16, i16) {
      wse.return %x, %x : i16, i16
    }
  }
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 4]]:5: error: function @one is exported and returns a value, which no host receives; store it
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.export @one
    wse.func @one(%x: i16) -> i16 {
      wse.return %x : i16
    }
  }
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 5]]:5: error: buffer @y is exported both as signed and as unsigned, and CSL has one type for it; export it once
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @y : memref<4xi16>
    wse.export @y
    wse.export @y as "raw" unsigned
  }
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 8]]:5: error: "y" is exported as [*]f32 elsewhere and as [*]i16 here; a layout of CSL gives a name one type, so use one type or two names
wse.program @p target "wse3" rectangle 2 x 1 {
  wse.pe @left on [0, 0] {
    wse.buffer @y : memref<4xf32>
    wse.export @y
  }
  wse.pe @right on [1, 0] {
    wse.buffer @y : memref<4xi16>
    wse.export @y
  }
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 11]]:7: error: the counter @done of the command stream is changed other than by adding 1, which CSL cannot express; add 1 to let the host go on
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @done : memref<i16>
    wse.export @done as "loom.cmd_stream" unsigned
    wse.export @main
    wse.func @main() {
      %done = wse.get_buffer @done : memref<i16>
      %n = memref.load %done[] : memref<i16>
      %two = arith.constant 2 : i16
      %next = arith.addi %n, %two : i16
      memref.store %next, %done[] : memref<i16>
      wse.return
    }
  }
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 5]]:5: error: @pair is an array of addresses, which CSL can express only where each element is used by itself; hold them in variables of their own
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @y : memref<4xf32>
    wse.buffer @pair : memref<2xi16>
    wse.initialize @pair[1] = address_of @y
    wse.func @main(%i: i16) {
      %pair = wse.get_buffer @pair : memref<2xi16>
      %at = arith.index_cast %i : i16 to index
      memref.store %i, %pair[%at] : memref<2xi16>
      wse.return
    }
  }
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 6]]:7: error: dsd.fabout has option 'simd', which cannot be written in CSL yet; remove it
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @cell on [:, :] {
    wse.output_queue @out color @c
    wse.func @main() {
      %o = dsd.fabout @out extent 4 {simd = simd_32} : !dsd.fabout<f16>
      %x = arith.constant 1.0 : f16
      dsd.fmovh %o, %x : !dsd.fabout<f16>, f16
      wse.return
    }
  }
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 5]]:1: error: the module holds several programs, and CSL has one layout; keep one wse.program
wse.program @p target "wse3" rectangle 1 x 1 {
}


wse.program @q target "wse3" rectangle 1 x 1 {
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 3]]:1: error: func.func beside a wse.program cannot be written in CSL; remove it
wse.program @p target "wse3" rectangle 1 x 1 {
}
func.func @f() {
  func.return
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 1]]:1: error: the module holds no wse.program, so there is nothing to write in CSL
builtin.module {
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 5]]:7: error: wse.cb16 cannot be written in CSL; replace it before printing
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @y : memref<i16>
    wse.func @main(%x: i16) {
      %r = wse.cb16 "remf" %x, %x : (i16, i16) -> i16
      %y = wse.get_buffer @y : memref<i16>
      memref.store %r, %y[] : memref<i16>
      wse.return
    }
  }
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 5]]:7: error: wse.remf cannot be written in CSL; replace it before printing
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @y : memref<f32>
    wse.func @main(%x: f32) {
      %r = wse.remf %x, %x : f32
      %y = wse.get_buffer @y : memref<f32>
      memref.store %r, %y[] : memref<f32>
      wse.return
    }
  }
}
