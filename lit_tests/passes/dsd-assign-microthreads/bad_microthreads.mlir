// RUN: loom-opt -p dsd-assign-microthreads --split-input-file --verify-diagnostics %s | filecheck %s
// Programs that no assignment of microthreads suits; errors name the operations.

// DSD-223, DSD-209, in the words of the rule: output queue 0 and input queue 0 in one task.
wse.program @clash target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.color @d
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<20xi16>
    wse.output_queue @out color @c id 0
    wse.input_queue @in color @d id 0
    wse.task @t local active {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 10 : memref<20xi16>
      %b = dsd.mem1d %A at 10 extent 10 : memref<20xi16>
      %o = dsd.fabout @out extent 10 : !dsd.fabout<i16>
      %i = dsd.fabin @in extent 10 : !dsd.fabin<i16>
      dsd.mov16 %o, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      // CHECK: bad_microthreads.mlir:[[# @LINE + 1]]:7: error: mov16 in task @t ({{.*}}:18:7) and mov16 in task @t ({{.*}}:[[# @LINE + 1]]:7) run at the same time on the same microthread 0; issue the second from a task that the completion of the first activates, or give its queue another id, which is the microthread's
      dsd.mov16 %b, %i async() : !dsd.mem1d<i16>, !dsd.fabin<i16>
      wse.return
    }
  }
}

// -----

// DSD-209, with numbers given.
wse.program @given target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.color @d
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<20xi16>
    wse.output_queue @out color @c id 0
    wse.input_queue @in color @d id 1
    wse.func @main() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 10 : memref<20xi16>
      %b = dsd.mem1d %A at 10 extent 10 : memref<20xi16>
      %o = dsd.fabout @out extent 10 : !dsd.fabout<i16>
      %i = dsd.fabin @in extent 10 : !dsd.fabin<i16>
      dsd.mov16 %o, %a async(ut = 4) : !dsd.fabout<i16>, !dsd.mem1d<i16>
      // CHECK: error: mov16 in function @main ({{.*}}) and mov16 in function @main ({{.*}}) run at the same time on the same microthread 4; issue
      dsd.mov16 %b, %i async(ut = 4) : !dsd.mem1d<i16>, !dsd.fabin<i16>
      wse.return
    }
  }
}

// -----

// DSD-209, the same operation in a loop.
wse.program @loop target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<20xi16>
    wse.output_queue @out color @c id 0
    wse.func @main() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 10 : memref<20xi16>
      %o = dsd.fabout @out extent 10 : !dsd.fabout<i16>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      scf.for %k = %zero to %two step %one {
        // CHECK: error: mov16 in function @main ({{.*}}) is issued again while it may still run, on the same microthread 4; issue it again from a task that its completion activates
        dsd.mov16 %o, %a async(ut = 4) : !dsd.fabout<i16>, !dsd.mem1d<i16>
      }
      wse.return
    }
  }
}

// -----

// AMB-14, DSD-209: without a number an operation runs on that of its queue, on WSE-3 as well.
wse.program @default target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.color @d
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<20xi16>
    wse.input_queue @in color @c id 2
    wse.output_queue @out color @d id 2
    wse.func @main() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 2 : memref<20xi16>
      %i = dsd.fabin @in extent 2 : !dsd.fabin<i16>
      %o = dsd.fabout @out extent 2 : !dsd.fabout<i16>
      dsd.mov16 %a, %i async() : !dsd.mem1d<i16>, !dsd.fabin<i16>
      // CHECK: bad_microthreads.mlir:[[# @LINE + 1]]:7: error: mov16 in function @main ({{.*}}) and mov16 in function @main ({{.*}}) run at the same time on the same microthread 2; issue the second from a task that the completion of the first activates, or give it another microthread with '.ut_id'
      dsd.mov16 %o, %a async() : !dsd.fabout<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}

// -----

// DSD-182, AMB-35: whoever loads the register says whether operations on it are asynchronous.
wse.program @not_loaded_async target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<20xi16>
    wse.input_queue @in color @c id 2
    wse.initial {
      %i = dsd.fabin @in extent 2 : !dsd.fabin<i16>
      %r = dsr.load %i : !dsd.fabin<i16> -> !dsr.src0<i16, 3>
    }
    wse.func @main() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 2 : memref<20xi16>
      %d = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 1>
      %r = dsr.get_dsr : !dsr.src0<i16, 3>
      // CHECK: bad_microthreads.mlir:[[# @LINE + 1]]:7: error: mov16 in function @main ({{.*}}) is async, but no fabric operand was loaded with async; add async to its load (DSD-182, AMB-35)
      dsr.mov16 %d, %r async() : !dsr.dest<i16, 1>, !dsr.src0<i16, 3>
      wse.return
    }
  }
}

// -----

// DSD-195: what its end starts is said where the register is loaded.
wse.program @told_too_late target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<20xi16>
    wse.input_queue @in color @c id 2
    wse.initial {
      %i = dsd.fabin @in extent 2 : !dsd.fabin<i16>
      %r = dsr.load %i async() : !dsd.fabin<i16> -> !dsr.src0<i16, 3>
    }
    wse.task @t local {
      wse.return
    }
    wse.func @main() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 2 : memref<20xi16>
      %d = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 1>
      %r = dsr.get_dsr : !dsr.src0<i16, 3>
      // CHECK: error: 'activate' of mov16 in function @main ({{.*}}) takes effect only where the fabric descriptor is loaded; give it to that load (DSD-195)
      dsr.mov16 %d, %r async(activate = @t) : !dsr.dest<i16, 1>, !dsr.src0<i16, 3>
      wse.return
    }
  }
}

// -----

wse.program @no_id target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<20xi16>
    wse.input_queue @in color @c
    wse.func @main() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 2 : memref<20xi16>
      %i = dsd.fabin @in extent 2 : !dsd.fabin<i16>
      // CHECK: error: mov16 in function @main ({{.*}}) has no queue with an id; run dsd-assign-queues first
      dsd.mov16 %a, %i async() : !dsd.mem1d<i16>, !dsd.fabin<i16>
      wse.return
    }
  }
}

// -----

// On WSE-2 the microthread cannot be chosen (DSD-223); here the verifier did not know the queue's descriptor.
wse.program @not_chosen target "wse2" rectangle 1 x 1 {
  wse.color @c
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<20xi16>
    wse.input_queue @in color @c id 3
    wse.func @main(%short: i1) {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 2 : memref<20xi16>
      %i = scf.if %short -> (!dsd.fabin<i16>) {
        %j = dsd.fabin @in extent 2 : !dsd.fabin<i16>
        scf.yield %j : !dsd.fabin<i16>
      } else {
        %k = dsd.fabin @in extent 4 : !dsd.fabin<i16>
        scf.yield %k : !dsd.fabin<i16>
      }
      // CHECK: error: on wse2 mov16 in function @main ({{.*}}) runs on the microthread of its queue, 3, not 5; remove ut
      dsd.mov16 %a, %i async(ut = 5) : !dsd.mem1d<i16>, !dsd.fabin<i16>
      wse.return
    }
  }
}

// -----

// DSR-069
wse.program @for_map target "wse3" rectangle 1 x 1 {
  wse.pe @p on [:, :] {
    wse.buffer @A : memref<20xi16>
    wse.func @load() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 2 : memref<20xi16>
      %r = dsr.load %a single_step : !dsd.mem1d<i16> -> !dsr.src0<i16, 1>
      wse.return
    }
    wse.func @main() {
      %A = wse.get_buffer @A : memref<20xi16>
      %a = dsd.mem1d %A extent 2 : memref<20xi16>
      %d = dsr.load %a : !dsd.mem1d<i16> -> !dsr.dest<i16, 1>
      %r = dsr.get_dsr : !dsr.src0<i16, 1>
      // CHECK: error: an operand of mov16 in function @main ({{.*}}) is a register that is loaded with single_step alone, which is for @map; load it without (DSR-069)
      dsr.mov16 %d, %r : !dsr.dest<i16, 1>, !dsr.src0<i16, 1>
      wse.return
    }
  }
}
