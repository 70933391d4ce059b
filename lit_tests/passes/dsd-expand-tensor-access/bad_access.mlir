// RUN: loom-opt -p dsd-expand-tensor-access --split-input-file --verify-diagnostics %s | filecheck %s
// Accesses whose fields do not fit a descriptor (DSD-032), and affine maps that nobody lowers.

wse.program @stride target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
    wse.buffer @A : memref<8x128xf32>
    wse.func @f() {
      %A = wse.get_buffer @A : memref<8x128xf32>
      // CHECK: bad_access.mlir:[[# @LINE + 1]]:7: error: the tensor access cannot be a descriptor: stride 128 does not fit the i8 of a mem1d descriptor (-128 to 127)
      %d = dsd.tensor_access %A affine_map<(i) -> (i, 0)> extents [8] : memref<8x128xf32> -> !dsd.mem1d<f32>
      wse.return
    }
  }
}

// -----

wse.program @wide_stride target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
    wse.buffer @A : memref<2x2x2xf16>
    wse.func @f() {
      %A = wse.get_buffer @A : memref<2x2x2xf16>
      // CHECK: stride 40000 does not fit the i16 of a mem4d descriptor (-32768 to 32767)
      %d = dsd.tensor_access %A affine_map<(i, j) -> (10000 * i, 0, 0)> extents [2, 2] : memref<2x2x2xf16> -> !dsd.mem4d<f16>
      wse.return
    }
  }
}

// -----

wse.program @offset target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
    wse.buffer @A : memref<10xf16>
    wse.func @f() {
      %A = wse.get_buffer @A : memref<10xf16>
      // CHECK: offset 32768 does not fit an i16 (-32768 to 32767)
      %d = dsd.tensor_access %A affine_map<(i) -> (i + 32768)> extents [2] : memref<10xf16> -> !dsd.mem1d<f16>
      wse.return
    }
  }
}

// -----

wse.program @foreign_map target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
    wse.func @f() {
      // CHECK: arith.constant still holds affine_map<(d0) -> (d0)>; only dsd.tensor_access can hold an affine map
      %c = arith.constant {map = affine_map<(i) -> (i)>} 1 : i16
      wse.return
    }
  }
}
