// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// RUN: loom-opt -p dsd-assign-queues,dsd-assign-microthreads,dsr-allocate,lower-to-flow %s | loom-opt | filecheck %s --check-prefix FLOW

// A body stands once, and its symbols are those of the program that shares it: here a buffer of another size, another
// color, and a function of its own.
wse.program @two target "wse2" rectangle 2 x 1 {
  wse.color @east
  wse.color @west
  wse.pe @left on [0, 0] {
    wse.buffer @u : memref<8xf32>
    wse.output_queue @out color @east id 2
    wse.func @square(%x: f32) -> f32 {
      %y = arith.mulf %x, %x : f32
      wse.return %y : f32
    }
    wse.func @scale(%x: f32) -> f32 {
      wse.return %x : f32
    }
    wse.task @send local id 7 active {
      %zero = arith.constant 0.0 : f32
      %s = wse.call @scale(%zero) : (f32) -> f32
      %v = wse.call @square(%s) : (f32) -> f32
      %o = dsd.fabout @out extent 4 : !dsd.fabout<f32>
      dsd.fmovs %o, %v async(activate = @done) : !dsd.fabout<f32>, f32
      wse.return
    }
    wse.task @done local {
      wse.return
    }
  }
  wse.pe @right on [1, 0] {
    wse.buffer @u : memref<16xf32>
    wse.output_queue @out color @west id 2
    // CHECK: wse.func @square(f32) -> f32 shares @left::@square
    // FLOW: flow.func @square(f32) -> (f32) shares @left::@square
    wse.func @square(f32) -> f32 shares @left::@square
    // CHECK-NEXT: wse.func @scale(%x: f32) -> f32 {
    wse.func @scale(%x: f32) -> f32 {
      %y = arith.addf %x, %x : f32
      wse.return %y : f32
    }
    // CHECK: wse.task @send local id 9 shares @left::@send
    // FLOW: flow.task local @send id 9 shares @left::@send
    wse.task @send local id 9 shares @left::@send
    // CHECK-NEXT: wse.task @done local blocked shares @left::@done attributes {a = 1 : i32}
    // FLOW: flow.task local @done id {{[0-9]+}} blocked shares @left::@done
    wse.task @done local blocked shares @left::@done attributes {a = 1 : i32}
  }
}
