// RUN: loom-opt -p lower-pto-to-flow{blocks=3} --split-input-file %s | filecheck %s
// What a host starts, and what it passes: entries, kernels, sections; what is called replaces the call.

// CHECK-LABEL: flow.fabric @kernels target "a5" grid 2 by 3
// CHECK:      flow.units @cube on [0, :]
// CHECK:        flow.func @entry(%a: i64, %n: i64, %f: f32) attributes {loom.arguments = ["a", "n", "f"], loom.pointers = [bf16, unit, unit], loom.types = [i64, i64, f32]} {
// CHECK:          %[[ROW:.*]] = flow.coordinate y : index
// CHECK:          flow.tile_print "from_helper"
// CHECK-NEXT:     flow.return
// CHECK:        flow.export @entry as "entry"
// CHECK:      flow.units @vector on [1, :]
// CHECK:        flow.func @entry(%a: i64, %n: i64, %f: f32)
// CHECK:          %[[N:.*]] = arith.index_cast %n : i64 to index
// CHECK:          scf.for %i = %{{.*}} to %[[N]] step
// CHECK:        flow.export @entry as "entry"
func.func @entry(%a: !pto.ptr<bf16>, %n: index, %f: f32) attributes {pto.entry} {
  func.call @c(%a) : (!pto.ptr<bf16>) -> ()
  func.call @v(%n, %f) : (index, f32) -> ()
  return
}
func.func private @c(%x: !pto.ptr<bf16>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %block = pto.get_block_idx
  %place = arith.index_cast %block : i64 to index
  func.call @helper(%x, %place) : (!pto.ptr<bf16>, index) -> ()
  return
}
func.func private @helper(%y: !pto.ptr<bf16>, %place: index) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %from_helper = pto.make_tensor_view %y, shape = [%c16, %place], strides = [%place, %c1] : !pto.tensor_view<16x?xbf16>
  pto.tprint ins(%from_helper : !pto.tensor_view<16x?xbf16>)
  return
}
func.func private @v(%count: index, %g: f32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %at = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 16x16xf32>
  scf.for %i = %c0 to %count step %c1 {
    pto.texpands ins(%g : f32) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  }
  return
}

// -----

// Sections: each core has what stands outside of them, and its own. A name that the fabric has itself is not the
// kernel's there. What orders a core with itself vanishes.

// CHECK-LABEL: flow.fabric @kernels target "a5" grid 3 by 3
// CHECK:      flow.units @cube
// CHECK:        flow.func @vec_kernel(%p: i64, %n: i64)
// CHECK-NEXT:     %[[SIZE:.*]] = arith.constant 4 : i64
// CHECK-NEXT:     %sum = arith.addi %n, %n : i64
// CHECK:          %[[OFFSET:.*]] = arith.muli %sum, %[[SIZE]] : i64
// CHECK-NEXT:     %[[ADDRESS:.*]] = arith.addi %p, %[[OFFSET]] : i64
// CHECK-NEXT:     flow.tile @gm[%[[ADDRESS]]] extents [1] strides [1] : !flow.tile<i32>
// CHECK:        flow.export @vec_kernel as "vec"
// CHECK:      flow.units @vector
// CHECK:        flow.func @vec_kernel(%p: i64, %n: i64)
// CHECK:          %[[LANE:.*]] = arith.index_cast
// CHECK-NEXT:     %sum = arith.addi %n, %n : i64
// CHECK-NEXT:     %other = arith.addi %sum, %[[LANE]] : i64
// CHECK:          flow.tile_apply "fill"
// CHECK:        flow.export @vec_kernel as "vec"
func.func @vec(%p: !pto.ptr<i32>, %n: i64) {
  %sum = arith.addi %n, %n : i64
  pto.barrier <PIPE_ALL>
  pto.section.cube {
    %place = arith.index_cast %sum : i64 to index
    %v = arith.constant 7 : i32
    pto.store_scalar %v, %p[%place] : !pto.ptr<i32>, i32
  }
  pto.section.vector {
    %lane = pto.get_subblock_idx
    %other = arith.addi %sum, %lane : i64
    %place = arith.index_cast %other : i64 to index
    %v = arith.constant 8 : i32
    pto.store_scalar %v, %p[%place] : !pto.ptr<i32>, i32
  }
  return
}

// -----

// A tile that a kernel is given is in a space of its own.

// CHECK-LABEL: flow.fabric
// CHECK:        flow.space @argument_given 1024
// CHECK:        flow.func @takes_tile attributes {loom.arguments = [], loom.pointers = [], loom.types = []}
// CHECK:          flow.tile @argument_given[%{{.*}}] extents [16, 16] strides [16, 1]
func.func @takes_tile(%given: !pto.tile_buf<vec, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  pto.tprint ins(%given : !pto.tile_buf<vec, 16x16xf32>)
  return
}
