// RUN: loom-opt -p dsr-allocate %s --split-input-file | filecheck %s
// DSD operations work on registers, loaded where they have to be.

// DSR-001, DSR-002: the destination goes into a dest register, the first source into a src0, the second into a src1;
// values and the buffer of a scalar need none. A descriptor that a register still holds is not loaded again.
// CHECK-LABEL: wse.program @files
wse.program @files target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<30xf32>
    wse.buffer @sum : memref<f32>
    // CHECK: wse.func @main(%s: f32) {
    wse.func @main(%s: f32) {
      %A = wse.get_buffer @A : memref<30xf32>
      %sum = wse.get_buffer @sum : memref<f32>
      // CHECK: %a = dsd.mem1d
      %a = dsd.mem1d %A extent 10 : memref<30xf32>
      %b = dsd.mem1d %A at 10 extent 10 : memref<30xf32>
      %c = dsd.mem1d %A at 20 extent 10 : memref<30xf32>
      // CHECK: [[A:%[0-9]+]] = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      // CHECK-NEXT: [[B:%[0-9]+]] = dsr.load %b implicit : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
      // CHECK-NEXT: [[C:%[0-9]+]] = dsr.load %c implicit : !dsd.mem1d<f32> -> !dsr.src1<f32, 0>
      // CHECK-NEXT: dsr.fmacs [[A]], [[B]], [[C]], %s : !dsr.dest<f32, 0>, !dsr.src0<f32, 0>, !dsr.src1<f32, 0>, f32
      dsd.fmacs %a, %b, %c, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      // The dest and src0 registers still hold these.
      // CHECK-NEXT: dsr.fmuls [[A]], [[B]], %s : !dsr.dest<f32, 0>, !dsr.src0<f32, 0>, f32
      dsd.fmuls %a, %b, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      // A descriptor in another file is another load; the second source is a src1 even beside a value.
      // CHECK-NEXT: [[A1:%[0-9]+]] = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.src1<f32, 1>
      // CHECK-NEXT: dsr.fadds %sum, %s, [[A1]] : memref<f32>, f32, !dsr.src1<f32, 1>
      dsd.fadds %sum, %s, %a : memref<f32>, f32, !dsd.mem1d<f32>
      // Attributes stay.
      // CHECK-NEXT: dsr.fmovs [[A]], [[B]] {note = "kept"}
      dsd.fmovs %a, %b {note = "kept"} : !dsd.mem1d<f32>, !dsd.mem1d<f32>
      wse.return
    }
  }
}

// -----

// A loop loads before it what it does not change, and inside it what it does.
// CHECK-LABEL: wse.program @loops
wse.program @loops target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<30xf32>
    wse.func @main(%s: f32, %n: index) {
      %A = wse.get_buffer @A : memref<30xf32>
      %a = dsd.mem1d %A extent 10 : memref<30xf32>
      %b = dsd.mem1d %A at 10 extent 10 : memref<30xf32>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      // CHECK: [[A:%[0-9]+]] = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      // CHECK-NEXT: [[A0:%[0-9]+]] = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
      // CHECK-NEXT: scf.for
      %end = scf.for %j = %zero to %n step %one iter_args(%column = %b) -> (!dsd.mem1d<f32>) {
        // CHECK-NEXT: [[C:%[0-9]+]] = dsr.load %column implicit : !dsd.mem1d<f32> -> !dsr.src1<f32, 0>
        // CHECK-NEXT: dsr.fmacs [[A]], [[A0]], [[C]], %s
        dsd.fmacs %a, %a, %column, %s : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
        %next = dsd.increment_offset %column, 10 : !dsd.mem1d<f32>
        scf.yield %next : !dsd.mem1d<f32>
      }
      // Behind the loop its registers still hold what stood before it.
      // CHECK: [[E:%[0-9]+]] = dsr.load %end implicit : !dsd.mem1d<f32> -> !dsr.src1<f32, {{[0-9]+}}>
      // CHECK-NEXT: dsr.fadds [[A]], [[A0]], [[E]]
      dsd.fadds %a, %a, %end : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>
      wse.return
    }
  }
}

// -----

// A loop with calls loads once, before it, what it does not change: into registers that the functions do not load.
// CHECK-LABEL: wse.program @calls
wse.program @calls target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<30xf32>
    wse.func @main(%s: f32, %n: i16) {
      %A = wse.get_buffer @A : memref<30xf32>
      %a = dsd.mem1d %A extent 10 : memref<30xf32>
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      // CHECK: [[A:%[0-9]+]] = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
      // CHECK-NEXT: scf.for
      scf.for %i = %zero to %n step %one : i16 {
        // CHECK-NEXT: dsr.fmovs [[A]], %s
        dsd.fmovs %a, %s : !dsd.mem1d<f32>, f32
        // CHECK-NEXT: wse.call @f
        wse.call @f(%s) : (f32) -> ()
        // CHECK-NEXT: dsr.fmovs [[A]], %s
        dsd.fmovs %a, %s : !dsd.mem1d<f32>, f32
      }
      wse.return
    }
    wse.func @f(%s: f32) {
      wse.call @g(%s) : (f32) -> ()
      wse.return
    }
    wse.func @g(%s: f32) {
      %A = wse.get_buffer @A : memref<30xf32>
      %b = dsd.mem1d %A at 10 extent 10 : memref<30xf32>
      // CHECK: dsr.load %b implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      dsd.fmovs %b, %s : !dsd.mem1d<f32>, f32
      wse.return
    }
  }
}

// -----

// Behind a call what its function loads is not taken for granted, nor what one arm of a branch loads behind the branch.
// CHECK-LABEL: wse.program @forgets
wse.program @forgets target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<30xf32>
    wse.func @main(%s: f32, %yes: i1) {
      %A = wse.get_buffer @A : memref<30xf32>
      %a = dsd.mem1d %A extent 10 : memref<30xf32>
      // CHECK: dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      dsd.fmovs %a, %s : !dsd.mem1d<f32>, f32
      // CHECK: wse.call @f
      wse.call @f(%s) : (f32) -> ()
      // CHECK-NEXT: scf.if
      scf.if %yes {
        // CHECK-NEXT: dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
        // CHECK-NEXT: dsr.fmovs
        dsd.fmovs %a, %s : !dsd.mem1d<f32>, f32
      // CHECK-NEXT: }
      }
      // CHECK-NEXT: dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      // CHECK-NEXT: dsr.fmovs
      dsd.fmovs %a, %s : !dsd.mem1d<f32>, f32
      wse.return
    }
    wse.func @f(%s: f32) {
      %A = wse.get_buffer @A : memref<30xf32>
      %b = dsd.mem1d %A at 10 extent 10 : memref<30xf32>
      dsd.fmovs %b, %s : !dsd.mem1d<f32>, f32
      wse.return
    }
  }
}

// -----

// DSR-005, DSR-059, DSR-060, DSR-061, DSR-064: a mem4d takes an XDSR and its stride registers, none for the fastest
// dimension and, if that has stride 1, none for the second. One with a run-time offset takes three.
// CHECK-LABEL: wse.program @extended
wse.program @extended target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<64xf32>
    wse.func @main(%start: i16, %s: f32) {
      %A = wse.get_buffer @A : memref<64xf32>
      // CHECK: [[X:%[0-9]+]] = dsr.get_xdsr : !dsr.xdsr<0>
      // CHECK-NEXT: dsr.load %two xdsr [[X]] implicit : !dsd.mem4d<f32>, !dsr.xdsr<0> -> !dsr.dest<f32, 0>
      %two = dsd.mem4d %A strides [1, 5] extents [2, 3] : memref<64xf32>
      dsd.fmovs %two, %s : !dsd.mem4d<f32>, f32
      // CHECK: [[X:%[0-9]+]] = dsr.get_xdsr : !dsr.xdsr<1>
      // CHECK-NEXT: [[S:%[0-9]+]] = dsr.get_sr : !dsr.sr<0>
      // CHECK-NEXT: dsr.load %apart xdsr [[X]] srs {{\[}}[[S]]] implicit : !dsd.mem4d<f32>, !dsr.xdsr<1>, !dsr.sr<0> -> !dsr.dest<f32, 1>
      %apart = dsd.mem4d %A strides [2, 5] extents [2, 3] : memref<64xf32>
      dsd.fmovs %apart, %s : !dsd.mem4d<f32>, f32
      // CHECK: dsr.load %four xdsr {{%[0-9]+}} srs [{{%[0-9]+, %[0-9]+}}] implicit : !dsd.mem4d<f32>, !dsr.xdsr<2>, !dsr.sr<1>, !dsr.sr<2> -> !dsr.dest<f32, 2>
      %four = dsd.mem4d %A extents [1, 2, 2, 2] : memref<64xf32>
      dsd.fmovs %four, %s : !dsd.mem4d<f32>, f32
      // CHECK: dsr.load %moved xdsr {{%[0-9]+}} srs [{{%[0-9]+, %[0-9]+, %[0-9]+}}] implicit : !dsd.mem4d<f32>, !dsr.xdsr<3>, !dsr.sr<3>, !dsr.sr<4>, !dsr.sr<5> -> !dsr.dest<f32, 3>
      %moved = dsd.mem4d %A at %start extents [2] : memref<64xf32>
      dsd.fmovs %moved, %s : !dsd.mem4d<f32>, f32
      // AMB-06: a stride or extent known at run time only takes all three, too.
      // CHECK: dsr.load %strided xdsr {{%[0-9]+}} srs [{{%[0-9]+, %[0-9]+, %[0-9]+}}] implicit : !dsd.mem4d<f32>, !dsr.xdsr<4>, !dsr.sr<6>, !dsr.sr<7>, !dsr.sr<8> -> !dsr.dest<f32, 4>
      %strided = dsd.mem4d %A strides [1, %start] extents [2, 3] : memref<64xf32>
      dsd.fmovs %strided, %s : !dsd.mem4d<f32>, f32
      // CHECK: dsr.load %long xdsr {{%[0-9]+}} srs [{{%[0-9]+, %[0-9]+, %[0-9]+}}] implicit : !dsd.mem4d<f32>, !dsr.xdsr<5>, !dsr.sr<9>, !dsr.sr<10>, !dsr.sr<11> -> !dsr.dest<f32, 5>
      %long = dsd.mem4d %A strides [1, 5] extents [%start, 3] : memref<64xf32>
      dsd.fmovs %long, %s : !dsd.mem4d<f32>, f32
      wse.return
    }
  }
}

// -----

// DSD-182, DSD-194: the settings of an asynchronous operation are at the load of its fabric operand too. Operations
// that may run at the same time have registers of their own; one that follows the end of another may take its.
// CHECK-LABEL: wse.program @asynchronous
wse.program @asynchronous target "wse3" rectangle 1 x 1 {
  wse.color @a
  wse.color @b
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.input_queue @in color @a id 0
    wse.output_queue @out color @b id 1
    wse.func @main() {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %b = dsd.mem1d %A at 4 extent 4 : memref<8xi16>
      %i = dsd.fabin @in extent 4 : !dsd.fabin<i16>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<i16>
      // CHECK: [[A:%[0-9]+]] = dsr.load %a implicit : !dsd.mem1d<i16> -> !dsr.dest<i16, 1>
      // CHECK-NEXT: [[I:%[0-9]+]] = dsr.load %i async(activate = @t, ut = 0) implicit : !dsd.fabin<i16> -> !dsr.src0<i16, 1>
      // CHECK-NEXT: dsr.mov16 [[A]], [[I]] async(activate = @t, ut = 0) : !dsr.dest<i16, 1>, !dsr.src0<i16, 1>
      dsd.mov16 %a, %i async(activate = @t, ut = 0) : !dsd.mem1d<i16>, !dsd.fabin<i16>
      // CHECK-NEXT: [[O:%[0-9]+]] = dsr.load %o async(ut = 1) implicit : !dsd.fabout<i16> -> !dsr.dest<i16, 0>
      // CHECK-NEXT: [[B:%[0-9]+]] = dsr.load %b implicit : !dsd.mem1d<i16> -> !dsr.src0<i16, 0>
      // CHECK-NEXT: dsr.mov16 [[O]], [[B]] async(ut = 1)
      dsd.mov16 %o, %b async(ut = 1) : !dsd.fabout<i16>, !dsd.mem1d<i16>
      // CHECK-NEXT: dsr.load %b implicit : !dsd.mem1d<i16> -> !dsr.dest<i16, 2>
      // CHECK-NEXT: dsr.load %b implicit : !dsd.mem1d<i16> -> !dsr.src0<i16, 2>
      dsd.add16 %b, %b, %b : !dsd.mem1d<i16>, !dsd.mem1d<i16>, !dsd.mem1d<i16>
      wse.return
    }
    wse.task @t local {
      %i = dsd.fabin @in extent 4 : !dsd.fabin<i16>
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      // CHECK: dsr.load %a implicit : !dsd.mem1d<i16> -> !dsr.dest<i16, 1>
      // CHECK-NEXT: dsr.load %i async(ut = 0) implicit : !dsd.fabin<i16> -> !dsr.src0<i16, 1>
      dsd.mov16 %a, %i async(ut = 0) : !dsd.mem1d<i16>, !dsd.fabin<i16>
      wse.return
    }
  }
}

// -----

// An asynchronous operation in a loop loads before it what it takes there each time. Loads of a fabric descriptor have
// the settings of their operation: one with other settings takes another load.
// CHECK-LABEL: wse.program @asynchronous_in_a_loop
wse.program @asynchronous_in_a_loop target "wse3" rectangle 1 x 1 {
  wse.color @b
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.output_queue @out color @b id 1
    wse.func @main(%n: i16) {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %b = dsd.mem1d %A at 4 extent 4 : memref<8xi16>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<i16>
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      // CHECK: [[O:%[0-9]+]] = dsr.load %o async(ut = 1) implicit : !dsd.fabout<i16> -> !dsr.dest<i16, [[FIRST:[0-9]]]>
      // CHECK-NEXT: [[A:%[0-9]+]] = dsr.load %a implicit : !dsd.mem1d<i16> -> !dsr.src0<i16, {{[0-9]}}>
      // CHECK-NEXT: scf.for
      scf.for %i = %zero to %n step %one : i16 {
        // CHECK-NEXT: dsr.mov16 [[O]], [[A]] async(ut = 1)
        dsd.mov16 %o, %a async(ut = 1) : !dsd.fabout<i16>, !dsd.mem1d<i16>
        // CHECK-NEXT: [[C:%.*]] = dsd.increment_offset %b, %i
        // CHECK-NEXT: [[L:%[0-9]+]] = dsr.load [[C]] implicit : !dsd.mem1d<i16> -> !dsr.dest<i16
        // CHECK-NEXT: dsr.add16 [[L]], %i, %i
        %c = dsd.increment_offset %b, %i : !dsd.mem1d<i16>
        dsd.add16 %c, %i, %i : !dsd.mem1d<i16>, i16, i16
      }
      // CHECK: [[P:%[0-9]+]] = dsr.load %o async(activate = @t, ut = 1) implicit
      // CHECK: dsr.mov16 [[P]], {{%[0-9]+}} async(activate = @t, ut = 1)
      dsd.mov16 %o, %b async(activate = @t, ut = 1) : !dsd.fabout<i16>, !dsd.mem1d<i16>
      // CHECK: [[Q:%[0-9]+]] = dsr.load %o implicit : !dsd.fabout<i16>
      // CHECK: dsr.mov16 [[Q]], {{%[0-9]+}} :
      dsd.mov16 %o, %b : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
    wse.task @t local {
      wse.return
    }
  }
}

// -----

// DSR-004: loads that the program writes itself keep their registers, or get one if they name none; nothing else is
// put there.
// CHECK-LABEL: wse.program @by_hand
wse.program @by_hand target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<10xf32>
    wse.func @main(%s: f32) {
      %A = wse.get_buffer @A : memref<10xf32>
      %a = dsd.mem1d %A extent 10 : memref<10xf32>
      // CHECK: %r = dsr.load %a : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      %r = dsr.load %a : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      // CHECK-NEXT: %q = dsr.load %a : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
      %q = dsr.load %a : !dsd.mem1d<f32> -> !dsr.dest<f32>
      // CHECK-NEXT: dsr.fmovs %r, %s : !dsr.dest<f32, 0>, f32
      dsr.fmovs %r, %s : !dsr.dest<f32, 0>, f32
      // CHECK-NEXT: dsr.fmovs %q, %s : !dsr.dest<f32, 1>, f32
      dsr.fmovs %q, %s : !dsr.dest<f32>, f32
      // CHECK-NEXT: dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 2>
      dsd.fmovs %a, %s : !dsd.mem1d<f32>, f32
      wse.return
    }
  }
}

// -----

// The two parts of an scf.while are one loop; what its condition loads is not seen in its body.
// CHECK-LABEL: wse.program @while
wse.program @while target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<20xf32>
    wse.func @main(%s: f32, %n: i16) {
      %A = wse.get_buffer @A : memref<20xf32>
      %a = dsd.mem1d %A extent 10 : memref<20xf32>
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      // CHECK: [[A:%[0-9]+]] = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      // CHECK-NEXT: scf.while
      %end = scf.while (%i = %zero) : (i16) -> i16 {
        // CHECK: dsr.fmovs [[A]], %s
        dsd.fmovs %a, %s : !dsd.mem1d<f32>, f32
        // CHECK: dsr.load %b implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
        %b = dsd.mem1d %A at %i extent 10 : memref<20xf32>
        dsd.fmovs %b, %s : !dsd.mem1d<f32>, f32
        %go = arith.cmpi ult, %i, %n : i16
        scf.condition(%go) %i : i16
      } do {
      ^bb0(%i: i16):
        // CHECK: dsr.load %c implicit : !dsd.mem1d<f32> -> !dsr.dest<f32,
        %c = dsd.mem1d %A at %i extent 10 : memref<20xf32>
        dsd.fmovs %c, %s : !dsd.mem1d<f32>, f32
        // CHECK: dsr.fmovs [[A]], %s
        dsd.fmovs %a, %s : !dsd.mem1d<f32>, f32
        %next = arith.addi %i, %one : i16
        scf.yield %next : i16
      }
      wse.return
    }
  }
}

// -----

// DSR-070: a FIFO whose registers the program does not name gets a dest, a src1 and an XDSR.
// CHECK-LABEL: wse.program @fifos
wse.program @fifos target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @room : memref<8xi16>
    wse.fifo @f on @room
    wse.func @main(%s: i16) {
      %A = "test.op"() : () -> !dsd.mem1d<i16>
      %f = dsd.fifo @f : !dsd.fifo<i16>
      // CHECK: [[X:%[0-9]+]] = dsr.get_xdsr : !dsr.xdsr<0>
      // CHECK-NEXT: [[IN:%[0-9]+]] = dsr.load %f xdsr [[X]] implicit : !dsd.fifo<i16>, !dsr.xdsr<0> -> !dsr.dest<i16, 0>
      // CHECK-NEXT: dsr.mov16 [[IN]], %s :
      dsd.mov16 %f, %s : !dsd.fifo<i16>, i16
      // CHECK: [[OUT:%[0-9]+]] = dsr.load %f xdsr {{%[0-9]+}} implicit : !dsd.fifo<i16>, !dsr.xdsr<{{[0-9]+}}> -> !dsr.src1<i16, {{[0-9]+}}>
      // CHECK: dsr.mov16 {{%[0-9]+}}, [[OUT]] :
      dsd.mov16 %A, %f : !dsd.mem1d<i16>, !dsd.fifo<i16>
      wse.return
    }
  }
}
