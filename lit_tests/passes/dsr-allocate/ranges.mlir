// RUN: loom-opt -p dsr-allocate --split-input-file %s | filecheck %s
// Registers that a program loads itself and leaves open are shared by what is never in use at the same time.

// CHECK-LABEL: wse.program @shared
wse.program @shared target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.func @main() {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %s = dsr.load %a : !dsd.mem1d<i16> -> !dsr.src0<i16, 0>
      // CHECK: [[D:%.*]] = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 0>
      // CHECK-NEXT: dsr.mov16 [[D]], %s
      // CHECK-NEXT: [[E:%.*]] = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 0>
      // CHECK-NEXT: dsr.mov16 [[E]], %s
      %d = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16>
      dsr.mov16 %d, %s : !dsr.dest<i16>, !dsr.src0<i16, 0>
      %e = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16>
      dsr.mov16 %e, %s : !dsr.dest<i16>, !dsr.src0<i16, 0>
      wse.return
    }
  }
}

// -----

// One that is taken again later, one that a loop takes in every round, and one that is held across a call.
// CHECK-LABEL: wse.program @kept
wse.program @kept target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.func @called() {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %s = dsr.load %a : !dsd.mem1d<i16> -> !dsr.src0<i16, 0>
      // CHECK: dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 0>
      // CHECK-NEXT: dsr.mov16
      %d = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16>
      dsr.mov16 %d, %s : !dsr.dest<i16>, !dsr.src0<i16, 0>
      wse.return
    }
    wse.func @main() {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %s = dsr.load %a : !dsd.mem1d<i16> -> !dsr.src0<i16, 0>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      // CHECK: dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 0>
      %d = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16>
      scf.for %k = %zero to %two step %one {
        dsr.mov16 %d, %s : !dsr.dest<i16>, !dsr.src0<i16, 0>
        // CHECK: [[E:%.*]] = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 1>
        // CHECK-NEXT: dsr.mov16 [[E]]
        %e = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16>
        dsr.mov16 %e, %s : !dsr.dest<i16>, !dsr.src0<i16, 0>
      }
      // CHECK: [[F:%.*]] = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 1>
      // CHECK-NEXT: wse.call
      // CHECK-NEXT: dsr.mov16 [[F]]
      %f = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16>
      wse.call @called() : () -> ()
      dsr.mov16 %f, %s : !dsr.dest<i16>, !dsr.src0<i16, 0>
      wse.return
    }
  }
}

// -----

// An asynchronous operation holds its register until it has ended: another task may load one meanwhile.
// CHECK-LABEL: wse.program @under_way
wse.program @under_way target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.input_queue @in color @c id 1
    wse.task @meanwhile local {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %s = dsr.load %a : !dsd.mem1d<i16> -> !dsr.src0<i16, 0>
      // CHECK: dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 0>
      %d = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16>
      dsr.mov16 %d, %s : !dsr.dest<i16>, !dsr.src0<i16, 0>
      wse.return
    }
    wse.task @after local {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %s = dsr.load %a : !dsd.mem1d<i16> -> !dsr.src0<i16, 0>
      // CHECK: dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 0>
      %d = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16>
      dsr.mov16 %d, %s : !dsr.dest<i16>, !dsr.src0<i16, 0>
      wse.return
    }
    wse.func @main() {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %i = dsd.fabin @in extent 4 : !dsd.fabin<i16>
      wse.activate @meanwhile
      %s = dsr.load %i async(activate = @after, ut = 1) : !dsd.fabin<i16> -> !dsr.src0<i16, 1>
      // CHECK: dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 1>
      %d = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16>
      dsr.mov16 %d, %s async(ut = 1) : !dsr.dest<i16>, !dsr.src0<i16, 1>
      wse.return
    }
  }
}
