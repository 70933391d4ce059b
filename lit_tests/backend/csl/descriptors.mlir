// RUN: loom-opt %s -t csl | filecheck %s

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @a : memref<4x5xf32>
    wse.buffer @h : memref<8xf16>
    wse.buffer @s : memref<f32>
    wse.buffer @w : memref<i32>
    wse.buffer @pointer : memref<i16>
    wse.initialize @pointer[0] = address_of @a + 8
    wse.buffer @shown : memref<i16>
    wse.initialize @shown[0] = address_of @h
    wse.export @shown as "h" points_to memref<8xf16>
    wse.buffer @pair : memref<2xi16> = dense<[1, 9]>
    wse.initialize @pair[0] = address_of @h
    wse.buffer @scratch : memref<3x4xf32> undefined
    wse.buffer @last : memref<f16> undefined align 4
    // CHECK:      var a = @zeros([4, 5]f32);
    // CHECK-NEXT: var h = @zeros([8]f16);
    // CHECK-NEXT: var s: f32 = 0.0;
    // CHECK-NEXT: var w: i32 = 0;
    // CHECK-NEXT: var pointer: *f32 = &a[0, 2];
    // CHECK-NEXT: var shown: [*]f16 = &h;
    // CHECK-NEXT: var pair_0: [*]f16 = &h;
    // CHECK-NEXT: var pair_1: i16 = 9;
    // CHECK-NEXT: var scratch: [3, 4]f32;
    // CHECK-NEXT: var last: f16 align(4);

    wse.func @memory(%n: i16, %v: f32) {
      %a = wse.get_buffer @a : memref<4x5xf32>
      %h = wse.get_buffer @h : memref<8xf16>
      %s = wse.get_buffer @s : memref<f32>
      %w = wse.get_buffer @w : memref<i32>
      %d = dsd.mem1d %h at 3 stride -2 extent 2 : memref<8xf16>
      %e = dsd.mem1d %h at %n stride %n extent %n {wavelet_index_offset} : memref<8xf16>
      dsd.faddh %d, %d, %e index(%n) : !dsd.mem1d<f16>, !dsd.mem1d<f16>, !dsd.mem1d<f16>
      %f = dsd.mem4d %a at %n strides [2, -1] extents [2, 3] : memref<4x5xf32>
      %g = dsd.tensor_access %a affine_map<(i, j) -> (i + 1, j * 2)> extents [3, 2] : memref<4x5xf32> -> !dsd.mem4d<f32>
      dsd.fmuls %f, %g, %v : !dsd.mem4d<f32>, !dsd.mem4d<f32>, f32
      dsd.fadds %s, %v, %f : memref<f32>, f32, !dsd.mem4d<f32>
      dsd.mov32 %w, %f : memref<i32>, !dsd.mem4d<f32>
      dsd.mov32 %f, %v : !dsd.mem4d<f32>, f32
      %k = dsd.mem4d %a strides [1, %n] extents [%n, 2] : memref<4x5xf32>
      dsd.fmovs %k, %v : !dsd.mem4d<f32>, f32
      wse.return
    }
    // CHECK-LABEL: fn memory(n: i16, v: f32) void {
    // CHECK-NEXT:   const d: mem1d_dsd = @get_dsd(mem1d_dsd, .{ .base_address = &h, .offset = 3, .stride = -2, .extent = 2 });
    // CHECK-NEXT:   const e: mem1d_dsd = @get_dsd(mem1d_dsd, .{
    // CHECK-NEXT:     .base_address = &h,
    // CHECK-NEXT:     .offset = n,
    // CHECK-NEXT:     .stride = @as(i8, n),
    // CHECK-NEXT:     .extent = @bitcast(u16, n),
    // CHECK-NEXT:     .wavelet_index_offset = true,
    // CHECK-NEXT:   });
    // CHECK-NEXT:   @faddh(d, d, e, .{ .index = @bitcast(u16, n) });
    // CHECK-NEXT:   const f: mem4d_dsd = @get_dsd(
    // CHECK-NEXT:     mem4d_dsd,
    // CHECK-NEXT:     .{ .base_address = &a, .offset = n, .stride = .{ 2, -1 }, .extent = .{ 2, 3 } },
    // CHECK-NEXT:   );
    // CHECK-NEXT:   const g: mem4d_dsd = @get_dsd(mem4d_dsd, .{ .tensor_access = |i, j|{3, 2} -> a[i + 1, j * 2] });
    // CHECK-NEXT:   @fmuls(f, g, v);
    // CHECK-NEXT:   @fadds(&s, v, f);
    // CHECK-NEXT:   @mov32(&w, f);
    // CHECK-NEXT:   @mov32(f, @bitcast(i32, v));
    // CHECK-NEXT:   const k: mem4d_dsd = @get_dsd(
    // CHECK-NEXT:     mem4d_dsd,
    // CHECK-NEXT:     .{ .base_address = &a, .stride = .{ 1, n }, .extent = .{ @bitcast(u16, n), 2 } },
    // CHECK-NEXT:   );
    // CHECK-NEXT:   @fmovs(k, v);
    // CHECK-NEXT: }

    wse.func @changed(%n: i16) {
      %h = wse.get_buffer @h : memref<8xf16>
      %d = dsd.mem1d %h extent 4 : memref<8xf16>
      %e = dsd.increment_offset %d, %n : !dsd.mem1d<f16>
      %f = dsd.set_length %e, %n : !dsd.mem1d<f16>
      %g = dsd.set_stride %f, 2 : !dsd.mem1d<f16>
      %i = dsd.set_base %g, %h : !dsd.mem1d<f16>, memref<8xf16>
      dsd.fabsh %i, %d : !dsd.mem1d<f16>, !dsd.mem1d<f16>
      wse.return
    }
    // CHECK-LABEL: fn changed(n: i16) void {
    // CHECK:        const e: mem1d_dsd = @increment_dsd_offset(d, n, f16);
    // CHECK-NEXT:   const f: mem1d_dsd = @set_dsd_length(e, @bitcast(u16, n));
    // CHECK-NEXT:   const g: mem1d_dsd = @set_dsd_stride(f, 2);
    // CHECK-NEXT:   const i: mem1d_dsd = @set_dsd_base_addr(g, &h);
    // CHECK-NEXT:   @fabsh(i, d);
    // CHECK-NEXT: }

    wse.func @pointers() {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %pointer = wse.get_buffer @pointer : memref<i16>
      %p = memref.load %pointer[] : memref<i16>
      %x = wse.view %p : memref<f32>
      %v = memref.load %x[] : memref<f32>
      %pair = wse.get_buffer @pair : memref<2xi16>
      %q = memref.load %pair[%zero] : memref<2xi16>
      memref.store %p, %pair[%one] : memref<2xi16>
      memref.store %q, %pointer[] : memref<i16>
      %y = wse.view %q : memref<?xf32>
      memref.store %v, %y[%one] : memref<?xf32>
      %d = dsd.mem1d %y extent 4 : memref<?xf32>
      dsd.fmovs %x, %d : memref<f32>, !dsd.mem1d<f32>
      %address = wse.address_of @a : i16
      memref.store %address, %pair[%one] : memref<2xi16>
      wse.return
    }
    // CHECK-LABEL: fn pointers() void {
    // CHECK-NEXT:   const p: i16 = @bitcast(i16, pointer);
    // CHECK-NEXT:   const x: *f32 = @bitcast(*f32, @bitcast(u16, p));
    // CHECK-NEXT:   const v: f32 = x.*;
    // CHECK-NEXT:   const q: i16 = @bitcast(i16, pair_0);
    // CHECK-NEXT:   pair_1 = p;
    // CHECK-NEXT:   pointer = @bitcast(*f32, @bitcast(u16, q));
    // CHECK-NEXT:   const y: [*]f32 = @bitcast([*]f32, @bitcast(u16, q));
    // CHECK-NEXT:   y[1] = v;
    // CHECK-NEXT:   const d: mem1d_dsd = @get_dsd(mem1d_dsd, .{ .base_address = y, .extent = 4 });
    // CHECK-NEXT:   @fmovs(x, d);
    // CHECK-NEXT:   pair_1 = @bitcast(i16, &a);
    // CHECK-NEXT: }

    wse.func @watch(%n: i16) {
      %low, %middle, %high = wse.timestamp : i16, i16, i16
      %ok = arith.cmpi ult, %low, %n : i16
      wse.assert %ok, "in time"
      wse.set_exception_mask %n
      wse.set_clock "start"
      wse.set_clock "reset"
      wse.print "at {u}, {d}\n", %low, %n : i16, i16
      wse.return
    }
    // CHECK-LABEL: fn watch(n: i16) void {
    // CHECK-NEXT:   var timestamp = @zeros([3]u16);
    // CHECK-NEXT:   time.enable_tsc();
    // CHECK-NEXT:   time.get_timestamp(&timestamp);
    // CHECK-NEXT:   const low: i16 = @bitcast(i16, timestamp[0]);
    // CHECK-NEXT:   @assert(@bitcast(u16, low) < @bitcast(u16, n));
    // CHECK-NEXT:   tile_config.exceptions.set_exception_mask(@bitcast(u16, n));
    // CHECK-NEXT:   time.enable_tsc();
    // CHECK-NEXT:   time.reset_tsc_counter();
    // CHECK-NEXT:   simprint.print_string("at ");
    // CHECK-NEXT:   simprint.print_u16_decimal(@bitcast(u16, low));
    // CHECK-NEXT:   simprint.print_string(", ");
    // CHECK-NEXT:   if (n < 0) {
    // CHECK-NEXT:     simprint.print_string("-");
    // CHECK-NEXT:   }
    // CHECK-NEXT:   simprint.print_u16_decimal(if (n < 0) @as(u16, 0) - @bitcast(u16, n) else @bitcast(u16, n));
    // CHECK-NEXT:   simprint.print_string("\n");
    // CHECK-NEXT: }
  }
}
