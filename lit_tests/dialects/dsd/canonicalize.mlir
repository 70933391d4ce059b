// RUN: loom-opt %s -p canonicalize | filecheck %s
// A derived descriptor becomes a descriptor of its own where its parts are known.

// CHECK-LABEL: @increment_offset
func.func @increment_offset(%A: memref<64xf32>) {
  %d = dsd.mem1d %A at 3 stride 2 extent 5 : memref<64xf32>
  // CHECK-NEXT: %e = dsd.mem1d %A at 7 stride 2 extent 5 : memref<64xf32>
  %e = dsd.increment_offset %d, 4 : !dsd.mem1d<f32>
  // CHECK-NEXT: %f = dsd.mem1d %A stride 2 extent 5 : memref<64xf32>
  %f = dsd.increment_offset %d, -3 : !dsd.mem1d<f32>
  %q = dsd.mem4d %A at 2 strides [1, -2] extents [2, 4] {wavelet_index_offset} : memref<64xf32>
  // CHECK-NEXT: %r = dsd.mem4d %A at 12 strides [1, -2] extents [2, 4] {wavelet_index_offset} : memref<64xf32>
  %r = dsd.increment_offset %q, 10 : !dsd.mem4d<f32>
  "test.op"(%e, %f, %r) : (!dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem4d<f32>) -> ()
  func.return
}

// Of the fields of a mem4d those that are constants become numbers, an extent without its sign.
// CHECK-LABEL: @fields_of_a_mem4d
func.func @fields_of_a_mem4d(%A: memref<64xf32>, %n: i16) {
  %three = arith.constant 3 : i16
  %most = arith.constant -1 : i16
  // CHECK-NEXT: %d = dsd.mem4d %A at 3 strides [%n, -1] extents [65535, %n] {wavelet_index_offset} : memref<64xf32>
  %d = dsd.mem4d %A at %three strides [%n, %most] extents [%most, %n] {wavelet_index_offset} : memref<64xf32>
  // CHECK-NEXT: %e = dsd.mem4d %A extents [3, %n] : memref<64xf32>
  %e = dsd.mem4d %A extents [%three, %n] : memref<64xf32>
  "test.op"(%d, %e) : (!dsd.mem4d<f32>, !dsd.mem4d<f32>) -> ()
  func.return
}

// The sum would not fit an offset, so the machine has to add.
// CHECK-LABEL: @increment_out_of_range
func.func @increment_out_of_range(%A: memref<64xf32>) {
  %d = dsd.mem1d %A at 32767 extent 5 : memref<64xf32>
  // CHECK: %e = dsd.increment_offset %d, 1 : !dsd.mem1d<f32>
  %e = dsd.increment_offset %d, 1 : !dsd.mem1d<f32>
  "test.op"(%e) : (!dsd.mem1d<f32>) -> ()
  func.return
}

// CHECK-LABEL: @increments_add_up
func.func @increments_add_up(%d: !dsd.mem1d<f32>, %n: i16) {
  // CHECK-NEXT: %f = dsd.increment_offset %d, 7 : !dsd.mem1d<f32>
  %e = dsd.increment_offset %d, 4 : !dsd.mem1d<f32>
  %f = dsd.increment_offset %e, 3 : !dsd.mem1d<f32>
  // CHECK-NEXT: %g = dsd.increment_offset %f, %n : !dsd.mem1d<f32>
  %g = dsd.increment_offset %f, %n : !dsd.mem1d<f32>
  "test.op"(%g) : (!dsd.mem1d<f32>) -> ()
  func.return
}

// CHECK-LABEL: @later_change_wins
func.func @later_change_wins(%d: !dsd.mem1d<f32>, %n: i16) {
  // CHECK-NEXT: %f = dsd.set_length %d, %n : !dsd.mem1d<f32>
  %e = dsd.set_length %d, 4 : !dsd.mem1d<f32>
  %f = dsd.set_length %e, %n : !dsd.mem1d<f32>
  "test.op"(%f) : (!dsd.mem1d<f32>) -> ()
  func.return
}

// CHECK-LABEL: @set_length
func.func @set_length(%A: memref<64xf32>, %n: i16) {
  // CHECK-NEXT: %e = dsd.mem1d %A at 3 extent %n : memref<64xf32>
  %d = dsd.mem1d %A at 3 extent 5 : memref<64xf32>
  %e = dsd.set_length %d, %n : !dsd.mem1d<f32>
  // CHECK-NEXT: %j = dsd.fabin @q extent 9 {priority = high} : !dsd.fabin<f32>
  %i = dsd.fabin @q extent 5 {priority = high} : !dsd.fabin<f32>
  %j = dsd.set_length %i, 9 : !dsd.fabin<f32>
  // CHECK-NEXT: %p = dsd.fabout color @c extent 9 {control} : !dsd.fabout<f32>
  %o = dsd.fabout color @c extent 5 {control} : !dsd.fabout<f32>
  %p = dsd.set_length %o, 9 : !dsd.fabout<f32>
  // CHECK-NEXT: %b = dsd.circbuf %A extent 9 wraparound 64 : memref<64xf32>
  %c = dsd.circbuf %A extent 5 : memref<64xf32>
  %b = dsd.set_length %c, 9 : !dsd.circbuf<f32>
  // CHECK-NEXT: %u = dsd.tensor_access %A affine_map<(d0) -> ((d0 * 2))> extents [9] : memref<64xf32> -> !dsd.mem1d<f32>
  %t = dsd.tensor_access %A affine_map<(i) -> (2 * i)> extents [5] : memref<64xf32> -> !dsd.mem1d<f32>
  %u = dsd.set_length %t, 9 : !dsd.mem1d<f32>
  "test.op"(%e, %j, %p, %b, %u) : (!dsd.mem1d<f32>, !dsd.fabin<f32>, !dsd.fabout<f32>, !dsd.circbuf<f32>, !dsd.mem1d<f32>) -> ()
  func.return
}

// DSD-163: a new base also drops the offset.
// CHECK-LABEL: @set_base
func.func @set_base(%A: memref<64xf32>, %B: memref<8x8xf32>) {
  // CHECK-NEXT: %e = dsd.mem1d %B stride 2 extent 5 : memref<8x8xf32>
  %d = dsd.mem1d %A at 3 stride 2 extent 5 : memref<64xf32>
  %e = dsd.set_base %d, %B : !dsd.mem1d<f32>, memref<8x8xf32>
  "test.op"(%e) : (!dsd.mem1d<f32>) -> ()
  func.return
}

// CHECK-LABEL: @set_stride
func.func @set_stride(%A: memref<64xf32>) {
  // CHECK-NEXT: %e = dsd.mem1d %A at 3 stride -1 extent 5 : memref<64xf32>
  %d = dsd.mem1d %A at 3 stride 2 extent 5 : memref<64xf32>
  %e = dsd.set_stride %d, -1 : !dsd.mem1d<f32>
  "test.op"(%e) : (!dsd.mem1d<f32>) -> ()
  func.return
}

// An extent is unsigned, so the i16 constant -1 means 65535; a stride beyond 8 bits stays for the run to report.
// CHECK-LABEL: @constant_fields
func.func @constant_fields(%A: memref<64xf32>) {
  %three = arith.constant 3 : i16
  %minus = arith.constant -1 : i16
  // CHECK: %wide = arith.constant 200 : i16
  %wide = arith.constant 200 : i16
  // CHECK-NEXT: %d = dsd.mem1d %A at 3 stride -1 extent 65535 : memref<64xf32>
  %d = dsd.mem1d %A at %three stride %minus extent %minus : memref<64xf32>
  // CHECK-NEXT: %e = dsd.mem1d %A stride %wide extent 3 : memref<64xf32>
  %e = dsd.mem1d %A stride %wide extent %three : memref<64xf32>
  // CHECK-NEXT: %q = dsd.mem4d %A at -1 extents [2, 2] : memref<64xf32>
  %q = dsd.mem4d %A at %minus extents [2, 2] : memref<64xf32>
  // CHECK-NEXT: %o = dsd.fabout @q extent 3 {control} : !dsd.fabout<f32>
  %o = dsd.fabout @q extent %three {control} : !dsd.fabout<f32>
  "test.op"(%d, %e, %q, %o) : (!dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem4d<f32>, !dsd.fabout<f32>) -> ()
  func.return
}

// DSD-159, DSD-163, DSD-168, DSD-175, DSD-179: a chain is one descriptor, with what each field had last; elements that it was
// moved by before the new base do not count, those behind it do. What is made on the way stays as it is.
// CHECK-LABEL: @chain
func.func @chain(%A: memref<64xf32>, %B: memref<8x8xf32>, %n: i16) {
  // CHECK-NEXT: %d = dsd.mem1d %A at 3 stride 2 extent 5 {wavelet_index_offset} : memref<64xf32>
  %d = dsd.mem1d %A at 3 stride 2 extent 5 {wavelet_index_offset} : memref<64xf32>
  // CHECK-NEXT: %e = dsd.mem1d %A at 13 stride 2 extent 5 {wavelet_index_offset} : memref<64xf32>
  %e = dsd.increment_offset %d, 10 : !dsd.mem1d<f32>
  %f = dsd.set_length %e, 7 : !dsd.mem1d<f32>
  %g = dsd.set_base %f, %B : !dsd.mem1d<f32>, memref<8x8xf32>
  %h = dsd.increment_offset %g, 4 : !dsd.mem1d<f32>
  %i = dsd.set_stride %h, -3 : !dsd.mem1d<f32>
  %j = dsd.set_length %i, %n : !dsd.mem1d<f32>
  // CHECK-NEXT: %k = dsd.mem1d %B at 2 stride -3 extent %n {wavelet_index_offset} : memref<8x8xf32>
  %k = dsd.increment_offset %j, -2 : !dsd.mem1d<f32>
  "test.op"(%d, %e, %k) : (!dsd.mem1d<f32>, !dsd.mem1d<f32>, !dsd.mem1d<f32>) -> ()
  func.return
}

// A sum that fits, of which a part does not, is folded: what the machine adds up wraps alike.
// CHECK-LABEL: @there_and_back
func.func @there_and_back(%A: memref<64xf32>) {
  %d = dsd.mem4d %A at 32767 extents [2, 2] : memref<64xf32>
  %e = dsd.increment_offset %d, 9 : !dsd.mem4d<f32>
  // CHECK-NEXT: %f = dsd.mem4d %A at 32766 extents [2, 2] : memref<64xf32>
  %f = dsd.increment_offset %e, -10 : !dsd.mem4d<f32>
  "test.op"(%f) : (!dsd.mem4d<f32>) -> ()
  func.return
}

// DSD-163: also of a descriptor of which nothing is known; its length and stride stay.
// CHECK-LABEL: @base_after_increments
func.func @base_after_increments(%d: !dsd.mem1d<f32>, %B: memref<64xf32>, %n: i16) {
  %e = dsd.increment_offset %d, %n : !dsd.mem1d<f32>
  // CHECK-NEXT: %f = dsd.set_base %d, %B : !dsd.mem1d<f32>, memref<64xf32>
  %f = dsd.set_base %e, %B : !dsd.mem1d<f32>, memref<64xf32>
  // CHECK-NEXT: %g = dsd.set_stride %f, 3 : !dsd.mem1d<f32>
  %g = dsd.set_stride %f, 3 : !dsd.mem1d<f32>
  // CHECK-NEXT: %h = dsd.set_length %g, %n : !dsd.mem1d<f32>
  %h = dsd.set_length %g, %n : !dsd.mem1d<f32>
  "test.op"(%h) : (!dsd.mem1d<f32>) -> ()
  func.return
}

// Nothing is known of a descriptor that a loop carries.
// CHECK-LABEL: @carried
func.func @carried(%d: !dsd.mem1d<f32>) {
  // CHECK-NEXT: dsd.set_stride %d, 4 : !dsd.mem1d<f32>
  %e = dsd.set_stride %d, 4 : !dsd.mem1d<f32>
  "test.op"(%e) : (!dsd.mem1d<f32>) -> ()
  func.return
}
