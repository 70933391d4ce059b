// RUN: loom-opt %s -p dsr-forward-loads | filecheck %s
// Which uses of a register take the load that has filled it.

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @b : memref<8xf32>

    // CHECK-LABEL: wse.func @side_by_side
    // CHECK:         dsr.fmovs %0, %1
    wse.func @side_by_side() {
      %b = wse.get_buffer @b : memref<8xf32>
      %d = dsd.mem1d %b extent 4 : memref<8xf32>
      %0 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
      %1 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src1<f32, 1>
      %2 = dsr.get_dsr : !dsr.dest<f32, 1>
      %3 = dsr.get_dsr : !dsr.src1<f32, 1>
      dsr.fmovs %2, %3 : !dsr.dest<f32, 1>, !dsr.src1<f32, 1>
    }

    // The last load counts; another type, another number and a register that goes on are read at run time.
    // CHECK-LABEL: wse.func @others
    // CHECK:         dsr.fmovs %b1, %b2
    // CHECK-NEXT:    %other = dsr.get_dsr : !dsr.src1<f32, 2>
    // CHECK-NEXT:    %type = dsr.get_dsr : !dsr.src1<i32, 1>
    // CHECK-NEXT:    %goes_on = dsr.get_dsr : !dsr.src1<f32, 3>
    wse.func @others() {
      %b = wse.get_buffer @b : memref<8xf32>
      %d = dsd.mem1d %b extent 4 : memref<8xf32>
      %a1 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
      %b1 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
      %b2 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src1<f32, 1>
      %b3 = dsr.load %d save_address : !dsd.mem1d<f32> -> !dsr.src1<f32, 3>
      %to = dsr.get_dsr : !dsr.dest<f32, 1>
      %from = dsr.get_dsr : !dsr.src1<f32, 1>
      dsr.fmovs %to, %from : !dsr.dest<f32, 1>, !dsr.src1<f32, 1>
      %other = dsr.get_dsr : !dsr.src1<f32, 2>
      %type = dsr.get_dsr : !dsr.src1<i32, 1>
      %goes_on = dsr.get_dsr : !dsr.src1<f32, 3>
    }

    // CHECK-LABEL: wse.func @call
    // CHECK:         wse.call
    // CHECK-NEXT:    %from = dsr.get_dsr
    wse.func @call() {
      %b = wse.get_buffer @b : memref<8xf32>
      %d = dsd.mem1d %b extent 4 : memref<8xf32>
      %0 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src1<f32, 1>
      wse.call @others() : () -> ()
      %from = dsr.get_dsr : !dsr.src1<f32, 1>
    }

    // A loop may have loaded the register in an earlier trip; a branch may have loaded it or not.
    // CHECK-LABEL: wse.func @loops
    // CHECK:         scf.for
    // CHECK-NEXT:      %kept = dsr.get_dsr : !dsr.src1<f32, 1>
    // CHECK-NEXT:      dsr.fmovs %into, %kept
    // CHECK:         scf.if
    // CHECK:         %after = dsr.get_dsr : !dsr.src1<f32, 1>
    // CHECK-NEXT:    dsr.fmovs %into, %after
    wse.func @loops(%c: i1) {
      %b = wse.get_buffer @b : memref<8xf32>
      %d = dsd.mem1d %b extent 4 : memref<8xf32>
      %into = dsr.load %d : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
      %1 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src1<f32, 1>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      scf.for %k = %zero to %one step %one {
        %kept = dsr.get_dsr : !dsr.src1<f32, 1>
        %to = dsr.get_dsr : !dsr.dest<f32, 1>
        dsr.fmovs %to, %kept : !dsr.dest<f32, 1>, !dsr.src1<f32, 1>
        %2 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src1<f32, 1>
      }
      scf.if %c {
        %3 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src1<f32, 1>
      }
      %after = dsr.get_dsr : !dsr.src1<f32, 1>
      %to = dsr.get_dsr : !dsr.dest<f32, 1>
      dsr.fmovs %to, %after : !dsr.dest<f32, 1>, !dsr.src1<f32, 1>
    }
  }
}
