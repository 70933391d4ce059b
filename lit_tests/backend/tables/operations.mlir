// RUN: loom-opt %s -t loom-tables --split-input-file | filecheck %s
// Operations on streams, data structure registers and FIFOs.

// Scalars are read as the operation's type; the end of an operation starts tasks.
// CHECK-LABEL: program @ends wse3 2 x 1
// CHECK: class 0 @cell on [0:2, 0] words 64
// CHECK-NEXT:   buffer @a at 0 : 8xf32
// CHECK-NEXT:   input queue @in id 2 [@red on [0:2, 0]] room 4 starts @word
// CHECK-NEXT:   output queue @out id 2 [@red on [0:2, 0]] room 8
// CHECK-NEXT:   local task @done id 9 use 0 completion_activates
// CHECK-NEXT:   local task @later id 10 use 1 blockable blocked completion_unblocks
// CHECK-NEXT:   data task @word id 2 on @in use 2 blockable completion_unblocks
// CHECK-NEXT:   launch task @main id -1 use 3
// CHECK-NEXT: export "main" of class 0: launch @main
// CHECK-NEXT: use 0 of body 0 @done
// CHECK-NEXT: use 1 of body 1 @later
// CHECK-NEXT: use 2 of body 2 @word
// CHECK-NEXT: use 3 of body 3 @main
// CHECK-NEXT:   numbers 1065353216
// CHECK-NEXT:   s0 = walk @a at 0 strides [1] extents [8] : f32
// CHECK-NEXT:   s1 = queue @in extent 8 : f32
// CHECK-NEXT:   s2 = queue @out extent 8 : f32
// CHECK-NEXT:   $0 = operation mov32 s0, r1
// CHECK-NEXT:   $1 = operation mov32 s0, r0
// CHECK-NEXT:   $2 = operation fmovs s0, s1 on_control microthread 2 activate @done control_unblock @later priority high
// CHECK-NEXT:   $3 = operation fmovs s2, s0 microthread 3 unblock @word
// CHECK-NEXT: body 0 @done () registers 0 numbers 0 descriptors 0 + 0 slots 0
// CHECK-NEXT:   0: end
// CHECK-NEXT: body 1 @later () registers 0 numbers 0 descriptors 0 + 0 slots 0
// CHECK-NEXT:   0: end
// CHECK-NEXT: body 2 @word (f32) registers 1 numbers 0 descriptors 0 + 0 slots 0
// CHECK-NEXT:   0: end
// CHECK-NEXT: body 3 @main (f32) registers 2 numbers 1 descriptors 3 + 0 slots 4
// CHECK-NEXT:   0: bitcast_f32_i32 r1, r1
// CHECK-NEXT:   1: apply $0, none
// CHECK-NEXT:   2: apply $1, none
// CHECK-NEXT:   3: apply $2, none
// CHECK-NEXT:   4: apply $3, none
// CHECK-NEXT:   5: end
flow.fabric @ends target "wse3" grid 2 by 1 {
  flow.color @red = 3
  flow.units @cell on [:, :] words 64 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.queue input @in id 2 colors [@red on [:, :]]
    flow.queue output @out id 2 colors [@red on [:, :]]
    flow.export @main as "main"
    flow.func @main(%f: f32) {
      %a = flow.stream @a at 0 strides [1] extents [8] : !flow.stream<f32>
      %bits = arith.constant 1.0 : f32
      flow.apply mov32 %a, %f : !flow.stream<f32>, f32
      flow.apply mov32 %a, %bits : !flow.stream<f32>, f32
      %in = flow.queue_stream @in extent 8 : !flow.stream<f32>
      %out = flow.queue_stream @out extent 8 : !flow.stream<f32>
      flow.apply fmovs %a, %in async(microthread = 2, activate = @done, on_control = unblock @later, priority = high) : !flow.stream<f32>, !flow.stream<f32>
      flow.apply fmovs %out, %a async(microthread = 3, unblock = @in) : !flow.stream<f32>, !flow.stream<f32>
      flow.return
    }
    flow.task local @done id 9 {
      flow.return
    }
    flow.task local @later id 10 blocked {
      flow.return
    }
    flow.task data @word id 2 on @in (%word: f32) {
      flow.return
    }
  }
}

// -----

// A register keeps a stream from one task to another.
// CHECK-LABEL: program @registers wse3 2 x 1
// CHECK: class 0 @cell on [0:2, 0] words 64
// CHECK-NEXT:   buffer @a at 0 : 8xf32
// CHECK-NEXT:   local task @main id 9 use 0 active
// CHECK-NEXT:   start use 1
// CHECK-NEXT: use 0 of body 0 @main
// CHECK-NEXT:   s0 = walk @a at 2 strides [1] extents [4] : f32
// CHECK-NEXT:   $0 = load of src1 register 2
// CHECK-NEXT:   $1 = read of dest register 1
// CHECK-NEXT:   $2 = read of src1 register 2
// CHECK-NEXT:   $3 = operation fmovs f0, f1 result
// CHECK-NEXT:   $4 = message "all of it"
// CHECK-NEXT: use 1 of body 1 @what is loaded at the start
// CHECK-NEXT:   s0 = walk @a at 0 strides [1] extents [8] : f32
// CHECK-NEXT:   $0 = load of dest register 1 save_address
// CHECK-NEXT: body 0 @main () registers 1 numbers 0 descriptors 1 + 2 slots 5
// CHECK-NEXT:   0: load_register s0, $0
// CHECK-NEXT:   1: read_register f0, $1
// CHECK-NEXT:   2: read_register f1, $2
// CHECK-NEXT:   3: tick register_load 1
// CHECK-NEXT:   4: apply $3, r0
// CHECK-NEXT:   5: assert r0, none, $4
// CHECK-NEXT:   6: tick branch_not_taken 1
// CHECK-NEXT:   7: end
// CHECK-NEXT: body 1 @what is loaded at the start () registers 0 numbers 0 descriptors 1 + 0 slots 1
// CHECK-NEXT:   0: load_register s0, $0
// CHECK-NEXT:   1: end
flow.fabric @registers target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @a at 0 : memref<8xf32>
    flow.initial {
      %a = flow.stream @a at 0 strides [1] extents [8] : !flow.stream<f32>
      flow.load_register dest 1, %a save_address : !flow.stream<f32>
    }
    flow.task local @main id 9 active {
      %a = flow.stream @a at 1 strides [1] extents [4] : !flow.stream<f32>
      flow.load_register src1 2, %a : !flow.stream<f32>
      %d = flow.register dest 1 : !flow.stream<f32>
      %s = flow.register src1 2 : !flow.stream<f32>
      %done = flow.apply fmovs %d, %s : !flow.stream<f32>, !flow.stream<f32> -> i1
      flow.assert %done, "all of it"
      flow.return
    }
  }
}

// -----

// An operation on a FIFO may stop; one on memory cannot.
// CHECK-LABEL: program @fifos wse3 2 x 1
// CHECK: class 0 @cell on [0:2, 0] words 64
// CHECK-NEXT:   buffer @a at 0 : 8xi16
// CHECK-NEXT:   buffer @ring at 16 : 4xi16
// CHECK-NEXT:   fifo @f on @ring push @more pop none test_or_suspend test_or_suspend
// CHECK-NEXT:   local task @main id 9 use 0 active
// CHECK-NEXT:   local task @more id 10 use 1 completion_activates
// CHECK-NEXT: use 0 of body 0 @main
// CHECK-NEXT:   numbers 3, 1
// CHECK-NEXT:   s0 = walk @a at 0 strides [1] extents [8] : i16
// CHECK-NEXT:   s1 = fifo @f : i16
// CHECK-NEXT:   $0 = fifo @f
// CHECK-NEXT:   $1 = operation mov16 s1, s0 result
// CHECK-NEXT:   $2 = operation mov16 s0, s0
// CHECK-NEXT:   $3 = message "pushed"
// CHECK-NEXT: use 1 of body 1 @more
// CHECK-NEXT: body 0 @main () registers 3 numbers 2 descriptors 2 + 0 slots 4
// CHECK-NEXT:   0: set_fifo_length r0, $0, 1
// CHECK-NEXT:   1: tick descriptor 1
// CHECK-NEXT:   2: apply $1, r2
// CHECK-NEXT:   3: apply $2, none
// CHECK-NEXT:   4: andi_i1 r2, r2, r1
// CHECK-NEXT:   5: assert r2, none, $3
// CHECK-NEXT:   6: tick instruction 1, branch_not_taken 1
// CHECK-NEXT:   7: end
// CHECK-NEXT: body 1 @more () registers 0 numbers 0 descriptors 0 + 0 slots 0
// CHECK-NEXT:   0: end
flow.fabric @fifos target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @a at 0 : memref<8xi16>
    flow.buffer @ring at 16 : memref<4xi16>
    flow.fifo @f on @ring activate_push @more
    flow.task local @main id 9 active {
      %three = arith.constant 3 : i16
      flow.set_fifo_length @f write, %three
      %a = flow.stream @a at 0 strides [1] extents [8] : !flow.stream<i16>
      %f = flow.fifo_stream @f : !flow.stream<i16>
      %pushed = flow.apply mov16 %f, %a : !flow.stream<i16>, !flow.stream<i16> -> i1
      %moved = flow.apply mov16 %a, %a : !flow.stream<i16>, !flow.stream<i16> -> i1
      %both = arith.andi %pushed, %moved : i1
      flow.assert %both, "pushed"
      flow.return
    }
    flow.task local @more id 10 {
      flow.return
    }
  }
}
