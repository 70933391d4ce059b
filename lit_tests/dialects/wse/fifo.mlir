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

// A SIMD mode goes down to what runs (DSD-243).
// CHECK-LABEL: wse.program @simd
// CHECK:           wse.fifo @f on @memory simd simd_64{{$}}
// FLOW-LABEL:  flow.fabric @simd
// FLOW:            flow.fifo @f on @memory simd simd_64{{$}}
wse.program @simd target "wse2" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory simd simd_64
  }
}

// -----

// The priority of a FIFO is that of the asynchronous operations on it (DSD-227).
// CHECK-LABEL: wse.program @priority
// FLOW-LABEL:  flow.fabric @priority
// FLOW:              flow.apply mov16 {{.*}}priority = low
wse.program @priority target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xi16>
    wse.fifo @f on @memory priority low
    wse.input_queue @q color @c id 1
    wse.task @start local active {
      %f = dsd.fifo @f : !dsd.fifo<i16>
      %i = dsd.fabin @q extent 4 : !dsd.fabin<i16>
      dsd.mov16 %f, %i async : !dsd.fifo<i16>, !dsd.fabin<i16>
    }
  }
}
