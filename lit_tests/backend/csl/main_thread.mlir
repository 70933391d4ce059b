// RUN: loom-opt %s -t csl | filecheck %s
// The priority of what tasks wait for is set at compile time.

// CHECK: const tile_config = @import_module("<tile_config>");
// CHECK: comptime {
// CHECK-NEXT: tile_config.main_thread_priority.update_main_thread_priority(
// CHECK-NEXT: tile_config.main_thread_priority.level.MEDIUM
wse.program @p target "wse3" rectangle 1 x 1 {
  wse.pe @cell on [:, :] main_thread medium {
    wse.buffer @x : memref<4xf32>
  }
}
