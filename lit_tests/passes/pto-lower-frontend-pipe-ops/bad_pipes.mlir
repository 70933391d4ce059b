// RUN: loom-opt -p pto-lower-frontend-pipe-ops --split-input-file --verify-diagnostics %s | filecheck %s
// Pipes that cannot become values; messages contain the wording of the public compiler.

func.func @no_slots(%buffer: i32) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // CHECK: bad_pipes.mlir:[[# @LINE + 1]]:3: error: 'pto.aic_initialize_pipe' op requires 'gm_slot_buffer' when lowering to a2/a3
  pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024}(c2v_consumer_buf = %buffer : i32)
  return
}

// -----

// CHECK: error: 'func.func' op cannot mix pto.aic_initialize_pipe and pto.aiv_initialize_pipe in one function
func.func @both_cores(%gm: !pto.ptr<f32>, %buffer: i32) {
  pto.section.cube {
    pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buffer : i32)
  }
  pto.section.vector {
    pto.aiv_initialize_pipe {id = 1, dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buffer : i32)
  }
  return
}

// -----

func.func @too_late(%gm: !pto.ptr<f32>, %buffer: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // CHECK: error: 'pto.tpop_from_aic' op requires dominating frontend initialize_pipe(id = 3)
  %got = pto.tpop_from_aic {id = 3, split = 0} -> !pto.tile_buf<vec, 16x16xf32>
  pto.aiv_initialize_pipe {id = 3, dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buffer : i32)
  return
}

// -----

func.func @maybe(%gm: !pto.ptr<f32>, %buffer: i32, %if: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  scf.if %if {
    pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buffer : i32)
  }
  // CHECK: error: 'pto.tfree_from_aic' op requires dominating frontend initialize_pipe(id = 0)
  pto.tfree_from_aic {split = 0}
  return
}

// -----

func.func @on_one_way(%gm: !pto.ptr<f32>, %buffer: i32, %if: i1) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  cf.cond_br %if, ^open, ^end
^open:
  pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 1024}(gm_slot_buffer = %gm : !pto.ptr<f32>, c2v_consumer_buf = %buffer : i32)
  cf.br ^end
^end:
  // CHECK: error: 'pto.tfree_from_aic' op requires dominating frontend initialize_pipe(id = 0)
  pto.tfree_from_aic {split = 0}
  return
}
