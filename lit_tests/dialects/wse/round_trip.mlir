// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// Every operation of wse, in its own and in generic form, prints as it was written.

// CHECK-LABEL: wse.program @stencil target "wse3" rectangle 3 x 2 {
wse.program @stencil target "wse3" rectangle 3 x 2 {
  // CHECK-NEXT: wse.color @east0
  wse.color @east0
  // CHECK-NEXT: wse.color @east1 = 3
  wse.color @east1 = 3
  // CHECK-NEXT: wse.route @east0 on [::2, :] from [ramp] to [east]
  wse.route @east0 on [::2, :] from [ramp] to [east]
  // CHECK-NEXT: wse.route @east0 on [1::2, :] + [0, -1] from [west, north] to [ramp, south]
  wse.route @east0 on [1::2, :] + [0, -1] from [west, north] to [ramp, south]
  // CHECK-NEXT: wse.route @east0 on [0, 0] from [ramp] to [north] switch [to [west], to [east, ramp], from [south]] at 1 ring pop_on_advance
  wse.route @east0 on [0, 0] from [ramp] to [north] switch [to [west], to [east, ramp], from [south]] at 1 ring pop_on_advance
  // CHECK-NEXT: wse.route @east0 on [0, 0] from [ramp] to [] switch [from [north] to [east], invalid, to [west]]
  wse.route @east0 on [0, 0] from [ramp] to [] switch [from [north] to [east], invalid, to [west]] no_pop
  // CHECK-NEXT: wse.route @east0 on [0, 0] from [ramp] to [east] switch [] always_pop
  wse.route @east0 on [0, 0] from [ramp] to [east] switch [] always_pop
  // CHECK-NEXT: wse.pe @cell on [:, :] main_thread high attributes {note = "kept"} {
  wse.pe @cell on [:, :] main_thread high attributes {note = "kept"} {
    // CHECK-NEXT: wse.buffer @u : memref<64xf32>
    wse.buffer @u : memref<64xf32>
    // CHECK-NEXT: wse.buffer @scratch : memref<8xf32> undefined align 16
    wse.buffer @scratch : memref<8xf32> undefined align 16
    // CHECK-NEXT: wse.buffer @count : memref<i16> = dense<7> align 16
    wse.buffer @count : memref<i16> = dense<7> align 16
    // CHECK-NEXT: wse.buffer @w : memref<2x2xf16> = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]>
    wse.buffer @w : memref<2x2xf16> = dense<[[1.0, 2.0], [3.0, 4.0]]>
    // CHECK-NEXT: wse.param @c : f32 = dense<5.000000e-01>
    wse.param @c : f32 = dense<0.5>
    // CHECK-NEXT: wse.param @row : i16 over 3 x 2 = dense<{{\[\[}}0, 0, 0], [1, 1, 1]]>
    wse.param @row : i16 over 3 x 2 = dense<[[0, 0, 0], [1, 1, 1]]>
    // CHECK-NEXT: wse.export @u
    wse.export @u
    // CHECK-NEXT: wse.export @count as "steps" unsigned read_only
    wse.export @count as "steps" unsigned read_only
    // CHECK-NEXT: wse.buffer @p : memref<i16>
    wse.buffer @p : memref<i16>
    // CHECK-NEXT: wse.buffer @q : memref<3xi16>
    wse.buffer @q : memref<3xi16>
    // CHECK-NEXT: wse.initialize @p[0] = address_of @u
    wse.initialize @p[0] = address_of @u
    // CHECK-NEXT: wse.initialize @q[2] = address_of @u + 4
    wse.initialize @q[2] = address_of @u + 4
    // CHECK-NEXT: wse.initialize @q[0] = param @row attributes {note = "kept"}
    wse.initialize @q[0] = param @row attributes {note = "kept"}
    // CHECK-NEXT: wse.export @p as "y" points_to memref<24xf32>
    wse.export @p as "y" points_to memref<24xf32>
    // CHECK-NEXT: wse.export @p as "z" points_to memref<?xi16> unsigned read_only
    wse.export @p as "z" points_to memref<?xi16> unsigned read_only
    // CHECK-NEXT: wse.export @main
    wse.export @main
    // CHECK-NEXT: wse.input_queue @from_west colors [@east0 on [1::2, :], @east1 on [::2, 0] + [0, 1]]
    wse.input_queue @from_west colors [@east0 on [1::2, :], @east1 on [::2, 0] + [0, 1]]
    // CHECK-NEXT: wse.output_queue @to_east color @east0 id 2
    wse.output_queue @to_east color @east0 id 2
    // CHECK-NEXT: wse.func @main(%iterations: i16, %scale: f32) {
    wse.func @main(%iterations: i16, %scale: f32) {
      // CHECK-NEXT: %u = wse.get_buffer @u : memref<64xf32>
      %u = wse.get_buffer @u : memref<64xf32>
      // CHECK-NEXT: %a = wse.address_of @u : i16
      %a = wse.address_of @u : i16
      // CHECK-NEXT: %m = wse.view %a : memref<?xf32>
      %m = wse.view %a : memref<?xf32>
      // CHECK-NEXT: %s = wse.view %a : memref<f16>
      %s = wse.view %a : memref<f16>
      // CHECK-NEXT: wse.directive "broadcast" along "x", %a, %a
      wse.directive "broadcast" along "x", %a, %a
      // CHECK-NEXT: wse.set_clock "start"
      wse.set_clock "start"
      // CHECK-NEXT: %low, %middle, %high = wse.timestamp : i16, i16, i16
      %low, %middle, %high = wse.timestamp : i16, i16, i16
      // CHECK-NEXT: wse.print "plain\0A"
      wse.print "plain\n"
      // CHECK-NEXT: wse.print "{u} {d} {x} {f} {{[{][{]}}", %low, %low, %high, %scale : i16, i16, i16, f32
      wse.print "{u} {d} {x} {f} {{", %low, %low, %high, %scale : i16, i16, i16, f32
      // CHECK-NEXT: %yes = arith.constant true
      %yes = arith.constant true
      // CHECK-NEXT: %table = arith.constant 3 : i16
      %table = arith.constant 3 : i16
      // CHECK-NEXT: wse.assert %yes, "no table {u}", %table
      wse.assert %yes, "no table {u}", %table
      // CHECK-NEXT: wse.assert %yes, "it holds"
      wse.assert %yes, "it holds"
      // CHECK-NEXT: %mask = arith.constant -129 : i16
      %mask = arith.constant -129 : i16
      // CHECK-NEXT: wse.set_exception_mask %mask
      wse.set_exception_mask %mask
      // CHECK-NEXT: %x = wse.coordinate x : i16
      %x = wse.coordinate x : i16
      // CHECK-NEXT: %height = wse.extent y : i16
      %height = wse.extent y : i16
      // CHECK-NEXT: %c = wse.get_param @c : f32
      %c = wse.get_param @c : f32
      // CHECK-NEXT: %d = wse.call @square(%c) : (f32) -> f32
      %d = wse.call @square(%c) : (f32) -> f32
      // CHECK-NEXT: wse.call @nothing() : () -> ()
      wse.call @nothing() : () -> ()
      // CHECK-NEXT: wse.activate @step
      wse.activate @step
      // CHECK-NEXT: wse.block @step
      wse.block @step
      // CHECK-NEXT: wse.unblock @receive
      wse.unblock @receive
      // CHECK-NEXT: wse.unblock @from_west
      wse.unblock @from_west
      // CHECK-NEXT: wse.return
      wse.return
    }
    // A body may end without wse.return.
    // CHECK-LABEL: wse.func @nothing() {
    // CHECK-NEXT: wse.return
    wse.func @nothing() {
    }
    // CHECK-LABEL: wse.func @square(%x{{.*}}: f32) -> f32 {
    wse.func @square(%x: f32) -> f32 {
      %y = arith.mulf %x, %x : f32
      // CHECK: wse.return %y{{.*}} : f32
      wse.return %y : f32
    }
    // CHECK-LABEL: wse.task @step local id 9 active blocked {
    wse.task @step local id 9 active blocked {
      wse.return
    }
    // CHECK-LABEL: wse.task @receive data @from_west (%value: f32) {
    wse.task @receive data @from_west (%value: f32) {
      wse.return
    }
    // CHECK-LABEL: wse.task @receive_pair data @from_west blocked (%low: i16, %high: f16) {
    wse.task @receive_pair data @from_west blocked (%low: i16, %high: f16) {
      wse.return
    }
    // CHECK-LABEL: wse.task @end control id 5 {
    wse.task @end control id 5 {
      wse.return
    }
  }
}
