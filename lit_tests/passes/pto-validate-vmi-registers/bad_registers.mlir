// RUN: loom-opt -p pto-validate-vmi-registers --split-input-file --verify-diagnostics %s | filecheck %s
// Layouts are chosen, but no instructions on registers do this.

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.load direct lowering requires a supported memory source (source memref layout is non-identity
func.func @f(%p: memref<128xf32, strided<[2], offset: 0>, #pto.address_space<vec>>, %o: index) {
  %0 = pto.vmi.load %p[%o] : memref<128xf32, strided<[2], offset: 0>, #pto.address_space<vec>> -> !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// Registers that are not full.
// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.deinterleave_load lowers through pto.vldsx2 only for matching contiguous full low/high result chunks with a supported UB source and 8/16/32-bit element type (requires full physical chunks; found padding lane in physical chunk)
func.func @f(%p: !pto.ptr<f32, ub>, %o: index) {
  %0, %1 = pto.vmi.deinterleave_load %p[%o] : !pto.ptr<f32, ub> -> !pto.vmi.vreg<50xf32, #pto.vmi.layout<contiguous>>, !pto.vmi.vreg<50xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.store requires an 8/16/32-bit predicate-maskable element type and either full physical chunks or contiguous tail-store layout, with UB-backed destination (partial/tail store requires contiguous layout or deinterleaved layout that can materialize to contiguous; value found padding lane in physical chunk, materialization requires every deinterleaved part to have the same physical chunk count)
func.func @f(%v: !pto.vmi.vreg<129xf32, #pto.vmi.layout<deinterleaved = 2>>, %p: !pto.ptr<f32, ub>, %o: index) {
  pto.vmi.store %v, %p[%o] : !pto.vmi.vreg<129xf32, #pto.vmi.layout<deinterleaved = 2>>, !pto.ptr<f32, ub>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.masked_store requires either full physical chunks or contiguous tail-store value/mask layout, with UB-backed destination (value cannot materialize to contiguous
func.func @f(%v: !pto.vmi.vreg<129xf32, #pto.vmi.layout<deinterleaved = 2>>, %m: !pto.vmi.mask<129xb32, #pto.vmi.layout<deinterleaved = 2>>, %p: !pto.ptr<f32, ub>, %o: index) {
  pto.vmi.masked_store %v, %p[%o], %m : !pto.vmi.vreg<129xf32, #pto.vmi.layout<deinterleaved = 2>>, !pto.ptr<f32, ub>, !pto.vmi.mask<129xb32, #pto.vmi.layout<deinterleaved = 2>>
  return
}

// -----

// Whole registers are read.
// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.masked_load direct lowering requires a supported memory source, contiguous result/passthru/mask layouts, and either full physical chunks or a statically safe full-read footprint (partial/tail masked_load requires statically safe full-read footprint; value found padding lane in physical chunk, safe-read proof full physical read footprint {{.}}0, 128) exceeds static memref element count 100
func.func @f(%p: memref<100xf32, #pto.address_space<vec>>, %m: !pto.vmi.mask<100xb32, #pto.vmi.layout<contiguous>>, %v: !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>>) {
  %o = arith.constant 0 : index
  %0 = pto.vmi.masked_load %p[%o], %m, %v : memref<100xf32, #pto.address_space<vec>>, !pto.vmi.mask<100xb32, #pto.vmi.layout<contiguous>>, !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.expand_load direct lowering is currently supported for either a static all-active mask lowered as pto.vlds, or a one-full-chunk 32-bit UB runtime mask lowered through pto.vusqz + pto.vgather2_bc + pto.vsel (runtime-mask path currently supports only one physical chunk because prefix indices must not reset across chunks)
func.func @f(%p: !pto.ptr<f32, ub>, %o: index, %m: !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>>, %v: !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.expand_load %p[%o], %m, %v : !pto.ptr<f32, ub>, !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>>, !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.gather lowers through pto.vgather2_bc + pto.vsel only for UB pointer sources, contiguous full physical chunks, 32-bit result elements, i32 indices, and b32 masks (result requires full physical chunks; found padding lane in physical chunk)
func.func @f(%p: !pto.ptr<f32, ub>, %i: !pto.vmi.vreg<50xi32, #pto.vmi.layout<contiguous>>, %m: !pto.vmi.mask<50xb32, #pto.vmi.layout<contiguous>>, %v: !pto.vmi.vreg<50xf32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.gather %p[%i], %m, %v : !pto.ptr<f32, ub>, !pto.vmi.vreg<50xi32, #pto.vmi.layout<contiguous>>, !pto.vmi.mask<50xb32, #pto.vmi.layout<contiguous>>, !pto.vmi.vreg<50xf32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<50xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.scatter lowers through pto.vscatter only with a UB pointer destination, contiguous full physical chunks, 32-bit value elements, i32 indices, and b32 masks (requires !pto.ptr destination because pto.vscatter is pointer-only)
func.func @f(%p: memref<64xf32, #pto.address_space<vec>>, %i: !pto.vmi.vreg<64xi32, #pto.vmi.layout<contiguous>>, %m: !pto.vmi.mask<64xb32, #pto.vmi.layout<contiguous>>, %v: !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>) {
  pto.vmi.scatter %v, %p[%i], %m : !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>, memref<64xf32, #pto.address_space<vec>>, !pto.vmi.vreg<64xi32, #pto.vmi.layout<contiguous>>, !pto.vmi.mask<64xb32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.stride_load lowers through pto.vsldb only for one contiguous physical result/mask chunk and a supported UB source (currently supports one physical result/mask chunk)
func.func @f(%p: !pto.ptr<f32, ub>, %o: index, %s: i16, %m: !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.stride_load %p[%o], %s, %s, %m : !pto.ptr<f32, ub>, i16, i16, !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.group_load requires contiguous full result chunks, a supported UB source, and num_groups deriving a group size aligned to physical chunks (block_deinterleaved group_load requires num_groups multiple of 8)
func.func @f(%p: !pto.ptr<f32, ub>, %o: index) {
  %s = arith.constant 24 : index
  %0 = pto.vmi.group_load %p[%o], %s {num_groups = 4} : !pto.ptr<f32, ub> -> !pto.vmi.vreg<64xf32, #pto.vmi.layout<block_deinterleaved = 2>>
  return
}

// -----

// Distances.
// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.group_slot_load requires explicit group_slots result layout matching num_groups, a supported UB pointer source, and either slots=8 with constant unit source_group_stride or slots=1 row-local lowering (slots=8 group_slot_load requires constant unit source_group_stride); take a constant distance of 1 element, or of a multiple of 32 bytes
func.func @f(%p: !pto.ptr<f32, ub>, %o: index, %s: index) {
  %0 = pto.vmi.group_slot_load %p[%o], %s {num_groups = 8} : !pto.ptr<f32, ub> -> !pto.vmi.vreg<8xf32, #pto.vmi.layout<num_groups = 8, slots = 8>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{: .*}}slots=1 group_slot_load currently lowers as one lane-0 vsldb per group and requires constant positive source_group_stride divisible by 8 elements for 32B load alignment
func.func @f(%p: !pto.ptr<f32, ub>, %o: index) {
  %s = arith.constant 12 : index
  %0 = pto.vmi.group_slot_load %p[%o], %s {num_groups = 8} : !pto.ptr<f32, ub> -> !pto.vmi.vreg<8xf32, #pto.vmi.layout<num_groups = 8, slots = 1>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.group_store requires a supported UB destination and a table-supported value layout lowering through one-block vsstb, full-chunk vsts, or deinterleaved vstsx2 (one-block group_store block_stride exceeds the 16-bit vsstb control field: 65536 blocks, at most 65535)
func.func @f(%v: !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>, %p: !pto.ptr<f32, ub>, %o: index) {
  %s = arith.constant 524288 : index
  pto.vmi.group_store %v, %p[%o], %s {num_groups = 8} : !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>, !pto.ptr<f32, ub>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{: .*}}(slots=8 group_store currently requires constant unit row_stride)
func.func @f(%v: !pto.vmi.vreg<16xf32, #pto.vmi.layout<num_groups = 16, slots = 8>>, %p: !pto.ptr<f32, ub>, %o: index, %s: index) {
  pto.vmi.group_store %v, %p[%o], %s {num_groups = 16} : !pto.vmi.vreg<16xf32, #pto.vmi.layout<num_groups = 16, slots = 8>>, !pto.ptr<f32, ub>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.group_broadcast_load requires either the BRC full-group chunk form, the E2B packet form for b16/b32 direct or split group size, or the generic group-slot-load then group-broadcast fallback with supported UB pointer source and source_group_stride (group_broadcast_load requires a table row for result layout, group size, and either constant unit source_group_stride or constant positive source_group_stride divisible by 8 elements)
func.func @f(%p: !pto.ptr<f32, ub>, %o: index, %s: index) {
  %0 = pto.vmi.group_broadcast_load %p[%o], %s {num_groups = 8} : !pto.ptr<f32, ub> -> !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// Reductions, and moves between elements.
// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.reduce_maxf lowers through pto.vcmax only for f16/f32 contiguous full source chunks with matching mask chunks and one init/result chunk (requires full source physical chunks so padding lanes do not participate in the reduction; found padding lane in physical chunk); take a number of elements that fills the registers, of 256 bytes each
func.func @f(%v: !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>>, %m: !pto.vmi.mask<100xb32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.reduce_maxf %v, %m : !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>>, !pto.vmi.mask<100xb32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<1xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.compress lowers through pto.vsqz only for one contiguous full physical chunk (requires a single physical chunk; multi-chunk compress needs cross-chunk compaction); take as many elements as one register of 256 bytes has
func.func @f(%v: !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>, %m: !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.compress %v, %m : !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>, !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.active_prefix_index lowers through pto.vusqz only for one contiguous physical chunk (requires full result physical chunks so padding mask lanes cannot affect the observable prefix
func.func @f(%m: !pto.vmi.mask<50xb32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.active_prefix_index %m : !pto.vmi.mask<50xb32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<50xi32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.vselr supports only contiguous lane_stride=1 layouts with N=64, 128, or 256 for 8-bit, N=64 or 128 for 16-bit, or N=64 for 32-bit elements
func.func @f(%v: !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>, %i: !pto.vmi.vreg<128xi32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.vselr %v, %i : !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>, !pto.vmi.vreg<128xi32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.shuffle requires physical chunk forwarding or lane0 splat or vci-materializable vselr indices (forwarding: requires same-lane physical chunks; lane0 splat: requires every result lane to select source lane 0; vselr: requires full physical result chunks)
func.func @f(%v: !pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>) {
  %0 = "pto.vmi.shuffle"(%v) {indices = array<i64: 2, 3>} : (!pto.vmi.vreg<128xf32, #pto.vmi.layout<contiguous>>) -> !pto.vmi.vreg<2xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.channel_merge requires every input layout to be contiguous and result layout to be contiguous or matching deinterleaved channel layout, with complete physical channel groups (requires source and result to have the same physical arity)
func.func @f(%v: !pto.vmi.vreg<2xf32, #pto.vmi.layout<contiguous>>) {
  %0 = "pto.vmi.channel_merge"(%v, %v) : (!pto.vmi.vreg<2xf32, #pto.vmi.layout<contiguous>>, !pto.vmi.vreg<2xf32, #pto.vmi.layout<contiguous>>) -> !pto.vmi.vreg<4xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// Arithmetic and conversions.
// CHECK: error: VMI-UNSUPPORTED{{:}} non-splat pto.vmi.constant requires a vreg immediate or scratch materialization plan; load the numbers from memory
func.func @f() {
  %0 = "pto.vmi.constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> !pto.vmi.vreg<2xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.vmuls with pmode=merge requires an explicit passthru lowering; compute everywhere and choose with pto.vmi.vsel
func.func @f(%v: !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>, %x: f32, %m: !pto.vmi.mask<64xb32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.vmuls %v, %x, %m {pmode = "merge"} : !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>, f32, !pto.vmi.mask<64xb32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.vmull requires equal 64/128/256-lane i32/ui32 data ports, a matching b32 mask, and contiguous or deinterleaved factor-2/factor-4 lane_stride=1 layout (requires contiguous or deinterleaved factor 2/4 layout with lane_stride=1)
func.func @f(%v: !pto.vmi.vreg<64xi32, #pto.vmi.layout<contiguous, lane_stride = 2>>, %m: !pto.vmi.mask<64xb32, #pto.vmi.layout<contiguous, lane_stride = 2>>) {
  %0, %1 = pto.vmi.vmull %v, %v, %m : !pto.vmi.vreg<64xi32, #pto.vmi.layout<contiguous, lane_stride = 2>>, !pto.vmi.vreg<64xi32, #pto.vmi.layout<contiguous, lane_stride = 2>>, !pto.vmi.mask<64xb32, #pto.vmi.layout<contiguous, lane_stride = 2>> -> !pto.vmi.vreg<64xi32, #pto.vmi.layout<contiguous, lane_stride = 2>>, !pto.vmi.vreg<64xi32, #pto.vmi.layout<contiguous, lane_stride = 2>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} compare predicate une cannot be lowered to pto.vcmp; supported predicates are eq/ne/lt/le/gt/ge and ordered FP forms oeq/one/olt/ole/ogt/oge
func.func @f(%v: !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.cmpf "une", %v, %v : !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>>, !pto.vmi.vreg<64xf32, #pto.vmi.layout<contiguous>> -> !pto.vmi.mask<64xb32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} pto.vmi.trunci supports integer deinterleaved source layouts whose factor is the 2x/4x narrowing multiple of the contiguous or deinterleaved result layout factor
func.func @f(%v: !pto.vmi.vreg<128xui32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.trunci %v {saturate = "SAT"} : !pto.vmi.vreg<128xui32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<128xui16, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{: .*}}'pto.vcvt' op unsupported vcvt source/result element type pair i32 to i8
func.func @f(%v: !pto.vmi.vreg<256xi32, #pto.vmi.layout<deinterleaved = 4>>) {
  %0 = pto.vmi.trunci %v {saturate = "SAT"} : !pto.vmi.vreg<256xi32, #pto.vmi.layout<deinterleaved = 4>> -> !pto.vmi.vreg<256xi8, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{:}} mask granularity cast layout relation is unsupported (source/result layouts do not match a legal mask granularity cast table row)
func.func @f(%m: !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>>) {
  %0 = pto.vmi.ensure_mask_granularity %m : !pto.vmi.mask<128xb32, #pto.vmi.layout<contiguous>> -> !pto.vmi.mask<128xb16, #pto.vmi.layout<contiguous>>
  return
}

// -----

// CHECK: error: VMI-UNSUPPORTED{{: .*}}safe-read proof requires non-negative offset
func.func @f(%p: memref<128xf32, #pto.address_space<vec>>, %m: !pto.vmi.mask<100xb32, #pto.vmi.layout<contiguous>>, %v: !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>>) {
  %o = arith.constant -1 : index
  %0 = pto.vmi.masked_load %p[%o], %m, %v : memref<128xf32, #pto.address_space<vec>>, !pto.vmi.mask<100xb32, #pto.vmi.layout<contiguous>>, !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>> -> !pto.vmi.vreg<100xf32, #pto.vmi.layout<contiguous>>
  return
}

// -----

// No layout is chosen yet.
// CHECK: error: VMI-PASS-INVARIANT{{:}} layout-assigned VMI IR requires !pto.vmi.vreg with layout
func.func @f(%v: !pto.vmi.vreg<64xf32>, %p: !pto.ptr<f32, ub>, %o: index) {
  pto.vmi.store %v, %p[%o] : !pto.vmi.vreg<64xf32>, !pto.ptr<f32, ub>
  return
}
