// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// FIFOs that are wrong, each with its error.

// CHECK: error: FIFO @f uses buffer @memory, which is not an array; name an array{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<f32>
    wse.fifo @f on @memory
  }
}
// -----
// CHECK: error: FIFO @f uses buffer @memory with alignment 2, but wse3 needs 4 bytes for a FIFO
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16> align 2
    wse.fifo @f on @memory
  }
}
// -----
// CHECK: error: FIFO @g uses buffer @memory, as @f does; give it a buffer of its own{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory
    wse.fifo @g on @memory
  }
}
// -----
// CHECK: error: data task @t cannot be activated; name a local task
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.input_queue @q color @c
    wse.fifo @f on @memory activate_push @t
    wse.task @t data @q (%v: i16) {
    }
  }
}
// -----
// CHECK: error: FIFO @f holds i16, and f32 has a different width; use a type of the same width{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory
    wse.func @main() {
      %f = dsd.fifo @f : !dsd.fifo<f32>
    }
  }
}
// -----
// CHECK: error: buffer @memory is used where a FIFO is needed; name a FIFO{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.func @main() {
      %f = dsd.fifo @memory : !dsd.fifo<i16>
    }
  }
}
// -----
// CHECK: error: a FIFO has no full_action on wse2; remove it (DSD-139){{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory full_action terminate
  }
}
// -----
// CHECK: error: FIFO @f has only one of register and xdsr; give both or none (DSR-073){{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory register 2
  }
}
// -----
// CHECK: error: FIFO @f has register 99, which wse3 does not have; choose one from 0 to 15{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory register 99 xdsr 0
  }
}
// -----
// CHECK: error: FIFO @g has xdsr 0, as @f does; give it its own (DSR-075){{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.buffer @storage : memref<8xi16>
    wse.fifo @f on @memory register 1 xdsr 0
    wse.fifo @g on @storage register 2 xdsr 0
  }
}
// -----
// CHECK: error: FIFO @f has a priority, but on wse2 operations have priorities; set it there (DSD-229){{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory priority high
  }
}
// -----
// CHECK: error: FIFO @f has a SIMD mode, which wse3 does not support; remove it (DSD-244){{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory simd simd_64
  }
}
// -----
// CHECK: error: dest register 2 holds FIFO @f; load another{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory register 2 xdsr 0
    wse.initial {
      %m = wse.get_buffer @memory : memref<8xi16>
      %d = dsd.mem1d %m extent 4 : memref<8xi16>
      dsr.load %d : !dsd.mem1d<i16> -> !dsr.dest<i16, 2>
    }
  }
}
// -----
// CHECK: error: wse.activate has side effects, which wse.initial does not allow; put it into a wse.func{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.initial {
      wse.activate @t
    }
    wse.task @t local {
    }
  }
}
// -----
// CHECK: error: a src0 register cannot hold a FIFO; use a dest or src1 (DSR-011){{$}}
%r = dsr.get_dsr fifo : !dsr.src0<f32, 1>
// -----
// CHECK: error: which FIFO mov16 works on must be known at compile time; name it with dsd.fifo (DSD-122){{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.func @f(%f: !dsd.fifo<i16>) {
      %n = arith.constant 7 : i16
      dsd.mov16 %f, %n : !dsd.fifo<i16>, i16
    }
  }
}
