// RUN: loom-opt -p dsd-assign-queues --split-input-file --verify-diagnostics %s | filecheck %s
// Programs that no assignment of queues suits; errors name the operations.

// DSD-208, in the words of the rule: one task starts two asynchronous moves to one fabout.
wse.program @same_queue target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.output_queue @out color @c
    wse.task @t local active {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %b = dsd.mem1d %A at 4 extent 4 : memref<8xi16>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<i16>
      dsd.mov16 %o, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      // CHECK: bad_queues.mlir:[[# @LINE + 1]]:7: error: mov16 in task @t ({{.*}}bad_queues.mlir:15:7) and mov16 in task @t ({{.*}}bad_queues.mlir:[[# @LINE + 1]]:7) run at the same time on the same queue @out; issue the second from a task that the completion of the first activates, or give it another queue
      dsd.mov16 %o, %b async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}

// -----

// DSD-208, the same operation in a loop.
wse.program @loop target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.output_queue @out color @c
    wse.task @t local active {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      scf.for %i = %zero to %two step %one {
        %o = dsd.fabout @out extent 4 : !dsd.fabout<i16>
        // CHECK: error: mov16 in task @t ({{.*}}) is issued again while it may still run, on the same queue @out; issue it again from a task that its completion activates
        dsd.mov16 %o, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      }
      wse.return
    }
  }
}

// -----

// Two queues were given one id, and their operations always overlap.
wse.program @same_id target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.color @d
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<8xi16>
    wse.output_queue @first color @c id 3
    wse.output_queue @second color @d id 3
    wse.task @t local active {
      %A = wse.get_buffer @A : memref<8xi16>
      %a = dsd.mem1d %A extent 4 : memref<8xi16>
      %o = dsd.fabout @first extent 4 : !dsd.fabout<i16>
      %p = dsd.fabout @second extent 4 : !dsd.fabout<i16>
      dsd.mov16 %o, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      // CHECK: error: mov16 in task @t ({{.*}}) and mov16 in task @t ({{.*}}) run at the same time on the same id 3 of queues @first and @second; issue the second
      dsd.mov16 %p, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}

// -----

// On WSE-3 a queue is bound to its color (AMB-11).
wse.program @two_colors target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.color @d
  wse.pe @p on [:, :] {
    wse.input_queue @first color @c id 3
    // CHECK: bad_queues.mlir:[[# @LINE + 1]]:5: error: queues @first and @second have the same id 3 but serve different colors; give one of them another id
    wse.input_queue @second color @d id 3
  }
}

// -----

// DSD-097, DSD-210: the color in place of the queue is for WSE-2.
wse.program @color_only target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.func @f() {
      // CHECK: error: dsd.fabin names only color @c, but wse3 needs an input queue; declare one for the color and name it here
      %i = dsd.fabin color @c extent 5 : !dsd.fabin<i16>
      wse.return
    }
  }
}

// -----

// AMB-11: the same for a fabout.
wse.program @color_only_out target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.func @f() {
      // CHECK: error: dsd.fabout names only color @c, but wse3 needs an output queue; declare one for the color and name it here
      %o = dsd.fabout color @c extent 5 : !dsd.fabout<i16>
      wse.return
    }
  }
}

// -----

// DSD-216, DSD-219: WSE-2 has six output queues; a data task's queue and operations are named.
wse.program @too_many target "wse2" rectangle 1 x 1 {
  wse.color @c0
  wse.color @c1
  wse.color @c2
  wse.color @c3
  wse.color @c4
  wse.color @c5
  wse.color @c6
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<5xi16>
    wse.func @main() {
      %A = wse.get_buffer @A : memref<5xi16>
      %a = dsd.mem1d %A extent 5 : memref<5xi16>
      %o0 = dsd.fabout color @c0 extent 5 : !dsd.fabout<i16>
      %o1 = dsd.fabout color @c1 extent 5 : !dsd.fabout<i16>
      %o2 = dsd.fabout color @c2 extent 5 : !dsd.fabout<i16>
      %o3 = dsd.fabout color @c3 extent 5 : !dsd.fabout<i16>
      %o4 = dsd.fabout color @c4 extent 5 : !dsd.fabout<i16>
      %o5 = dsd.fabout color @c5 extent 5 : !dsd.fabout<i16>
      // CHECK: bad_queues.mlir:[[# @LINE + 1]]:7: error: wse2 has 6 output queues, too few for the queues in use at the same time: @c0_out for mov16 in function @main ({{.*}}), @c1_out for mov16 {{.*}}, @c6_out for mov16 in function @main ({{.*}}); run the operations of two of them one after the other, or give queues that are never in use together the same id
      %o6 = dsd.fabout color @c6 extent 5 : !dsd.fabout<i16>
      dsd.mov16 %o0, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
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

// -----

// The queue of a data task counts; on WSE-3 nine colors find eight queues (DSD-217).
wse.program @too_many_colors target "wse3" rectangle 1 x 1 {
  wse.color @c0
  wse.color @c1
  wse.color @c2
  wse.color @c3
  wse.color @c4
  wse.color @c5
  wse.color @c6
  wse.color @c7
  wse.color @c8
  wse.pe @p on [:, :] {
    wse.input_queue @q0 color @c0 id 7
    wse.input_queue @q1 color @c1
    wse.input_queue @q2 color @c2
    wse.input_queue @q3 color @c3
    wse.input_queue @q4 color @c4
    wse.input_queue @q5 color @c5
    wse.input_queue @q6 color @c6
    wse.input_queue @q7 color @c7
    // CHECK: error: wse3 has 8 input queues, too few for the queues in use at the same time: @q0, @q1 for task @t, @q2, @q3, @q4, @q5, @q6, @q7, @q8; run
    wse.input_queue @q8 color @c8
    wse.task @t data @q1 (%value: i16) {
      wse.return
    }
  }
}

// -----

wse.program @argument target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<5xi16>
    // CHECK: error: a descriptor is passed as an argument, so its queue is not known; make the descriptor where it is used
    wse.func @f(%o: !dsd.fabout<i16>) {
      %A = wse.get_buffer @A : memref<5xi16>
      %a = dsd.mem1d %A extent 5 : memref<5xi16>
      dsd.mov16 %o, %a : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}
