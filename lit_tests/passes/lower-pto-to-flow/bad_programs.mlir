// RUN: loom-opt -p lower-pto-to-flow --split-input-file --verify-diagnostics %s | filecheck %s
// What has no counterpart in flow is an error that names it, never dropped.

// CHECK: error: the module has no kernel; give a function the attribute pto.kernel_kind or pto.entry
func.func @nothing() {
  return
}

// -----

func.func @other_dialect() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'memref.alloc' op has no counterpart in `flow`; use operations on tiles and pipes, arith, math and scf
  %m = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @no_address() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.alloc_tile' op has no address; run pto-place-tiles before lower-pto-to-flow
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  return
}

// -----

func.func @pipes_with_numbers(%a: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.aiv_initialize_pipe' op is a front-end operation on a pipe id; run pto-lower-frontend-pipe-ops before lower-pto-to-flow
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %a : i32)
  return
}

// -----

func.func @buffers_without_addresses() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.reserve_buffer' op is not resolved to an address; run pto-place-reserved-buffers and pto-resolve-reserved-buffers before lower-pto-to-flow
  %a = pto.reserve_buffer {name = "b", size = 1024, location = #pto.address_space<vec>, auto = true} -> i32
  %p = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 1}(%a : i32) -> !pto.pipe
  return
}

// -----

func.func @out_of_reach() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %at = arith.constant 0 : i64
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.alloc_tile' op is a tile with loc=mat, which the vector cores cannot reach
  %t = pto.alloc_tile addr = %at : !pto.tile_buf<mat, 16x16xf32>
  return
}

// -----

func.func @one_end(%buffer: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.initialize_l2l_pipe' op has no peer: no kernel of the cube core opens this pipe; open it there
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2, flag_base = 0, nosplit = true}(%buffer : i32) -> !pto.pipe
  return
}

// -----

func.func @no_flags(%buffer: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.initialize_l2l_pipe' op has no flags; run pto-resolve-reserved-buffers before lower-pto-to-flow
  %pipe = pto.initialize_l2l_pipe {dir_mask = 1, slot_size = 1024, slot_num = 2}(%buffer : i32) -> !pto.pipe
  return
}

// -----

func.func @not_bound() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %t = pto.declare_tile -> !pto.tile_buf<vec, 16x16xf32>
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.tprint' op uses %t that has no address here; pop it from a pipe first, or allocate it with pto.alloc_tile
  pto.tprint ins(%t : !pto.tile_buf<vec, 16x16xf32>)
  return
}

// -----

func.func @calls_itself() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  func.call @again() : () -> ()
  return
}
func.func private @again() {
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'func.call' op calls @again from itself; write a loop instead
  func.call @again() : () -> ()
  return
}

// -----

func.func private @elsewhere()
func.func @calls_elsewhere() attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'func.call' op calls @elsewhere, which has no body here; define it in the module
  func.call @elsewhere() : () -> ()
  return
}

// -----

func.func @rounds_to_odd() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %at = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 16x16xf32>
  %h = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 16x16xbf16>
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.tcvt' op rounds by ODD from f32 to bf16, which the chips support only from f32 to f16; use RINT
  pto.tcvt ins(%t {rmode = #pto<round_mode ODD>} : !pto.tile_buf<vec, 16x16xf32>) outs(%h : !pto.tile_buf<vec, 16x16xbf16>)
  return
}

// -----

func.func @waits_for_vector_cores() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %lane = pto.get_subblock_idx
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.syncall' op waits for vector cores only, which is not supported yet; use core type mix, or one lane
  pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>
  return
}

// -----

// CHECK: bad_programs.mlir:[[# @LINE + 1]]:1: error: 'func.func' op takes %view of type !pto.tensor_view<16x16xf32>, which a host cannot pass; take a pointer, and make the view in the kernel
func.func @takes_a_view(%view: !pto.tensor_view<16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  return
}

// -----

func.func @scales_in_two_dimensions(%p: !pto.ptr<f16>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c1 = arith.constant 1 : index
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.make_tensor_view' op has layout mx_a_zz in global memory, with boxes of 16 x 2 scales; give its shape in five dimensions, the last of which are 16 and 2
  %v = pto.make_tensor_view %p, shape = [%c1, %c1], strides = [%c1, %c1] {layout = #pto.layout<mx_a_zz>} : !pto.tensor_view<1x1xf16>
  return
}

// -----

func.func @boxes_of_another_shape(%p: !pto.ptr<f16>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %at = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 32x16xf16>
  %v = pto.make_tensor_view %p, shape = [%c2, %c1, %c16, %c16], strides = [%c256, %c256, %c16, %c1] {layout = #pto.layout<nz>} : !pto.tensor_view<2x1x16x16xf16>
  %w = pto.partition_view %v, offsets = [%c0, %c0, %c0, %c0], sizes = [%c2, %c1, %c16, %c16] : !pto.tensor_view<2x1x16x16xf16> -> !pto.partition_tensor_view<2x1x16x16xf16>
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.tload' op uses 32 x 16 elements of a tile and 16 x 32 of a tensor with layout nz; make the numbers equal
  pto.tload ins(%w : !pto.partition_tensor_view<2x1x16x16xf16>) outs(%t : !pto.tile_buf<vec, 32x16xf16>)
  return
}

// -----

func.func @different_memories(%n: index, %given: !pto.tile_buf<vec, 16x16xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c = arith.cmpi eq, %n, %c0 : index
  %at = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %at : !pto.tile_buf<vec, 16x16xf32>
  %x = scf.if %c -> (!pto.tile_buf<vec, 16x16xf32>) {
    scf.yield %t : !pto.tile_buf<vec, 16x16xf32>
  } else {
    scf.yield %given : !pto.tile_buf<vec, 16x16xf32>
  }
  // CHECK: bad_programs.mlir:[[# @LINE + 1]]:3: error: 'pto.tprint' op uses %x, which differs between the paths through scf.if at {{.*}}bad_programs.mlir:[[# @LINE - 5]]:3, and they are in different memories, @argument_given and @vec; copy one to a tile beside the other with pto.tmov
  pto.tprint ins(%x : !pto.tile_buf<vec, 16x16xf32>)
  return
}
