// RUN: loom-opt -p pto-lower-frontend-pipe-ops,pto-infer-validate-pipe-init,pto-place-tiles,pto-place-reserved-buffers,pto-resolve-reserved-buffers,lower-pto-to-flow %s | filecheck %s
// A push that converts takes the scales set last, one for each column; in 64 bits the lower half is the number.

!acc = !pto.tile_buf<acc, 16x16xi32, blayout=col_major, slayout=row_major, fractal=1024>
!vec = !pto.tile_buf<vec, 16x16xf16>
!scales = !pto.tile_buf<scaling, 1x16xui64>

// CHECK-LABEL: flow.units @cube
// CHECK:        flow.space @fixpipe 1024
// CHECK:        %[[ROW:.*]] = flow.tile @scaling[%{{.*}}] extents [1, 16] strides [32, 2] : !flow.tile<f32>
// CHECK-NEXT:   %[[SCALED:.*]] = flow.tile @fixpipe[%{{.*}}] extents [16, 16] strides [16, 1] : !flow.tile<f32>
// CHECK-NEXT:   flow.tile_apply "multiply" %[[SCALED]](%acc, %[[ROW]])
// CHECK-NEXT:   flow.acquire @c2v_0 : i64
// CHECK-NEXT:   %[[SLOT:.*]] = flow.tile @gm[%slots] slot @c2v_0[%{{.*}}] of 2 by 1024 as written extents [16, 16] strides [16, 1] : !flow.tile<f16>
// CHECK-NEXT:   flow.tile_apply "copy" %[[SLOT]](%[[SCALED]]) {relu, saturate}
// CHECK-NEXT:   flow.commit @c2v_0
// CHECK-LABEL: flow.units @vector
// CHECK:        flow.tile @gm[%slots] slot @c2v_0[%{{.*}}] of 2 by 1024 as read extents [16, 16] strides [16, 1] : !flow.tile<f16>
module attributes {pto.target_arch = "a3"} {
  func.func @c(%slots: !pto.ptr<f16>) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %to = pto.import_reserved_buffer {name = "fifo", peer_func = @v} -> i32
    pto.aic_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024, slot_num = 2, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = normal_relu>}(gm_slot_buffer = %slots : !pto.ptr<f16>, c2v_consumer_buf = %to : i32)
    %acc = pto.alloc_tile : !acc
    %scales = pto.alloc_tile : !scales
    pto.set_quant_vector(%scales : !scales) {id = 0}
    pto.tpush_to_aiv(%acc : !acc) {id = 0, split = 0}
    return
  }
  func.func @v(%slots: !pto.ptr<f16>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %from = pto.reserve_buffer {name = "fifo", size = 2048, location = #pto.address_space<vec>, auto = true} -> i32
    pto.aiv_initialize_pipe {id = 0, dir_mask = 1, slot_size = 1024, slot_num = 2, nosplit = true, acc_push_epilogue = #pto.acc_push_epilogue<layout = nz2nd, quant = deqf16_vec, relu = normal_relu>}(gm_slot_buffer = %slots : !pto.ptr<f16>, c2v_consumer_buf = %from : i32)
    %tile = pto.tpop_from_aic {id = 0, split = 0} -> !vec
    pto.tprint ins(%tile : !vec)
    pto.tfree_from_aic {id = 0, split = 0}
    return
  }
}
