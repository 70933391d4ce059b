// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// Every operation of flow, in its own and in generic form, prints as it was written.

// CHECK-LABEL: flow.fabric @cross target "wse3" grid 3 by 2 attributes {note = "kept"} {
flow.fabric @cross target "wse3" grid 3 by 2 attributes {note = "kept"} {
  // CHECK-NEXT: flow.color @east = 0
  flow.color @east = 0
  // CHECK-NEXT: flow.color @south = 23 attributes {note = "kept"}
  flow.color @south = 23 attributes {note = "kept"}
  // CHECK-NEXT: flow.route @east on [0, :] from [ramp] to [east]
  flow.route @east on [0, :] from [ramp] to [east]
  // CHECK-NEXT: flow.route @east on [1:, :] + [0, -1] from [west, north] to [ramp, south] attributes {note = "kept"}
  flow.route @east on [1:, :] + [0, -1] from [west, north] to [ramp, south] attributes {note = "kept"}
  // CHECK-NEXT: flow.route @east on [0, 0] from [ramp] to [east] switch [from [west], invalid, to [ramp, south]] at 3 ring pop_on_advance_nop attributes {note = "kept"}
  flow.route @east on [0, 0] from [ramp] to [east] switch [from [west], invalid, to [ramp, south]] at 3 ring pop_on_advance_nop attributes {note = "kept"}
  // CHECK-NEXT: flow.units @left on [0, :] words 64 main_thread medium attributes {note = "kept"} {
  flow.units @left on [0, :] words 64 main_thread medium attributes {note = "kept"} {
    // CHECK-NEXT: flow.buffer @u at 0 : memref<4x4xf32>
    flow.buffer @u at 0 : memref<4x4xf32>
    // CHECK-NEXT: flow.buffer @scratch at 34 : memref<2xf32> undefined
    flow.buffer @scratch at 34 : memref<2xf32> undefined
    // CHECK-NEXT: flow.buffer @count at 32 : memref<i16> = dense<7>
    flow.buffer @count at 32 : memref<i16> = dense<7>
    // Buffers may lie over one another.
    // CHECK-NEXT: flow.buffer @halves at 0 : memref<4xbf16> = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> attributes {note = "kept"}
    flow.buffer @halves at 0 : memref<4xbf16> = dense<[1.0, 2.0, 3.0, 4.0]> attributes {note = "kept"}
    // CHECK-NEXT: flow.buffer @words at 0 : memref<64xi16>
    flow.buffer @words at 0 : memref<64xi16>
    // CHECK-NEXT: flow.param @c = dense<5.000000e-01> : tensor<f32>
    flow.param @c = dense<0.5> : tensor<f32>
    // CHECK-NEXT: flow.param @row = dense<{{\[\[}}0, 0, 0], [1, 1, 1]]> : tensor<2x3xi16>
    flow.param @row = dense<[[0, 0, 0], [1, 1, 1]]> : tensor<2x3xi16>
    // CHECK-NEXT: flow.export @u as "u"
    flow.export @u as "u"
    // CHECK-NEXT: flow.export @count as "steps" unsigned read_only
    flow.export @count as "steps" unsigned read_only
    // CHECK-NEXT: flow.initialize @words[63] = -2
    flow.initialize @words[63] = -2
    // CHECK-NEXT: flow.initialize @words[0] = @row attributes {note = "kept"}
    flow.initialize @words[0] = @row attributes {note = "kept"}
    // CHECK-NEXT: flow.export @count as "y" points_to memref<24xf32>
    flow.export @count as "y" points_to memref<24xf32>
    // CHECK-NEXT: flow.export @count as "z" points_to memref<?xi32> unsigned read_only
    flow.export @count as "z" points_to memref<?xi32> unsigned read_only
    // CHECK-NEXT: flow.export @main as "main"
    flow.export @main as "main"
    // CHECK-NEXT: flow.queue input @in id 2 colors [@east on [::2, :] + [1, 0], @south on [1, 1]]
    flow.queue input @in id 2 colors [@east on [::2, :] + [1, 0], @south on [1, 1]]
    // Queues that are not on one PE with different colors may share an id.
    // CHECK-NEXT: flow.queue input @other id 2 colors [@east on [1, 0]] attributes {note = "kept"}
    flow.queue input @other id 2 colors [@east on [1, 0]] attributes {note = "kept"}
    // CHECK-NEXT: flow.queue output @out id 2 colors [@south on [:, :]]
    flow.queue output @out id 2 colors [@south on [:, :]]
    // CHECK-NEXT: flow.func @main(%n: i16, %scale: f32) attributes {note = "kept"} {
    flow.func @main(%n: i16, %scale: f32) attributes {note = "kept"} {
      // CHECK-NEXT: %x = flow.coordinate x : i16
      %x = flow.coordinate x : i16
      // CHECK-NEXT: %height = flow.extent y {note = "kept"} : index
      %height = flow.extent y {note = "kept"} : index
      // CHECK-NEXT: %c = flow.get_param @c : f32
      %c = flow.get_param @c : f32
      // CHECK-NEXT: %v = flow.load @u[%height, %height] : f32
      %v = flow.load @u[%height, %height] : f32
      // CHECK-NEXT: %v1 = flow.load %n[%height] : f32
      %v1 = flow.load %n[%height] : f32
      // CHECK-NEXT: %v2 = flow.load %n[] {note = "kept"} : i16
      %v2 = flow.load %n[] {note = "kept"} : i16
      // CHECK-NEXT: flow.store %v1, %n[%height] : f32
      flow.store %v1, %n[%height] : f32
      // CHECK-NEXT: flow.store %v2, %n[] {note = "kept"} : i16
      flow.store %v2, %n[] {note = "kept"} : i16
      // CHECK-NEXT: flow.directive "broadcast" along "x", %v2, %v2
      flow.directive "broadcast" along "x", %v2, %v2
      // CHECK-NEXT: flow.set_clock "reset"
      flow.set_clock "reset"
      // CHECK-NEXT: %low, %middle, %high = flow.timestamp
      %low, %middle, %high = flow.timestamp
      // CHECK-NEXT: flow.print "{u} {f}", %low, %v : i16, f32
      flow.print "{u} {f}", %low, %v : i16, f32
      // CHECK-NEXT: %yes = arith.constant true
      %yes = arith.constant true
      // CHECK-NEXT: %table = arith.constant 3 : i16
      %table = arith.constant 3 : i16
      // CHECK-NEXT: flow.assert %yes, "no table {u}", %table : i16
      flow.assert %yes, "no table {u}", %table : i16
      // CHECK-NEXT: flow.assert %yes, "it holds"
      flow.assert %yes, "it holds"
      // CHECK-NEXT: flow.store %n, @count[] : i16
      flow.store %n, @count[] : i16
      // CHECK-NEXT: flow.activate @step
      flow.activate @step
      // CHECK-NEXT: flow.block @step
      flow.block @step
      // CHECK-NEXT: flow.unblock @receive
      flow.unblock @receive
      // CHECK-NEXT: flow.unblock @in
      flow.unblock @in
      // CHECK-NEXT: %row = flow.stream @u at 0 strides [1] extents [4] : !flow.stream<f32>
      %row = flow.stream @u at 0 strides [1] extents [4] : !flow.stream<f32>
      // CHECK-NEXT: %there = flow.stream %n at %x strides [1] extents [%n] : !flow.stream<f32>
      %there = flow.stream %n at %x strides [1] extents [%n] : !flow.stream<f32>
      // CHECK-NEXT: %rebased = flow.rebase %there, %x : !flow.stream<f32>
      %rebased = flow.rebase %there, %x : !flow.stream<f32>
      // CHECK-NEXT: %square = flow.stream @u at %x strides [1, %n] extents [%n, 2] {note = "kept"} : !flow.stream<f32>
      %square = flow.stream @u at %x strides [1, %n] extents [%n, 2] {note = "kept"} : !flow.stream<f32>
      // CHECK-NEXT: %end = flow.stream @u at 15 strides [-1] extents [16] : !flow.stream<f32>
      %end = flow.stream @u at 15 strides [-1] extents [16] : !flow.stream<f32>
      // CHECK-NEXT: %ring = flow.circular_stream @u extent 20 wraparound 5 {note = "kept"} : !flow.stream<f32>
      %ring = flow.circular_stream @u extent 20 wraparound 5 {note = "kept"} : !flow.stream<f32>
      // CHECK-NEXT: %pointed = flow.circular_stream %x extent 3 wraparound 65535 : !flow.stream<f32>
      %pointed = flow.circular_stream %x extent 3 wraparound 65535 : !flow.stream<f32>
      // CHECK-NEXT: %longer = flow.resize %ring, %n : !flow.stream<f32>
      %longer = flow.resize %ring, %n : !flow.stream<f32>
      // CHECK-NEXT: %cleared = flow.queue_stream @out extent 4 zero second control_transform : !flow.stream<i32>
      %cleared = flow.queue_stream @out extent 4 zero second control_transform : !flow.stream<i32>
      // CHECK-NEXT: %west = flow.queue_stream @in extent 4 : !flow.stream<f32>
      %west = flow.queue_stream @in extent 4 : !flow.stream<f32>
      // CHECK-NEXT: %packed = flow.queue_stream @in extent %n packed : !flow.stream<f16>
      %packed = flow.queue_stream @in extent %n packed : !flow.stream<f16>
      // CHECK-NEXT: %pairs = flow.queue_stream @in extent 4 in_pairs : !flow.stream<f32>
      %pairs = flow.queue_stream @in extent 4 in_pairs : !flow.stream<f32>
      // CHECK-NEXT: %to = flow.queue_stream @out extent %n control {note = "kept"} : !flow.stream<f32>
      %to = flow.queue_stream @out extent %n control {note = "kept"} : !flow.stream<f32>
      // CHECK-NEXT: %moved = flow.advance %square, %n : !flow.stream<f32>
      %moved = flow.advance %square, %n : !flow.stream<f32>
      // CHECK-NEXT: %shorter = flow.resize %west, %n {note = "kept"} : !flow.stream<f32>
      %shorter = flow.resize %west, %n {note = "kept"} : !flow.stream<f32>
      // CHECK-NEXT: %wider = flow.restride %row, %n : !flow.stream<f32>
      %wider = flow.restride %row, %n : !flow.stream<f32>
      // CHECK-NEXT: flow.apply fmacs %wider, %wider, %moved, %scale {note = "kept"} : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>, f32
      flow.apply fmacs %wider, %wider, %moved, %scale {note = "kept"} : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>, f32
      // CHECK-NEXT: flow.apply fmovs %row, %shorter async(microthread = 0, activate = @step, priority = high) : !flow.stream<f32>, !flow.stream<f32>
      flow.apply fmovs %row, %shorter async(microthread = 0, activate = @step, priority = high) : !flow.stream<f32>, !flow.stream<f32>
      // CHECK-NEXT: flow.apply fmovs %to, %c async(microthread = 7, unblock = @in) : !flow.stream<f32>, f32
      flow.apply fmovs %to, %c async(microthread = 7, unblock = @in) : !flow.stream<f32>, f32
      // CHECK-NEXT: %inner = arith.cmpi eq, %x, %n : i16
      %inner = arith.cmpi eq, %x, %n : i16
      // Streams pass through branches, loops and calls.
      // CHECK-NEXT: %chosen = scf.if %inner -> (!flow.stream<f32>) {
      %chosen = scf.if %inner -> (!flow.stream<f32>) {
        scf.yield %row : !flow.stream<f32>
      } else {
        scf.yield %to : !flow.stream<f32>
      }
      flow.apply fmovs %chosen, %end : !flow.stream<f32>, !flow.stream<f32>
      %last = scf.for %i = %x to %n step %n iter_args(%walk = %end) -> (!flow.stream<f32>) : i16 {
        %next = flow.advance %walk, %i : !flow.stream<f32>
        scf.yield %next : !flow.stream<f32>
      }
      // CHECK: %same, %d = flow.call @both(%last, %c) : (!flow.stream<f32>, f32) -> (!flow.stream<f32>, f32)
      %same, %d = flow.call @both(%last, %c) : (!flow.stream<f32>, f32) -> (!flow.stream<f32>, f32)
      flow.apply fmovs %same, %d : !flow.stream<f32>, f32
      // CHECK: flow.call @nothing() : () -> ()
      flow.call @nothing() : () -> ()
      // CHECK-NEXT: flow.return
      flow.return
    }
    // A body may end without flow.return.
    // CHECK-LABEL: flow.func @nothing {
    // CHECK-NEXT: flow.return
    flow.func @nothing {
    }
    // CHECK-LABEL: flow.func @both(%s: !flow.stream<f32>, %f: f32) -> (!flow.stream<f32>, f32) {
    flow.func @both(%s: !flow.stream<f32>, %f: f32) -> (!flow.stream<f32>, f32) {
      // CHECK-NEXT: flow.return %s, %f : !flow.stream<f32>, f32
      flow.return %s, %f : !flow.stream<f32>, f32
    }
    // CHECK-LABEL: flow.task local @step id 9 active blocked {
    flow.task local @step id 9 active blocked {
      flow.return
    }
    // CHECK-LABEL: flow.task data @receive id 2 on @in blocked (%low: i16, %high: f16) {
    flow.task data @receive id 2 on @in blocked (%low: i16, %high: f16) {
      flow.return
    }
    // CHECK-LABEL: flow.task data @second id 2 on @other (%value: bf16) attributes {note = "kept"} {
    flow.task data @second id 2 on @other (%value: bf16) attributes {note = "kept"} {
      flow.return
    }
    // CHECK-LABEL: flow.task control @end id 5 {
    flow.task control @end id 5 {
      flow.return
    }
  }
  // CHECK-LABEL: flow.units @right on [1, :] + [2, 0] words 0 {
  flow.units @right on [1, :] + [2, 0] words 0 {
  }
}
