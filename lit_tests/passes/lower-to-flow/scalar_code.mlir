// RUN: loom-opt -p lower-to-flow %s | filecheck %s
// Scalar code and structured control flow stay; memory is named by its buffer.

wse.program @scalars target "wse3" rectangle 2 x 2 {
  wse.pe @cell on [:, :] {
    wse.buffer @v : memref<4x8xf32>
    wse.buffer @n : memref<i16>
    wse.param @c : f32 = dense<0.5>

    // CHECK-LABEL: flow.func @square(%a: f32) -> (f32) {
    // CHECK-NEXT: %[[P:.*]] = arith.mulf %a, %a : f32
    // CHECK-NEXT: flow.return %[[P]] : f32
    wse.func @square(%a: f32) -> f32 {
      %p = arith.mulf %a, %a : f32
      wse.return %p : f32
    }

    // CHECK-LABEL: flow.task local @memory
    wse.task @memory local {
      %v = wse.get_buffer @v : memref<4x8xf32>
      %n = wse.get_buffer @n : memref<i16>
      %i = arith.constant 1 : index
      // CHECK: %[[A:.*]] = flow.load @v[%i, %i] : f32
      %a = memref.load %v[%i, %i] : memref<4x8xf32>
      // CHECK-NEXT: flow.store %[[A]], @v[%i, %i] : f32
      memref.store %a, %v[%i, %i] : memref<4x8xf32>
      // CHECK-NEXT: %{{.*}} = flow.load @n[] : i16
      %k = memref.load %n[] : memref<i16>
      // The extents of an array are known.
      // CHECK-NEXT: %[[D:.*]] = arith.constant 8 : index
      // CHECK-NEXT: arith.index_cast %[[D]] : index to i16
      %columns = memref.dim %v, %i : memref<4x8xf32>
      %narrow = arith.index_cast %columns : index to i16
      wse.return
    }

    // CHECK-LABEL: flow.task local @machine
    wse.task @machine local {
      // CHECK-NEXT: %[[X:.*]] = flow.coordinate x : i16
      %x = wse.coordinate x : i16
      // CHECK-NEXT: flow.extent y : i16
      %height = wse.extent y : i16
      // CHECK-NEXT: %[[C:.*]] = flow.get_param @c : f32
      %c = wse.get_param @c : f32
      // CHECK-NEXT: %{{.*}} = flow.call @square(%[[C]]) : (f32) -> f32
      %s = wse.call @square(%c) : (f32) -> f32
      // CHECK-NEXT: %[[R:.*]] = math.sqrt %{{.*}} : f32
      %r = math.sqrt %s : f32
      // CHECK-NEXT: flow.activate @memory
      wse.activate @memory
      // CHECK-NEXT: flow.block @machine
      wse.block @machine
      // CHECK-NEXT: flow.unblock @machine
      wse.unblock @machine
      wse.return
    }

    // CHECK-LABEL: flow.task local @control
    wse.task @control local {
      %low = arith.constant 0 : i16
      %high = arith.constant 9 : i16
      %first = arith.constant 0.0 : f32
      // CHECK: %[[SUM:.*]] = scf.for %k = %low to %high step %{{.*}} iter_args(%sum = %first) -> (f32) : i16 {
      %step = arith.constant 1 : i16
      %total = scf.for %k = %low to %high step %step iter_args(%sum = %first) -> (f32) : i16 {
        %even = arith.cmpi eq, %k, %low : i16
        // CHECK: %[[NEXT:.*]] = scf.if %{{.*}} -> (f32) {
        %next = scf.if %even -> (f32) {
          scf.yield %sum : f32
        } else {
          %more = arith.addf %sum, %sum : f32
          scf.yield %more : f32
        }
        // CHECK: scf.yield %[[NEXT]] : f32
        scf.yield %next : f32
      }
      // CHECK: scf.while
      %end = scf.while (%k = %low) : (i16) -> i16 {
        %go = arith.cmpi ult, %k, %high : i16
        scf.condition(%go) %k : i16
      } do {
      ^bb0(%k: i16):
        %next = arith.addi %k, %step : i16
        scf.yield %next : i16
      }
      wse.return
    }
  }
}
