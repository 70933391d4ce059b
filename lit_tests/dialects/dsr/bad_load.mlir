// RUN: loom-opt %s --split-input-file --verify-diagnostics | filecheck %s
// Registers and loads that break a rule, each with its error.

// DSR-003
// CHECK: error: dsr.get_dsr has no register number, so nothing can have loaded the register; give its number{{$}}
%r = dsr.get_dsr : !dsr.src0<f32>
// -----
// CHECK: error: the register holds elements of f16, the descriptor has f32; use that element type{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
%r = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f16>
// -----
// DSR-040
// CHECK: error: a fabin is a source and cannot be loaded into a dest; load it into a src0 or src1{{$}}
%i = "test.op"() : () -> !dsd.fabin<f32>
%r = dsr.load %i : !dsd.fabin<f32> -> !dsr.dest<f32>
// -----
// DSR-041
// CHECK: error: a fabout is a destination and cannot be loaded into a src0; load it into a dest{{$}}
%o = "test.op"() : () -> !dsd.fabout<f32>
%r = dsr.load %o : !dsd.fabout<f32> -> !dsr.src0<f32>
// -----
// DSR-042
// CHECK: error: a fabout is a destination and cannot be loaded into a src1; load it into a dest{{$}}
%o = "test.op"() : () -> !dsd.fabout<f32>
%r = dsr.load %o : !dsd.fabout<f32> -> !dsr.src1<f32>
// -----
// DSR-005, DSR-043
// CHECK: error: a mem4d needs more than a descriptor register; give dsr.load an xdsr and stride registers{{$}}
%q = "test.op"() : () -> !dsd.mem4d<f32>
%r = dsr.load %q : !dsd.mem4d<f32> -> !dsr.src0<f32>
// -----
// DSR-005, DSR-044
// CHECK: error: a circbuf needs more than a descriptor register; give dsr.load an xdsr{{$}}
%c = "test.op"() : () -> !dsd.circbuf<f32>
%r = dsr.load %c : !dsd.circbuf<f32> -> !dsr.src0<f32>
// -----
// DSR-050
// CHECK: error: a mem1d needs no xdsr; only a mem4d, circbuf or FIFO does, so remove it{{$}}
%d, %x = "test.op"() : () -> (!dsd.mem1d<f32>, !dsr.xdsr)
%r = dsr.load %d xdsr %x : !dsd.mem1d<f32>, !dsr.xdsr -> !dsr.src0<f32>
// -----
// DSR-055
// CHECK: error: a circbuf needs no stride register; only a mem4d does, so remove srs{{$}}
%c, %x, %s = "test.op"() : () -> (!dsd.circbuf<f32>, !dsr.xdsr, !dsr.sr)
%r = dsr.load %c xdsr %x srs [%s] : !dsd.circbuf<f32>, !dsr.xdsr, !dsr.sr -> !dsr.src0<f32>
// -----
// DSR-061, DSR-062, DSR-063: two dimensions, innermost stride 1.
// CHECK: error: the mem4d needs 0 stride registers, not 1; give that many in srs{{$}}
%A, %x, %s = "test.op"() : () -> (memref<64xf32>, !dsr.xdsr, !dsr.sr)
%q = dsd.mem4d %A strides [1, 5] extents [2, 2] : memref<64xf32>
%r = dsr.load %q xdsr %x srs [%s] : !dsd.mem4d<f32>, !dsr.xdsr, !dsr.sr -> !dsr.src0<f32>
// -----
// DSR-061: two dimensions, innermost stride 2.
// CHECK: error: the mem4d needs 1 stride registers, not 0; give that many in srs{{$}}
%A, %x = "test.op"() : () -> (memref<64xf32>, !dsr.xdsr)
%q = dsd.mem4d %A strides [2, 5] extents [2, 2] : memref<64xf32>
%r = dsr.load %q xdsr %x : !dsd.mem4d<f32>, !dsr.xdsr -> !dsr.src0<f32>
// -----
// DSR-061: one dimension.
// CHECK: error: the mem4d needs 0 stride registers, not 1; give that many in srs{{$}}
%A, %x, %s = "test.op"() : () -> (memref<64xf32>, !dsr.xdsr, !dsr.sr)
%q = dsd.mem4d %A strides [2] extents [2] : memref<64xf32>
%r = dsr.load %q xdsr %x srs [%s] : !dsd.mem4d<f32>, !dsr.xdsr, !dsr.sr -> !dsr.src0<f32>
// -----
// DSR-061: four dimensions; a derived descriptor is as well known as its origin.
// CHECK: error: the mem4d needs 2 stride registers, not 1; give that many in srs{{$}}
%A, %x, %s = "test.op"() : () -> (memref<64xf32>, !dsr.xdsr, !dsr.sr)
%q = dsd.mem4d %A strides [1, 3, 5, 7] extents [2, 2, 2, 2] : memref<64xf32>
%p = dsd.increment_offset %q, 1 : !dsd.mem4d<f32>
%r = dsr.load %p xdsr %x srs [%s] : !dsd.mem4d<f32>, !dsr.xdsr, !dsr.sr -> !dsr.src0<f32>
// -----
// DSR-064, AMB-06: a run-time offset makes the descriptor unknown at compile time.
// CHECK: error: the mem4d needs 3 stride registers, not 1; give that many in srs{{$}}
%A, %x, %s, %n = "test.op"() : () -> (memref<64xf32>, !dsr.xdsr, !dsr.sr, i16)
%q = dsd.mem4d %A at %n strides [2, 5] extents [2, 2] : memref<64xf32>
%r = dsr.load %q xdsr %x srs [%s] : !dsd.mem4d<f32>, !dsr.xdsr, !dsr.sr -> !dsr.src0<f32>
// -----
// DSR-064
// CHECK: error: the mem4d needs 3 stride registers, not 1; give that many in srs{{$}}
%A, %x, %s, %n = "test.op"() : () -> (memref<64xf32>, !dsr.xdsr, !dsr.sr, i16)
%q = dsd.mem4d %A strides [2, 5] extents [2, 2] : memref<64xf32>
%p = dsd.increment_offset %q, %n : !dsd.mem4d<f32>
%r = dsr.load %p xdsr %x srs [%s] : !dsd.mem4d<f32>, !dsr.xdsr, !dsr.sr -> !dsr.src0<f32>
// -----
// DSR-036
// CHECK: error: async is for fabric descriptors; remove it from a load of memory{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
%r = dsr.load %d async : !dsd.mem1d<f32> -> !dsr.src0<f32>
// -----
// DSR-037
// CHECK: error: save_address is for memory descriptors; remove it from a load of the fabric{{$}}
%i = "test.op"() : () -> !dsd.fabin<f32>
%r = dsr.load %i save_address : !dsd.fabin<f32> -> !dsr.src0<f32>
// -----
// AMB-33
// CHECK: error: save_address and single_step cannot be combined; keep one of them{{$}}
%d = "test.op"() : () -> !dsd.mem1d<f32>
%r = dsr.load %d save_address single_step : !dsd.mem1d<f32> -> !dsr.src0<f32>
// -----
// DSD-189
// CHECK: error: activate and unblock are both given; keep one of them{{$}}
%i = "test.op"() : () -> !dsd.fabin<f32>
%r = dsr.load %i async(activate = @t, unblock = @t) : !dsd.fabin<f32> -> !dsr.src0<f32>
