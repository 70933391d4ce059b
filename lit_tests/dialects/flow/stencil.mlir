// RUN: loom-opt %s | loom-opt | filecheck %s
// A one-dimensional stencil: every construct of a fabric, printed as it was written.

// CHECK-LABEL: flow.fabric @stencil target "wse3" grid 4 by 3 {
flow.fabric @stencil target "wse3" grid 4 by 3 {
  // CHECK-NEXT: flow.color @east0 = 0
  flow.color @east0 = 0
  flow.color @east1 = 1
  // CHECK: flow.route @east0 on [::2, :] from [ramp] to [east]
  flow.route @east0 on [::2, :] from [ramp] to [east]
  flow.route @east0 on [1::2, :] from [west] to [ramp]
  flow.route @east1 on [1::2, :] from [ramp] to [east]
  flow.route @east1 on [::2, :] from [west] to [ramp]
  // CHECK-LABEL: flow.units @cell on [:, :] words 384 {
  flow.units @cell on [:, :] words 384 {
    // CHECK-NEXT: flow.buffer @u at 0 : memref<64xf32> = dense<1.000000e+00>
    flow.buffer @u at 0 : memref<64xf32> = dense<1.0>
    flow.buffer @halo at 128 : memref<64xf32>
    flow.buffer @count at 256 : memref<i16> = dense<0>
    // CHECK: flow.param @c = dense<5.000000e-01> : tensor<f32>
    flow.param @c = dense<0.5> : tensor<f32>
    // CHECK: flow.export @u as "u"
    flow.export @u as "u"
    flow.export @main as "main"
    // CHECK: flow.queue input @from_west id 2 colors [@east0 on [1::2, :], @east1 on [::2, :]]
    flow.queue input @from_west id 2 colors [@east0 on [1::2, :], @east1 on [::2, :]]
    flow.queue output @to_east id 2 colors [@east0 on [::2, :], @east1 on [1::2, :]]
    // CHECK-LABEL: flow.func @main(%n: i16) {
    flow.func @main(%n: i16) {
      %x = flow.coordinate x : i16
      %zero = arith.constant 0 : i16
      %inner = arith.cmpi sgt, %x, %zero : i16
      %halo = flow.stream @halo at 0 strides [1] extents [64] : !flow.stream<f32>
      scf.if %inner {
        // CHECK: %[[W:[a-z0-9]+]] = flow.queue_stream @from_west extent 64 : !flow.stream<f32>
        %west = flow.queue_stream @from_west extent 64 : !flow.stream<f32>
        // CHECK: flow.apply fmovs %{{.*}}, %[[W]] async(microthread = 2, activate = @received) : !flow.stream<f32>, !flow.stream<f32>
        flow.apply fmovs %halo, %west async(microthread = 2, activate = @received) : !flow.stream<f32>, !flow.stream<f32>
      }
      %width = flow.extent x : i16
      %one = arith.constant 1 : i16
      %last = arith.subi %width, %one : i16
      %sends = arith.cmpi slt, %x, %last : i16
      %u = flow.stream @u at 0 strides [1] extents [%n] : !flow.stream<f32>
      scf.if %sends {
        %east = flow.queue_stream @to_east extent %n : !flow.stream<f32>
        flow.apply fmovs %east, %u async(microthread = 3) : !flow.stream<f32>, !flow.stream<f32>
      }
      flow.return
    }
    // CHECK-LABEL: flow.task local @received id 8 blocked {
    flow.task local @received id 8 blocked {
      %c = flow.get_param @c : f32
      %halo = flow.stream @halo at 0 strides [1] extents [64] : !flow.stream<f32>
      %u = flow.stream @u at 0 strides [1] extents [64] : !flow.stream<f32>
      flow.apply fmacs %u, %u, %halo, %c : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>, f32
      %count = flow.load @count[] : i16
      %step = arith.constant 1 : i16
      %next = arith.addi %count, %step : i16
      flow.store %next, @count[] : i16
      flow.return
    }
  }
}
