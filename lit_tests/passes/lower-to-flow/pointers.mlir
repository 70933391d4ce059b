// RUN: loom-opt -p lower-to-flow %s | filecheck %s
// Addresses become numbers, views vanish into what uses them, and initial values know where buffers lie.

wse.program @pointers target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @h : memref<3xf16>
    wse.buffer @u : memref<8xf32>
    wse.buffer @p : memref<i16>
    wse.buffer @w : memref<2xi16>
    wse.param @c : i16 = dense<7>
    // CHECK: flow.initialize @p[0] = 8
    wse.initialize @p[0] = address_of @u
    // CHECK-NEXT: flow.initialize @w[1] = 16
    wse.initialize @w[1] = address_of @u + 8
    // CHECK-NEXT: flow.initialize @w[0] = @c
    wse.initialize @w[0] = param @c
    // CHECK-NEXT: flow.export @p as "y" points_to memref<?xf32>
    wse.export @p as "y" points_to memref<?xf32>

    // CHECK-LABEL: flow.func @access(%i: index, %k: i16) {
    wse.func @access(%i: index, %k: i16) {
      // CHECK-NEXT: %a = arith.constant 8 : i16
      %a = wse.address_of @u : i16
      %v = wse.view %a : memref<?xf32>
      // CHECK-NEXT: %x = flow.load %a[%i] : f32
      %x = memref.load %v[%i] : memref<?xf32>
      %s = wse.view %k : memref<f32>
      // CHECK-NEXT: flow.store %x, %k[] : f32
      memref.store %x, %s[] : memref<f32>
      // CHECK-NEXT: %d = flow.stream %a at %k strides [2] extents [4] : !flow.stream<f32>
      %d = dsd.mem1d %v at %k stride 2 extent 4 : memref<?xf32>
      // The destination of a reduction.
      // CHECK-NEXT: %[[S:.*]] = flow.stream %k at 0 strides [0] extents [65535] : !flow.stream<f32>
      // CHECK-NEXT: flow.apply fmaxs %[[S]], %x, %d
      dsd.fmaxs %s, %x, %d : memref<f32>, f32, !dsd.mem1d<f32>
      // CHECK-NEXT: %e = flow.rebase %d, %k : !flow.stream<f32>
      %t = wse.view %k : memref<?xf32>
      %e = dsd.set_base %d, %t : !dsd.mem1d<f32>, memref<?xf32>
      // CHECK-NEXT: flow.set_clock "start"
      wse.set_clock "start"
      // CHECK-NEXT: %low, %middle, %high = flow.timestamp
      %low, %middle, %high = wse.timestamp : i16, i16, i16
      // CHECK-NEXT: flow.directive "gather" along "y", %low, %high
      wse.directive "gather" along "y", %low, %high
      // CHECK-NEXT: flow.print "{d}", %low : i16
      wse.print "{d}", %low : i16
      // CHECK: flow.assert %{{.*}}, "it holds"
      %yes = arith.constant true
      wse.assert %yes, "it holds"
      wse.return
    }

    // The walk is not known here, so it goes over memory from the buffer's address on.
    // CHECK-LABEL: flow.func @based(%d: !flow.stream<f32>) {
    wse.func @based(%d: !dsd.mem1d<f32>) {
      %u = wse.get_buffer @u : memref<8xf32>
      // CHECK-NEXT: %[[A:.*]] = arith.constant 8 : i16
      // CHECK-NEXT: %e = flow.rebase %d, %[[A]] : !flow.stream<f32>
      %e = dsd.set_base %d, %u : !dsd.mem1d<f32>, memref<8xf32>
      wse.return
    }
  }
}
