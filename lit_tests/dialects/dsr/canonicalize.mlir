// RUN: loom-opt %s -p canonicalize | filecheck %s
// RUN: loom-opt %s -p cse | filecheck %s --check-prefix CSE
// A load into a register that still holds the same descriptor is dropped.

// CHECK-LABEL: @same_register
func.func @same_register(%d: !dsd.mem1d<f32>) {
  // CHECK-NEXT: %r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
  %r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
  // CHECK-NEXT: "test.op"(%r, %r)
  %s = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
  "test.op"(%r, %s) : (!dsr.src0<f32, 1>, !dsr.src0<f32, 1>) -> ()
  func.return
}

// Loading some register has no effect, so the loads are shared like any other value.
// CSE-LABEL: @unallocated
func.func @unallocated(%d: !dsd.mem1d<f32>, %e: !dsd.mem1d<f32>) {
  // CSE-NEXT: %r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32>
  // CSE-NEXT: %s = dsr.load %e : !dsd.mem1d<f32> -> !dsr.src0<f32>
  // CSE-NEXT: "test.op"(%r, %s, %r)
  %r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32>
  %s = dsr.load %e : !dsd.mem1d<f32> -> !dsr.src0<f32>
  %t = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32>
  "test.op"(%r, %s, %t) : (!dsr.src0<f32>, !dsr.src0<f32>, !dsr.src0<f32>) -> ()
  func.return
}

// CHECK-LABEL: @overwritten
// CSE-LABEL: @overwritten
func.func @overwritten(%d: !dsd.mem1d<f32>, %e: !dsd.mem1d<f32>) {
  // CHECK-NEXT: dsr.load %d
  // CHECK-NEXT: dsr.load %e
  // CHECK-NEXT: dsr.load %d
  // CSE-NEXT: dsr.load %d
  // CSE-NEXT: dsr.load %e
  // CSE-NEXT: dsr.load %d
  %r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
  %s = dsr.load %e : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
  %t = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
  "test.op"(%r, %s, %t) : (!dsr.src0<f32, 1>, !dsr.src0<f32, 1>, !dsr.src0<f32, 1>) -> ()
  func.return
}

// DSR-066: an operation moves a register loaded with save_address, so loading it again starts over.
// CHECK-LABEL: @save_address
// CSE-LABEL: @save_address
func.func @save_address(%d: !dsd.mem1d<f32>) {
  // CHECK-NEXT: dsr.load %d save_address
  // CHECK-NEXT: dsr.load %d save_address
  %r = dsr.load %d save_address : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
  %s = dsr.load %d save_address : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
  // CSE: dsr.load %d save_address : !dsd.mem1d<f32> -> !dsr.dest<f32>
  // CSE-NEXT: dsr.load %d save_address : !dsd.mem1d<f32> -> !dsr.dest<f32>
  %t = dsr.load %d save_address : !dsd.mem1d<f32> -> !dsr.dest<f32>
  %u = dsr.load %d save_address : !dsd.mem1d<f32> -> !dsr.dest<f32>
  "test.op"(%r, %s, %t, %u) : (!dsr.src0<f32, 1>, !dsr.src0<f32, 1>, !dsr.dest<f32>, !dsr.dest<f32>) -> ()
  func.return
}

// The called function may load the register.
// CHECK-LABEL: wse.func @caller
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @e on [:, :] {
    wse.buffer @u : memref<4xf32>
    wse.func @caller() {
      %u = wse.get_buffer @u : memref<4xf32>
      %d = dsd.mem1d %u extent 4 : memref<4xf32>
      // CHECK: %r = dsr.load %d
      %r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
      wse.call @callee() : () -> ()
      // CHECK: %s = dsr.load %d
      %s = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
      "test.op"(%r, %s) : (!dsr.src0<f32, 1>, !dsr.src0<f32, 1>) -> ()
      wse.return
    }
    wse.func @callee() {
      wse.return
    }
  }
}
