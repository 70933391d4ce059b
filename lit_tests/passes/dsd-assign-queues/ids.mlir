// RUN: loom-opt -p dsd-assign-queues %s --split-input-file | filecheck %s
// Every queue gets an id: given ones stay, and queues that are in use together differ.

// On WSE-3 a queue serves its color from the start, so queues of different colors differ in any case; input and
// output queues of operations that run at the same time differ too while ids last, since the id is the microthread by
// default (AMB-14).
// CHECK-LABEL: wse.program @kept
wse.program @kept target "wse3" rectangle 4 x 4 {
  wse.color @a
  wse.color @b
  wse.color @c
  wse.pe @p on [:, :] {
    // CHECK: wse.input_queue @in_a color @a id 1
    wse.input_queue @in_a color @a
    // CHECK-NEXT: wse.input_queue @in_b color @b id 0
    wse.input_queue @in_b color @b id 0
    // CHECK-NEXT: wse.output_queue @out_c color @c id 2
    wse.output_queue @out_c color @c
    wse.buffer @A : memref<8xf32>
    wse.buffer @B : memref<8xf32>
    wse.func @main() {
      %A = wse.get_buffer @A : memref<8xf32>
      %a = dsd.mem1d %A extent 8 : memref<8xf32>
      %B = wse.get_buffer @B : memref<8xf32>
      %b = dsd.mem1d %B extent 8 : memref<8xf32>
      %i = dsd.fabin @in_a extent 8 : !dsd.fabin<f32>
      %j = dsd.fabin @in_b extent 8 : !dsd.fabin<f32>
      %o = dsd.fabout @out_c extent 8 : !dsd.fabout<f32>
      dsd.fmovs %a, %i async() : !dsd.mem1d<f32>, !dsd.fabin<f32>
      dsd.fmovs %b, %j async() : !dsd.mem1d<f32>, !dsd.fabin<f32>
      dsd.fmovs %o, %a async() : !dsd.fabout<f32>, !dsd.mem1d<f32>
      wse.return
    }
  }
}

// -----

// Queues that are never on one PE may share an id.
// CHECK-LABEL: wse.program @apart
wse.program @apart target "wse3" rectangle 4 x 4 {
  wse.color @a
  wse.color @b
  wse.pe @p on [:, :] {
    wse.input_queue @q0 color @a id 0
    wse.input_queue @q1 color @a id 1
    wse.input_queue @q2 color @a id 2
    wse.input_queue @q3 color @a id 3
    wse.input_queue @q4 color @a id 4
    wse.input_queue @q5 color @a id 5
    wse.input_queue @q6 color @a id 6
    // CHECK: wse.input_queue @even colors [@a on [::2, :]] id 7
    wse.input_queue @even colors [@a on [::2, :]]
    // CHECK-NEXT: wse.input_queue @odd colors [@b on [1::2, :]] id 7
    wse.input_queue @odd colors [@b on [1::2, :]]
  }
}

// -----

// A color in place of a queue (DSD-096) gets a queue of its own, or the one the color has; descriptors of one color
// share it. The id of an output queue lies below 6 (DSD-219).
// CHECK-LABEL: wse.program @colors
wse.program @colors target "wse2" rectangle 4 x 4 {
  wse.color @trigger
  wse.color @tx
  wse.color @rx
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<5xi16>
    // CHECK: wse.input_queue @rx_queue color @rx id {{[0-7]$}}
    wse.input_queue @rx_queue color @rx
    // CHECK: wse.input_queue @trigger_in color @trigger id
    // CHECK-NEXT: wse.output_queue @tx_out color @tx id {{[0-5]$}}
    // CHECK-NEXT: wse.func @main
    wse.func @main() {
      %A = wse.get_buffer @A : memref<5xi16>
      %a = dsd.mem1d %A extent 5 : memref<5xi16>
      // CHECK: dsd.fabin @trigger_in extent 5 : !dsd.fabin<i16>
      %i = dsd.fabin color @trigger extent 5 : !dsd.fabin<i16>
      // CHECK-NEXT: dsd.fabin @trigger_in extent 2 {control_transform} : !dsd.fabin<i16>
      %j = dsd.fabin color @trigger extent 2 {control_transform} : !dsd.fabin<i16>
      // CHECK-NEXT: dsd.fabout @tx_out extent 5 {control} : !dsd.fabout<i16>
      %o = dsd.fabout color @tx extent 5 {control} : !dsd.fabout<i16>
      // CHECK-NEXT: dsd.fabin @rx_queue extent 5 : !dsd.fabin<i16>
      %k = dsd.fabin color @rx extent 5 : !dsd.fabin<i16>
      dsd.mov16 %a, %i : !dsd.mem1d<i16>, !dsd.fabin<i16>
      dsd.mov16 %a, %j : !dsd.mem1d<i16>, !dsd.fabin<i16>
      dsd.mov16 %a, %k : !dsd.mem1d<i16>, !dsd.fabin<i16>
      dsd.mov16 %o, %a : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}

// -----

// On WSE-2 the queue is the microthread (DSD-223): of two operations at the same time, the one that sends through an
// output queue and the one that receives need different numbers.
// CHECK-LABEL: wse.program @microthreads
wse.program @microthreads target "wse2" rectangle 4 x 4 {
  wse.color @a
  wse.color @b
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<5xi16>
    wse.buffer @B : memref<5xi16>
    // CHECK: wse.input_queue @in color @a id 1
    wse.input_queue @in color @a
    wse.output_queue @out color @b id 0
    wse.func @main() {
      %A = wse.get_buffer @A : memref<5xi16>
      %a = dsd.mem1d %A extent 5 : memref<5xi16>
      %B = wse.get_buffer @B : memref<5xi16>
      %b = dsd.mem1d %B extent 5 : memref<5xi16>
      %i = dsd.fabin @in extent 5 : !dsd.fabin<i16>
      %o = dsd.fabout @out extent 5 : !dsd.fabout<i16>
      dsd.mov16 %a, %i async() : !dsd.mem1d<i16>, !dsd.fabin<i16>
      dsd.mov16 %o, %b async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}

// -----

// On WSE-2 seven colors go out through six queues, if the operations wait for each other: here @t's sends come after
// the first has ended, and no data task listens.
// CHECK-LABEL: wse.program @shared
wse.program @shared target "wse2" rectangle 1 x 1 {
  wse.color @c0
  wse.color @c1
  wse.color @c2
  wse.color @c3
  wse.color @c4
  wse.color @c5
  wse.color @c6
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<5xi16>
    wse.output_queue @q0 color @c0 id 0
    wse.output_queue @q1 color @c1 id 1
    wse.output_queue @q2 color @c2 id 2
    wse.output_queue @q3 color @c3 id 3
    wse.output_queue @q4 color @c4 id 4
    wse.output_queue @q5 color @c5
    // CHECK: wse.output_queue @q5 color @c5 id 0
    // CHECK-NEXT: wse.output_queue @q6 color @c6 id 5
    wse.output_queue @q6 color @c6
    wse.func @main() {
      %A = wse.get_buffer @A : memref<5xi16>
      %a = dsd.mem1d %A extent 5 : memref<5xi16>
      %o = dsd.fabout @q0 extent 5 : !dsd.fabout<i16>
      dsd.mov16 %o, %a async(activate = @t) : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
    wse.task @t local {
      %A = wse.get_buffer @A : memref<5xi16>
      %a = dsd.mem1d %A extent 5 : memref<5xi16>
      %o1 = dsd.fabout @q1 extent 5 : !dsd.fabout<i16>
      %o2 = dsd.fabout @q2 extent 5 : !dsd.fabout<i16>
      %o3 = dsd.fabout @q3 extent 5 : !dsd.fabout<i16>
      %o4 = dsd.fabout @q4 extent 5 : !dsd.fabout<i16>
      %o5 = dsd.fabout @q5 extent 5 : !dsd.fabout<i16>
      %o6 = dsd.fabout @q6 extent 5 : !dsd.fabout<i16>
      dsd.mov16 %o1, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      dsd.mov16 %o2, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      dsd.mov16 %o3, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      dsd.mov16 %o4, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      dsd.mov16 %o5, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      dsd.mov16 %o6, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}
