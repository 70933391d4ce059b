// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: loom-opt %s --split-input-file --verify-diagnostics -p dsd-assign-queues,dsd-assign-microthreads,dsr-allocate,lower-to-flow | filecheck %s --check-prefix FLOW
// FIFOs, and the operations that push into them and pop from them.

// CHECK-LABEL: wse.program @fifos
// CHECK:           wse.fifo @f on @memory{{$}}
// CHECK-NEXT:      wse.fifo @g on @storage activate_push @more activate_pop @room
// CHECK:             %f = dsd.fifo @f : !dsd.fifo<f32>
// CHECK:             dsd.fmovs %f, %i async : !dsd.fifo<f32>, !dsd.fabin<f32>
// FLOW-LABEL:  flow.fabric @fifos
// FLOW:            flow.fifo @f on @memory{{$}}
// FLOW-NEXT:       flow.fifo @g on @storage activate_push @more activate_pop @room
// FLOW:              %f = flow.fifo_stream @f : !flow.stream<f32>
// FLOW:              flow.apply fmovs %f, %i async(microthread = 2) : !flow.stream<f32>, !flow.stream<f32>
wse.program @fifos target "wse2" rectangle 1 x 1 {
  wse.color @in
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xf32>
    wse.buffer @storage : memref<2x3xi16> align 8
    wse.fifo @f on @memory
    wse.fifo @g on @storage activate_push @more activate_pop @room
    wse.input_queue @q color @in id 2
    wse.task @start local active {
      %f = dsd.fifo @f : !dsd.fifo<f32>
      %i = dsd.fabin @q extent 32767 : !dsd.fabin<f32>
      dsd.fmovs %f, %i async : !dsd.fifo<f32>, !dsd.fabin<f32>
    }
    wse.task @more local {
    }
    wse.task @room local {
    }
  }
}
// -----
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
// What a FIFO is given, results of operations, lengths, registers and what they hold before the program starts.
// CHECK-LABEL: wse.program @given
// CHECK:           wse.fifo @f on @memory empty_action terminate full_action suspend activate_push @more register 3 xdsr 1 priority low{{$}}
// CHECK-NEXT:      wse.initial {
// CHECK-NEXT:        %m = wse.get_buffer @storage : memref<4xi16>
// CHECK-NEXT:        %d = dsd.mem1d %m extent 4 : memref<4xi16>
// CHECK-NEXT:        %0 = dsr.load %d : !dsd.mem1d<i16> -> !dsr.src1<i16, 2>
// CHECK-NEXT:      }
// CHECK:             dsd.set_fifo_length @f write 12
// CHECK:             dsd.set_fifo_length @f read %n
// CHECK:             %ok = dsd.mov16 %f, %n : !dsd.fifo<i16>, i16 -> i1
// CHECK:             %r = dsr.get_dsr fifo : !dsr.src1<i16, 3>
// FLOW-LABEL:  flow.fabric @given
// FLOW:            flow.initial {
// FLOW-NEXT:         %0 = flow.fifo_stream @f : !flow.stream<i16>
// FLOW-NEXT:         flow.load_register src1 3, %0 : !flow.stream<i16>
// FLOW-NEXT:       }
// FLOW:            flow.fifo @f on @memory empty_action terminate full_action suspend activate_push @more{{$}}
// FLOW-NEXT:       flow.initial {
// FLOW-NEXT:         %d = flow.stream @storage at 0 strides [1] extents [4] : !flow.stream<i16>
// FLOW-NEXT:         flow.load_register src1 2, %d : !flow.stream<i16>
// FLOW-NEXT:       }
// FLOW:              flow.set_fifo_length @f write, %{{.*}}
// FLOW:              flow.set_fifo_length @f read, %{{.*}}
// FLOW:              %ok = flow.apply mov16 %f, %n : !flow.stream<i16>, i16 -> i1
// FLOW:              %{{.*}} = flow.register src1 3 fifo : !flow.stream<i16>
wse.program @given target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.buffer @storage : memref<4xi16>
    wse.fifo @f on @memory empty_action terminate full_action suspend activate_push @more register 3 xdsr 1 priority low
    wse.initial {
      %m = wse.get_buffer @storage : memref<4xi16>
      %d = dsd.mem1d %m extent 4 : memref<4xi16>
      dsr.load %d : !dsd.mem1d<i16> -> !dsr.src1<i16, 2>
    }
    wse.task @start local active {
      %f = dsd.fifo @f : !dsd.fifo<i16>
      %n = arith.constant 7 : i16
      dsd.set_fifo_length @f write 12
      dsd.set_fifo_length @f read %n
      %ok = dsd.mov16 %f, %n : !dsd.fifo<i16>, i16 -> i1
      %m = wse.get_buffer @storage : memref<4xi16>
      %d = dsd.mem1d %m extent 4 : memref<4xi16>
      %e = dsr.load %d : !dsd.mem1d<i16> -> !dsr.dest<i16, 5>
      %r = dsr.get_dsr fifo : !dsr.src1<i16, 3>
      dsr.mov16 %e, %r : !dsr.dest<i16, 5>, !dsr.src1<i16, 3>
      %s = dsr.get_dsr : !dsr.src1<i16, 2>
      dsr.mov16 %e, %s : !dsr.dest<i16, 5>, !dsr.src1<i16, 2>
    }
    wse.task @more local {
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
