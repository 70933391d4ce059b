// RUN: loom-opt %s | loom-opt | filecheck %s
// RUN: loom-opt %s --print-op-generic | loom-opt | filecheck %s
// Registers and loads in their own and in generic form, printed as they were written.

// CHECK-LABEL: func.func @loads(%d: !dsd.mem1d<f32>, %A: memref<64xf32>, %c: !dsd.circbuf<f32>, %f: !dsd.fifo<f32>, %i: !dsd.fabin<f32>, %o: !dsd.fabout<f32>) {
func.func @loads(%d: !dsd.mem1d<f32>, %A: memref<64xf32>, %c: !dsd.circbuf<f32>, %f: !dsd.fifo<f32>, %i: !dsd.fabin<f32>, %o: !dsd.fabout<f32>) {
  // CHECK-NEXT: %r = dsr.get_dsr : !dsr.src0<f32, 3>
  %r = dsr.get_dsr : !dsr.src0<f32, 3>
  // CHECK-NEXT: %x = dsr.get_xdsr : !dsr.xdsr<0>
  %x = dsr.get_xdsr : !dsr.xdsr<0>
  // CHECK-NEXT: %x1 = dsr.get_xdsr : !dsr.xdsr
  %x1 = dsr.get_xdsr : !dsr.xdsr
  // CHECK-NEXT: %s = dsr.get_sr : !dsr.sr<2>
  %s = dsr.get_sr : !dsr.sr<2>
  // CHECK-NEXT: %t = dsr.get_sr : !dsr.sr
  %t = dsr.get_sr : !dsr.sr
  // CHECK-NEXT: %0 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
  %0 = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32, 1>
  // CHECK-NEXT: %1 = dsr.load %d save_address {note = "kept"} : !dsd.mem1d<f32> -> !dsr.dest<f32>
  %1 = dsr.load %d save_address {note = "kept"} : !dsd.mem1d<f32> -> !dsr.dest<f32>
  // CHECK-NEXT: %2 = dsr.load %d single_step : !dsd.mem1d<f32> -> !dsr.src1<f32>
  %2 = dsr.load %d single_step : !dsd.mem1d<f32> -> !dsr.src1<f32>
  // CHECK-NEXT: %own = dsr.load %d implicit : !dsd.mem1d<f32> -> !dsr.src1<f32, 2>
  %own = dsr.load %d implicit : !dsd.mem1d<f32> -> !dsr.src1<f32, 2>
  // CHECK-NEXT: %3 = dsr.load %i async : !dsd.fabin<f32> -> !dsr.src1<f32, 0>
  %3 = dsr.load %i async : !dsd.fabin<f32> -> !dsr.src1<f32, 0>
  // CHECK-NEXT: %4 = dsr.load %o async(activate = @t, ut = 2) : !dsd.fabout<f32> -> !dsr.dest<f32, 0>
  %4 = dsr.load %o async(activate = @t, ut = 2) : !dsd.fabout<f32> -> !dsr.dest<f32, 0>
  // CHECK-NEXT: %5 = dsr.load %c xdsr %x : !dsd.circbuf<f32>, !dsr.xdsr<0> -> !dsr.src1<f32>
  %5 = dsr.load %c xdsr %x : !dsd.circbuf<f32>, !dsr.xdsr<0> -> !dsr.src1<f32>
  // CHECK-NEXT: %6 = dsr.load %f xdsr %x1 : !dsd.fifo<f32>, !dsr.xdsr -> !dsr.src1<f32>
  %6 = dsr.load %f xdsr %x1 : !dsd.fifo<f32>, !dsr.xdsr -> !dsr.src1<f32>
  // CHECK-NEXT: %q = dsd.mem4d %A strides [1, 5, 7] extents [2, 2, 2] : memref<64xf32>
  %q = dsd.mem4d %A strides [1, 5, 7] extents [2, 2, 2] : memref<64xf32>
  // CHECK-NEXT: %7 = dsr.load %q xdsr %x srs [%s] save_address : !dsd.mem4d<f32>, !dsr.xdsr<0>, !dsr.sr<2> -> !dsr.src0<f32>
  %7 = dsr.load %q xdsr %x srs [%s] save_address : !dsd.mem4d<f32>, !dsr.xdsr<0>, !dsr.sr<2> -> !dsr.src0<f32>
  // CHECK-NEXT: func.return
  func.return
}
