// RUN: loom-opt -p lower-to-flow --print-debuginfo %s | filecheck %s
// New operations stand where the old ones stood, and so do those that one needs beside its counterpart.

wse.program @locations target "wse3" rectangle 1 x 1 {
  wse.pe @a on [:, :] {
    // CHECK: flow.buffer @A at 0 : memref<8xf32> loc("{{.*}}locations.mlir":[[# @LINE + 1]]:5)
    wse.buffer @A : memref<8xf32>
    wse.func @f(%n: i16) {
      %A = wse.get_buffer @A : memref<8xf32>
      // CHECK: flow.stream @A {{.*}} loc("{{.*}}locations.mlir":[[# @LINE + 1]]:7)
      %a = dsd.mem1d %A extent 4 : memref<8xf32>
      // CHECK-NEXT: arith.constant 2 : i16 loc("{{.*}}locations.mlir":[[# @LINE + 3]]:7)
      // CHECK-NEXT: arith.muli {{.*}} loc("{{.*}}locations.mlir":[[# @LINE + 2]]:7)
      // CHECK-NEXT: flow.advance {{.*}} loc("{{.*}}locations.mlir":[[# @LINE + 1]]:7)
      %b = dsd.increment_offset %a, %n : !dsd.mem1d<f32>
      // CHECK-NEXT: flow.apply fabss {{.*}} loc("{{.*}}locations.mlir":[[# @LINE + 1]]:7)
      dsd.fabss %a, %b : !dsd.mem1d<f32>, !dsd.mem1d<f32>
      %c = arith.cmpi eq, %n, %n : i16
      // CHECK: scf.if
      scf.if %c {
        // CHECK-NEXT: flow.apply fnegs {{.*}} loc("{{.*}}locations.mlir":[[# @LINE + 1]]:9)
        dsd.fnegs %a, %a : !dsd.mem1d<f32>, !dsd.mem1d<f32>
        // CHECK-NEXT: } loc("{{.*}}locations.mlir":[[# @LINE - 3]]:7)
      }
      wse.return
    }
    // CHECK: } loc("{{.*}}locations.mlir":5:3)
  }
}
