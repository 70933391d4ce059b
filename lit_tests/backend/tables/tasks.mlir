// RUN: loom-opt %s -t loom-tables --split-input-file | filecheck %s
// Tasks and what changes their state.

// What may be blocked is blockable; wavelets of a queue without data task start control tasks.
// CHECK-LABEL: program @states wse3 2 x 1
// CHECK: class 0 @cell on [0:2, 0] words 64
// CHECK-NEXT:   input queue @in id 2 [@red on [0:2, 0]] room 4 starts @control tasks of @in control offset 4
// CHECK-NEXT:   input queue @words id 3 [@blue on [0:2, 0]] room 4 starts @word
// CHECK-NEXT:   local task @first id 9 use 0 active blockable
// CHECK-NEXT:   local task @second id 10 use 1 blockable blocked
// CHECK-NEXT:   data task @word id 3 on @words use 2 blockable
// CHECK-NEXT:   control task @stop id 40 use 3
// CHECK-NEXT:   listener task @control tasks of @in id 2 on @in blockable blocked
// CHECK-NEXT: use 0 of body 0 @first
// CHECK-NEXT:   $0 = task @second
// CHECK-NEXT:   $1 = task @first
// CHECK-NEXT:   $2 = task @control tasks of @in
// CHECK-NEXT:   $3 = task @word
// CHECK-NEXT: use 1 of body 1 @second
// CHECK-NEXT: use 2 of body 2 @word
// CHECK-NEXT: use 3 of body 3 @stop
// CHECK-NEXT: body 0 @first () registers 0 numbers 0 descriptors 0 + 0 slots 4
// CHECK-NEXT:   0: tick task_control 1
// CHECK-NEXT:   1: activate $0
// CHECK-NEXT:   2: tick task_control 1
// CHECK-NEXT:   3: block $1
// CHECK-NEXT:   4: tick task_control 1
// CHECK-NEXT:   5: unblock $2
// CHECK-NEXT:   6: tick task_control 1
// CHECK-NEXT:   7: unblock $3
// CHECK-NEXT:   8: end
// CHECK-NEXT: body 1 @second () registers 0 numbers 0 descriptors 0 + 0 slots 0
// CHECK-NEXT:   0: end
// CHECK-NEXT: body 2 @word (i16, i16) registers 2 numbers 0 descriptors 0 + 0 slots 0
// CHECK-NEXT:   0: end
// CHECK-NEXT: body 3 @stop (i16) registers 1 numbers 0 descriptors 0 + 0 slots 0
// CHECK-NEXT:   0: end
flow.fabric @states target "wse3" grid 2 by 1 {
  flow.color @red = 3
  flow.color @blue = 4
  flow.units @cell on [:, :] words 64 {
    flow.queue input @in id 2 colors [@red on [:, :]] control_offset 4
    flow.queue input @words id 3 colors [@blue on [:, :]]
    flow.task local @first id 9 active {
      flow.activate @second
      flow.block @first
      flow.unblock @in
      flow.unblock @words
      flow.return
    }
    flow.task local @second id 10 blocked {
      flow.return
    }
    flow.task data @word id 3 on @words (%low: i16, %high: i16) {
      flow.return
    }
    flow.task control @stop id 40 (%word: i16) {
      flow.return
    }
  }
}

// -----

// What a program says and asks costs as an instruction, or nothing.
// CHECK-LABEL: program @reports wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   numbers 0
// CHECK-NEXT:   $0 = access @y byte 0 : i16
// CHECK-NEXT:   $1 = print '{d} {f}' (i16, f32)
// CHECK-NEXT:   $2 = message "not {u}" value
// CHECK-NEXT:   $3 = directive broadcast along x
// CHECK-NEXT: body 0 @main () registers 4 numbers 1 descriptors 0 + 0 slots 4
// CHECK-NEXT:   0: load r1, none, $0
// CHECK-NEXT:   1: sitofp_i16_f32 r3, r1
// CHECK-NEXT:   2: move r2, r1
// CHECK-NEXT:   3: tick float_latency 1, access_16 1
// CHECK-NEXT:   4: print $1, r2
// CHECK-NEXT:   5: tick timestamp 1
// CHECK-NEXT:   6: timestamp r1
// CHECK-NEXT:   7: store r2, none, $0
// CHECK-NEXT:   8: cmpi_ne_i16 r2, r1, r0
// CHECK-NEXT:   9: assert r2, r3, $2
// CHECK-NEXT:   10: directive $3, r1, r3
// CHECK-NEXT:   11: tick instruction 1, branch_not_taken 1, access_16 1
// CHECK-NEXT:   12: end
flow.fabric @reports target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @y at 0 : memref<i16>
    flow.task local @main id 9 active {
      %n = flow.load @y[] : i16
      %f = arith.sitofp %n : i16 to f32
      flow.print "{d} {f}", %n, %f : i16, f32
      %low, %middle, %high = flow.timestamp
      flow.store %middle, @y[] : i16
      %zero = arith.constant 0 : i16
      %c = arith.cmpi ne, %low, %zero : i16
      flow.assert %c, "not {u}", %high : i16
      flow.directive "broadcast" along "x", %low, %high
      flow.return
    }
  }
}
