// RUN: loom-opt %s -t loom-tables --split-input-file | filecheck %s
// Loads, stores, and memory at the start.

// Indices that are all known make an address; others are checked when they come.
// CHECK-LABEL: program @accesses wse3 2 x 1
// CHECK: use 0 of body 0 @main
// CHECK-NEXT:   numbers 3, 2
// CHECK-NEXT:   $0 = access @m byte 48 : f32
// CHECK-NEXT:   $1 = access @m byte 4 [3] * 16 [4] * 4 : f32
// CHECK-NEXT:   $2 = access @b byte 80 [5] * 1 : i8
// CHECK-NEXT:   $3 = access memory pointer : i8
// CHECK-NEXT:   $4 = access memory pointer indexed : f32
// CHECK-NEXT: body 0 @main (i16, i16) registers 7 numbers 2 descriptors 0 + 0 slots 5
// CHECK-NEXT:   0: index_cast_i16_index r2, r2
// CHECK-NEXT:   1: load r4, none, $0
// CHECK-NEXT:   2: move r5, r2
// CHECK-NEXT:   3: move r6, r0
// CHECK-NEXT:   4: store r4, r5, $1
// CHECK-NEXT:   5: load r4, r2, $2
// CHECK-NEXT:   6: store r4, r3, $3
// CHECK-NEXT:   7: move r4, r3
// CHECK-NEXT:   8: move r5, r2
// CHECK-NEXT:   9: load r2, r4, $4
// CHECK-NEXT:   10: move r4, r1
// CHECK-NEXT:   11: store r2, r3, $4
// CHECK-NEXT:   12: tick instruction 1, access_16 1, access_32 1, indexed_access_16 1, indexed_access_32 3
// CHECK-NEXT:   13: end
flow.fabric @accesses target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @m at 2 : memref<3x4xf32>
    flow.buffer @b at 40 : memref<5xi8>
    flow.export @main as "main"
    flow.func @main(%i: i16, %p: i16) {
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %at = arith.index_cast %i : i16 to index
      %a = flow.load @m[%two, %three] : f32
      flow.store %a, @m[%at, %three] : f32
      %c = flow.load @b[%at] : i8
      flow.store %c, %p[] : i8
      %d = flow.load %p[%at] : f32
      flow.store %d, %p[%two] : f32
      flow.return
    }
  }
}

// -----

// Initial values without long rows of zeros; elements that differ from PE to PE have a column.
// CHECK-LABEL: program @initial wse3 2 x 1
// CHECK: class 0 @cell on [0:2, 0] words 64
// CHECK-NEXT:   buffer @a at 0 : 4xi16
// CHECK-NEXT:   buffer @zeros at 4 : 16xi32
// CHECK-NEXT:   buffer @b at 36 : 2xf32
// CHECK-NEXT:   buffer @c at 40 : 3xi8
// CHECK-NEXT:   column @column : i16 [3, -4]
// CHECK-NEXT:   image at byte 0: 01000201070002
// CHECK-NEXT:   image at byte 74: 803f000000bf010203
// CHECK-NEXT:   patch at byte 6: column 0
// CHECK-NEXT: export "a" of class 0: buffer @a : 4xi16 unsigned
// CHECK-NEXT: export "b" of class 0: buffer @b : 2xf32 read_only
// CHECK-NEXT: export "open" of class 0: buffer @a : 4xi16 read_only
flow.fabric @initial target "wse3" grid 2 by 1 {
  flow.units @cell on [:, :] words 64 {
    flow.buffer @a at 0 : memref<4xi16> = dense<[1, -1, 0, 2]>
    flow.buffer @zeros at 4 : memref<16xi32> = dense<0>
    flow.buffer @b at 36 : memref<2xf32> = dense<[1.0, -0.5]>
    flow.buffer @c at 40 : memref<3xi8> = dense<[1, 2, 3]>
    flow.param @same = dense<7> : tensor<i16>
    flow.param @column = dense<[[3, -4]]> : tensor<1x2xi16>
    flow.initialize @a[1] = 258
    flow.initialize @a[2] = @same
    flow.initialize @a[3] = @column
    flow.export @a as "a" unsigned
    flow.export @b as "b" read_only
    flow.export @a as "open" read_only
  }
}
