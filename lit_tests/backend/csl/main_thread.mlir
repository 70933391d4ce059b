// RUN: loom-opt %s -t csl | filecheck %s
// The priority of what tasks wait for, and registers, are set at compile time.

// CHECK: const tile_config = @import_module("<tile_config>");
// CHECK: comptime {
// CHECK-NEXT: tile_config.main_thread_priority.update_main_thread_priority(
// CHECK-NEXT: tile_config.main_thread_priority.level.MEDIUM
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] main_thread medium attributes {configuration = array<i64: 0x7fc8, 2, 0x7fca, 512>} {
    wse.buffer @x : memref<4xf32>
  }
}

// CHECK: @set_config(32712, 2);
// CHECK-NEXT: @set_config(32714, 512);
