// RUN: loom-opt %s -t csl --split-input-file | filecheck %s

// Buffers, params, functions and what the host launches.

wse.program @p target "wse3" rectangle 3 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @u : memref<2x3xf32>
    wse.buffer @half : memref<4xf16> = dense<0.5> align 32
    wse.buffer @table : memref<2x2xi16> = dense<[[1, -2], [3, 4]]>
    wse.buffer @count : memref<i16> = dense<7>
    wse.buffer @steps : memref<i32>
    wse.param @scale : f32 = dense<0.1>
    wse.param @column : i16 over 3 x 1 = dense<[[5, 6, 9]]>
    wse.export @u
    wse.export @steps as "number of steps" unsigned read_only
    wse.export @main
    wse.func @square(%x: f32) -> f32 {
      %y = arith.mulf %x, %x : f32
      wse.return %y : f32
    }
    wse.func @main(%n: i16) {
      %scale = wse.get_param @scale : f32
      %column = wse.get_param @column : i16
      %y = wse.call @square(%scale) : (f32) -> f32
      %count = wse.get_buffer @count : memref<i16>
      memref.store %column, %count[] : memref<i16>
      %steps = wse.get_buffer @steps : memref<i32>
      %wide = arith.extsi %n : i16 to i32
      memref.store %wide, %steps[] : memref<i32>
      %u = wse.get_buffer @u : memref<2x3xf32>
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      memref.store %y, %u[%one, %two] : memref<2x3xf32>
      wse.return
    }
  }
}

// CHECK-LABEL: // FILE: layout.csl
// CHECK-NEXT: const memcpy = @import_module("<memcpy/get_params>", .{ .width = 3, .height = 1 });
// CHECK-NEXT: const cell_column = [3]i16{5, 6, 9};
// CHECK:      layout {
// CHECK-NEXT:   @set_rectangle(3, 1);
// CHECK-NEXT:   for (@range(i16, 3)) |x| {
// CHECK-NEXT:     @set_tile_code(
// CHECK-NEXT:       x,
// CHECK-NEXT:       0,
// CHECK-NEXT:       "cell.csl",
// CHECK-NEXT:       .{ .memcpy_params = memcpy.get_params(x), .scale = 0.1, .column = cell_column[x] },
// CHECK-NEXT:     );
// CHECK-NEXT:   }
// CHECK-NEXT:   @export_name("u", [*]f32, true);
// CHECK-NEXT:   @export_name("number of steps", [*]u32, false);
// CHECK-NEXT:   @export_name("main", fn(i16) void);
// CHECK-NEXT: }

// CHECK-LABEL: // FILE: cell.csl
// CHECK-NEXT: param memcpy_params;
// CHECK-NEXT: param scale: f32;
// CHECK-NEXT: param column: i16;
// CHECK-NEXT: const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
// CHECK-NEXT: var u = @zeros([2, 3]f32);
// CHECK-NEXT: var u_ptr: [*]f32 = &u;
// CHECK-NEXT: var half align(32) = @constants([4]f16, 0.5);
// CHECK-NEXT: var table = [2, 2]i16{1, -2, 3, 4};
// CHECK-NEXT: var count: i16 = 7;
// A host copies arrays, so an exported scalar is an array of one.
// CHECK-NEXT: var steps = @zeros([1]u32);
// CHECK-NEXT: const steps_ptr: [*]u32 = &steps;
// CHECK-LABEL: fn square(x: f32) f32 {
// CHECK-NEXT:   return x * x;
// CHECK-NEXT: }
// CHECK-LABEL: fn main(n: i16) void {
// CHECK-NEXT:   const y: f32 = square(scale);
// CHECK-NEXT:   count = column;
// CHECK-NEXT:   steps[0] = @bitcast(u32, @as(i32, n));
// CHECK-NEXT:   u[1, 2] = y;
// CHECK-NEXT:   sys_mod.unblock_cmd_stream();
// CHECK-NEXT: }
// CHECK:      comptime {
// CHECK-NEXT:   @export_symbol(u_ptr, "u");
// CHECK-NEXT:   @export_symbol(steps_ptr, "number of steps");
// CHECK-NEXT:   @export_symbol(main);
// CHECK-NEXT: }

// -----

// What the program calls itself must not let the host go on; what the host launches must.

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.export @step
    wse.export @twice as "two steps"
    wse.func @step(%n: i16) {
      wse.return
    }
    wse.func @twice() {
      %one = arith.constant 1 : i16
      wse.call @step(%one) : (i16) -> ()
      wse.call @step(%one) : (i16) -> ()
      wse.return
    }
  }
}

// CHECK-LABEL: fn step(n: i16) void {}
// CHECK-LABEL: fn launch_step(n: i16) void {
// CHECK-NEXT:   step(n);
// CHECK-NEXT:   sys_mod.unblock_cmd_stream();
// CHECK-NEXT: }
// CHECK-LABEL: fn twice() void {
// CHECK-NEXT:   step(1);
// CHECK-NEXT:   step(1);
// CHECK-NEXT:   sys_mod.unblock_cmd_stream();
// CHECK-NEXT: }
// CHECK:        @export_symbol(launch_step, "step");
// CHECK-NEXT:   @export_symbol(twice, "two steps");

// -----

// A program that says itself where the host may go on.

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] {
    wse.buffer @done : memref<i16>
    wse.export @done as "loom.cmd_stream" unsigned read_only
    wse.export @main
    wse.func @main() {
      wse.activate @last
      wse.return
    }
    wse.task @last local {
      %done = wse.get_buffer @done : memref<i16>
      %n = memref.load %done[] : memref<i16>
      %one = arith.constant 1 : i16
      %next = arith.addi %n, %one : i16
      memref.store %next, %done[] : memref<i16>
      wse.return
    }
  }
}

// CHECK-LABEL: fn main() void {
// CHECK-NEXT:   @activate(last_id);
// CHECK-NEXT: }
// CHECK-LABEL: task last() void {
// CHECK-NEXT:   sys_mod.unblock_cmd_stream();
// CHECK-NEXT: }
// CHECK-NOT:  loom.cmd_stream

// -----

// Names of the IR that CSL cannot have.

wse.program @p target "wse3" rectangle 1 x 1 {
  wse.color @task
  wse.pe @layout on [:, :] {
    wse.buffer @i16 : memref<4xi16>
    wse.buffer @while : memref<i16>
    wse.export @i16
    wse.input_queue @"from west" color @task
    wse.func @"2x"(%in: i16) {
      %while = wse.get_buffer @while : memref<i16>
      memref.store %in, %while[] : memref<i16>
      wse.return
    }
  }
}

// CHECK:      const task_1: color
// CHECK-LABEL: // FILE: layout_1.csl
// CHECK:      param task_1: color;
// CHECK:      var i16_1 = @zeros([4]i16);
// CHECK-NEXT: var i16_1_ptr: [*]i16 = &i16_1;
// CHECK-NEXT: var while_1: i16 = 0;
// CHECK-NEXT: const from_west: input_queue
// CHECK-LABEL: fn v2x(in: i16) void {
// CHECK-NEXT:   while_1 = in;
// CHECK-NEXT: }
// CHECK:      @export_symbol(i16_1_ptr, "i16");
