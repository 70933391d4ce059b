// RUN: loom-opt %s -p 'import-xdsl-csl{params="rows:2"}' | filecheck %s
// RUN: loom-opt %s -p 'import-xdsl-csl{params="rows:2" arch=wse2}' | filecheck %s --check-prefix=WSE2

// A layout that gives each PE a value of its own, and a program that uses wavelets of its own PE alone.

"csl.module"() <{kind = #csl<module_kind layout>}> ({
  %zero = arith.constant 0 : i16
  %one = arith.constant 1 : i16
  %columns = arith.constant 3 : i16
  %rows = "csl.param"() <{param_name = "rows"}> : () -> i16
  csl.layout {
    "csl.set_rectangle"(%columns, %rows) : (i16, i16) -> ()
    scf.for %x = %zero to %columns step %one : i16 {
      scf.for %y = %zero to %rows step %one : i16 {
        %sum = arith.addi %x, %y : i16
        %params = "csl.const_struct"(%sum) <{ssa_fields = ["sum"]}> : (i16) -> !csl.comptime_struct
        "csl.set_tile_code"(%x, %y, %params) <{file = "add.csl"}> : (i16, i16, !csl.comptime_struct) -> ()
      }
    }
  }
}) {sym_name = "add_layout"} : () -> ()

"csl.module"() <{kind = #csl<module_kind program>}> ({
  %sum = "csl.param"() <{param_name = "sum"}> : () -> i16
  %y = memref.alloc() : memref<8xi16>
  %pointer = "csl.addressof"(%y) : (memref<8xi16>) -> !csl.ptr<i16, #csl<ptr_kind many>, #csl<ptr_const var>>
  "csl.export"(%pointer) <{var_name = "y", type = !csl.ptr<i16, #csl<ptr_kind many>, #csl<ptr_const var>>}>
    : (!csl.ptr<i16, #csl<ptr_kind many>, #csl<ptr_const var>>) -> ()
  "csl.export"() <{var_name = @main, type = (i16) -> ()}> : () -> ()
  csl.func @main(%n: i16) {
    %eight = arith.constant 8 : i16
    %d = "csl.get_mem_dsd"(%y, %eight) : (memref<8xi16>, i16) -> !csl<dsd mem1d_dsd>
    %added = csl.mlir.signedness_cast %sum : i16 to si16
    "csl.add16"(%d, %d, %added) : (!csl<dsd mem1d_dsd>, !csl<dsd mem1d_dsd>, si16) -> ()
    %many = arith.cmpi sgt, %n, %eight : i16
    scf.if %many {
      csl.activate local, 12 : ui5
    }
    csl.return
  }
  csl.task @again() attributes {kind = #csl<task_kind local>, id = 12 : ui5} {
    csl.return
  }
}) {sym_name = "add_program"} : () -> ()

// WSE2-LABEL: wse.program @add_layout target "wse2" rectangle 3 x 2 {
// CHECK-LABEL: wse.program @add_layout target "wse3" rectangle 3 x 2 {
// CHECK-NEXT:   wse.pe @add_program on
// CHECK:          wse.buffer @y : memref<8xi16>
// CHECK:          wse.param @[[SUM:.*]] : i16 over 3 x 2 = dense<{{\[\[}}0, 1, 2], [1, 2, 3]]>
// CHECK:          wse.export @{{.*}} as "y" points_to memref<8xi16>
// CHECK:          wse.export @main
// CHECK:          wse.func @main(%[[N:.*]]: i16) {
// CHECK:            %[[D:.*]] = dsd.mem1d %{{.*}} extent 8 : memref<8xi16>
// CHECK:            wse.get_param @[[SUM]] : i16
// CHECK:            dsd.add16 %{{.*}}, %{{.*}}, %{{.*}} : !dsd.mem1d<i16>, !dsd.mem1d<i16>, i16
// CHECK:            %[[MANY:.*]] = arith.cmpi sgt, %[[N]], %{{.*}} : i16
// CHECK-NEXT:       scf.if %[[MANY]] {
// CHECK-NEXT:         wse.activate @again
// CHECK-LABEL:    wse.task @again local id 12 {
