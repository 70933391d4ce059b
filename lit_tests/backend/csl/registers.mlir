// RUN: loom-opt %s -t csl | filecheck %s

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @c
  wse.pe @cell on [:, :] {
    wse.buffer @a : memref<4x5xf32>
    wse.buffer @y : memref<8xf32>
    wse.input_queue @in color @c id 3
    wse.func @main() {
      %a = wse.get_buffer @a : memref<4x5xf32>
      %y = wse.get_buffer @y : memref<8xf32>
      %d = dsd.mem1d %y extent 2 : memref<8xf32>
      %i = dsd.fabin @in extent 2 : !dsd.fabin<f32>
      %dest = dsr.load %d save_address : !dsd.mem1d<f32> -> !dsr.dest<f32, 4>
      %src = dsr.load %i async(activate = @done) : !dsd.fabin<f32> -> !dsr.src1<f32, 0>
      dsr.fmovs %dest, %src async(activate = @done) : !dsr.dest<f32, 4>, !dsr.src1<f32, 0>
      %walk = dsd.mem4d %a strides [5, -14] extents [2, 4] : memref<4x5xf32>
      %x = dsr.get_xdsr : !dsr.xdsr<1>
      %s = dsr.get_sr : !dsr.sr<2>
      %grid = dsr.load %walk xdsr %x srs [%s] : !dsd.mem4d<f32>, !dsr.xdsr<1>, !dsr.sr<2> -> !dsr.src0<f32, 1>
      %ring = dsd.circbuf %y extent 20 wraparound 5 : memref<8xf32>
      %z = dsr.get_xdsr : !dsr.xdsr<2>
      %round = dsr.load %ring xdsr %z : !dsd.circbuf<f32>, !dsr.xdsr<2> -> !dsr.dest<f32, 5>
      dsr.fmovs %round, %grid : !dsr.dest<f32, 5>, !dsr.src0<f32, 1>
      // A register that is not chosen yet is the compiler's, as for a descriptor that is in the operation.
      %some = dsr.load %d : !dsd.mem1d<f32> -> !dsr.src0<f32>
      dsr.fmovs %round, %some : !dsr.dest<f32, 5>, !dsr.src0<f32>
      wse.return
    }
    wse.task @done local {
      %r = dsr.get_dsr : !dsr.dest<f32, 4>
      %one = arith.constant 1.0 : f32
      dsr.fmovs %r, %one : !dsr.dest<f32, 4>, f32
      wse.return
    }
  }
}

// CHECK:        const d: mem1d_dsd = @get_dsd(mem1d_dsd, .{ .base_address = &y, .extent = 2 });
// CHECK:        @load_to_dsr(@get_dsr(dsr_dest, 4), d, .{ .save_address = true });
// CHECK-NEXT:   @load_to_dsr(@get_dsr(dsr_src1, 0), i, .{ .async = true, .activate = done_id });
// CHECK-NEXT:   @fmovs(@get_dsr(dsr_dest, 4), @get_dsr(dsr_src1, 0), .{ .async = true, .activate = done_id });
// CHECK:        @load_to_dsr_xdsr_sr(@get_dsr(dsr_src0, 1), @get_xdsr(1), .{ @get_sr(2) }, walk);
// CHECK-NEXT:   const ring: circbuf_dsd = @get_dsd(circbuf_dsd, .{ .base_address = &y, .extent = 20, .wraparound = 5 });
// CHECK-NEXT:   @load_to_dsr_xdsr(@get_dsr(dsr_dest, 5), @get_xdsr(2), ring);
// CHECK-NEXT:   @fmovs(@get_dsr(dsr_dest, 5), @get_dsr(dsr_src0, 1));
// CHECK-NEXT:   @fmovs(@get_dsr(dsr_dest, 5), d);
// CHECK-LABEL: task done() void {
// CHECK-NEXT:   @fmovs(@get_dsr(dsr_dest, 4), @as(f32, 1.0));
