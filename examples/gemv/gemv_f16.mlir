// y = A * x + y on one PE, float16. All operands are in memory: column after column of A, one multiply-add over a
// memory descriptor adds x[j] times the column to y.
wse.program @gemv target "wse3" rectangle 1 x 1 {
  wse.pe @single on [:, :] {
    wse.buffer @A : memref<32x16xf16>
    wse.buffer @x : memref<16xf16>
    wse.buffer @y : memref<32xf16>
    wse.export @A
    wse.export @x
    wse.export @y
    wse.export @gemv

    wse.func @gemv() {
      %A = wse.get_buffer @A : memref<32x16xf16>
      %x = wse.get_buffer @x : memref<16xf16>
      %y = wse.get_buffer @y : memref<32xf16>
      %sum = dsd.tensor_access %y affine_map<(i) -> (i)> extents [32] : memref<32xf16> -> !dsd.mem1d<f16>
      %first = dsd.tensor_access %A affine_map<(i) -> (i, 0)> extents [32] : memref<32x16xf16> -> !dsd.mem1d<f16>
      %one = arith.constant 1 : i16
      %zero = arith.constant 0 : index
      %columns = arith.constant 16 : index
      %step = arith.constant 1 : index
      %end = scf.for %j = %zero to %columns step %step iter_args(%column = %first) -> (!dsd.mem1d<f16>) {
        %factor = memref.load %x[%j] : memref<16xf16>
        dsd.fmach %sum, %sum, %column, %factor : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>, f16
        %next = dsd.increment_offset %column, %one : !dsd.mem1d<f16>
        scf.yield %next : !dsd.mem1d<f16>
      }
      wse.return
    }
  }
}
