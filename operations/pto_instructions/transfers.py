"""Transfers between memories, and products of the cube unit, as the hardware has them; registers that steer them."""

from __future__ import annotations

from .instruction import Instruction, family

_BURSTS = "'nburst' (%n_burst:i64, %nburst_src_stride:i64, %nburst_dst_stride:i64)"
_LOOPS = "<*'loop|loop1|loop2' (%loops+:i64, %loops+:i64, %loops+:i64)*>"
_LOOP_TYPES = "loops/3=loop|loop1|loop2"
_QUANT_MODES = (
    "no_convert f32_f16 qf322hif8_pre_vec qf322hif8_pre_scalar qf322hif8_pre_hybrid_vec qf322hif8_pre_hybrid_scalar "
    "deqs32_int_vec deqs32_int_scalar req8_vec req8_scalar deqf16_vec deqf16_scalar qf322fp8_pre_vec "
    "qf322fp8_pre_scalar qf322f32_pre_vec qf322f32_pre_scalar f32_bf16 qf162b8_pre_vec qf162b8_pre_scalar "
    "qf162s4_pre_vec qf162s4_pre_scalar req4_vec req4_scalar qf322b8_pre_vec qf322b8_pre_scalar qf322s4_pre_vec "
    "qf322s4_pre_scalar deqs16_vec deqs16_scalar qf162s16_pre_vec qf162s16_pre_scalar qf322f16_pre_vec "
    "qf322f16_pre_scalar qf322bf16_pre_vec qf322bf16_pre_scalar qs322bf16_pre_vec qs322bf16_pre_scalar"
)
_OUT_OF_ACCUMULATOR = (
    "'unit_flag' (#unit_flag=word(check_only check_and_clear))"
    f" | 'pre_quant' (%pre_quant?, 'mode' = #pre_quant_mode=word({_QUANT_MODES}))"
    " | 'pre_relu' (<?%pre_relu?, ?>'mode' = #pre_relu_mode=word(no_relu normal_relu scalar_relu vector_relu pwl)"
    "<?, 'clip' = %clip_value??>)"
    " | #mode=word(nz2nd nz2dn nz2nz) <?(%layout_stride?:i64)?>"
    " | 'loop3' (%loop3+:i64, %loop3+:i64, %loop3+:i64)"
    " | #sat_mode=word(sat nosat) <?(#preserve_nan=flag(preserve_nan))?>"
    " | 'atomic' ('type' = #atomic_type=word(f32 f16 s16 s32 s8 bf16), 'op' = #atomic_op=word(add max min))"
)
_INTO_OPERANDS = "%source:B, %destination:B <| %positional*:i64 | {} |> {{}} : *"


def _named(*names: str) -> str:
    return _INTO_OPERANDS.format(" | ".join(f"'{name}' (%{name}?:i64)" for name in names))


_MODES = (
    "<?'unit_flag' (#unit_flag_mode=word(check_only check_and_set))?> <?#disable_gemv=flag(disable_gemv)?> "
    "<?#sat_mode=word(sat nosat)?> "
)
_TF32 = "<?'tf32_mode' (#tf32_mode=word(round_even round_away))?> "
_SIZES = "%m:i64, %n:i64, %k:i64"
_STEPS = ", ".join(f"%{name}:i64" for name in ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride"))
_COPY = ", ".join(f"%{name}:i64" for name in ("sid", "n_burst", "len_burst", "src_stride", "dst_stride"))

TABLE: list[Instruction] = [
    # Bursts between memories
    Instruction(
        "mte_gm_ub",
        f"%source:B, %destination:B, %l2_cache_ctl:i64, %len_burst:i64 {_BURSTS} {_LOOPS} "
        f"<?'pad' (%pad_value?:number <?, %padding+:i64, %padding+:i64?>)?> {{}} : *({_LOOP_TYPES} pad_value=pad)",
        "bursts from global memory to the vector core's",
    ),
    Instruction(
        "mte_ub_gm",
        f"%source:B, %destination:B, %len_burst:i64 {_BURSTS} <?'l2_cache_ctl' (%l2_cache_ctl?:i64)?> {_LOOPS} {{}} : "
        f"*({_LOOP_TYPES})",
        "bursts from the vector core's memory to global memory",
    ),
    *[
        Instruction(
            name, f"%source:B, %destination:B, %len_burst:i64 {_BURSTS} {_LOOPS} {{}} : *({_LOOP_TYPES})", summary
        )
        for name, summary in (
            ("mte_gm_l1", "bursts from global memory to the cube core's first memory"),
            ("mte_l1_ub", "bursts from the cube core's first memory to a vector core's"),
        )
    ],
    *[
        Instruction(name, f"%source:{kind}, %destination:{kind}, %len_burst:i64 {_BURSTS} {{}} : *", summary)
        for name, kind, summary in (
            ("mte_l1_bt", "B", "bursts from the cube core's first memory to the biases"),
            ("mte_l1_fb", "B", "bursts from the cube core's first memory to the scales"),
            ("mte_ub_ub", "P", "bursts inside the vector core's memory"),
            ("mte_ub_l1", "P", "bursts from a vector core's memory to the cube core's first"),
        )
    ],
    Instruction(
        "mte_gm_l1_frac",
        "%source:B, %destination:B, #mode=word(nd2nz dn2nz), 'shape' (%n_value:i64, %d_value:i64), "
        "'src_layout' (%src_inner_stride:i64 <?, %src_outer_stride?:i64?>), "
        "'dst_group' (%group_count:i64, %dst_loop2_stride:i64, %dst_loop3_stride:i64, %dst_loop4_stride:i64), "
        "'ctrl' (%l2_cache_ctrl:i64, %smallc0_en:i1) {} : source, destination, #mode=word(nd2nz dn2nz), "
        "'shape' n_value, d_value, 'src_layout' (src_inner_stride <?, src_outer_stride?>), "
        "'dst_group' group_count, dst_loop2_stride, dst_loop3_stride, dst_loop4_stride, "
        "'ctrl' l2_cache_ctrl, smallc0_en",
        "a matrix from global memory to boxes in the cube core's first memory",
    ),
    Instruction(
        "mte_l1_l0a",
        _named(
            "m", "k", "start_row", "start_col", "m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride"
        ),
        "boxes from the cube core's first memory to the left operand",
    ),
    Instruction(
        "mte_l1_l0b",
        _named(
            "k", "n", "start_row", "start_col", "m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride"
        ),
        "boxes from the cube core's first memory to the right operand",
    ),
    Instruction(
        "mte_l1_l0a_mx",
        _named(
            "m", "k", "start_row", "start_col", "x_start", "y_start", "x_step", "y_step", "src_stride", "dst_stride"
        ),
        "scales of blocks from the cube core's first memory to the left operand's",
    ),
    Instruction(
        "mte_l1_l0b_mx",
        _named(
            "k", "n", "start_row", "start_col", "x_start", "y_start", "x_step", "y_step", "src_stride", "dst_stride"
        ),
        "scales of blocks from the cube core's first memory to the right operand's",
    ),
    Instruction(
        "mte_l0c_l1",
        f"%source:B, %destination:B, %m:i64, %n:i64, %src_stride:i64, %dst_stride:i64 <^ {_OUT_OF_ACCUMULATOR} ^> "
        "{} : *",
        "the accumulator to the cube core's first memory",
    ),
    Instruction(
        "mte_l0c_gm",
        "%source:B, %destination:B, %m:i64, %n:i64, %src_stride:i64, %dst_stride:i64, %sid:i64, %l2_cache_ctrl:i64 "
        f"<^ {_OUT_OF_ACCUMULATOR} ^> {{}} : *",
        "the accumulator to global memory",
    ),
    Instruction(
        "mte_l0c_ub",
        "%source:B, %destination:B, %m:i64, %n:i64, %src_stride:i64, %dst_stride:i64, "
        f"'dst_mode' (<~%sub_blockid?:i64 | #dst_mode=word(split_m split_n)~>) <^ {_OUT_OF_ACCUMULATOR} ^> {{}} : *",
        "the accumulator to a vector core's memory, or a half to each",
    ),
    # Copies by the names of the hardware's buffers
    Instruction(
        "copy_gm_to_ubuf",
        "%source:B, %destination:B, %sid:i64, %n_burst:i64, %len_burst:i64, %left_padding_count:i64, "
        "%right_padding_count:i64, %data_select_bit:i1, %l2_cache_ctl:i64, %gm_stride:i64, %ub_stride:i64 {} : *",
        "copies global memory to the vector core's",
    ),
    Instruction(
        "copy_ubuf_to_gm",
        "%source:B, %destination:B, %sid:i64, %n_burst:i64, %len_burst:i64, %l2_cache_ctl:i64, "
        "%burst_dst_stride:i64, %burst_src_stride:i64 {} : *",
        "copies the vector core's memory to global memory",
    ),
    *family(
        f"%source:P, %destination:P, {_COPY} {{}} : *",
        {
            "copy_ubuf_to_ubuf": "copies inside the vector core's memory",
            "copy_cbuf_to_ubuf": "copies the cube core's first memory to a vector core's",
            "copy_ubuf_to_cbuf": "copies a vector core's memory to the cube core's first",
        },
    ),
    Instruction(
        "copy_gm_to_cbuf",
        "%source:P, %destination:P, %n_burst:i64, %len_burst:i64, %src_stride:i64, %dst_stride:i64 {} : *",
        "copies global memory to the cube core's first",
    ),
    *family(
        "%source:P, %destination:P, %sid:i64, %loop1_src_stride:i64, %l2_cache_ctrl:i64, %n_value:i64, %d_value:i64, "
        "%loop4_src_stride:i64, %smallc0_en:i1 {} : *",
        {
            "copy_gm_to_cbuf_multi_nd2nz": "copies row-major matrices to boxes in the cube core's first memory",
            "copy_gm_to_cbuf_multi_dn2nz": "copies column-major matrices to boxes in the cube core's first memory",
        },
    ),
    Instruction(
        "copy_cbuf_to_bt",
        "%source:P, %destination:P, %conv_control:i1, %n_burst:i64, %len_burst:i64, %source_gap:i64, "
        "%dst_gap:i64 {} : *",
        "copies the cube core's first memory to the biases",
    ),
    Instruction(
        "copy_cbuf_to_fbuf",
        "%source:P, %destination:P, %n_burst:i64, %len_burst:i64, %source_gap:i64, %dst_gap:i64 {} : *",
        "copies the cube core's first memory to the scales",
    ),
    *family(
        f"%source:P, %destination:P, {_STEPS} {{}} : *",
        {
            "load_cbuf_to_ca": "copies boxes to the left operand",
            "load_cbuf_to_cb": "copies boxes to the right operand",
        },
    ),
    *family(
        f"%source:P, %destination:P, {_STEPS}, %transpose:i64 {{}} : *",
        {
            "load_cbuf_to_ca_s4": "copies boxes of 4-bit elements to the left operand",
            "load_cbuf_to_cb_s4": "copies boxes of 4-bit elements to the right operand",
        },
    ),
    *family(
        "%source:P, %destination:P, %x_start_position:i64, %y_start_position:i64, %x_step:i64, %y_step:i64, "
        "%src_stride:i64, %dst_stride:i64 {} : *",
        {
            "load_cbuf_to_ca_mx": "copies scales of blocks to the left operand's",
            "load_cbuf_to_cb_mx": "copies scales of blocks to the right operand's",
        },
    ),
    Instruction(
        "copy_matrix_cc_to_gm",
        "%source:P, %destination:P, %xm:i64, %xt:i64 {} : *",
        "copies the accumulator to global memory",
    ),
    *family(
        "%source:P, %destination:P, %config0:i64, %config1:i64 {} : *",
        {
            "copy_matrix_cc_to_cbuf": "copies the accumulator to the cube core's first memory",
            "copy_matrix_cc_to_ub": "copies the accumulator to a vector core's memory",
        },
    ),
    Instruction(
        "raw_fill_l1",
        "%dst:B, %byte_offset:i64, %raw_value:i32, %repeat_times:i64, %block_num_32b:i64, %dst_gap_32b:i64 {} : *",
        "fills blocks of the cube core's first memory with a word",
    ),
    Instruction(
        "create_cbuf_matrix",
        "%dst:P, %raw_value:i32, %repeat_times:i64, %block_num_32b:i64, %dst_gap_32b:i64 {} : *",
        "fills blocks of the cube core's first memory with a word",
    ),
    # Products
    *[
        Instruction(
            name,
            f"%lhs:P, %rhs:P, %dst:P, {'%bias:P, ' if bias else ''}{_SIZES} {_MODES}{tf32}"
            "<?#n_dir=flag(n_dir)?> {} : *",
            summary,
        )
        for name, bias, tf32, summary in (
            ("mad", False, _TF32, "product of matrices"),
            ("mad_acc", False, _TF32, "product of matrices, added to the accumulator"),
            ("mad_bias", True, _TF32, "product of matrices plus a bias for each column"),
            ("mad_mx", False, "", "product of matrices whose blocks have scales"),
            ("mad_mx_acc", False, "", "product of matrices whose blocks have scales, added to the accumulator"),
            ("mad_mx_bias", True, "", "product of matrices whose blocks have scales, plus a bias for each column"),
        )
    ],
    *[
        Instruction(name, f"%lhs:P, %rhs:P, %dst:P, {'%bias:P, ' if bias else ''}%xt:i64 {{}} : *", summary)
        for name, bias, summary in (
            ("mad_raw", False, "product of matrices, its sizes in one number"),
            ("mad_bias_raw", True, "product of matrices plus a bias, its sizes in one number"),
            ("mad_mx_raw", False, "product of matrices whose blocks have scales, its sizes in one number"),
            ("mad_mx_bias_raw", True, "product of matrices whose blocks have scales plus a bias, sizes in one number"),
        )
    ],
    # Registers that steer transfers and products
    *family(
        "%first:i64, %second:i64 {} : *",
        {
            f"set_{name}": f"sets {what}"
            for name, what in (
                ("loop2_stride_outtoub", "the strides of the outer loop of copies into the vector core's memory"),
                ("loop1_stride_outtoub", "the strides of the inner loop of copies into the vector core's memory"),
                ("loop_size_outtoub", "the loops of copies into the vector core's memory"),
                ("loop2_stride_ubtoout", "the strides of the outer loop of copies out of the vector core's memory"),
                ("loop1_stride_ubtoout", "the strides of the inner loop of copies out of the vector core's memory"),
                ("loop_size_ubtoout", "the loops of copies out of the vector core's memory"),
                ("loop3_para", "the third loop of copies out of the accumulator"),
                ("channel_para", "the channels of copies out of the accumulator"),
            )
        },
    ),
    *family(
        "%value:i64 {} : *",
        {
            f"set_{name}": f"sets {what}"
            for name, what in (
                ("loop2_stride_outtol1", "the strides of the outer loop of copies into the cube core's first memory"),
                ("loop1_stride_outtol1", "the strides of the inner loop of copies into the cube core's first memory"),
                ("loop_size_outtol1", "the loops of copies into the cube core's first memory"),
                ("mte2_nz_para", "how copies make boxes"),
                ("pad_val_outtol1", "the padding of copies into the cube core's first memory"),
                ("ctrl", "the control register"),
                ("store_atomic_cfg", "how stores combine with memory"),
                ("quant_pre", "the scale of copies out of the accumulator"),
                ("relu_alpha", "the slope of copies out of the accumulator"),
                ("fix_clip_relu", "the limit of copies out of the accumulator"),
                ("fpc", "the address of scales of copies out of the accumulator"),
            )
        },
    ),
    Instruction("set_mov_pad_val", "%value:number {} : *", "sets the padding of copies"),
    Instruction("get_ctrl", "{} : result:i64", "the control register"),
    *family(
        "%first:i64, %second:i64 {} : * -> result:i64",
        {"sbitset0": "a number with one bit off", "sbitset1": "a number with one bit on"},
        is_pure=True,
    ),
    *family(
        "{}",
        {
            f"set_atomic_{name}": f"{what}"
            for name, what in (
                ("add", "makes stores add"),
                ("max", "makes stores keep the larger"),
                ("min", "makes stores keep the smaller"),
                ("none", "makes stores replace"),
                *((kind, f"makes stores combine as {kind}") for kind in ("f32", "f16", "bf16", "s32", "s16", "s8")),
            )
        },
    ),
]
