// RUN: loom-opt %s -p import-xdsl-csl --split-input-file --verify-diagnostics | filecheck %s
// Each error is at the operation that cannot be imported, and names it.

// CHECK: bad_modules.mlir:[[# @LINE + 4]]:5: error: test.op cannot be imported; lower it to the csl dialect first
"csl.module"() <{kind = #csl<module_kind program>}> ({
  "csl.export"() <{var_name = @main, type = () -> ()}> : () -> ()
  csl.func @main() {
    "test.op"() : () -> ()
    csl.return
  }
}) {sym_name = "p"} : () -> ()

// -----

// CHECK: bad_modules.mlir:[[# @LINE + 4]]:5: error: csl.activate of a control task: only local tasks can be activated
"csl.module"() <{kind = #csl<module_kind program>}> ({
  "csl.export"() <{var_name = @main, type = () -> ()}> : () -> ()
  csl.func @main() {
    csl.activate control, 42 : ui6
    csl.return
  }
}) {sym_name = "p"} : () -> ()

// -----

// CHECK: bad_modules.mlir:[[# @LINE + 2]]:3: error: csl.import_module cannot be imported: there is no file 'missing.csl' in . or . (where cslc was started);
"csl.module"() <{kind = #csl<module_kind program>}> ({
  %m = "csl.import_module"() <{module = "missing.csl"}> : () -> !csl.imported_module
  "csl.member_call"(%m) <{field = "start"}> : (!csl.imported_module) -> ()
}) {sym_name = "p"} : () -> ()

// -----

// CHECK: bad_modules.mlir:[[# @LINE + 2]]:3: error: csl.func @receive has no body; give it one block, with scf for control flow
"csl.module"() <{kind = #csl<module_kind program>}> ({
  csl.func @receive(f32)
}) {sym_name = "p"} : () -> ()

// -----

// CHECK: bad_modules.mlir:[[# @LINE + 2]]:3: error: csl.layout cannot be imported: the layout does not set a rectangle; call @set_rectangle first
"csl.module"() <{kind = #csl<module_kind layout>}> ({
  csl.layout {
  }
}) {sym_name = "p"} : () -> ()

// -----

// CHECK: bad_modules.mlir:[[# @LINE + 4]]:1: error: func.func is beside a csl.module and cannot be imported; remove it
"csl.module"() <{kind = #csl<module_kind program>}> ({
  %y = memref.alloc() : memref<8xf32>
}) {sym_name = "p"} : () -> ()
func.func @f() {
  func.return
}
