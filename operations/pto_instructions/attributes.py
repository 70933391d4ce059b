"""Attributes of instructions: what each declares, their types, and which may be missing.

A declaration is a list of `name:type`, `name?:type` where the attribute may be missing; `a|b` is one of two types. The
types are those of `dialects/pto/attribute_kinds.py`. All of them are properties: MLIR writes them in `<{...}>`, and
`{...}` of its generic form takes them too.
"""

from __future__ import annotations

from collections.abc import Mapping

_DECLARED: tuple[tuple[str, str], ...] = (
    (
        "rounds?:i32",
        "trandom",
    ),
    (
        "upperOrLower?:i32",
        "ttri",
    ),
    (
        "accToVecMode?:acc_to_vec_mode reluPreMode?:relu_pre_mode tinsertMode?:tinsert_mode",
        "tinsert",
    ),
    (
        "maskPattern?:mask_pattern axis?:string cmpMode?:cmp offset?:i32",
        "tgather",
    ),
    (
        "exhausted?:bool",
        "tmrgsort",
    ),
    (
        "axis?:string maskPattern?:mask_pattern",
        "tscatter",
    ),
    (
        "coalesce:coalesce gatherOob?:gather_oob",
        "mgather",
    ),
    (
        (
            "coalesce?:coalesce scatterAtomicOp?:scatter_atomic_op scatterOob?:scatter_oob "
            "scatterConflict?:scatter_conflict"
        ),
        "mscatter",
    ),
    (
        "quant_type:quant_type",
        "tquant",
    ),
    (
        (
            "quant_type:quant_type quantScaleAlg?:quant_scale_alg storeMode?:vec_store_mode grpAxis?:mx_group_axis "
            "interleave?:bool"
        ),
        "tquant.mx",
    ),
    (
        "byte?:i32",
        "thistogram",
    ),
    (
        "accPhase?:acc_phase",
        "tmatmul.mx tmatmul.mx.acc tgemv.mx tgemv.mx.acc",
    ),
    (
        "src_pipe:pipe dst_pipe:pipe event_id:event",
        "set_flag wait_flag",
    ),
    (
        "src_pipe:pipe dst_pipe:pipe",
        "set_flag_dyn wait_flag_dyn",
    ),
    (
        "src_op:pipe_event_type|sync_op_type dst_op:pipe_event_type|sync_op_type event_id:event",
        "record_event wait_event",
    ),
    (
        "op_type:sync_op_type",
        "barrier_sync",
    ),
    (
        "op_type:pipe|pipe_event_type|sync_op_type buf_id:i32 mode?:i32",
        "get_buf rls_buf",
    ),
    (
        "op_type:pipe|pipe_event_type|sync_op_type mode?:i32",
        "get_buf_dyn rls_buf_dyn",
    ),
    (
        "pipe:pipe event_id?:i32 ffts_mode?:i32",
        "sync.set sync.wait set_cross_block",
    ),
    (
        "pipe:pipe event_id?:i32",
        "wait_cross_block set_intra_block wait_intra_block",
    ),
    (
        "kind:membar",
        "mem_bar",
    ),
    (
        "mem:dsb_mem",
        "dsb",
    ),
    (
        "cache:dcci_cache_line dst?:dcci_dst",
        "dcci",
    ),
    (
        "space?:address_space",
        "cmo.cacheinvalid",
    ),
    (
        "scope:fence_scope",
        "fence.barrier_all",
    ),
    (
        "atomicType?:atomic_type",
        "comm.tput",
    ),
    (
        "notifyOp:notify_op",
        "comm.tnotify",
    ),
    (
        "cmp:wait_cmp",
        "comm.twait comm.ttest",
    ),
    (
        "root:i32",
        "comm.tbroadcast comm.tgather comm.tscatter",
    ),
    (
        "reduceOp:reduce_op root:i32",
        "comm.treduce",
    ),
    (
        "sync_id?:i32 block_bytes?:i64 comm_block_offset?:i64 queue_num?:i32 channel_group_idx?:i64",
        "comm.build_async_session",
    ),
    (
        "path:integers",
        "struct_get struct_set",
    ),
    (
        "format:string",
        "print",
    ),
    (
        "mode:cube_load_frac_mode",
        "mte_gm_l1_frac",
    ),
    (
        "transpose?:bool",
        "mte_l1_l0a mte_l1_l0b load_cbuf_to_ca load_cbuf_to_cb",
    ),
    (
        (
            "mode?:acc_store_mode unit_flag?:unit_flag_ctrl pre_quant_mode?:acc_store_quant_pre_mode "
            "pre_relu_mode?:relu_pre_mode atomic_type?:acc_store_atomic_type atomic_op?:acc_store_atomic_op "
            "sat_mode?:acc_store_sat_mode"
        ),
        "mte_l0c_l1 mte_l0c_gm",
    ),
    (
        (
            "dst_mode?:acc_store_ub_dst_mode mode?:acc_store_mode unit_flag?:unit_flag_ctrl "
            "pre_quant_mode?:acc_store_quant_pre_mode pre_relu_mode?:relu_pre_mode sat_mode?:acc_store_sat_mode"
        ),
        "mte_l0c_ub",
    ),
    (
        "fill_word_bits:i64",
        "raw_fill_l1 create_cbuf_matrix",
    ),
    (
        (
            "unit_flag_mode?:mad_unit_flag_mode disable_gemv?:unit sat_mode?:mad_sat_mode tf32_mode?:tf32_mode "
            "n_dir?:unit"
        ),
        "mad mad_acc mad_bias",
    ),
    (
        "unit_flag_mode?:mad_unit_flag_mode disable_gemv?:unit sat_mode?:mad_sat_mode n_dir?:unit",
        "mad_mx mad_mx_acc mad_mx_bias",
    ),
    (
        "pmode?:string",
        (
            "vabs vexp vln vsqrt vneg vrelu vnot vadd vsub vmul vdiv vmax vand vor vxor vshl vshr vprelu vmula "
            "vadds vmuls vmaxs vlrelu vshls vshrs vmull vaxpy vexpdif vsel vintlv vdintlv vgatherb vsstb vscatter"
        ),
    ),
    (
        "group?:i64 pmode?:string reassoc?:unit",
        "vcadd",
    ),
    (
        "group?:i64 pmode?:string",
        "vcmax vcmin",
    ),
    (
        "rnd:string part:string",
        "vmulscvt",
    ),
    (
        "cmp:string pmode?:string",
        "vcmp vcmps",
    ),
    (
        "round_mode:string",
        "vtrc",
    ),
    (
        "rounding?:string saturate?:string pmode?:string",
        "vcvt",
    ),
    (
        "position?:string",
        "vdup",
    ),
    (
        "order?:string group?:i64",
        "vci",
    ),
    (
        "part:string",
        "vpack vintlvv2 vdintlvv2 ppack punpack",
    ),
    (
        "pattern:string",
        "pset_b8 pge_b8 pset_b16 pge_b16 pset_b32 pge_b32",
    ),
    (
        "dist?:string",
        "vlds vsts",
    ),
    (
        "dist:string",
        "vldsx2 plds pldi vstsx2 psts psti",
    ),
    (
        "mode:string",
        "vstur",
    ),
    (
        "spr:string",
        "sprclr sprsti sprsts",
    ),
    (
        "dimX:i32 dimY:i32 dimZ:i32",
        "section.simt",
    ),
    (
        "callee:symbol",
        "simt_launch",
    ),
    (
        "slot:i64",
        "keep resume",
    ),
    (
        "width?:i32",
        "shuffle_idx shuffle_up shuffle_down shuffle_bfly",
    ),
    (
        "signedness?:signedness",
        "redux_add redux_max redux_min",
    ),
    (
        "l1cache?:l1cache l2cache?:ld_l2cache",
        "ldg",
    ),
    (
        "l1cache?:l1cache l2cache?:st_l2cache",
        "stg",
    ),
    (
        "l2cache?:st_l2cache signedness?:signedness",
        "atomic_exch atomic_add atomic_sub atomic_min atomic_max atomic_and atomic_or atomic_xor atomic_cas",
    ),
    (
        "signedness:signedness",
        "mulhi mul_i32toi64",
    ),
    (
        "rounding:rounding saturation:saturation signedness?:signedness",
        "convert",
    ),
)
"""Declarations, with the instructions that have them."""

ATTRIBUTES: Mapping[str, str] = {name: declared for declared, names in _DECLARED for name in names.split()}
"""The declarations by the name of the instruction."""
