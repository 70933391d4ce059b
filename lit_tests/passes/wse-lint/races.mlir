// RUN: loom-opt -p wse-lint %s 2>&1 >/dev/null | filecheck %s

wse.program @races target "wse3" rectangle 1 x 1 {
  wse.color @red
  wse.route @red on [0, 0] from [ramp] to [ramp]
  wse.pe @pe on [0, 0] {
    wse.buffer @a : memref<8xf32> = dense<0.0>
    wse.input_queue @in color @red id 2
    wse.output_queue @out color @red id 3
    wse.export @load
    wse.export @store
    wse.export @reload
    wse.task @done local id 9 {
      wse.return
    }
    // A load of an element that is received; the next one is not.
    // CHECK: races.mlir:25:7: warning: this load reads element 3 of @a while fmovs in @load at {{.*}}races.mlir:23:7, which is asynchronous, writes it; do it in @done, which starts when that has ended [race]
    // CHECK-NOT: @load
    wse.func @load() {
      %a = wse.get_buffer @a : memref<8xf32>
      %w = dsd.mem1d %a extent 4 : memref<8xf32>
      %i = dsd.fabin @in extent 4 : !dsd.fabin<f32>
      dsd.fmovs %w, %i async(activate = @done) : !dsd.mem1d<f32>, !dsd.fabin<f32>
      %3 = arith.constant 3 : index
      %x = memref.load %a[%3] : memref<8xf32>
      %4 = arith.constant 4 : index
      %y = memref.load %a[%4] : memref<8xf32>
      wse.return
    }
    // A store behind a receive that its function waits for, and one before that.
    // CHECK: this store writes element 3 of @a while fmovs in @store
    // CHECK-NOT: @store
    wse.func @store() {
      %a = wse.get_buffer @a : memref<8xf32>
      %w = dsd.mem1d %a extent 4 : memref<8xf32>
      %h = dsd.mem1d %a at 4 extent 4 : memref<8xf32>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<f32>
      %i = dsd.fabin @in extent 4 : !dsd.fabin<f32>
      %3 = arith.constant 3 : index
      %x = arith.constant 1.0 : f32
      dsd.fmovs %o, %w async : !dsd.fabout<f32>, !dsd.mem1d<f32>
      memref.store %x, %a[%3] : memref<8xf32>
      dsd.fmovs %h, %i : !dsd.mem1d<f32>, !dsd.fabin<f32>
      memref.store %x, %a[%3] : memref<8xf32>
      wse.return
    }
    // CHECK: src1 register 2 is loaded again while fmovs in @reload
    // CHECK-NOT: warning
    wse.func @reload() {
      %a = wse.get_buffer @a : memref<8xf32>
      %w = dsd.mem1d %a extent 4 : memref<8xf32>
      %o = dsd.fabout @out extent 4 : !dsd.fabout<f32>
      %d = dsr.load %o async : !dsd.fabout<f32> -> !dsr.dest<f32, 1>
      %s = dsr.load %w : !dsd.mem1d<f32> -> !dsr.src1<f32, 2>
      dsr.fmovs %d, %s async : !dsr.dest<f32, 1>, !dsr.src1<f32, 2>
      %t = dsr.load %w : !dsd.mem1d<f32> -> !dsr.src1<f32, 3>
      %u = dsr.load %w : !dsd.mem1d<f32> -> !dsr.src1<f32, 2>
      wse.return
    }
  }
}
