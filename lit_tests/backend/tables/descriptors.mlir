// RUN: loom-opt %s -t loom-tables --split-input-file | filecheck %s
// Streams: descriptors of the use where all is known, else of the frame.

// Only what is not known is set by instructions.
// CHECK-LABEL: program @streams wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   numbers 3
// CHECK-NEXT:   s0 = walk @a at 4 strides [1] extents [2] : f32
// CHECK-NEXT:   s1 = walk @a at 0 strides [2, -1] extents [3, 0] : f32
// CHECK-NEXT:   s2 = walk memory at 0 strides [1] extents [4] : f32
// CHECK-NEXT:   $0 = operation fadds f0, s0, f1
// CHECK-NEXT: body 0 @main (i16, i16) registers 3 numbers 1 descriptors 3 + 2 slots 1
// CHECK-NEXT:   0: descriptor f0, s1
// CHECK-NEXT:   1: set_offset f0, r1
// CHECK-NEXT:   2: set_extent f0, r1, 1
// CHECK-NEXT:   3: descriptor f1, s2
// CHECK-NEXT:   4: set_address f1, r2
// CHECK-NEXT:   5: set_offset f1, r0
// CHECK-NEXT:   6: tick descriptor 2
// CHECK-NEXT:   7: apply $0, none
// CHECK-NEXT:   8: end
flow.fabric @streams target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.export @main as "main"
    flow.func @main(%n: i16, %p: i16) {
      %two = arith.constant 2 : i16
      %known = flow.stream @a at %two strides [1] extents [%two] : !flow.stream<f32>
      %some = flow.stream @a at %n strides [%two, -1] extents [3, %n] : !flow.stream<f32>
      %pointed = flow.stream %p at 3 strides [1] extents [4] : !flow.stream<f32>
      flow.apply fadds %some, %known, %pointed : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>
      flow.return
    }
  }
}

// -----

// Updates make a new descriptor where the old one is used again.
// CHECK-LABEL: program @updates wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   s0 = walk @a at 0 strides [1] extents [8] : f32
// CHECK-NEXT:   $0 = operation fadds f1, f0, s0
// CHECK-NEXT: body 0 @main (i16, i16) registers 2 numbers 0 descriptors 1 + 2 slots 1
// CHECK-NEXT:   0: descriptor f0, s0
// CHECK-NEXT:   1: advance f0, r0
// CHECK-NEXT:   2: descriptor f1, f0
// CHECK-NEXT:   3: resize f1, r0
// CHECK-NEXT:   4: restride f1, r1
// CHECK-NEXT:   5: rebase f0, r1
// CHECK-NEXT:   6: tick descriptor 4
// CHECK-NEXT:   7: apply $0, none
// CHECK-NEXT:   8: end
flow.fabric @updates target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.export @main as "main"
    flow.func @main(%n: i16, %p: i16) {
      %a = flow.stream @a at 0 strides [1] extents [8] : !flow.stream<f32>
      %b = flow.advance %a, %n : !flow.stream<f32>
      %c = flow.resize %b, %n : !flow.stream<f32>
      %d = flow.restride %c, %p : !flow.stream<f32>
      %e = flow.rebase %b, %p : !flow.stream<f32>
      flow.apply fadds %d, %e, %a : !flow.stream<f32>, !flow.stream<f32>, !flow.stream<f32>
      flow.return
    }
  }
}

// -----

// Runs of queues, and streams that a branch or a loop chooses.
// CHECK-LABEL: program @queues wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   numbers 9
// CHECK-NEXT:   s0 = walk @a at 0 strides [1] extents [8] : i16
// CHECK-NEXT:   s1 = queue @q extent 0 control : i16
// CHECK-NEXT:   s2 = queue @q extent 4 advance_switch packed : i16
// CHECK-NEXT:   $0 = operation mov16 f0, s0
// CHECK-NEXT: body 0 @main (i16) registers 3 numbers 1 descriptors 3 + 1 slots 1
// CHECK-NEXT:   0: cmpi_eq_i16 r2, r1, r0
// CHECK-NEXT:   1: descriptor f0, s1
// CHECK-NEXT:   2: set_extent f0, r1, 0
// CHECK-NEXT:   3: mark f0, r1
// CHECK-NEXT:   4: branch_false r2, -> 7
// CHECK-NEXT:   5: tick instruction 1, branch_not_taken 1, descriptor 2
// CHECK-NEXT:   6: jump -> 9
// CHECK-NEXT:   7: descriptor f0, s2
// CHECK-NEXT:   8: tick instruction 1, branch_taken 1, descriptor 2
// CHECK-NEXT:   9: apply $0, none
// CHECK-NEXT:   10: end
flow.fabric @queues target "wse3" grid 2 by 1 {
  flow.color @red = 3
  flow.route @red on [0, :] from [ramp] to [east]
  flow.units @cell on [:, :] words 64 {
    flow.buffer @a at 0 : memref<8xi16>
    flow.queue output @q id 2 colors [@red on [:, :]]
    flow.export @main as "main"
    flow.func @main(%n: i16) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %a = flow.stream @a at 0 strides [1] extents [8] : !flow.stream<i16>
      %nine = arith.constant 9 : i16
      %c = arith.cmpi eq, %n, %nine : i16
      %q = flow.queue_stream @q extent %n control : !flow.stream<i16>
      %m = flow.indexed %q, %n : !flow.stream<i16>
      %s = scf.if %c -> (!flow.stream<i16>) {
        scf.yield %m : !flow.stream<i16>
      } else {
        %packed = flow.queue_stream @q extent 4 advance_switch packed : !flow.stream<i16>
        scf.yield %packed : !flow.stream<i16>
      }
      flow.apply mov16 %s, %a : !flow.stream<i16>, !flow.stream<i16>
      flow.return
    }
  }
}
