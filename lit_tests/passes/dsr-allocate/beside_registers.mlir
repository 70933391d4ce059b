// RUN: loom-opt -p dsd-hoist-descriptors,dsr-allocate %s --split-input-file | filecheck %s
// Descriptors of operations of which the program names another operand's register: loaded like those of others.

// Before a loop, once for several operations, beside what the program names.
// CHECK-LABEL: wse.program @loop
wse.program @loop target "wse2" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<30xf32>
    wse.func @main(%n: i16, %x: f32) {
      %zero = arith.constant 0 : i16
      %one = arith.constant 1 : i16
      %A = wse.get_buffer @A : memref<30xf32>
      %a = dsd.mem1d %A extent 10 : memref<30xf32>
      %r = dsr.load %a : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
      // CHECK: [[NAMED:%.*]] = dsr.load %a : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
      // CHECK: dsr.get_xdsr : !dsr.xdsr<[[XDSR:[0-9]+]]>
      // CHECK: [[SOURCE:%.*]] = dsr.load %c xdsr {{.*}} implicit : {{.*}} -> !dsr.src1<f32, {{[0-9]+}}>
      // CHECK: scf.for
      // CHECK-NOT: dsr.load
      // CHECK: dsr.fadds {{%.*}}, [[NAMED]], [[SOURCE]]
      // CHECK-NOT: dsr.load
      // CHECK: dsr.fadds {{%.*}}, {{%.*}}, [[SOURCE]]
      // CHECK-NOT: dsr.load
      // CHECK: wse.return
      scf.for %i = %zero to %n step %one : i16 {
        %b = dsd.mem1d %A at 10 extent 10 : memref<30xf32>
        %c = dsd.mem4d %A strides [2, 9] extents [5, 2] : memref<30xf32>
        %d = dsd.mem1d %A at 10 extent 10 : memref<30xf32>
        %e = dsd.mem4d %A strides [2, 9] extents [5, 2] : memref<30xf32>
        %to = dsr.load %b implicit : !dsd.mem1d<f32> -> !dsr.dest<f32>
        %x1 = dsr.get_xdsr : !dsr.xdsr
        %s1 = dsr.get_sr : !dsr.sr
        %from = dsr.load %c xdsr %x1 srs [%s1] implicit : !dsd.mem4d<f32>, !dsr.xdsr, !dsr.sr -> !dsr.src1<f32>
        dsr.fadds %to, %r, %from : !dsr.dest<f32>, !dsr.src0<f32, 0>, !dsr.src1<f32>
        dsd.fadds %d, %d, %e : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem4d<f32>
      }
      wse.return
    }
  }
}

// -----

// What an asynchronous operation uses stays its own, with the settings of its load.
// CHECK-LABEL: wse.program @asynchronous
wse.program @asynchronous target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<30xf32>
    wse.output_queue @q color @c id 2
    wse.func @main(%x: f32) {
      %A = wse.get_buffer @A : memref<30xf32>
      %a = dsd.mem1d %A extent 10 : memref<30xf32>
      %r = dsr.load %a : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
      %out = dsd.fabout @q extent 10 : !dsd.fabout<f32>
      // CHECK: dsr.load %out async(ut = 2) implicit : !dsd.fabout<f32> -> !dsr.dest<f32, [[HELD:[0-9]+]]>
      %to = dsr.load %out async(ut = 2) implicit : !dsd.fabout<f32> -> !dsr.dest<f32>
      dsr.fmovs %to, %r async(ut = 2) : !dsr.dest<f32>, !dsr.src0<f32, 0>
      // CHECK-NEXT: dsr.fmovs {{.*$}}
      // CHECK-NOT: !dsr.dest<f32, [[HELD]]>
      // CHECK: dsr.load %b implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, {{[0-9]+}}>
      // CHECK: wse.return
      %b = dsd.mem1d %A at 10 extent 10 : memref<30xf32>
      %again = dsr.load %b implicit : !dsd.mem1d<f32> -> !dsr.dest<f32>
      dsr.fmovs %again, %x : !dsr.dest<f32>, f32
      wse.return
    }
  }
}
