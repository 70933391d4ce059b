// RUN: loom-opt %s | loom-opt | filecheck %s
// Tiles of memories and the entries of channels they belong to.

// CHECK-LABEL: flow.fabric @k target "a5" grid 2 by 3 {
// CHECK-NEXT:   flow.space @gm 0
// CHECK-NEXT:   flow.channel @c from @cube to @vector depth 8 period 4 lanes 1 seed 0
// CHECK-NEXT:   flow.units @cube on [0, :] words 16 {
// CHECK-NEXT:     flow.space @acc 65536
// CHECK-NEXT:     flow.func @main(%n: i64, %b: i64) {
// CHECK-NEXT:       %z = arith.constant 0 : i64
// CHECK-NEXT:       %f = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:       %t = flow.tile @acc[%z] extents [16, %n] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:       flow.tile_apply "fill" %t(%f) : !flow.tile<f32>(f32)
// CHECK-NEXT:       %i = flow.acquire @c : i64
// CHECK-NEXT:       %s = flow.tile @gm[%b] slot @c[%i] of 8 by 1024 as written extents [16, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:       flow.tile_apply "copy" %s(%t) : !flow.tile<f32>(!flow.tile<f32>)
// CHECK-NEXT:       %r = flow.tile @vec[%b] of @vector lane %z slot @c[%i] of 8 by 1024 as written extents [16, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:       flow.tile_apply "copy" %r(%t) : !flow.tile<f32>(!flow.tile<f32>)
// CHECK-NEXT:       flow.commit @c
// CHECK-NEXT:       flow.drain @c
// CHECK-NEXT:       flow.return
// CHECK-NEXT:     }
// CHECK-NEXT:     flow.export @main as "cube"
// CHECK-NEXT:   }
// CHECK-NEXT:   flow.units @vector on [1, :] words 16 {
// CHECK-NEXT:     flow.space @vec 65536
// CHECK-NEXT:     flow.func @main(%b: i64) {
// CHECK-NEXT:       %i = flow.wait @c : i64
// CHECK-NEXT:       %s = flow.tile @gm[%b] slot @c[%i] of 8 by 1024 as read extents [16, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:       flow.tile_print "x" %s : !flow.tile<f32>
// CHECK-NEXT:       flow.release @c
// CHECK-NEXT:       flow.return
// CHECK-NEXT:     }
// CHECK-NEXT:     flow.export @main as "vector"
// CHECK-NEXT:   }
// CHECK-NEXT: }

flow.fabric @k target "a5" grid 2 by 3 {
  flow.space @gm 0
  flow.channel @c from @cube to @vector depth 8 period 4 lanes 1 seed 0
  flow.units @cube on [0, :] words 16 {
    flow.space @acc 65536
    flow.func @main(%n: i64, %b: i64) {
      %z = arith.constant 0 : i64
      %f = arith.constant 2.000000e+00 : f32
      %t = flow.tile @acc[%z] extents [16, %n] strides [16, 1] : !flow.tile<f32>
      flow.tile_apply "fill" %t(%f) : !flow.tile<f32>(f32)
      %i = flow.acquire @c : i64
      %s = flow.tile @gm[%b] slot @c[%i] of 8 by 1024 as written extents [16, 16] strides [16, 1] : !flow.tile<f32>
      flow.tile_apply "copy" %s(%t) : !flow.tile<f32>(!flow.tile<f32>)
      %r = flow.tile @vec[%b] of @vector lane %z slot @c[%i] of 8 by 1024 as written extents [16, 16] strides [16, 1] : !flow.tile<f32>
      flow.tile_apply "copy" %r(%t) : !flow.tile<f32>(!flow.tile<f32>)
      flow.commit @c
      flow.drain @c
      flow.return
    }
    flow.export @main as "cube"
  }
  flow.units @vector on [1, :] words 16 {
    flow.space @vec 65536
    flow.func @main(%b: i64) {
      %i = flow.wait @c : i64
      %s = flow.tile @gm[%b] slot @c[%i] of 8 by 1024 as read extents [16, 16] strides [16, 1] : !flow.tile<f32>
      flow.tile_print "x" %s : !flow.tile<f32>
      flow.release @c
      flow.return
    }
    flow.export @main as "vector"
  }
}
