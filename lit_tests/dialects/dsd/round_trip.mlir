// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// Descriptors in their own and in generic form, printed as they were written.

// CHECK-LABEL: func.func @descriptors(%A: memref<4x5xf32>, %h: memref<10xf16>, %one: memref<f16>, %n: i16) {
func.func @descriptors(%A: memref<4x5xf32>, %h: memref<10xf16>, %one: memref<f16>, %n: i16) {
  // CHECK-NEXT: %t = dsd.tensor_access %A affine_map<(d0, d1) -> ((d0 + d1), (d1 + 2))> extents [5, 5] : memref<4x5xf32> -> !dsd.mem4d<f32>
  %t = dsd.tensor_access %A affine_map<(i, j) -> (i + j, j + 2)> extents [5, 5] : memref<4x5xf32> -> !dsd.mem4d<f32>
  // CHECK-NEXT: %diagonal = dsd.tensor_access %A affine_map<(d0) -> (d0, d0)> extents [4] {wavelet_index_offset} : memref<4x5xf32> -> !dsd.mem1d<f32>
  %diagonal = dsd.tensor_access %A affine_map<(i) -> (i, i)> extents [4] {wavelet_index_offset} : memref<4x5xf32> -> !dsd.mem1d<f32>
  // DSD-010, DSD-012: stride 1 and offset 0 need not be written, and are not printed.
  // CHECK-NEXT: %d = dsd.mem1d %A extent 5 : memref<4x5xf32>
  %d = dsd.mem1d %A at 0 stride 1 extent 5 : memref<4x5xf32>
  // CHECK-NEXT: %e = dsd.mem1d %A at -3 stride -128 extent 65535 : memref<4x5xf32>
  %e = dsd.mem1d %A at -3 stride -128 extent 65535 : memref<4x5xf32>
  // DSD-037: every field can be a run-time value.
  // CHECK-NEXT: %f = dsd.mem1d %A at %n stride %n extent %n {wavelet_index_offset} : memref<4x5xf32>
  %f = dsd.mem1d %A at %n stride %n extent %n {wavelet_index_offset} : memref<4x5xf32>
  // DSD-062: strides innermost first, extents outermost first.
  // CHECK-NEXT: %q = dsd.mem4d %A at 2 strides [1, -2] extents [2, 4] : memref<4x5xf32>
  %q = dsd.mem4d %A at 2 strides [1, -2] extents [2, 4] : memref<4x5xf32>
  // DSD-048: the offset can be a run-time value, the strides can be left out.
  // CHECK-NEXT: %r = dsd.mem4d %A at %n extents [2, 3, 1, 0] {wavelet_index_offset} : memref<4x5xf32>
  %r = dsd.mem4d %A at %n extents [2, 3, 1, 0] {wavelet_index_offset} : memref<4x5xf32>
  // CHECK-NEXT: %s = dsd.mem4d %A at %n strides [%n, 1, %n] extents [2, %n, 5] : memref<4x5xf32>
  %s = dsd.mem4d %A at %n strides [%n, 1, %n] extents [2, %n, 5] : memref<4x5xf32>
  // CHECK-NEXT: %c = dsd.circbuf %h extent 20 : memref<10xf16>
  %c = dsd.circbuf %h extent 20 : memref<10xf16>
  // DSD-090: an element pointer is a base if the wraparound is given.
  // CHECK-NEXT: %c1 = dsd.circbuf %one extent 20 wraparound 5 : memref<f16>
  %c1 = dsd.circbuf %one extent 20 wraparound 5 : memref<f16>
  // CHECK-NEXT: %i = dsd.fabin @from_west extent 64 : !dsd.fabin<f32>
  %i = dsd.fabin @from_west extent 64 : !dsd.fabin<f32>
  // CHECK-NEXT: %j = dsd.fabin color @east0 extent %n {control_transform, simd = simd_32_or_64, priority = low} : !dsd.fabin<f32>
  %j = dsd.fabin color @east0 extent %n {control_transform, simd = simd_32_or_64, priority = low} : !dsd.fabin<f32>
  // CHECK-NEXT: %o = dsd.fabout @to_east color @east0 extent 1 {control, advance_switch} : !dsd.fabout<i32>
  %o = dsd.fabout @to_east color @east0 extent 1 {control, advance_switch} : !dsd.fabout<i32>
  // CHECK-NEXT: %p = dsd.fabout @to_east extent %n {wavelet_index_offset, zero = second_source, note = "kept"} : !dsd.fabout<i16>
  %p = dsd.fabout @to_east extent %n {wavelet_index_offset, zero = second_source, note = "kept"} : !dsd.fabout<i16>
  // CHECK-NEXT: %moved = dsd.increment_offset %q, -10 : !dsd.mem4d<f32>
  %moved = dsd.increment_offset %q, -10 : !dsd.mem4d<f32>
  // CHECK-NEXT: %longer = dsd.set_length %i, %n {note = "kept"} : !dsd.fabin<f32>
  %longer = dsd.set_length %i, %n {note = "kept"} : !dsd.fabin<f32>
  // CHECK-NEXT: %wider = dsd.set_stride %d, 3 : !dsd.mem1d<f32>
  %wider = dsd.set_stride %d, 3 : !dsd.mem1d<f32>
  // CHECK-NEXT: %elsewhere = dsd.set_base %d, %A : !dsd.mem1d<f32>, memref<4x5xf32>
  %elsewhere = dsd.set_base %d, %A : !dsd.mem1d<f32>, memref<4x5xf32>
  // CHECK-NEXT: func.return
  func.return
}

// CHECK-LABEL: func.func @settings(%o: !dsd.fabout<f32>, %d: !dsd.mem1d<f32>, %n: i16) {
func.func @settings(%o: !dsd.fabout<f32>, %d: !dsd.mem1d<f32>, %n: i16) {
  // CHECK-NEXT: dsd.fmovs %o, %d async : !dsd.fabout<f32>, !dsd.mem1d<f32>
  dsd.fmovs %o, %d async : !dsd.fabout<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fmovs %o, %d async(activate = @sent, on_control = terminate, ut = 3) : !dsd.fabout<f32>, !dsd.mem1d<f32>
  dsd.fmovs %o, %d async(ut = 3, on_control = terminate, activate = @sent) : !dsd.fabout<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fmovs %o, %d async(unblock = @sent, on_control = activate @sent, priority = medium) : !dsd.fabout<f32>, !dsd.mem1d<f32>
  dsd.fmovs %o, %d async(unblock = @sent, on_control = activate @sent, priority = medium) : !dsd.fabout<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: dsd.fmovs %o, %d async(on_control = unblock @sent) index(%n) {note = "kept"} : !dsd.fabout<f32>, !dsd.mem1d<f32>
  dsd.fmovs %o, %d async(on_control = unblock @sent) index(%n) {note = "kept"} : !dsd.fabout<f32>, !dsd.mem1d<f32>
  // CHECK-NEXT: func.return
  func.return
}

// A descriptor is a value like any other: a loop may carry it.
// CHECK: %last = scf.for %k = %c0 to %c4 step %c1 iter_args(%d1 = %d) -> (!dsd.mem1d<f32>) {
func.func @carried(%d: !dsd.mem1d<f32>) -> !dsd.mem1d<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %last = scf.for %k = %c0 to %c4 step %c1 iter_args(%d1 = %d) -> (!dsd.mem1d<f32>) {
    // CHECK-NEXT: %d2 = dsd.increment_offset %d1, 8 : !dsd.mem1d<f32>
    %d2 = dsd.increment_offset %d1, 8 : !dsd.mem1d<f32>
    scf.yield %d2 : !dsd.mem1d<f32>
  }
  func.return %last : !dsd.mem1d<f32>
}

// CHECK-LABEL: func.func private @fifo(!dsd.fifo<i16>) -> ()
func.func private @fifo(!dsd.fifo<i16>) -> ()
