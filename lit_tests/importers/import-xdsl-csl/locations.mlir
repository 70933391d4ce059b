// RUN: loom-opt %s -p import-xdsl-csl --print-debuginfo | filecheck %s

// Operations keep the place where xDSL's operation stands.

"csl.module"() <{kind = #csl<module_kind program>}> ({
  %y = memref.alloc() : memref<8xf32>
  "csl.export"() <{var_name = @main, type = (f32) -> ()}> : () -> ()
  csl.func @main(%a: f32) {
    %n = arith.constant 8 : i16
    %d = "csl.get_mem_dsd"(%y, %n) : (memref<8xf32>, i16) -> !csl<dsd mem1d_dsd>
    "csl.fmovs"(%d, %a) : (!csl<dsd mem1d_dsd>, f32) -> ()
    csl.return
  }
}) {sym_name = "fill"} : () -> ()

// CHECK: wse.buffer @y : memref<8xf32>{{.*}} loc("{{.*}}locations.mlir":6:3)
// CHECK: dsd.fmovs {{.*}} loc("{{.*}}locations.mlir":11:5)
// CHECK: } loc("{{.*}}locations.mlir":8:3)
