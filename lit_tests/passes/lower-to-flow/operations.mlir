// RUN: loom-opt -p lower-to-flow --split-input-file %s | filecheck %s
// DSD operations become flow.apply, on descriptors or on registers.

wse.program @operations target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @single on [:, :] {
    wse.buffer @A : memref<64xf32>
    wse.buffer @H : memref<64xf16>
    wse.buffer @s : memref<f16>
    wse.input_queue @in color @c id 0
    wse.output_queue @out color @c id 0
    wse.task @done local {
      wse.return
    }
    wse.task @received data @in (%value: f32) {
      wse.return
    }

    // CHECK-LABEL: flow.func @descriptors(%f: f32) {
    wse.func @descriptors(%f: f32) {
      %A = wse.get_buffer @A : memref<64xf32>
      // CHECK-NEXT: %[[A:.*]] = flow.stream @A
      %a = dsd.mem1d %A extent 32 : memref<64xf32>
      // CHECK-NEXT: %[[I:.*]] = flow.queue_stream @in
      %i = dsd.fabin @in extent 32 {priority = high} : !dsd.fabin<f32>
      // CHECK-NEXT: %[[O:.*]] = flow.queue_stream @out
      %o = dsd.fabout @out extent 32 : !dsd.fabout<f32>
      // CHECK-NEXT: flow.apply fmacs %[[A]], %[[A]], %[[A]], %f : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>, f32
      dsd.fmacs %a, %a, %a, %f : !dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>, f32
      // CHECK-NEXT: flow.apply fadds %[[A]], %[[I]], %[[A]] async(microthread = 3, activate = @done, priority = high) :
      dsd.fadds %a, %i, %a async(activate = @done, ut = 3) : !dsd.mem1d<f32>, !dsd.fabin<f32>, !dsd.mem1d<f32>
      // CHECK-NEXT: flow.apply fmovs %[[O]], %[[A]] async(microthread = 1, unblock = @in) :
      dsd.fmovs %o, %a async(unblock = @in, ut = 1) : !dsd.fabout<f32>, !dsd.mem1d<f32>
      // A synchronous operation on the fabric has no microthread.
      // CHECK-NEXT: flow.apply fmovs %[[A]], %[[I]] :
      dsd.fmovs %a, %i : !dsd.mem1d<f32>, !dsd.fabin<f32>
      wse.return
    }

    // What the compiler has loaded is the descriptor itself.
    // CHECK-LABEL: flow.func @registers(%f: f32) {
    wse.func @registers(%f: f32) {
      %A = wse.get_buffer @A : memref<64xf32>
      // CHECK-NEXT: %[[A:.*]] = flow.stream @A at 0 strides [1] extents [32]
      %a = dsd.mem1d %A extent 32 : memref<64xf32>
      // CHECK-NEXT: %[[B:.*]] = flow.stream @A at 0 strides [2, 3] extents [4, 4]
      %b = dsd.mem4d %A strides [2, 3] extents [4, 4] : memref<64xf32>
      // CHECK-NEXT: %[[I:.*]] = flow.queue_stream @in
      %i = dsd.fabin @in extent 32 : !dsd.fabin<f32>
      %x = dsr.get_xdsr : !dsr.xdsr<0>
      %s = dsr.get_sr : !dsr.sr<1>
      %dst = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      %src0 = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
      %src1 = dsr.load %b xdsr %x srs [%s] implicit : !dsd.mem4d<f32>, !dsr.xdsr<0>, !dsr.sr<1> -> !dsr.src1<f32, 0>
      // CHECK-NEXT: flow.apply fmacs %[[A]], %[[A]], %[[B]], %f :
      dsr.fmacs %dst, %src0, %src1, %f : !dsr.dest<f32, 0>, !dsr.src0<f32, 0>, !dsr.src1<f32, 0>, f32
      // An operation on a register that was loaded as asynchronous is asynchronous itself.
      %in = dsr.load %i async(activate = @done, ut = 2) implicit : !dsd.fabin<f32> -> !dsr.src0<f32, 1>
      // CHECK-NEXT: flow.apply fmovs %[[A]], %[[I]] async(microthread = 2, activate = @done) :
      dsr.fmovs %dst, %in : !dsr.dest<f32, 0>, !dsr.src0<f32, 1>
      // CHECK-NEXT: flow.return
      wse.return
    }

    // A register may be loaded again with the same descriptor, or in the other branch.
    // CHECK-LABEL: flow.func @loaded_again(%c: i1) {
    wse.func @loaded_again(%c: i1) {
      %A = wse.get_buffer @A : memref<64xf32>
      // CHECK-NEXT: %[[A:.*]] = flow.stream @A at 0
      %a = dsd.mem1d %A extent 32 : memref<64xf32>
      // CHECK-NEXT: %[[B:.*]] = flow.stream @A at 9
      %b = dsd.mem1d %A at 9 extent 32 : memref<64xf32>
      %dst = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 0>
      %one = dsr.load %b implicit : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
      %two = dsr.load %b implicit : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
      // CHECK-NEXT: flow.apply fmovs %[[A]], %[[B]] :
      dsr.fmovs %dst, %one : !dsr.dest<f32, 0>, !dsr.src0<f32, 0>
      // CHECK-NEXT: scf.if %c {
      scf.if %c {
        %three = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.src0<f32, 0>
        // CHECK-NEXT: flow.apply fmovs %[[A]], %[[A]] :
        dsr.fmovs %dst, %three : !dsr.dest<f32, 0>, !dsr.src0<f32, 0>
      } else {
        // CHECK: flow.apply fmovs %[[A]], %[[B]] :
        dsr.fmovs %dst, %two : !dsr.dest<f32, 0>, !dsr.src0<f32, 0>
      }
      wse.return
    }

    // What the program has loaded itself stays in its register, which operations read.
    // CHECK-LABEL: flow.func @named(%f: f32) {
    wse.func @named(%f: f32) {
      %A = wse.get_buffer @A : memref<64xf32>
      // CHECK-NEXT: %[[A:.*]] = flow.stream @A at 0
      %a = dsd.mem1d %A extent 32 : memref<64xf32>
      // CHECK-NEXT: flow.load_register dest 4, %[[A]] :
      %to = dsr.load %a : !dsd.mem1d<f32> -> !dsr.dest<f32, 4>
      // CHECK-NEXT: %[[I:.*]] = flow.queue_stream @in
      %i = dsd.fabin @in extent 32 : !dsd.fabin<f32>
      // CHECK-NEXT: flow.load_register src0 5, %[[I]] async(microthread = 2, activate = @done) :
      %from = dsr.load %i async(activate = @done, ut = 2) : !dsd.fabin<f32> -> !dsr.src0<f32, 5>
      // CHECK-NEXT: %[[TO:.*]] = flow.register dest 4 :
      // CHECK-NEXT: %[[FROM:.*]] = flow.register src0 5 :
      // CHECK-NEXT: flow.apply fmovs %[[TO]], %[[FROM]] async(microthread = 2, activate = @done) :
      dsr.fmovs %to, %from : !dsr.dest<f32, 4>, !dsr.src0<f32, 5>
      wse.return
    }

    // A pointer to a scalar is written over and over, once for each element of the sources.
    // CHECK-LABEL: flow.func @pointers(%h: f16, %n: i16) {
    wse.func @pointers(%h: f16, %n: i16) {
      %H = wse.get_buffer @H : memref<64xf16>
      %s = wse.get_buffer @s : memref<f16>
      // CHECK-NEXT: %[[A:.*]] = flow.stream @H
      %a = dsd.mem1d %H stride 2 extent 4 : memref<64xf16>
      // CHECK-NEXT: %[[S:.*]] = flow.stream @s at 0 strides [0] extents [65535] : !flow.stream<f16>
      // CHECK-NEXT: flow.apply fmovh %[[S]], %[[A]] :
      dsd.fmovh %s, %a : memref<f16>, !dsd.mem1d<f16>
      // With scalars alone there is one element.
      // CHECK-NEXT: %[[T:.*]] = flow.stream @s at 0 strides [0] extents [1] : !flow.stream<f16>
      // CHECK-NEXT: flow.apply fscaleh %[[T]], %h, %n :
      dsd.fscaleh %s, %h, %n : memref<f16>, f16, i16
      wse.return
    }

    // An index moves the operands that ask for it, in 16-bit words.
    // CHECK-LABEL: flow.func @indexed(%n: i16) {
    wse.func @indexed(%n: i16) {
      %A = wse.get_buffer @A : memref<64xf32>
      // CHECK-NEXT: %[[A:.*]] = flow.stream @A at 0
      %a = dsd.mem1d %A extent 8 {wavelet_index_offset} : memref<64xf32>
      // CHECK-NEXT: %[[B:.*]] = flow.stream @A at 9
      %b = dsd.mem1d %A at 9 extent 8 : memref<64xf32>
      // CHECK-NEXT: %[[M:.*]] = flow.advance %[[A]], %n : !flow.stream<f32>
      // CHECK-NEXT: flow.apply fmovs %[[M]], %[[B]] :
      dsd.fmovs %a, %b index(%n) : !dsd.mem1d<f32>, !dsd.mem1d<f32>
      wse.return
    }
  }
}

// -----

// On WSE-2 the operation has the priority (DSD-225).
wse.program @priority target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.pe @single on [:, :] {
    wse.buffer @A : memref<64xf32>
    wse.input_queue @in color @c id 0
    wse.task @received data @in (%value: f32) {
      wse.return
    }
    wse.func @receive() {
      %A = wse.get_buffer @A : memref<64xf32>
      %a = dsd.mem1d %A extent 32 : memref<64xf32>
      %i = dsd.fabin @in extent 32 : !dsd.fabin<f32>
      // On WSE-2 a color may be unblocked; flow names its queue.
      // CHECK: flow.apply fmovs %{{.*}}, %{{.*}} async(microthread = 0, unblock = @in, priority = medium) :
      dsd.fmovs %a, %i async(unblock = @c, ut = 0, priority = medium) : !dsd.mem1d<f32>, !dsd.fabin<f32>
      // Also if a register says how it runs, and has none.
      // CHECK: flow.apply fmovs %{{.*}}, %{{.*}} async(microthread = 0, unblock = @in, priority = high) :
      %to = dsr.load %a implicit : !dsd.mem1d<f32> -> !dsr.dest<f32, 1>
      %from = dsr.load %i async(unblock = @c, ut = 0) implicit : !dsd.fabin<f32> -> !dsr.src1<f32, 1>
      dsr.fmovs %to, %from async(priority = high) : !dsr.dest<f32, 1>, !dsr.src1<f32, 1>
      wse.return
    }
  }
}

// -----

// On WSE-3 the first operand has it that is a fabric descriptor or a FIFO, the destination before the sources (AMB-13).
wse.program @of_fifos target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.color @d
  wse.pe @single on [:, :] {
    wse.buffer @A : memref<64xf32>
    wse.fifo @f on @A priority medium
    wse.input_queue @in color @c id 2
    wse.output_queue @out color @d id 3
    wse.func @start() {
      %f = dsd.fifo @f : !dsd.fifo<f32>
      %i = dsd.fabin @in extent 32 {priority = low} : !dsd.fabin<f32>
      %o = dsd.fabout @out extent 32 {priority = low} : !dsd.fabout<f32>
      // CHECK: flow.apply fmovs %{{.*}}, %{{.*}} async(microthread = 2, priority = medium) :
      dsd.fmovs %f, %i async(ut = 2) : !dsd.fifo<f32>, !dsd.fabin<f32>
      // CHECK: flow.apply fmovs %{{.*}}, %{{.*}} async(microthread = 3, priority = low) :
      dsd.fmovs %o, %f async(ut = 3) : !dsd.fabout<f32>, !dsd.fifo<f32>
      wse.return
    }
  }
}
