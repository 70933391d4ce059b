// RUN: loom-opt %s -t csl --split-input-file | filecheck %s

// Several PE programs: regions become loops, colors of queues parameters, and PEs without a program answer launches.

wse.program @p target "wse2" rectangle 6 x 4 {
  wse.color @a
  wse.color @b = 9
  wse.route @a on [::2, :] from [ramp] to [east]
  wse.route @a on [1::2, 1:] + [5, 0] from [west] to [ramp, south]
  wse.pe @first on [:4, :2] + [2:6, 1:3] {
    wse.buffer @y : memref<2xf32>
    wse.export @y
    wse.export @main
    wse.input_queue @in colors [@a on [1::2, :], @b on [::2, :]] id 3
    wse.output_queue @out colors [@a on [::2, 0], @b on [1, 1]] id 4
    wse.func @main() {
      %n = wse.extent x : i16
      %x = wse.coordinate x : i16
      %last = arith.cmpi eq, %x, %n : i16
      scf.if %last {
        %d = dsd.fabout @out extent 1 : !dsd.fabout<f32>
        %k = arith.constant 1.0 : f32
        dsd.fmovs %d, %k : !dsd.fabout<f32>, f32
      }
      wse.return
    }
    wse.task @got data @in (%v: f32) {
      wse.return
    }
    wse.task @ready local active {
      wse.return
    }
  }
  wse.pe @second on [0, 3] {
    wse.export @go as "main"
    wse.func @go() {
      wse.return
    }
  }
}

// CHECK-LABEL: // FILE: layout.csl
// CHECK-NEXT: const a: color = @get_color(0);
// CHECK-NEXT: const b: color = @get_color(9);
// CHECK-NEXT: const unused_out: color = @get_color(20);
// CHECK:      layout {
// CHECK-NEXT:   @set_rectangle(6, 4);
// CHECK-NEXT:   for (@range(i16, 4)) |x| {
// CHECK-NEXT:     for (@range(i16, 2)) |y| {
// CHECK-NEXT:       @set_tile_code(x, y, "first.csl", .{
// CHECK-NEXT:         .memcpy_params = memcpy.get_params(x),
// CHECK-NEXT:         .rectangle_width = 6,
// CHECK-NEXT:         .in_color = if (x % 2 == 1) a else b,
// CHECK-NEXT:         .out_color = if (x % 2 == 0 and y == 0) a else if (x == 1 and y == 1) b else unused_out,
// CHECK-NEXT:       });
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   for (@range(i16, 2, 6, 1)) |x| {
// CHECK-NEXT:     for (@range(i16, 1, 3, 1)) |y| {
// CHECK-NEXT:       if (!(x <= 3 and y <= 1)) {
// CHECK-NEXT:         @set_tile_code(x, y, "first.csl", .{
// CHECK:        @set_tile_code(0, 3, "second.csl", .{ .memcpy_params = memcpy.get_params(0) });
// CHECK-NEXT:   for (@range(i16, 6)) |x| {
// CHECK-NEXT:     for (@range(i16, 4)) |y| {
// CHECK-NEXT:       if (!(x <= 3 and y <= 1) and !(x >= 2 and y >= 1 and y <= 2) and !(x == 0 and y == 3)) {
// CHECK-NEXT:         @set_tile_code(x, y, "idle.csl", .{ .memcpy_params = memcpy.get_params(x) });
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   for (@range(i16, 0, 5, 2)) |x| {
// CHECK-NEXT:     for (@range(i16, 4)) |y| {
// CHECK-NEXT:       @set_color_config(x, y, a, .{ .routes = .{ .rx = .{ RAMP }, .tx = .{ EAST } } });
// CHECK:        for (@range(i16, 1, 6, 2)) |x| {
// CHECK-NEXT:     for (@range(i16, 1, 4, 1)) |y| {
// CHECK-NEXT:       @set_color_config(x, y, a, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP, SOUTH } } });
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   @set_color_config(5, 0, a, .{ .routes = .{ .rx = .{ WEST }, .tx = .{ RAMP, SOUTH } } });
// CHECK-NEXT:   @export_name("y", [*]f32, true);
// CHECK-NEXT:   @export_name("main", fn() void);
// CHECK-NEXT: }

// CHECK-LABEL: // FILE: first.csl
// On WSE-2 the color is the data task's number; queues take their color from the descriptor.
// CHECK:      const in: input_queue = @get_input_queue(3);
// CHECK-NEXT: const out: output_queue = @get_output_queue(4);
// CHECK-NEXT: const got_id: data_task_id = @get_data_task_id(in_color);
// CHECK-NEXT: const ready_id: local_task_id = @get_local_task_id(1);
// CHECK:        if (@bitcast(i16, layout_mod.get_x_coord()) == rectangle_width) {
// CHECK-NEXT:     const d: fabout_dsd = @get_dsd(fabout_dsd, .{ .fabric_color = out_color, .extent = 1, .output_queue = out });
// CHECK-NEXT:     @fmovs(d, @as(f32, 1.0));
// CHECK-LABEL: task got(v: f32) void {}
// CHECK-NOT:  @initialize_queue
// CHECK:        @bind_data_task(got, got_id);
// CHECK-NEXT:   @bind_local_task(ready, ready_id);
// CHECK-NEXT:   @activate(ready_id);
// CHECK-NEXT:   @export_symbol(main);

// CHECK-LABEL: // FILE: second.csl
// CHECK:        @export_symbol(go, "main");
// CHECK-LABEL: // FILE: idle.csl
// CHECK-LABEL: fn main() void {
// CHECK-NEXT:   sys_mod.unblock_cmd_stream();

// -----

// On WSE-3 queues keep their color. Ids that we choose leave those of the memcpy library alone.

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @a
  wse.host_stream @a in
  wse.pe @cell on [:, :] {
    wse.buffer @memory : memref<8xf32>
    wse.input_queue @in color @a
    wse.input_queue @commands color @a unblocked
    wse.output_queue @out color @a
    wse.fifo @f on @memory activate_push @pushed
    wse.task @pushed local blocked {
      wse.block @in
      %in = dsd.fabin @in extent 4 {priority = high} : !dsd.fabin<f32>
      %f = dsd.fifo @f : !dsd.fifo<f32>
      dsd.fmovs %f, %in async(unblock = @in, on_control = activate @pushed, ut = 5) : !dsd.fifo<f32>, !dsd.fabin<f32>
      %dropped = dsd.fabin @in extent 2 : !dsd.fabin<i32>
      %nowhere = arith.constant 0 : i16
      %unused = wse.view %nowhere : memref<i32>
      dsd.mov32 %unused, %dropped async(activate = @pushed, ut = 5) drops_data : memref<i32>, !dsd.fabin<i32>
      wse.return
    }
    wse.task @end control id 40 (%v: i16) {
      %out = dsd.fabout @out extent 1 {control} : !dsd.fabout<i32>
      %word = arith.constant 7 : i32
      dsd.mov32 %out, %word async(on_control = terminate) : !dsd.fabout<i32>, i32
      wse.return
    }
  }
}

// CHECK:      const memcpy = @import_module("<memcpy/get_params>", .{ .width = 1, .height = 1, .MEMCPYH2D_1 = a });
// CHECK:      const in: input_queue = @get_input_queue(7);
// CHECK-NEXT: const commands: input_queue = @get_input_queue({{.*}});
// CHECK-NEXT: const out: output_queue = @get_output_queue(5);
// CHECK-NEXT: const f = @allocate_fifo(memory, .{ .activate_push = pushed_id });
// CHECK-NEXT: const pushed_id: local_task_id = @get_local_task_id(8);
// CHECK-NEXT: const end_id: control_task_id = @get_control_task_id(40);
// CHECK-LABEL: task pushed() void {
// CHECK-NEXT:   @block(in);
// CHECK-NEXT:   const in_1: fabin_dsd = @get_dsd(
// CHECK-NEXT:     fabin_dsd,
// CHECK-NEXT:     .{ .fabric_color = a, .extent = 4, .input_queue = in, .priority = .{ .high = true } },
// CHECK-NEXT:   );
// CHECK-NEXT:   @fmovs(
// CHECK-NEXT:     f,
// CHECK-NEXT:     in_1,
// CHECK-NEXT:     .{ .async = true, .unblock = in, .on_control = .{ .activate = pushed_id }, .ut_id = @get_ut_id(5) },
// CHECK-NEXT:   );
// CHECK:        @dfilt(dropped, .{ .async = true, .activate = pushed_id, .ut_id = @get_ut_id(5) });
// CHECK-LABEL: task end(v: i16) void {
// CHECK:        @mov32(out_1, @as(i32, 7), .{ .async = true, .on_control = .{ .terminate = true } });
// CHECK:      comptime {
// CHECK-NEXT:   @initialize_queue(in, .{ .color = a });
// CHECK-NEXT:   @initialize_queue(commands, .{ .color = a });
// CHECK-NEXT:   @unblock(commands);
// CHECK-NEXT:   @initialize_queue(out, .{ .color = a });
// CHECK-NEXT:   @bind_local_task(pushed, pushed_id);
// CHECK-NEXT:   @block(pushed_id);
// CHECK-NEXT:   @bind_control_task(end, end_id);

// -----

// Parameters that follow from the place are written so; others are looked up in tables that are no larger than need be.

wse.program @p target "wse3" rectangle 3 x 2 {
  wse.pe @cell on [:, :] {
    wse.param @a : i16 over 3 x 2 = dense<[[0, 1, 2], [0, 1, 2]]>
    wse.param @b : i32 over 3 x 2 = dense<[[7, 5, 3], [10, 8, 6]]>
    wse.param @c : f32 over 3 x 2 = dense<[[1.5, 2.5, -0.0], [1.5, 2.5, -0.0]]>
    wse.param @d : f16 over 3 x 2 = dense<[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]>
    wse.param @e : i16 over 3 x 2 = dense<[[1, 2, 3], [4, 5, 7]]>
    wse.param @f : i16 over 3 x 2 = dense<8>
  }
}

// CHECK:      const cell_c = [3]f32{1.5, 2.5, -0.0};
// CHECK-NEXT: const cell_d = [2]f16{1.0, 2.0};
// CHECK-NEXT: const cell_e = [2, 3]i16{1, 2, 3, 4, 5, 7};
// CHECK:          .a = x,
// CHECK-NEXT:     .b = -(2 * @as(i32, x)) + 3 * @as(i32, y) + 7,
// CHECK-NEXT:     .c = cell_c[x],
// CHECK-NEXT:     .d = cell_d[y],
// CHECK-NEXT:     .e = cell_e[y, x],
// CHECK-NEXT:     .f = 8,
