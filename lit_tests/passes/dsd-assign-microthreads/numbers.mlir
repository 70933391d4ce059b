// RUN: loom-opt -p dsd-assign-microthreads %s --split-input-file | filecheck %s
// Every asynchronous operation gets a microthread, synchronous ones none.

// DSD-223: the outgoing queue, or else the first incoming one (DSD-099: there may be two on WSE-2).
// CHECK-LABEL: wse.program @wse2
wse.program @wse2 target "wse2" rectangle 1 x 1 {
  wse.color @a
  wse.color @b
  wse.color @c
  wse.color @d
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.input_queue @in color @a id 3
    wse.input_queue @in_too color @b id 4
    wse.output_queue @out color @c id 5
    wse.func @main() {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %i = dsd.fabin @in extent 4 : !dsd.fabin<i16>
      %j = dsd.fabin @in_too extent 4 : !dsd.fabin<i16>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<i16>
      // CHECK: dsd.mov16 %a, %i : !dsd.mem1d<i16>, !dsd.fabin<i16>
      dsd.mov16 %a, %i : !dsd.mem1d<i16>, !dsd.fabin<i16>
      // CHECK: dsd.add16 %a, %j, %i async(activate = @t, ut = 4)
      dsd.add16 %a, %j, %i async(activate = @t) : !dsd.mem1d<i16>, !dsd.fabin<i16>, !dsd.fabin<i16>
      wse.return
    }
    wse.task @t local {
      %i = dsd.fabin @in extent 4 : !dsd.fabin<i16>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<i16>
      // CHECK: dsd.mov16 %o, %i async(ut = 5, priority = high)
      dsd.mov16 %o, %i async(priority = high) : !dsd.fabout<i16>, !dsd.fabin<i16>
      wse.return
    }
  }
}

// -----

// AMB-14, DSD-224: the queue of the first fabric operand, destination before sources; given numbers stay. What runs
// after the end of another has its microthread too, and a task that its operation starts again does not disturb itself.
// CHECK-LABEL: wse.program @wse3
wse.program @wse3 target "wse3" rectangle 1 x 1 {
  wse.color @a
  wse.color @b
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.input_queue @in color @a id 2
    wse.input_queue @in_too color @b id 3
    wse.output_queue @out color @c id 6
    wse.func @main() {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %b = dsd.mem1d %A at 4 extent 4 : memref<8xi16>
      %i = dsd.fabin @in extent 4 : !dsd.fabin<i16>
      %j = dsd.fabin @in_too extent 4 : !dsd.fabin<i16>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<i16>
      // CHECK: dsd.mov16 %a, %i async(activate = @t, ut = 2)
      dsd.mov16 %a, %i async(activate = @t) : !dsd.mem1d<i16>, !dsd.fabin<i16>
      // CHECK: dsd.mov16 %o, %b async(ut = 6)
      dsd.mov16 %o, %b async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      // CHECK: dsd.mov16 %b, %j async(ut = 1)
      dsd.mov16 %b, %j async(ut = 1) : !dsd.mem1d<i16>, !dsd.fabin<i16>
      wse.return
    }
    wse.task @t local {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %i = dsd.fabin @in extent 4 : !dsd.fabin<i16>
      // CHECK: dsd.mov16 %a, %i async(activate = @t, ut = 2)
      dsd.mov16 %a, %i async(activate = @t) : !dsd.mem1d<i16>, !dsd.fabin<i16>
      wse.return
    }
  }
}

// -----

// The same number twice is allowed where the operations merely might meet: here the second follows an answer to the
// first, which no compiler can see. The run reports it if they do meet (DSD-209).
// CHECK-LABEL: wse.program @possible
wse.program @possible target "wse3" rectangle 1 x 1 {
  wse.color @a
  wse.color @b
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.input_queue @in color @a id 0
    wse.output_queue @out color @b id 1
    wse.func @main() {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<i16>
      // CHECK: async(ut = 6)
      dsd.mov16 %o, %a async(ut = 6) : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
    wse.task @answer data @in (%value: i16) {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<i16>
      // CHECK: async(ut = 6)
      dsd.mov16 %o, %a async(ut = 6) : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}
