// RUN: loom-opt %s -t loom-tables --split-input-file | filecheck %s
// Calls make frames; what has streams among its arguments or results is inlined.

// Two tasks share the body of a function; arguments and results are in consecutive registers.
// CHECK-LABEL: program @sharing wse3 2 x 1
// CHECK: use 0 of body 0 @both
// CHECK-NEXT: use 1 of body 1 @first
// CHECK-NEXT:   numbers 1
// CHECK-NEXT:   $0 = access @y byte 0 : i16
// CHECK-NEXT:   $1 = use 0 @both
// CHECK-NEXT: use 2 of body 2 @second
// CHECK-NEXT:   numbers 2
// CHECK-NEXT:   $0 = access @y byte 0 : i16
// CHECK-NEXT:   $1 = use 0 @both
// CHECK-NEXT: body 0 @both (i16, i16) -> (i16, i16) registers 4 numbers 0 descriptors 0 + 0 slots 0
// CHECK-NEXT:   0: addi_i16 r2, r0, r1
// CHECK-NEXT:   1: subi_i16 r3, r0, r1
// CHECK-NEXT:   2: tick instruction 2
// CHECK-NEXT:   3: return r2
// CHECK-NEXT: body 1 @first () registers 3 numbers 1 descriptors 0 + 0 slots 2
// CHECK-NEXT:   0: load r1, none, $0
// CHECK-NEXT:   1: move r2, r0
// CHECK-NEXT:   2: call $1, r1, r1
// CHECK-NEXT:   3: store r2, none, $0
// CHECK-NEXT:   4: tick call 1, access_16 2
// CHECK-NEXT:   5: end
// CHECK-NEXT: body 2 @second () registers 3 numbers 1 descriptors 0 + 0 slots 2
// CHECK-NEXT:   0: load r1, none, $0
// CHECK-NEXT:   1: move r2, r0
// CHECK-NEXT:   2: call $1, r1, r1
// CHECK-NEXT:   3: store r2, none, $0
// CHECK-NEXT:   4: tick call 1, access_16 2
// CHECK-NEXT:   5: end
flow.fabric @sharing target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<i16>
    flow.func @both(%a: i16, %b: i16) -> (i16, i16) {
      %s = arith.addi %a, %b : i16
      %d = arith.subi %a, %b : i16
      flow.return %s, %d : i16, i16
    }
    flow.task local @first id 9 active {
      %one = arith.constant 1 : i16
      %n = flow.load @y[] : i16
      %s, %d = flow.call @both(%n, %one) : (i16, i16) -> (i16, i16)
      flow.store %d, @y[] : i16
      flow.return
    }
    flow.task local @second id 10 active {
      %two = arith.constant 2 : i16
      %n = flow.load @y[] : i16
      %s, %d = flow.call @both(%n, %two) : (i16, i16) -> (i16, i16)
      flow.store %d, @y[] : i16
      flow.return
    }
  }
}

// -----

// A function may call itself.
// CHECK-LABEL: program @recursion wse3 2 x 1
// CHECK: use 0 of body 0 @factorial
// CHECK-NEXT:   numbers 1
// CHECK-NEXT:   $0 = use 0 @factorial
// CHECK-NEXT: use 1 of body 1 @main
// CHECK-NEXT:   $0 = use 0 @factorial
// CHECK-NEXT:   $1 = access @y byte 0 : i16
// CHECK-NEXT: body 0 @factorial (i16) -> (i16) registers 3 numbers 1 descriptors 0 + 0 slots 1
// CHECK-NEXT:   0: cmpi_ugt_i16 r2, r1, r0
// CHECK-NEXT:   1: branch_false r2, -> 8
// CHECK-NEXT:   2: subi_i16 r2, r1, r0
// CHECK-NEXT:   3: tick instruction 2, branch_not_taken 1, recursive_call 1
// CHECK-NEXT:   4: call $0, r2, r2
// CHECK-NEXT:   5: muli_i16 r1, r2, r1
// CHECK-NEXT:   6: tick instruction 1
// CHECK-NEXT:   7: jump -> 10
// CHECK-NEXT:   8: move r1, r0
// CHECK-NEXT:   9: tick instruction 1, branch_taken 1
// CHECK-NEXT:   10: return r1
// CHECK-NEXT: body 1 @main (i16) registers 1 numbers 0 descriptors 0 + 0 slots 2
// CHECK-NEXT:   0: tick call 1
// CHECK-NEXT:   1: call $0, r0, r0
// CHECK-NEXT:   2: store r0, none, $1
// CHECK-NEXT:   3: tick access_16 1
// CHECK-NEXT:   4: end
flow.fabric @recursion target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<i16>
    flow.export @main as "main"
    flow.func @factorial(%n: i16) -> (i16) {
      %one = arith.constant 1 : i16
      %more = arith.cmpi ugt, %n, %one : i16
      %r = scf.if %more -> (i16) {
        %less = arith.subi %n, %one : i16
        %f = flow.call @factorial(%less) : (i16) -> (i16)
        %g = arith.muli %f, %n : i16
        scf.yield %g : i16
      } else {
        scf.yield %one : i16
      }
      flow.return %r : i16
    }
    flow.func @main(%n: i16) {
      %r = flow.call @factorial(%n) : (i16) -> (i16)
      flow.store %r, @y[] : i16
      flow.return
    }
  }
}

// -----

// A stream goes into a function, and one comes out.
// CHECK-LABEL: program @streams wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   s0 = walk @a at 0 strides [1] extents [8] : f32
// CHECK-NEXT:   $0 = operation fadds f0, f0, s0
// CHECK-NEXT: body 0 @main (i16) registers 1 numbers 0 descriptors 1 + 1 slots 1
// CHECK-NEXT:   0: descriptor f0, s0
// CHECK-NEXT:   1: resize f0, r0
// CHECK-NEXT:   2: tick call 1, descriptor 1
// CHECK-NEXT:   3: apply $0, none
// CHECK-NEXT:   4: end
flow.fabric @streams target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.export @main as "main"
    flow.func @half(%s: !flow.stream<f32>, %n: i16) -> (!flow.stream<f32>) {
      %r = flow.resize %s, %n : !flow.stream<f32>
      flow.return %r : !flow.stream<f32>
    }
    flow.func @main(%n: i16) {
      %a = flow.stream @a at 0 strides [1] extents [8] : !flow.stream<f32>
      %b = flow.call @half(%a, %n) : (!flow.stream<f32>, i16) -> (!flow.stream<f32>)
      flow.apply fadds %b, %b, %a : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>
      flow.return
    }
  }
}
