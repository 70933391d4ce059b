// RUN: loom-opt %s -t loom-tables --split-input-file | filecheck %s
// Scalar code: what is known costs nothing, what is constant for a PE is read first.

// What is computed from constants, the grid and one value for all PEs is a number of the use.
// CHECK-LABEL: program @folding wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   numbers 7
// CHECK-NEXT:   $0 = access @y byte 0 : i16
// CHECK-NEXT: body 0 @main (i16) registers 2 numbers 1 descriptors 0 + 0 slots 1
// CHECK-NEXT:   0: addi_i16 r1, r1, r0
// CHECK-NEXT:   1: store r1, none, $0
// CHECK-NEXT:   2: tick instruction 1, access_16 1
// CHECK-NEXT:   3: end
flow.fabric @folding target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<i16>
    flow.param @step = dense<3> : tensor<i16>
    flow.export @main as "main"
    flow.func @main(%n: i16) {
      %width = flow.extent x : i16
      %step = flow.get_param @step : i16
      %two = arith.constant 2 : i16
      %a = arith.muli %width, %two : i16
      %b = arith.addi %a, %step : i16
      %c = arith.addi %n, %b : i16
      flow.store %c, @y[] : i16
      flow.return
    }
  }
}

// -----

// Coordinates and columns of parameters are read at the start, at the cost of one instruction for each operation.
// CHECK-LABEL: program @own_values wse3 2 x 1
// CHECK: class 0 @cell on [0:2, 0] words 64
// CHECK-NEXT:   buffer @y at 0 : i16
// CHECK-NEXT:   column @step : i16 [3, -4]
// CHECK-NEXT:   local task @main id 9 use 1 active
// CHECK-NEXT: use 0 of body 0 @add
// CHECK-NEXT:   $0 = column @step
// CHECK-NEXT:   $1 = access @y byte 0 : i16
// CHECK-NEXT: use 1 of body 1 @main
// CHECK-NEXT:   $0 = use 0 @add
// CHECK-NEXT: body 0 @add (i16) registers 3 numbers 0 descriptors 0 + 0 slots 2
// CHECK-NEXT:   0: coordinate r1, 0
// CHECK-NEXT:   1: column r2, $0
// CHECK-NEXT:   2: addi_i16 r0, r0, r2
// CHECK-NEXT:   3: muli_i16 r0, r0, r1
// CHECK-NEXT:   4: store r0, none, $1
// CHECK-NEXT:   5: tick instruction 2, access_16 1
// CHECK-NEXT:   6: return none
// CHECK-NEXT: body 1 @main () registers 1 numbers 0 descriptors 0 + 0 slots 1
// CHECK-NEXT:   0: coordinate r0, 0
// CHECK-NEXT:   1: call $0, r0, none
// CHECK-NEXT:   2: tick instruction 3, call 1
// CHECK-NEXT:   3: end
flow.fabric @own_values target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<i16>
    flow.param @step = dense<[[3, -4]]> : tensor<1x2xi16>
    flow.task local @main id 9 active {
      %x = flow.coordinate x : i16
      flow.call @add(%x) : (i16) -> ()
      flow.return
    }
    flow.func @add(%x: i16) {
      %again = flow.coordinate x : i16
      %step = flow.get_param @step : i16
      %a = arith.addi %x, %step : i16
      %b = arith.muli %a, %again : i16
      flow.store %b, @y[] : i16
      flow.return
    }
  }
}

// -----

// A divisor is checked unless it is known not to be 0; a third operand is where the result goes.
// CHECK-LABEL: program @divisions wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   numbers 2, 0
// CHECK-NEXT:   $0 = access @y byte 0 : f32
// CHECK-NEXT: body 0 @main (i16, f32, f32) registers 6 numbers 2 descriptors 0 + 0 slots 1
// CHECK-NEXT:   0: divsi_i16 r5, r2, r0
// CHECK-NEXT:   1: check_divisor r2
// CHECK-NEXT:   2: remui_i16 r2, r5, r2
// CHECK-NEXT:   3: cmpi_eq_i16 r2, r2, r1
// CHECK-NEXT:   4: move r5, r4
// CHECK-NEXT:   5: select r5, r2, r3
// CHECK-NEXT:   6: fma_f32 r4, r5, r3
// CHECK-NEXT:   7: addf_f32 r2, r4, r3
// CHECK-NEXT:   8: store r2, none, $0
// CHECK-NEXT:   9: tick instruction 1, float_latency 3, access_32 1, integer_division_16 2
// CHECK-NEXT:   10: end
flow.fabric @divisions target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<f32>
    flow.export @main as "main"
    flow.func @main(%n: i16, %f: f32, %g: f32) {
      %zero = arith.constant 0 : i16
      %two = arith.constant 2 : i16
      %a = arith.divsi %n, %two : i16
      %b = arith.remui %a, %n : i16
      %c = arith.cmpi eq, %b, %zero : i16
      %d = arith.select %c, %f, %g : f32
      %e = math.fma %d, %f, %g : f32
      %h = arith.addf %e, %f : f32
      flow.store %h, @y[] : f32
      flow.return
    }
  }
}

// -----

// In a class that sets the exception mask, operations on floats are checked and not computed beforehand.
// CHECK-LABEL: program @traps wse3 2 x 1
// CHECK: class 0 @cell on [0:2, 0] words 64 traps
// CHECK-NEXT:   buffer @y at 0 : f32
// CHECK-NEXT:   launch task @main id -1 use 0
// CHECK-NEXT: export "main" of class 0: launch @main
// CHECK-NEXT: use 0 of body 0 @main
// CHECK-NEXT:   numbers 1065353216
// CHECK-NEXT:   $0 = trap arith.divf (r0, r0) -> r1 : f32
// CHECK-NEXT:   $1 = access @y byte 0 : f32
// CHECK-NEXT: body 0 @main (i16) registers 2 numbers 1 descriptors 0 + 0 slots 2
// CHECK-NEXT:   0: set_exception_mask r1
// CHECK-NEXT:   1: divf_f32 r1, r0, r0
// CHECK-NEXT:   2: check_exceptions $0
// CHECK-NEXT:   3: store r1, none, $1
// CHECK-NEXT:   4: tick instruction 1, access_32 1, float_division_32 1
// CHECK-NEXT:   5: end
flow.fabric @traps target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<f32>
    flow.export @main as "main"
    flow.func @main(%mask: i16) {
      flow.set_exception_mask %mask
      %one = arith.constant 1.0 : f32
      %a = arith.divf %one, %one : f32
      flow.store %a, @y[] : f32
      flow.return
    }
  }
}
