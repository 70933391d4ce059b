// RUN: loom-opt %s -p dsr-forward-loads,dsd-assign-queues,dsd-assign-microthreads,dsr-allocate,lower-to-flow | filecheck %s
// Registers that stay: loaded in one task and used in another, or moved on by operations.

// CHECK-LABEL:     flow.task local @load
// CHECK:             flow.load_register src1 2, %d save_address : !flow.stream<f32>
// CHECK-NEXT:        flow.load_register dest 1, %o async(microthread = 3, activate = @use) : !flow.stream<f32>
// CHECK-LABEL:     flow.task local @use
// CHECK-NEXT:        [[TO:%[0-9]+]] = flow.register dest 1 : !flow.stream<f32>
// CHECK-NEXT:        [[FROM:%[0-9]+]] = flow.register src1 2 : !flow.stream<f32>
// CHECK-NEXT:        flow.apply fmovs [[TO]], [[FROM]] : !flow.stream<f32>, !flow.stream<f32>
wse.program @p target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.pe @cell on [:, :] {
    wse.buffer @b : memref<8xf32>
    wse.output_queue @out color @c id 3
    wse.task @load local active {
      %b = wse.get_buffer @b : memref<8xf32>
      %d = dsd.mem1d %b extent 4 : memref<8xf32>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<f32>
      %0 = dsr.load %d save_address : !dsd.mem1d<f32> -> !dsr.src1<f32, 2>
      %1 = dsr.load %o async(activate = @use) : !dsd.fabout<f32> -> !dsr.dest<f32, 1>
      // Nothing but this body uses it.
      %2 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
    }
    wse.task @use local {
      %to = dsr.get_dsr : !dsr.dest<f32, 1>
      %from = dsr.get_dsr : !dsr.src1<f32, 2>
      dsr.fmovs %to, %from async : !dsr.dest<f32, 1>, !dsr.src1<f32, 2>
    }
  }
}

// A register that is loaded for @map alone holds nothing for operations (DSR-069).

// CHECK-LABEL:     flow.func @stepped
// CHECK-NOT:         flow.load_register
wse.program @single_step target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    wse.buffer @A : memref<8xf32>
    wse.func @stepped() {
      %A = wse.get_buffer @A : memref<8xf32>
      %a = dsd.mem1d %A extent 5 : memref<8xf32>
      %r = dsr.load %a single_step : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
      wse.return
    }
  }
}
