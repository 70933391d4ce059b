// RUN: loom-opt -p dsd-expand-tensor-access %s | filecheck %s
// The worked vectors of the rules; a stride of 1 and an offset of 0 are not written.

// CHECK-NOT: affine_map
wse.program @vectors target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
    wse.buffer @A : memref<10xi16>
    wse.buffer @B : memref<20x20xi16>
    wse.buffer @C : memref<4x3xi16>
    wse.buffer @D : memref<1x2x3x4xi16>
    wse.buffer @E : memref<20xi16>
    wse.buffer @F : memref<4x5xi16>
    wse.func @f() {
      %A = wse.get_buffer @A : memref<10xi16>
      %B = wse.get_buffer @B : memref<20x20xi16>
      %C = wse.get_buffer @C : memref<4x3xi16>
      %D = wse.get_buffer @D : memref<1x2x3x4xi16>
      %E = wse.get_buffer @E : memref<20xi16>
      %F = wse.get_buffer @F : memref<4x5xi16>
      // DSD-038
      // CHECK: %a = dsd.mem1d %A extent 10 : memref<10xi16>
      %a = dsd.tensor_access %A affine_map<(i) -> (i)> extents [10] : memref<10xi16> -> !dsd.mem1d<i16>
      // DSD-039
      // CHECK-NEXT: %b = dsd.mem1d %A at 1 stride 2 extent 5 : memref<10xi16>
      %b = dsd.tensor_access %A affine_map<(i) -> (2 * i + 1)> extents [5] : memref<10xi16> -> !dsd.mem1d<i16>
      // DSD-040
      // CHECK-NEXT: %c = dsd.mem1d %A stride 0 extent 10 : memref<10xi16>
      %c = dsd.tensor_access %A affine_map<(i) -> (0)> extents [10] : memref<10xi16> -> !dsd.mem1d<i16>
      // DSD-041: the diagonal
      // CHECK-NEXT: %d = dsd.mem1d %B stride 21 extent 20 : memref<20x20xi16>
      %d = dsd.tensor_access %B affine_map<(i) -> (i, i)> extents [20] : memref<20x20xi16> -> !dsd.mem1d<i16>
      // DSD-042: leaving the array is legal until the descriptor is used (AMB-02)
      // CHECK-NEXT: %e = dsd.mem1d %A at 42 stride 2 extent 10 : memref<10xi16>
      %e = dsd.tensor_access %A affine_map<(i) -> (2 * i + 42)> extents [10] : memref<10xi16> -> !dsd.mem1d<i16>
      // DSD-066
      // CHECK-NEXT: %f = dsd.mem4d %C strides [1, 2] extents [2, 2] : memref<4x3xi16>
      %f = dsd.tensor_access %C affine_map<(i, j) -> (i, j)> extents [2, 2] : memref<4x3xi16> -> !dsd.mem4d<i16>
      // DSD-067
      // CHECK-NEXT: %g = dsd.mem4d %D at 4 strides [1, 1, 9, 9] extents [1, 2, 1, 4] : memref<1x2x3x4xi16>
      %g = dsd.tensor_access %D affine_map<(i, j, k, l) -> (i, j, k + 1, l)> extents [1, 2, 1, 4] : memref<1x2x3x4xi16> -> !dsd.mem4d<i16>
      // DSD-068
      // CHECK-NEXT: %h = dsd.mem4d %A strides [1, 1, 1, 1] extents [1, 1, 1, 1] : memref<10xi16>
      %h = dsd.tensor_access %A affine_map<(i, j, k, l) -> (i + j + k + l)> extents [1, 1, 1, 1] : memref<10xi16> -> !dsd.mem4d<i16>
      // DSD-069
      // CHECK-NEXT: %k = dsd.mem4d %E strides [1, -2] extents [5, 5] : memref<20xi16>
      %k = dsd.tensor_access %E affine_map<(i, j) -> (2 * i + j)> extents [5, 5] : memref<20xi16> -> !dsd.mem4d<i16>
      // DSD-070, DSD-071
      // CHECK-NEXT: %l = dsd.mem4d %F at 2 strides [1, -3, -3, -23] extents [5, 5, 5, 5] : memref<4x5xi16>
      %l = dsd.tensor_access %F affine_map<(i, j, k, l) -> (i + j, k + l + 2)> extents [5, 5, 5, 5] : memref<4x5xi16> -> !dsd.mem4d<i16>
      // A walk backwards, a walk of no element (DSD-022), and a mem4d of one dimension (AMB-05).
      // CHECK-NEXT: %m = dsd.mem1d %A at 9 stride -3 extent 4 : memref<10xi16>
      %m = dsd.tensor_access %A affine_map<(i) -> (-3 * i + 9)> extents [4] : memref<10xi16> -> !dsd.mem1d<i16>
      // CHECK-NEXT: %n = dsd.mem1d %A extent 0 : memref<10xi16>
      %n = dsd.tensor_access %A affine_map<(i) -> (i)> extents [0] : memref<10xi16> -> !dsd.mem1d<i16>
      // CHECK-NEXT: %o = dsd.mem4d %A strides [2] extents [5] : memref<10xi16>
      %o = dsd.tensor_access %A affine_map<(i) -> (2 * i)> extents [5] : memref<10xi16> -> !dsd.mem4d<i16>
      // The option and other attributes stay.
      // CHECK-NEXT: %p = dsd.mem1d %A extent 10 {wavelet_index_offset, note = "kept"} : memref<10xi16>
      %p = dsd.tensor_access %A affine_map<(i) -> (i)> extents [10] {wavelet_index_offset, note = "kept"} : memref<10xi16> -> !dsd.mem1d<i16>
      // CHECK-NEXT: dsd.mov16 %a, %b : !dsd.mem1d<i16>, !dsd.mem1d<i16>
      dsd.mov16 %a, %b : !dsd.mem1d<i16>, !dsd.mem1d<i16>
      wse.return
    }
  }
}
