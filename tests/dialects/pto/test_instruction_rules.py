"""Rules of vector instructions, transfers and threads: for each a right operation, and wrong ones with their message.

Types are short: `64xf32` is a register, `b32` a mask, `v64xf32` and `k64xpred` those of any length, `A` the state of
unaligned accesses, `ub/f32` a pointer, and `=5` a constant i64. An edit of a right operation puts another type in a
place, operands before results, or changes its attributes.
"""

from __future__ import annotations

import re

import pytest
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import DenseArrayBase, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto import syntax
from loomir.dialects.pto.instructions import OPERATIONS, InstructionOp
from loomir.dialects.verification import verify


def type_of(code: str) -> Attribute:
    if code in ("b8", "b16", "b32"):
        code = f"!pto.mask<{code}>"
    elif code == "A":
        code = "!pto.align"
    elif re.match(r"\d+x", code):
        code = f"!pto.vreg<{code}>"
    elif re.match(r"v\d+x", code):
        code = f"!pto.vmi.vreg<{code[1:]}>"
    elif re.match(r"k\d+x", code):
        code = f"!pto.vmi.mask<{code[1:]}>"
    elif "/" in code:
        space, element = code.split("/")
        code = f"!pto.ptr<{element}, {space}>"
    return Parser(context(), code).parse_type()


def made(name: str, codes: list[str], attributes: str) -> InstructionOp:
    """An operation with operands and results of these types; `|` is before the results, `?` an operand left out, and
    `A+B` are two values of one operand."""
    kind, split = OPERATIONS[name], codes.index("|")
    values: list[SSAValue] = []
    sizes: list[int] = []
    for code in codes[:split]:
        given: list[Operation] = []
        if code.startswith("="):
            given = [arith.ConstantOp.from_int_and_width(int(code[1:]), i64)]
        elif code != "?":
            given = [test.TestOp(result_types=[type_of(each)]) for each in code.split("+")]
        values += [value for op in given for value in op.results]
        sizes.append(len(given))
    properties: dict[str, Attribute] = {}
    if kind.syntax().has_segments:
        sizes += [0] * (len(kind.syntax().operands) - len(sizes))
        properties[syntax.SEGMENTS] = DenseArrayBase.from_list(i32, sizes)
    return kind.create(
        operands=values,
        result_types=[type_of(code) for code in codes[split + 1 :]],
        attributes=Parser(context(), f"{{{attributes}}}").parse_optional_attr_dict(),
        properties=properties,
    )


def edited(codes: list[str], attributes: str, edit: str) -> tuple[list[str], str]:
    codes = list(codes)
    for each in edit.split(";"):
        place, _, code = each.strip().partition(":")
        if place.isdigit():
            index = int(place) + (int(place) >= codes.index("|"))
            codes[index : index + 1] = code.split()
        else:
            attributes = each.strip().strip("{}")
    return codes, attributes


V, W, H, Q = "64xf32", "64xi32", "128xf16", "256xi8"
LOW = "256xf8E4M3FN"
SHAPES = "requires matching register vector shapes"
SHAPE = "requires matching register vector shape"
LOW_TEXT = "must not use low-precision vector element type"
TYPES = "requires acc, lhs, rhs, and result to share one vector type"
FLOATS = "requires f16 or f32 vector element type"
IN_UB = "requires a UB-backed"
BASE = "requires updated base result to match base type"
WIDTHS = "requires source and destination element byte widths to match"
INTEGERS = "currently requires integer source and result element types"
NUMBER = "scalar type must match vector element type"

CASES: list[tuple[str, str, str, dict[str, str]]] = [
    # Arithmetic
    ("vabs", f"{V} b32 | {V}", "", {f"2:{H}": SHAPE}),
    ("vexp", f"{V} b32 | {V}", "", {f"2:{H}": SHAPE, f"0:{LOW}": LOW_TEXT}),
    ("vrelu", f"{V} b32 | {V}", "", {"0:64xui32; 2:64xui32": "requires si32/i32/f16/f32 vector element type",
                                     "0:128xbf16; 2:128xbf16": "requires si32/i32/f16/f32 vector element type"}),
    ("vcadd", f"{V} b32 | {V}", "", {f"2:{H}": "vcadd expects result type !pto.vreg<64xf32> for input element type f32",
                                     "0:128xsi16": "expects result type !pto.vreg<64xsi32>",
                                     "0:128xbf16": "requires i16/i32/f16/f32 vector element type",
                                     "0:32xi64": "requires 8-bit, 16-bit, or 32-bit integer"}),
    ("vcmax", f"{V} b32 | {V}", "", {f"2:{H}": "input and result must have the same vector type"}),
    ("vcgadd", f"{V} b32 | {V}", "", {"0:32xi64; 2:32xi64": "requires 8-bit, 16-bit, or 32-bit integer"}),
    ("vcpadd", f"{V} b32 | {V}", "", {f"0:{W}; 2:{W}": FLOATS}),
    ("vusqz", f"{W} b32 | {W}", "", {f"0:{V}; 2:{V}": "requires signed integer", "2:64xsi32": "src and result to share",
                                     "0:32xi64; 2:32xi64": "requires s8/s16/s32 vector element type"}),
    ("vadd", f"{V} {V} b32 | {V}", "", {f"1:{H}": SHAPES, f"3:{H}": SHAPES, f"0:{LOW}": f"lhs type {LOW_TEXT}"}),
    ("vor", f"{LOW} {LOW} b8 | {LOW}", "", {"0:64x!pto.bf16x2": "does not support bf16x2 vector elements",
                                            f"1:{V}": SHAPES}),
    ("vmax", f"{V} {V} b32 | {V}", "", {f"1:{H}": "lhs, rhs, and result must have the same vector type"}),
    ("vshl", f"{W} 64xsi32 b32 | {W}", "", {
        f"1:{W}": "requires shift count to use a signed integer element type", f"0:{V}": "requires integer vector",
        "3:64xsi32": "requires matching result", "1:128xsi16": "requires matching lane count for shift count",
        f"1:{V}": "requires integer vector element type for shift count"}),
    ("vprelu", f"{V} {V} b32 | {V}", "", {f"1:{H}": "requires lhs, rhs, and result to share one vector type",
                                          f"0:{W}; 1:{W}; 3:{W}": FLOATS}),
    ("vmula", f"{V} {V} {V} b32 | {V}", "", {f"1:{H}": TYPES}),
    ("vmadd", f"{V} {V} {V} b32 | {V}", "", {f"0:{W}; 1:{W}; 2:{W}; 4:{W}": "requires f16/bf16/f32 vector element"}),
    ("vadds", f"{V} f32 b32 | {V}", "", {f"3:{H}": "input and result vector types must match", "1:f16": NUMBER,
                                         f"0:{W}; 3:{W}; 1:si32": "integer scalar type must match vector element"}),
    ("vadds", "64xui32 i32 b32 | 64xui32", "", {"1:i16": NUMBER}),
    ("vshls", f"{W} i16 b32 | {W}", "", {"1:i32": "requires signless i16 scalar", f"3:{V}": "types must match",
                                         f"0:{V}; 3:{V}": "requires integer vector and integer scalar"}),
    ("vaddc", f"{W} {W} b32 | {W} b32", "", {f"0:{V}": "lhs type must use integer vector element type",
                                             "1:64xui32": "lhs, rhs, and result to have matching vector types",
                                             f"0:{Q}; 1:{Q}; 3:{Q}": "currently requires 32-bit integer vector"}),
    ("vmull", f"{W} {W} b32 | {W} {W}", "", {f"4:{V}": "requires operands and results to share one vector type",
                                             f"0:{V}; 1:{V}; 3:{V}; 4:{V}": "requires integer vector element type"}),
    ("vaxpy", f"{V} {V} f32 b32 | {V}", "", {"3:b16": "mask type must be !pto.mask<b32>",
                                             "2:f16": "requires alpha type to match vector element type",
                                             f"1:{H}": "requires src0, src1, and result to share one vector type"}),
    ("vexpdif", f"{H} {H} b16 | {V}", 'part = "ODD"', {
        'part = "P0"': "part must be EVEN or ODD", f"3:{H}": "requires f32 result", "2:b32":
        "mask type must be !pto.mask",
        f"1:{V}": "requires input and max to share one vector type"}),
    ("chistv2", f"128xi16 {Q} b8 i32 | 128xi16", "", {f"1:{W}": "requires source type to be !pto.vreg<256xi8>",
                                                     "0:64xi32": "requires acc type to be !pto.vreg<128xi16>",
                                                     "4:128xui16": "requires result type to match acc type"}),
    # Comparison, selection, conversion
    ("vcmp", f"{V} {V} b32 | b32", 'cmp = "lt"', {'cmp = "lo"': "requires cmp_mode to be one of eq/ne/lt",
                                                      f"1:{H}": "src0 and src1 to have identical vector types"}),
    ("vcmps", f"{V} f32 b32 | b32", 'cmp = "lt"', {"1:f16": "requires scalar type to match source element type"}),
    ("vsel", f"{V} {V} b32 | {V}", "", {f"1:{H}": "src0, src1, and result to have identical vector types"}),
    ("vcbmax", f"{V} b32 | {V} b32", "", {"3:b16": "mask and predicate result to share one mask type",
                                          f"2:{H}": "input and value result to share one vector type"}),
    ("vaddreluconv", f"{V} {V} | {H}", "", {f"1:{H}": "requires lhs and rhs to share one vector type",
                                            "2:256x!pto.hif8": "requires integer or floating-point vector element"}),
    ("vmulscvt", f"{V} f32 b32 | {H}", 'rnd = "A", part = "ODD"', {
        f"0:{H}": "requires f32 input", "1:f16": "requires f32 scalar operand", "2:b16":
        "mask type must be !pto.mask<b32>",
        'rnd = "R", part = "ODD"': "currently only supports rnd A", 'rnd = "A", part = "P0"':
            "part must be EVEN or ODD",
        'rnd = "X", part = "ODD"': "rnd must be one of R/A/F/C/Z/O"}),
    ("vtrc", f"{V} b32 | {V}", 'round_mode = "C"', {'round_mode = "O"': "round mode must be one of R/A/F/C/Z",
                                                   "1:b16": "mask type must be !pto.mask<b32>",
                                                   f"0:{W}; 2:{W}": "requires f16/f32/bf16 vector element type"}),
    ("vcvt", f"{V} b32 | {H}", 'rnd = "R", sat = "SAT", part = "EVEN"', {
        "1:b16": "mask type must be !pto.mask<b32>", f"2:{Q}": "unsupported vcvt source/result element type pair",
        'rnd = "R", part = "EVEN"': "requires sat attr for this vcvt type pair",
        'rnd = "R", sat = "SAT"': "requires part attr for this vcvt type pair",
        'rnd = "R", sat = "SAT", part = "P1"': "part must be EVEN or ODD for 8/16 and 16/32 vcvt forms",
        'rnd = "Q", sat = "SAT", part = "EVEN"': "rnd must be one of R/A/F/C/Z/O/H",
        'rnd = "R", sat = "MAY", part = "EVEN"': "sat must be SAT or NOSAT"}),
    ("vcvt", f"{H} b16 | {V}", 'part = "ODD"', {'rnd = "R", part = "ODD"': "rnd attr is not valid for this vcvt"}),
    ("vcvt", f"{V} b32 | {LOW}", 'rnd = "H", sat = "SAT", part = "P2"', {
        'rnd = "F", sat = "SAT", part = "P2"': "rnd attr is not valid for this vcvt type pair",
        'rnd = "H", sat = "SAT", part = "ODD"': "part must be P0, P1, P2, or P3 for packed vcvt forms"}),
    ("vcvt", "128xbf16 b16 | 256x!pto.f4E2M1x2", 'rnd = "R", part = "P2"', {
        'rnd = "R", part = "ODD"': "part must be P0, P1, P2, or P3 for packed vcvt forms"}),
    ("vcvt", f"{V} b32 | 64xsi32", 'rnd = "R", sat = "SAT"', {
        'rnd = "R", sat = "SAT", part = "ODD"': "part attr is not supported for this vcvt width relation"}),
    # Moves between elements
    ("vbr", f"f32 | {V}", "", {"0:f16": "value type must match result element type"}),
    ("vdup", f"f32 b32 | {V}", "", {"0:f16": "scalar input must match result element type", "1:b8": "mask type must be",
                                    'position = "LOWEST"': "position is only supported for vector input",
                                    f"0:{H}": "vector input must match result vector type"}),
    ("vdup", f"{V} b32 | {V}", 'position = "LOWEST"', {'position = "FIRST"': "position must be LOWEST or HIGHEST"}),
    ("vci", f"i32 | {W}", "", {"0:i16": "index type must match", "1:32xi64": "must be integer or f16/f32"}),
    ("vselr", f"{V} {W} | {V}", "", {f"1:{V}": "requires src1 to use integer vector elements",
                                     f"1:{Q}": "src0/src1 to have identical element counts",
                                     f"2:{W}": "src0 and result to have identical vector types"}),
    ("vsunpack", f"{Q} index | 128xi16", "", {f"0:{V}": INTEGERS, f"2:{W}": "source element count to be twice"}),
    ("vpack", f"{W} | 128xui16", 'part = "LOWER"', {"1:128xi16": "requires unsigned result element type",
                                                   'part = "ODD"': "requires part to be LOWER or HIGHER",
                                                   "1:256xui8": "requires result element count to be twice"}),
    ("vintlv", f"{V} {V} | {V} {V}", "", {f"3:{H}": "requires operands and results to share one vector type"}),
    ("vintlvv2", f"{V} {V} | {V}", 'part = "LOWER"', {f"1:{H}": "operands and result to share one vector type"}),
    ("vbitcast", f"{V} | {H}", "", {}),
    # Masks
    ("pset_b8", "| b8", 'pattern = "PAT_VL4"', {'pattern = "PAT_VL5"': "requires a supported PAT_* predicate pattern"}),
    ("ppack", "b32 | b16", 'part = "LOWER"', {"1:b8": "to match the input or narrow by one step",
                                             'part = "EVEN"': "requires part to be LOWER or HIGHER"}),
    ("punpack", "b8 | b16", 'part = "LOWER"', {"1:b32": "to match the input or widen by one step"}),
    # Loads and stores
    ("vlds", f"ub/f32 index | {V} ub/f32", 'dist = "BRC_B32"', {"3:ub/f16": BASE, "0:gm/f32": IN_UB,
                                                               'dist = "BRC"': "supports only NORM, BRC_B8/B16/B32"}),
    ("vldsx2", f"ub/f32 index | {V} {V}", 'dist = "BDINTLV"', {
        f"3:{H}":
        "requires low/high results to share one vector type", 'dist = "X"': "supported x2 load distribution"}),
    ("vsldb", f"ub/f32 i16 i16 b32 | {V}", "", {"0:gm/f32": IN_UB}),
    ("uvld", f"ub/f32 index | {V}", "", {"0:memref<4xf16>": "requires source element type to match vector element"}),
    ("vgather2", f"ub/f32 {W} b32 | {V}", "", {
        "0:gm/f32": IN_UB, "2:b16": "mask type must be !pto.mask<b32>", "1:64xsi32": "requires ui32/i32 offset vector",
        f"1:{V}": "offset vector must use integer element type", f"1:{Q}": "the same element count",
        f"0:ub/f16; 3:{V}": "16-bit gather requires", "0:ub/f64": "requires source element type i8/ui8/i16/ui16"}),
    ("vgather2", "ub/i8 128xi16 b16 | 128xi16", "", {
        "0:ub/ui8": "8-bit gather requires i8/ui8 source and matching i16/ui16 result"}),
    ("vgatherb", f"ub/f32 {W} b32 | {V}", "", {"2:b16": "mask type must be", f"1:{Q}": "requires 32-bit offset"}),
    ("vgather2_bc", f"ub/f32 {W} b32 | {V}", "", {f"3:{H}": "must have the same element count"}),
    ("plds", "ub/i8 index | b8", 'dist = "US"', {'dist = "PK"': "predicate load dist to be NORM, US, or DS"}),
    ("vsts", f"{V} ub/f32 index b32 |", 'dist = "NORM_B32"', {
        'dist = "NORM"': "requires a supported store distribution token", "1:gm/f32": IN_UB,
        'dist = "PK_B16"': "mask type must be !pto.mask<b16>"}),
    ("vstsx2", f"{V} {V} ub/f32 index b32 |", 'dist = "INTLV_B32"', {
        f"1:{H}": "requires low/high values to share", 'dist = "NORM"': "requires a supported x2 store distribution"}),
    ("vsstb", f"{V} ub/f32 i16 i16 b32 |", "", {"1:gm/f32": IN_UB}),
    ("vscatter", f"{V} ub/f32 {W} b32 |", "", {
        "1:gm/f32": IN_UB, "1:ub/f16": "requires destination element type to match", "3:b16": "mask type must be",
        f"2:{Q}": "requires 32-bit offset vector elements for 32-bit values", f"2:{V}":
        "must use integer element type"}),
    ("vscatter", f"{Q} ub/i8 128xi16 b16 |", "", {"2:64xi32":
        "requires 16-bit offset vector elements for 8-bit values"}),
    ("psts", "b8 ub/i8 index |", 'dist = "PK"', {'dist = "US"': "predicate store dist to be NORM or PK"}),
    # Sorting, vectors in memory
    ("vbitsort", "ub/f32 ub/f32 ub/i32 index |", "", {"1:gm/f32": "requires UB-backed destination/source/indices"}),
    ("vmrgsort4", "ub/f32 ub/f32 ub/f32 ub/f32 ub/f32 i64 i64 |", "", {
        "1:ub/f16": "all sources to have the same element type", "3:gm/f32": "UB-backed destination and sources"}),
    ("ub.vadd", "ub/f32 ub/f32 ub/f32" + " i64" * 7 + " |", "", {"2:gm/f32": "requires UB-backed operands"}),
    ("ub.vexp", "ub/f32 ub/f32" + " i64" * 5 + " |", "", {"0:gm/f32": "requires UB-backed operands"}),
    ("ub.vdup", "ub/f32 i64" + " i64" * 5 + " |", "", {"0:gm/f32": "requires UB-backed dst operand"}),
    # Transfers
    ("copy_gm_to_ubuf", "gm/f32 ub/f32" + " i64" * 5 + " i1 i64 i64 i64 |", "", {
        "0:ub/f32": "requires GM source and UB destination", "1:ub/f16": WIDTHS}),
    ("copy_ubuf_to_gm", "ub/f32 gm/f32" + " i64" * 6 + " |", "", {"1:ub/f32": "requires UB source and GM destination"}),
    ("copy_ubuf_to_ubuf", "ub/f32 ub/f32" + " i64" * 5 + " |", "", {"0:gm/f32": "UB-backed source and destination"}),
    ("copy_cbuf_to_ubuf", "l1/f32 ub/f32" + " i64" * 5 + " |", "", {"0:gm/f32": "CBUF source and UB destination"}),
    ("mte_ub_l1", "ub/f32 l1/f32" + " i64" * 4 + " |", "", {"1:ub/f32":
        "UB-backed source and CBUF-backed destination"}),
    ("mte_ub_gm", "ub/f32 gm/f32" + " i64" * 4 + " =3 |", "", {"6:=16": "l2_cache_ctl to fit in range [0, 15]"}),
    ("mte_gm_ub", "gm/f32 ub/f32" + " i64" * 5 + " ? f32 |", "", {
        "8:f64": "expects pad value to be i8/i16/i32 or f16/bf16/f32 scalar, but got f64"}),
    ("set_mov_pad_val", "f16 |", "", {"0:ui8": "expects i8/i16/i32 or f16/bf16/f32 scalar operand, but got ui8"}),
    ("mte_l1_bt", "l1/f16 bt/f32" + " i64" * 4 + " |", "", {
        "0:gm/f16": "requires MAT source", "1:l0c/f32": "requires BIAS destination", "1:bt/f16":
        "expects one of f32->f32"}),
    ("mte_l1_fb", "l1/f16 fb/f32" + " i64" * 4 + " |", "", {"1:bt/f32": "requires destination in scaling address"}),
    ("mte_gm_l1_frac", "gm/f32 l1/f32 =1 =4 =1 ? =1 =0 =0 =0 =0 i1 |", "mode = #pto<cube_load_frac_mode nd2nz>", {
        "6:=0": "group_count must be greater than zero", "4:=-1": "src_inner_stride must be non-negative"}),
    ("load_cbuf_to_ca", "l1/f16 l0a/f16 =0 =0 =1 =1 =1 =1 |", "", {
        "2:=-1": "m_start must be non-negative", "4:=0": "m_step must be greater than zero", "1:l0a/f32": WIDTHS,
        "4:=256": "m_step must be <= 255 to fit the hardware control field", "1:l0b/f16": "requires LEFT destination"}),
    ("load_cbuf_to_cb_mx", "l1/!pto.f8E8M0 l0b/f8E4M3FN =0 =0 =1 =1 =1 =1 |", "", {
        "3:=-1": "y_start_position must be non-negative"}),
    ("create_cbuf_matrix", "l1/ui16 i32 =1 =1 =0 |", "fill_word_bits = 16 : i64", {
        "0:l1/i16": "requires a ui16 or ui32 destination view, got element type 'i16'",
        "0:l1/ui32": "fill_word_bits 16 does not match the 32-bit destination view",
        "0:ub/ui16": "requires a mat/l1 destination, got vec/ub", "": "requires attribute 'fill_word_bits'",
        "3:=32768": "block_num_32b must be <= 32767"}),
    # Out of the accumulator
    ("mte_l0c_gm", "l0c/f32 gm/f16" + " i64" * 6 + " f32 |", 'pre_quant_mode = "qf322f16_pre_scalar"', {
        "1:gm/bf16":
        "pre_quant mode qf322f16_pre_scalar is incompatible with source element type 'f32' and destination",
        "8:i64": "scalar pre_quant mode requires f16/bf16/f32 payload", "0:l0c/f16":
        "source element type to be f32 or i32",
        "": "pre_quant requires payload and mode together", "0:ub/f32": "requires ACC source and GM destination",
        'pre_quant_mode = "req8_vec"': "vector pre_quant mode requires scaling pointer payload"}),
    ("mte_l0c_l1", "l0c/f32 l1/f32" + " i64" * 4 + " |", 'mode = "nz2nz"', {
        "1:l1/f16":
        "nz2nz requires destination element type to be f32", 'mode = "nz2dn"': "nz2dn requires loop0_src_stride",
        'pre_relu_mode = "scalar_relu"': "scalar_relu requires payload", 'pre_relu_mode = "pwl"':
            "pwl is not supported",
        'atomic_type = "f32", atomic_op = "add"': "atomic is only supported for mte_l0c_gm"}),
    # Products
    ("mad", "l0a/f32 l0b/f32 l0c/f32 i64 i64 i64 |", 'tf32_mode = "round_even", sat_mode = "sat"', {
        "0:l0a/f16": "requires tf32_mode only for f32 lhs/rhs/dst element types", "0:l1/f32":
        "requires l0a/l0b/l0c-typed",
        "{}; 0:l0a/!pto.hif8":
        "requires lhs/rhs to both use hif8", 'sat_mode = "sat"; 2:l0c/i32': "requires sat/nosat"}),
    ("mad_bias", "l0a/f16 l0b/f16 l0c/f32 bt/f32 i64 i64 i64 |", "", {
        "3:bt/f16": "requires bias element type to match dst", "3:ub/f32":
        "requires bias pointer in !pto.ptr<..., bt>"}),
    ("mad_mx_raw", "l0a/f8E4M3FN l0b/f8E5M2 l0c/f32 i64 |", "", {"1:l0b/f16": "requires MX lhs/rhs element types"}),
    # Threads
    ("shuffle_idx", "i32 i32 | i32", "width = 16 : i32", {"width = 24 : i32": "requires width to be 16 or 32",
                                                         "2:i64": "all of {value, result} have same type"}),
    ("redux_max", "i32 | i32", "signedness = #pto.signedness<signed>", {"":
        "requires explicit signedness for integer"}),
    ("redux_add", "f32 | f32", "", {"signedness = #pto.signedness<signed>": "does not accept signedness for floating"}),
    ("atomic_add", "gm/i64 i64 | i64", "", {"0:ub/i64": "does not support i64 UB-space atomics", "0:l1/i64": "GM or UB",
                                           "0:gm/i32": "requires atomic value type to match pointer element type"}),
    ("atomic_or", "gm/i32 i32 | i32", "", {"0:gm/f32; 1:f32; 2:f32": "requires integer type for bitwise atomics"}),
    ("load", "gm/f32 index | f32", "", {"2:f16": "expects load value type to match pointer element type"}),
    ("convert", "f32 | f16", 'rounding = "o", saturation = "sat"', {
        "1:i32": "requires signedness when converting to or from integer type",
        'rounding = "h", saturation = "sat"': "fp32-to-fp16 conversion supports rounding r/a/f/c/z/o"}),
    ("convert", "vector<2xf32> | vector<2xf16>", 'rounding = "r", saturation = "sat"', {
        "1:f16": "does not support mixed scalar and packed conversion", "1:i32": "mixed integer and packed conversion",
        "0:vector<2xbf16>": "unsupported packed conversion type pair",
        'rounding = "h", saturation = "sat"': "f32x2-to-f16x2 conversion supports rounding r/a/f/c/z/o"}),
    ("fma", "f32 f32 f32 | f32", "", {"2:f16": "all of {lhs, rhs, acc, result} have same type"}),
    # Addresses
    ("tile_buf_addr", "!pto.tile_buf<vec,16x16xf32> | ub/f32", "", {
        "1:ub/f16": "pointer result element type must match tile element type", "1:gm/f32":
        "within the tile memory space"}),
    ("tensor_view_addr", "!pto.tensor_view<16x?xf32> | gm/f32", "", {
        "1:gm/f16": "must match source element type", "1:memref<4xf32>": "memref result rank must match source rank",
        "0:!pto.tile_buf<vec,16x16xf32>": "source must be a tensor_view"}),
]  # fmt: skip

WIDE = "; expected !pto.mask<b32>"

CASES.extend([
    # Masks
    ("vln", f"{V} b32 | {V}", "", {"1:b16":
        f"mask type !pto.mask<b16> does not match input vector type !pto.vreg<64xf32>{WIDE}"}),
    ("vmin", f"{V} {V} b32 | {V}", "", {"2:b8": f"does not match lhs vector type !pto.vreg<64xf32>{WIDE}"}),
    ("vsubcs", f"{W} {W} b32 b32 | {W} b32", "", {"5:b16": "mask type !pto.mask<b32> does not match carry type",
                                                  "2:b16": "carry_in type !pto.mask<b16> does not match mask type"}),
    ("vcmps", f"{V} f32 b32 | b32", 'cmp = "lt"', {"2:b16": "seed mask type", "3:b16": "result mask type"}),
    ("pnot", "b8 b8 | b8", "", {"1:b16": "input mask type !pto.mask<b8> does not match mask type !pto.mask<b16>"}),
    ("psel", "b8 b8 b8 | b8", "", {"3:b16": "src0 mask type !pto.mask<b8> does not match result mask type"}),
    ("vsel", f"{V} {V} b32 | {V}", "", {"2:b16": "does not match src0 vector type"}),
    ("vsts", f"{V} ub/f32 index b32 |", "", {"3:b16": "does not match value vector type"}),
    ("vsldb", f"ub/f32 i16 i16 b32 | {V}", "", {"3:b16": "does not match result vector type"}),
    ("vstsx2", f"{V} {V} ub/f32 index b32 |", 'dist = "INTLV_B32"', {"4:b16": "does not match low vector type"}),
])  # fmt: skip

ALL = "k64xpred"
F, S, Z = "v64xf32", "v64xsi32", "v64xi32"
SLOTS, SPLIT = "#pto.vmi.layout<num_groups=8>", "#pto.vmi.layout<deinterleaved=2>"
FLAT = "#pto.vmi.layout<contiguous>"

CASES.extend([
    ("vmi.addf", f"{F} {F} | {F}", "", {f"0:{Z}; 1:{Z}; 2:{Z}": "requires floating-point-like VMI element type",
                                        "0:v64xf8E5M2": "requires f16, bf16, or f32 VMI element type"}),
    ("vmi.muli", f"{Z} {Z} | {Z}", "", {"0:v64xi8; 1:v64xi8; 2:v64xi8": "requires i16 or i32 VMI element type"}),
    ("vmi.maxi", f"{Z} {Z} | {Z}", "", {f"0:{F}": "requires i8, i16, or i32 integer-like VMI element type"}),
    ("vmi.shrui", f"{Z} {Z} | {Z}", "", {f"0:{S}": "requires signless or unsigned integer VMI element type"}),
    ("vmi.shrsi", f"{S} {S} | {S}", "", {f"0:{Z}": "requires signed i8, i16, or i32 VMI element type"}),
    ("vmi.absi", f"{S} | {S}", "", {f"0:{Z}": "requires si8, si16, or si32 VMI element type"}),
    ("vmi.relu", f"{S} | {S}", "", {f"0:{Z}": "requires si32, f16, or f32 VMI element type"}),
    ("vmi.fma", f"{F} {F} {F} | {F}", "", {f"0:{Z}": "requires f16, bf16, or f32 VMI element type"}),
    ("vmi.vmula", f"{F} {F} {F} | {F}", "", {
        f"0:{Z}; 1:{Z}; 2:{Z}; 3:{Z}": "requires f16, bf16, or f32 VMI element type"}),
    ("vmi.iota", f"i32 | {Z}", 'order = "ASC"', {"0:i16": "requires base type to match result element type",
                                                'order = "UP"': "requires order to be ASC or DESC"}),
    ("vmi.group_iota", f"i32 | {Z}", "group = 4", {"group = 1": "requires group greater than one",
                                                  "": "requires attribute 'group'",
                                                  "group = 3": "requires group to evenly divide result logical lane"}),
    ("vmi.vci", f"i32 | {Z}", "group = 2", {
        "group = 0": "requires group to be positive",
        "1:v96xi32": "requires group_size to divide or be a multiple of physical lanes per part (64)"}),
    ("vmi.vbrc", "v8xf32 | v64xf32", "group = 8", {"group = 4": "requires source logical lane count 8 to match",
                                                  "0:f32": "requires VMI vector input when num_groups is set",
                                                  "": "requires VMI vector input to have one logical lane"}),
    ("vmi.pset", f"| {ALL}", 'pattern = "PAT_ALL"', {'pattern = "PAT_H"': 'requires pattern to be "PAT_ALL"',
                                                     "0:k64xb32": "requires concrete mask result to carry layout"}),
    ("vmi.pge", f"| {ALL}", 'pattern = "PAT_VL64"', {
        'pattern = "PAT_VL65"': "PAT_VL active lanes 65 exceeds mask element count 64",
        'pattern = "PAT_VLx"': 'requires pattern "PAT_VL<n>" with integer n',
        'pattern = "PAT_VL0"': "requires positive n", 'pattern = "PAT_H"': 'requires pattern to start with "PAT_VL"'}),
    ("vmi.plt", f"i32 | {ALL} i32", "", {"1:k64xb32": "requires concrete mask result to carry layout"}),
    ("vmi.vadds", f"{F} f32 {ALL} | {F}", "", {"1:f16": "got scalar f16 vs vector element f32"}),
    ("vmi.vshls", f"{Z} i16 {ALL} | {Z}", "", {"1:i32": "operand #1 must be 16-bit signless integer, but got 'i32'",
                                               f"0:{F}; 3:{F}": "requires integer-like VMI element type for shift"}),
    ("vmi.vshr", f"{Z} {Z} ? | {Z}", "", {f"0:{F}; 1:{F}; 3:{F}": "requires integer VMI element type"}),
    ("vmi.vmull", f"{Z} {Z} {ALL} | {Z} {Z}", "", {f"1:{S}": "to be exactly i32 or ui32",
                                                   'pmode = "merge"': "pmode must be 'zero' when specified"}),
    ("vmi.vaddc", f"{Z} {Z} {ALL} | {Z} {ALL}", "", {f"0:{F}": "requires 32-bit integer vector element types"}),
    ("vmi.vaxpy", f"{F} {F} f32 {ALL} | {F}", "", {f"0:{Z}": "requires vector element type to be f16 or f32",
                                                   "2:f16": "requires alpha scalar type to match vector element type"}),
    ("vmi.vcmp", f"{Z} {Z} {ALL} | {ALL}", 'cmp = "lt"', {
        'cmp = "olt"': "requires integer compare predicate eq/ne/lt/le/gt/ge", 'cmp = "up"':
        "unsupported compare predicate",
        'cmp = "lt", pmode = "zero"': 'unsupported pmode \'zero\'; expected "zeroing" or "merge"',
        "3:k32xpred": "requires result mask lane count to match seed", "": "requires attribute 'cmp'"}),
    ("vmi.reduce_addi", f"{Z} {ALL} | v1xi32", "", {
        "0:v64xi16; 2:v1xi16": "requires 32-bit integer source element type",
        f"0:{F}": "requires integer-like VMI source element type", "2:v2xi32": "requires result to be a 1-lane VMI"}),
    ("vmi.vcadd", f"{Z} {ALL} | v1xi32", "", {
        "0:v64xi16; 2:v1xi16": "requires 32-bit integer source element type"}),
    ("vmi.vcmax", f"{F} {ALL} | v8xf32", "group = 8", {
        f"2:v8xf32,{FLAT}": "layout-assigned result must use #pto.vmi.layout<num_groups = 8>"}),
    ("vmi.group_reduce_addf", f"{F} {ALL} | v8xf32", "num_groups = 8, reassoc", {
        "num_groups = 8": "requires reassoc attr because grouped lowering", "2:v4xf32": "to match num_groups",
        "num_groups = 4, reassoc; 2:v4xf16": "requires source and result element types to match"}),
    ("vmi.group_broadcast", f"v8xf32 | {F}", "num_groups = 8", {
        "num_groups = 4": "requires source logical lane count to match num_groups", "":
        "requires attribute 'num_groups'",
        "1:v63xf32": "num_groups to evenly divide result"}),
    ("vmi.sitofp", f"{S} | {F}", "", {f"0:{Z}": "requires signed integer source", "0:v64xsi16":
        "requires 32-bit integer",
                                      "1:v64xf16": "requires f32 result element type"}),
    ("vmi.truncf", f"{F} | v64xf16", 'saturate = "SAT"', {"": "'saturate' attribute is required (SAT or NOSAT)",
                                                         'saturate = "SAT", rounding = "F"': "must be R, A, H, or Z",
                                                         f"1:{F}": "same-width fp-to-fp conversion is not supported"}),
    ("vmi.bitcast", f"{F} | {Z}", "", {f"0:v64xf32,{FLAT}": "requires either both source and result to carry layout",
                                       f"0:v64xf32,{FLAT}; 1:v64xi32,{SPLIT}": "source and result layouts to match"}),
    ("vmi.ensure_layout", f"v64xf32,{FLAT} | v64xf32,{SPLIT}", "", {
        f"1:v64xi32,{SPLIT}": "to preserve VMI data shape and element type", f"1:{F}": "to be layout-assigned"}),
    ("vmi.ensure_mask_granularity", "k64xb16 | k64xb32", "", {f"1:{ALL}": "requires concrete source and result mask"}),
    ("vmi.unpack", f"v128xf32,{SPLIT} | 64xf32 64xf32", "", {
        "1:64xi32": "requires physical data part type to match", f"0:v192xf32,{SPLIT}":
        "requires 4 physical parts, got 2",
        "0:v128xf32": "requires a layout-assigned VMI type with computable physical arity"}),
    ("vmi.pack", f"b32 | k64xb32,{FLAT}", "", {f"1:k65xb32,{FLAT}": "requires 2 physical parts, got 1",
                                               "0:b16": "requires physical mask part granularity to match VMI mask"}),
    ("vmi.deinterleave_load", f"ub/f32 index | {F} {F}", "", {"0:gm/f32": "requires memory source to be UB-backed",
                                                              "3:v64xf16": "the same element type"}),
    ("vmi.group_slot_load", "ub/f32 index index | v8xf32", "num_groups = 8", {
        "num_groups = 4": "requires result logical lane count to match num_groups",
        f"3:v4xf32,{FLAT}; num_groups = 4": "requires layout-assigned result to use #pto.vmi.layout<num_groups = 4>"}),
    ("vmi.group_broadcast_load", f"ub/f32 index index | {F}", "num_groups = 8", {
        "num_groups = 7": "num_groups to evenly divide result logical lane count", "0:ub/f16": "to match VMI data"}),
    ("vmi.stride_load", f"ub/f32 index i16 i16 {ALL} | {F}", "", {"4:k32xpred": "requires mask logical lane count"}),
    ("vmi.interleave_store", f"{F} {F} ub/f32 index |", "", {"2:gm/f32":
        "requires memory destination to be UB-backed"}),
    ("vmi.group_store", f"{Z} ub/i8 index index |", "num_groups = 8", {
        f"0:{F}": "requires memory destination element type to match", "num_groups = 7":
        "num_groups to evenly divide"}),
    ("vmi.scatter", f"{F} ub/f32 {Z} {ALL} |", "", {f"2:{S}":
        "requires signless or unsigned 16-bit or 32-bit integer ind"}),
    ("vmi.gather", f"ub/f32 {Z} {ALL} {F} | {F}", "", {
        "1:v64xui16": "requires ui16 result and passthru element type when using ui16 indices"}),
    ("vmi.vsstb", f"{F} ub/f32 index i16 {ALL} |", "", {'pmode = "merge"': 'pmode "merge" is not supported for stores',
                                                       'pmode = "all"': 'invalid pmode: "all"'}),
    ("vmi.vdhist", "v128xui16 v64xui8 k64xpred | v128xui16", "", {"2:k32xpred":
        "mask logical lane count to match source"}),
    ("vmi.channel_split", f"{F} | v32xf32 v32xf32", "", {"2:v32xf16": "equal lane count and source element type"}),
    ("vmi.shuffle", f"{F} | v2xf32", "indices = array<i64: 3, 0>", {
        "1:v2xf16": "requires result element type to match source", "indices = array<i64: 64, 0>": "existing source"}),
])  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "types", "attributes", "wrong"), CASES)
def test_rules_of_types_and_attributes(name: str, types: str, attributes: str, wrong: dict[str, str]) -> None:
    """A right operation verifies; each edit of it gives upstream's message."""
    codes = types.split()
    made(name, codes, attributes).verify_()
    for edit, message in wrong.items():
        with pytest.raises(VerifyException) as caught:
            made(name, *edited(codes, attributes, edit)).verify_()
        assert message in str(caught.value), edit


# ---------------------------------------------------------------------------------------------
# What is around an operation, and where its operands come from
# ---------------------------------------------------------------------------------------------

STORES = """
func.func @f(%v: !pto.vreg<64xf32>, %p: !pto.ptr<f32, ub>, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = pto.init_align : !pto.align
  %last = scf.for %i = %c0 to %c1 step %c1 iter_args(%state = %first) -> (!pto.align) {
    %next = pto.vstus %state, %n, %v, %p : !pto.align, i32, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align
    scf.yield %next : !pto.align
  }
  pto.vstas %last, %p, %n : !pto.align, !pto.ptr<f32, ub>, i32
  return
}
"""
LOADS = """
func.func @f(%p: !pto.ptr<f32, ub>) {
  %first = pto.vldas %p : !pto.ptr<f32, ub> -> !pto.align
  %a, %second = pto.vldus %p, %first : !pto.ptr<f32, ub>, !pto.align -> !pto.vreg<64xf32>, !pto.align
  %b, %third = pto.vldus %p, %second : !pto.ptr<f32, ub>, !pto.align -> !pto.vreg<64xf32>, !pto.align
  return
}
"""
SCOPE = """
func.func @f(%p: !pto.ptr<ui32, ub>, %n: i32) {
  %c7 = arith.constant 7 : i32
  pto.vecscope {
    pto.sprclr "AR"
    pto.sprsti "AR", %p[%c7] : !pto.ptr<ui32, ub>, i32
  }
  pto.barrier <PIPE_V>
  return
}
"""
THREADS = """
func.func @f(%p: !pto.ptr<i32, gm>) attributes {pto.entry} {
  %c0 = arith.constant 0 : index
  %x = pto.ld_dev %p[%c0] : !pto.ptr<i32, gm> -> i32
  pto.section.simt<<<32, 2, 1>>> {
    %one = arith.constant 1 : i64
    %y = pto.ldg %p[%c0] : !pto.ptr<i32, gm> -> i32
    pto.keep %y {slot = 3 : i64} : i32
    pto.keep %one {slot = 4 : i64} : i64
    pto.syncthreads
  }
  return
}
"""
RESUMED = """
func.func @f() attributes {pto.simt_entry} {
  %a = pto.resume {slot = 1 : i64} : i32
  %b = pto.resume {slot = 2 : i64} : f32
  return
}
func.func @g() {
  %c1 = arith.constant 1 : i32
  pto.simt_launch @f<<<%c1, %c1, %c1>>>() : () -> ()
  return
}
"""
OPERAND = """
func.func @f() {
  %c0 = arith.constant 0 : i64
  %c8 = arith.constant 8 : i64
  %p = pto.castptr %c0 : i64 -> !pto.ptr<!pto.f8E8M0, l1>
  %q = pto.castptr %c0 : i64 -> !pto.ptr<f8E4M3FN, l0a>
  pto.mte_l1_l0a_mx %p, %q, m(%c8), k(%c8), start_row(%c0), start_col(%c0) : !pto.ptr<!pto.f8E8M0, l1>, !pto.ptr<f8E4M3FN, l0a>, i64, i64, i64, i64
  return
}
"""  # noqa: E501
QUOTIENT = """
module attributes {pto.target_arch = "a5"} {
  func.func @f(%a: !pto.vreg<64xi32>, %m: !pto.mask<b32>) {
    %q = pto.vdiv %a, %a, %m : !pto.vreg<64xi32>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xi32>
    return
  }
}
"""
ACCUMULATOR = """
func.func @f(%p: !pto.ptr<f32, l0c>, %q: !pto.ptr<f32, ub>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c16 = arith.constant 16 : i64
  pto.mte_l0c_ub %p, %q, %c16, %n, %n, %n, dst_mode(split_m), nz2nd : !pto.ptr<f32, l0c>, !pto.ptr<f32, ub>, i64, i64, i64, i64
  pto.mte_l0c_ub %p, %q, %n, %n, %n, %n, dst_mode(%c0), unit_flag(check_only) : !pto.ptr<f32, l0c>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64
  return
}
"""  # noqa: E501
STRIDED = """
func.func @f(%p: !pto.ptr<f32, ub>, %v: !pto.vmi.vreg<64xf32>, %m: !pto.vmi.mask<64xpred>, %s: i16) {
  %c8 = arith.constant 8 : index
  %a = pto.vmi.vload %p[%c8], %c8 {group = 8 : i64} : !pto.ptr<f32, ub> -> !pto.vmi.vreg<64xf32>
  %b, %c = pto.vmi.vload %p[%c8] {dist_mode = "dintlv"} : !pto.ptr<f32, ub> -> !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>
  pto.vmi.vstore %v, %p[%c8], %s, %s, %m : !pto.vmi.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.vmi.mask<64xpred>
  return
}
"""  # noqa: E501
SINGLE = "must form a single linear {}-state chain"


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        (STRIDED, {
            ", %c8 {group = 8 : i64}": (" {group = 8 : i64}", "group requires a stride operand"),
            "{group = 8 : i64}": ("", "stride operand is only valid with group"),
            "group = 8": ("group = 7", "requires num_groups to evenly divide VMI logical lane count 64"),
            "{group = 8 :": ('{dist_mode = "dintlv", group = 8 :', "group and dist_mode are mutually exclusive"),
            '"dintlv"': ('"brc"', 'requires exactly 1 result for dist-mode "brc"'),
            "%m :": ('%m {pmode = "merge"} :', 'pmode "merge" is not supported for stores'),
            "%m : !pto": ('%m {dist_mode = "brc"} : !pto', "block_stride and dist_mode are mutually exclusive"),
            "-> !pto.vmi.vreg<64xf32>\n": ("-> !pto.vmi.vreg<64xf16>\n",
            "requires memory source element type to match"),
        }),
        (STORES, {
            "%state, %n, %v": ("%first, %n, %v", "align_in type must be threaded through scf.for iter_args"),
            "vstas %last": ("vstas %first", SINGLE.format("store")),
            "pto.init_align :": ("pto.vldas %p : !pto.ptr<f32, ub> ->",
            "must be produced by pto.init_align or a prior"),
        }),
        (LOADS, {"%p, %second": ("%p, %first", SINGLE.format("load")),
                 "pto.vldas %p : !pto.ptr<f32, ub> ->": ("pto.init_align :",
                 "pto.vldas or a prior load-state op, got")}),
        (SCOPE, {
            "pto.vecscope": ("scf.execute_region", "must be nested under pto.vecscope/pto.strict_vecscope; pto.sprclr"),
            '"AR", %p[%c7]': ('"AR", %p[%n]', "requires constant immediate offset"),
            "7 : i32": ("128 : i32", "requires signed 8-bit immediate offset"),
            'sprclr "AR"': ('sprclr "BR"', 'requires spr to be "AR"'),
            "sprclr": ("vecscope { } pto.sprclr", "does not allow nested dedicated pto.vecscope/pto.strict_vecscope"),
            "}\n  pto.barrier <PIPE_V>": ("pto.barrier <PIPE_V>\n}",
            "'pto.barrier' op must be outside 'pto.vecscope'; "),
        }),
        (THREADS, {
            "<<<32, 2, 1>>>": ("<<<64, 64, 1>>>", "positive product no greater than 2048, got (64, 64, 1)"),
            "slot = 4": ("slot = 5", "requires an even slot for 64-bit keep/resume values"),
            "slot = 3": ("slot = 123", "requires slot in range [0, 122]"),
            "%one {slot = 4": ("%one {slot = 2", "duplicates an earlier slot 2 in the SIMT keep epilogue group"),
            "%one = arith.constant 1 : i64": (
                "%e = arith.constant dense<0.0> : vector<2xf8E5M2> %one = arith.constant 1 : i64",
                "'arith.constant' op does not support directly constructed FP8 constants"),
            "attributes {pto.entry}": ("", "'pto.ld_dev' op requires an enclosing ordinary AICore entry function"),
            "pto.syncthreads": ("%z = pto.get_tid_x : i32", "only 'pto.syncthreads' may appear between the final"),
            "ld_dev %p[%c0] : !pto.ptr<i32, gm> -> i32": (
                "ld_dev %p[%c0] : !pto.ptr<i32, gm> -> i16", "expects ld_dev value type to match pointer element type"),
        }),
        (RESUMED, {
            "%b = pto.resume {slot = 2 : i64} : f32": (
                "%c = arith.constant 1 : i32 pto.store_vfsimt_info %c, %c, %c : i32, i32, i32",
                "'pto.store_vfsimt_info' op must not appear inside a function marked with 'pto.simt_entry'"),
            "slot = 2": ("slot = 1", "duplicates an earlier slot 1 in the SIMT resume prologue group"),
            "attributes {pto.simt_entry}": ("", "must appear inside a function marked with 'pto.simt_entry'"),
            "@f<<<": ("@g<<<", "callee 'g' must be marked with 'pto.simt_entry'"),
            "%b = pto.resume": ("pto.syncthreads %b = pto.resume", "contiguous SIMT resume prologue group"),
        }),
        (OPERAND, {
            "castptr %c0 : i64 -> !pto.ptr<f8": ("castptr %c8 : i64 -> !pto.ptr<f8", "aligned to 16 bytes, got 8"),
            "castptr %c0 : i64 -> !pto.ptr<!pto": ("castptr %c8 : i64 -> !pto.ptr<!pto", "aligned to 32 bytes, got 8"),
            "start_col(%c0)": ("x_start(%c0)", "cannot mix shape-derived MX operands with full MX operands"),
        }),
        (QUOTIENT, {
            "64xi32": ("64xui32", "A5 integer pto.vdiv is not supported for '!pto.vreg<64xui32>' with mask"),
            "mask<b32>": ("mask<b16>", "i32 vectors with a b32 mask"),
        }),
        (ACCUMULATOR, {
            "arith.constant 16": ("arith.constant 17", "split-M dual destination requires m to be even"),
            "unit_flag(check_only)": ("nz2nd, unit_flag(check_only)", "clauses must follow canonical order"),
            "dst_mode(%c0), ": ("dst_mode(%c0), unit_flag(check_only), ", "duplicate clause; write each once"),
            "split_m), nz2nd": ("split_m), pre_relu(mode = no_relu)", "dual destination mode cannot be combined with"),
            "%c0 = arith.constant 0": ("%c0 = arith.constant 2", "sub_blockid must be 0 or 1"),
        }),
    ],
    ids=["strided", "stores", "loads", "scope", "threads", "resumed", "operand", "quotient", "accumulator"],
)  # fmt: skip
def test_rules_of_places(text: str, edits: dict[str, tuple[str, str]]) -> None:
    """A right text verifies, and each edit of it gives upstream's message."""
    verify(parse_ir(context(), text, "right.pto"))
    for old, (new, message) in edits.items():
        assert old in text, old
        with pytest.raises(LoomError) as caught:
            verify(parse_ir(context(), text.replace(old, new, -1 if text is QUOTIENT else 1), "wrong.pto"))
        assert message in str(caught.value), old
