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
// CHECK: error: FIFO @f lies on buffer @memory, which is no array; name one{{$}}
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<f32>
    wse.fifo @f on @memory
  }
}
// -----
// CHECK: error: FIFO @f lies on buffer @memory with alignment 2, but wse3 needs 4 bytes for a FIFO
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16> align 2
    wse.fifo @f on @memory
  }
}
// -----
// CHECK: error: FIFO @g lies on buffer @memory, as @f does; give it one of its own{{$}}
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
// CHECK: error: FIFO @f holds i16, and f32 has another width; use a type of its width{{$}}
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
// CHECK: error: buffer @memory stands where a FIFO is needed; name a FIFO{{$}}
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.func @main() {
      %f = dsd.fifo @memory : !dsd.fifo<i16>
    }
  }
}
