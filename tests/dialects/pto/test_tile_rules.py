"""Rules of operations on tiles: a row for each, with a program that breaks it and one that keeps it.

The messages are those of PTOAS's verifiers. `RIGHT` is refused by no rule, and `WRONG` differs in what the rule is
about; both are for one chip.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import VerifyException

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto.tile_rules.registry import TILE_RULES
from loomir.dialects.verification import verify

V = "vec, 16x64x"
MAT, NZ = "mat, 16x64x", ", blayout=col_major, slayout=row_major"
ACC = f"acc, 16x16xf32{NZ}, fractal=1024"
LEFT, RIGHT = f"left, 16x64xf16{NZ}", "right, 64x16xf16, slayout=col_major"
SCALES_A = "scaling, 16x2xi8, slayout=row_major, fractal=32"
SCALES_B = "scaling, 2x16xi8, blayout=col_major, slayout=col_major, fractal=32"
COLUMN = "vec, 16x1xf32, blayout=col_major"
E5 = "f8E5M2"


@dataclass(frozen=True)
class Row:
    """Operands in `ins(...)` and `outs(...)`, wrong and right: tiles without `!pto.tile_buf<>`, or other types."""

    chip: str
    name: str
    wrong: str
    right: str
    message: str
    attributes: str = ""
    inside: str = ""


def row(chip: str, name: str, wrong: str, right: str, message: str, attributes: str = "", inside: str = "") -> Row:
    return Row(chip, name, wrong, right, message, attributes, inside)


ROWS = [
    # Elements
    row("a3", "tadd", f"{V}bf16 | {V}bf16 -> {V}bf16", f"{V}f16 | {V}f16 -> {V}f16",
        "A2/A3 tadd element type to be i32"),
    row("a5", "tmul", f"{V}i8 | {V}i8 -> {V}i8", f"{V}i16 | {V}i16 -> {V}i16",
        "expects A5 tmul element type to be i32"),
    row("a5", "tadd", f"{V}{E5} | {V}{E5} -> {V}{E5}", f"{V}i8 | {V}i8 -> {V}i8",
        "src0: dtype f8E5M2 is not supported"),
    row("a3", "tsub", f"{V}f16 | {V}f32 -> {V}f16", f"{V}f16 | {V}f16 -> {V}f16",
        "src0 and src1 to have the same element"),
    row("a3", "tdiv", f"{V}i32 | {V}i32 -> {V}i32", f"{V}f16 | {V}f16 -> {V}f16",
        "A2/A3 tdiv element type to be f16 or"),
    row("a3", "tabs", f"{V}i32 -> {V}i32", f"{V}f32 -> {V}f32", "expects element type to be f16 or f32"),
    row("a3", "tnot", f"{V}i32 -> {V}i32", f"{V}i16 -> {V}i16", "expects A2/A3 tnot element type to be i16"),
    row("a5", "tsqrt", f"{V}i32 -> {V}i32", f"{V}f16 -> {V}f16", "src and dst element type to be float or half"),
    row("a3", "tors", f"{V}i32 | i32 -> {V}i32", f"{V}i16 | i16 -> {V}i16",
        "tors src and dst element type to be i8/i16"),
    row("a5", "tshl", f"{V}f32 | {V}f32 -> {V}f32", f"{V}i8 | {V}i8 -> {V}i8",
        "src0 and src1 element type to be i8/i16"),
    row("a5", "tlrelu", f"{V}f16 | f16 -> {V}f16", f"{V}f16 | f32 -> {V}f16", "expects slope to have type f32"),
    row("a3", "tfmods", f"{V}i32 | f32 -> {V}i32", f"{V}i32 | i32 -> {V}i32", "scalar type to match the tile element"),
    row("a3", "texpands", f"f32 -> {V}f16", f"f16 -> {V}f16", "expects scalar type == dst element type"),
    row("a3", "texpands", "f32 -> left, 16x16xf32", f"f32 -> {V}f32", "dst to be in the vec or mat address space"),
    row("a3", "tci", f"i32 -> {V}i16", f"i16 -> {V}i16", "S and dst element type to be exactly the same type"),
    row("a3", "ttrans", f"{V}i64 -> vec, 64x16xi64", f"{V}f32 -> vec, 64x16xf32",
        "element size to be 1, 2, or 4 bytes"),
    # Memories and layouts
    row("a3", "tadds", f"{MAT}f32 | f32 -> {V}f32", f"{V}f32 | f32 -> {V}f32", "src to be in the vec address space"),
    row("a3", "texp", f"{V}f32, blayout=col_major -> {V}f32", f"{V}f32 -> {V}f32", "src to use the row_major blayout"),
    row("a5", "tmax", f"{V}f32{NZ} | {V}f32 -> {V}f32", f"{V}f32 | {V}f32 -> {V}f32", "dst to use row-major layout"),
    row("a3", "tcolmax", f"{V}f32, slayout=row_major -> vec, 1x64xf32", f"{V}f32 -> vec, 1x64xf32", "none_box slayout"),
    row("a5", "tcmp", f"{V}f32 | {V}f32 -> vec, 16x32xi8", f"{V}f32 | {V}f32 -> {V}i8", "to have the same shape",
        inside="{cmpMode = #pto<cmp eq>}"),
    row("a5", "ttrans", f"vec, 16x8xf16 -> {V}f16", f"vec, 16x16xf16 -> {V}f16", "to be 32-byte aligned on A5"),
    # Reductions and expansions
    row("a5", "trowmax", f"{V}f32 -> vec, 16x8xf32", f"{V}f32 -> {COLUMN}", "expects dst valid_shape[1] to be 1"),
    row("a5", "trowargmax", f"{V}f32, valid=0x64 -> vec, 16x1xi32, valid=0x1, blayout=col_major",
        f"{V}f32 -> vec, 16x1xi32, blayout=col_major", "expects src valid_shape[0] to be non-zero"),
    row("a3", "trowargmax", f"{V}f32 -> {COLUMN}", f"{V}f32 -> vec, 16x1xi32, blayout=col_major", "to be i32 or ui32"),
    row("a3", "tcolargmax", f"{V}f32 -> vec, 2x64xi32", f"{V}f32 -> vec, 1x64xi32", "dst valid_shape[0] to be 1"),
    row("a3", "tcolargmax", "vec, 16x256xf32, valid=16x255 | vec, 1x8xf32 -> vec, 1x256xi32, valid=1x255",
        "vec, 16x256xf32, valid=16x255 | vec, 1x16xf32 -> vec, 1x256xi32, valid=1x255",
        "tmp valid_shape[1] to be at least 16 for src valid_shape[1] = 255"),
    row("a5", "trowexpand", f"{COLUMN} -> {V}f32, valid=16x0", f"{COLUMN} -> {V}f32",
        "dst valid_shape[1] to be non-zero"),
    row("a3", "trowexpandadd", f"{V}f32 | vec, 16x16xf32 -> {V}f32", f"{V}f32 | vec, 16x8xf32 -> {V}f32",
        "row-major src1 valid_shape[1] to be 32/sizeof(dtype)"),
    row("a3", "trowexpandmax", f"{V}f32 | {COLUMN} | vec, 1x64xf32 -> {V}f32",
        f"{V}f32 | {COLUMN} | vec, 2x64xf32 -> {V}f32", "tmp capacity to be at least 512 bytes, but got 256 bytes"),
    row("a3", "trowexpandmul", f"{V}f32 | vec, 16x8xf32 | {V}f32 -> {V}f32",
        f"{V}f32 | {COLUMN} | {V}f32 -> {V}f32", "tmp-form trowexpand to use mode 1"),
    row("a5", "trowexpanddiv", f"{V}f32 | {COLUMN} -> {V}f32", f"{V}f32 | {COLUMN} | {V}f32 -> {V}f32",
        "expects tmp when precisionType is high_precision", "{precisionType = #pto<div_precision high_precision>}"),
    row("a3", "tcolexpandadd", f"{V}f32 | vec, 1x64xf32{NZ} -> {V}f32", f"{V}f32 | vec, 1x64xf32 -> {V}f32",
        "src1 to use row-major layout"),
    row("a3", "tcolsum", f"{V}f32 | vec, 8x32xf32 -> vec, 1x64xf32", f"{V}f32 | vec, 8x64xf32 -> vec, 1x64xf32",
        "tmp shape[1] to be at least src valid_shape[1] when isBinary is true; got 32 vs 64",
        inside="{isBinary = true}"),
    # Scratch
    row("a3", "txor", f"{V}i16 | {V}i16 | {V}i32 -> {V}i16", f"{V}i16 | {V}i16 | {V}i16 -> {V}i16",
        "tmp to have the same element type as src0, src1, and dst"),
    row("a3", "trem", f"{V}f32 | {V}f32 | vec, 1x64xf32 -> {V}f32", f"{V}f32 | {V}f32 | vec, 2x64xf32 -> {V}f32",
        "A2/A3 tmp valid_shape[0] to be at least 2"),
    row("a3", "tpow", f"{V}i32 | {V}i32 | {V}i32 -> {V}i32", f"{V}i32 | {V}i32 -> {V}i32", "does not accept tmp when"),
    row("a5", "tpow", f"{V}i32 | {V}i32 -> {V}i32", f"{V}f32 | {V}f32 -> {V}f32",
        "A5 tpow element type to be f16/f32/bf16 when precisionType=high_precision",
        "{precisionType = #pto<pow_precision high_precision>}"),
    row("a3", "tprelu", f"{V}f32 | {V}f32 | vec, 16x32xi8 -> {V}f32", f"{V}f32 | {V}f32 | vec, 17x32xi8 -> {V}f32",
        "tmp shape[0] to be at least dst valid_shape[0] + 1 (17)"),
    row("a3", "tsel", f"{V}i8 | {V}f16 | {V}f16 | vec, 1x2xi32 -> {V}f16",
        f"{V}i8 | {V}f16 | {V}f16 | vec, 1x8xi32 -> {V}f16", "tmp capacity to be at least 16 bytes, but got 8 bytes"),
    row("a3", "tsort32", f"{V}f32 | {V}i32 | vec, 1x64xf32 -> vec, 16x128xf32",
        f"{V}f32 | {V}i32 | {V}f32 -> vec, 16x128xf32", "tmp capacity to be at least 4096 bytes"),
    row("a3", "tci", f"i32 | vec, 1x64xi32 -> {V}i32", f"i32 | vec, 3x64xi32 -> {V}i32",
        "at least 768 bytes for 32-bit"),
    row("a5", "trsqrt", f"{V}f32 -> {V}f32", f"{V}f32 | {V}f32 -> {V}f32",
        "expects tmp when precisionType is high_precision", "{precisionType = #pto<rsqrt_precision high_precision>}"),
    row("a3", "tcvt", f"{V}f32 | vec, 1x8xf32 -> {V}i16", f"{V}f32 | vec, 1x64xf32 -> {V}i16", "at least 256 bytes"),
    # Products
    row("a3", "tmatmul", f"{LEFT} | {RIGHT} -> {ACC}".replace("xf32", "xi32"), f"{LEFT} | {RIGHT} -> {ACC}",
        "(dst, lhs, rhs) element types to match one of"),
    row("a5", "tmatmul", f"{LEFT} | right, 64x16xf16 -> {ACC}", f"{LEFT} | {RIGHT} -> {ACC}",
        "col_major slayout on A5"),
    row("a3", "tmatmul.bias", f"{LEFT} | {RIGHT} | bias, 2x16xf32 -> {ACC}",
        f"{LEFT} | {RIGHT} | bias, 1x16xf32 -> {ACC}", "expects bias to have 1 row"),
    row("a5", "tgemv", f"{LEFT} | {RIGHT} -> {ACC}", f"{LEFT}, valid=1x64 | {RIGHT} -> {ACC}, valid=1x16",
        "lhs valid_shape[0] to be 1 for tgemv"),
    *(
        row("a5", "tmatmul.mx", wrong, f"left, 16x64x{E5}{NZ} | {SCALES_A} | right, 64x16x{E5}, slayout=col_major | "
            f"{SCALES_B} -> {ACC}", message)
        for wrong, message in (
            (f"{LEFT} | {SCALES_A} | {RIGHT} | {SCALES_B} -> {ACC}", "supported fp8/fp8 or fp4/fp4 pair"),
            (f"left, 16x64x{E5}{NZ} | scaling, 16x4xi8, slayout=row_major, fractal=32 | right, 64x16x{E5}, "
             f"slayout=col_major | {SCALES_B} -> {ACC}", "a_scale shape to be [M, ceil(K/32)]"),
            (f"left, 16x64x{E5}{NZ} | {SCALES_A} | right, 64x16x{E5}, slayout=col_major | "
             f"{SCALES_B.replace('32', '512')} -> {ACC}", "b_scale to use fractal=32 on A5"),
        )
    ),
    # Moves
    row("a5", "tload", f"P 16x64xf16 -> {V}f32", f"P 16x64xf32 -> {V}f32",
        "element types to have the same element size"),
    row("a5", "tload", f"P 16x64xf32 -> {V}f32, slayout=row_major", f"P 16x64xf32 -> {V}f32", "to be ND, DN, or NZ"),
    row("a3", "tload", f"P 16x64x{E5} -> {V}i8", f"P 16x64xi8 -> {V}i8", "A2/A3 tload low-precision element types"),
    row("a5", "tstore", f"{ACC} -> P 16x16xi64", f"{ACC} -> P 16x16xf16",
        "acc tstore dst element type to be i32/f32/f16"),
    row("a3", "tstore", f"{V}f32 -> P 16x64xf16", f"{V}f32 -> P 16x64xf32", "vec/mat tstore src and dst element types"),
    row("a3", "tstore", f"{V}f32 -> P 16x64xf32", f"{ACC} -> P 16x16xf32", "reluPreMode form to use loc=acc src",
        "{reluPreMode = #pto<relu_pre_mode normal_relu>}"),
    row("a3", "tmov", f"{V}f32 -> {MAT}f32", f"{V}f32 -> {V}f32", "a supported tmov address-space pair"),
    row("a5", "tmov", f"{MAT}f32 -> left, 16x32xf32", f"{MAT}f32 -> left, 16x64xf32",
        "mat-source tmov to use matching"),
    row("a5", "tmov", "vec, 16x32xi8 | vec, 1x96xi8 -> vec, 16x32xi8, slayout=row_major",
        "vec, 16x32xui8 | vec, 1x96xui8 -> vec, 16x32xui8, slayout=row_major", "one of ui8, !pto.hif8, !pto.f8E8M0"),
    row("a5", "tmov", "vec, 16x32xui8 | vec, 1x64xui8 -> vec, 16x32xui8, slayout=row_major",
        "vec, 16x32xui8 | vec, 1x96xui8 -> vec, 16x32xui8, slayout=row_major", "tmp to provide at least 96 bytes"),
    row("a5", "tcvt", f"{V}f32 -> {V}f16 ".replace("16x64xf16 ", "16x32xf16, valid=16x32").replace(
        "16x64xf32", "16x64xf32, valid=16x32"), f"{V}f32 -> {V}f16", "src and dst to have compatible shapes"),
    row("a5", "tcvt", f"{V}f16 -> {V}{E5}", f"{V}f32 -> {V}{E5}", "tcvt low-precision type pairs to match PTO-ISA"),
    # Indices
    row("a3", "tgather", f"{V}f32 | {V}i32 -> {V}f32", f"{V}f32 | {V}i32 | {V}i32 -> {V}f32", "both indices and tmp"),
    row("a5", "tgather", f"{V}f32 | {V}i8 -> {V}f32", f"{V}f32 | {V}i16 -> {V}f32",
        "indices element type to be i32 or i16"),
    row("a3", "tscatter", f"{V}f32 | {V}i16 -> {V}f32", f"{V}f32 | {V}i32 -> {V}f32",
        "to match the documented scatter"),
    row("a3", "tquant", f"{V}f32 | vec, 16x8xf32 -> {V}i8", f"{V}f32 | {COLUMN} -> {V}i8",
        "fp to use non-row-major layout",
        "{quant_type = #pto<quant_type INT8_SYM>}"),
    row("a3", "tdequant", f"{V}i32 | {COLUMN} | {COLUMN} -> {V}f32", f"{V}i8 | {COLUMN} | {COLUMN} -> {V}f32",
        "src element type i8 or i16"),
    row("a3", "tfillpad", f"{V}f32 -> {V}f32", f"{V}f32 -> {V}f32, pad=1", "dst PadVal != Null for tfillpad"),
    row("a3",
        "tpartadd", f"{V}f32, valid=8x64 | {V}f32, valid=8x64 -> {V}f32", f"{V}f32 | {V}f32, valid=8x64 -> {V}f32",
        "at least one of src0/src1 valid_shape to match dst"),
    row("a3", "taddrelu", f"{V}i32 | {V}i32 -> {V}i32", f"{V}i16 | {V}i16 -> {V}i16", "element type to be i16/f16/f32"),
]  # fmt: skip


def types_of(text: str) -> tuple[list[str], list[str]]:
    """Return the types of `ins(...)` and `outs(...)`."""

    def type_of(each: str) -> str:
        each = each.strip()
        if each.startswith("P "):
            return f"!pto.partition_tensor_view<{each[2:]}>"
        return f"!pto.tile_buf<{each}>" if "," in each else each

    before, after = text.split(" -> ")
    return [type_of(each) for each in before.split(" | ")], [type_of(each) for each in after.split(" | ")]


def program(case: Row, types: str) -> ModuleOp:
    """A module for a chip with one operation on values of these types."""
    inputs, outputs = types_of(types)
    values = [f"%v{number}" for number in range(len(inputs) + len(outputs))]
    given, made = values[: len(inputs)], values[len(inputs) :]
    if case.name in ("tload", "tstore", "tmov"):
        ins = ", ".join(f"{value} : {type}" for value, type in zip(given, inputs, strict=True))
    else:
        ins = f"{', '.join(given)}{case.inside} : {', '.join(inputs)}"
    outs = f"{', '.join(made)} : {', '.join(outputs)}"
    text = (
        f'module attributes {{pto.target_arch = "{case.chip}"}} {{\n'
        f'{", ".join(values)} = "test.op"() : () -> ({", ".join(inputs + outputs)})\n'
        f"pto.{case.name} ins({ins}) outs({outs}) {case.attributes}\n}}"
    )
    known = context()
    known.load_op(test.TestOp)
    return parse_ir(known, text, "rules.pto")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", ROWS, ids=lambda case: f"{case.chip}-{case.name}-{case.message[:24]}")
def test_rule(case: Row) -> None:
    program(case, case.right).verify()
    with pytest.raises(VerifyException, match=re.escape(case.message)):
        program(case, case.wrong).verify()


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("tsort32", f"{V}f32 | {V}i32 | vec, 1x64xi32 -> vec, 16x128xf32"),
        ("trowmax", f"{V}f32 | {V}i32 -> {COLUMN}"),
        ("trowsum", f"{V}f32 | {V}f16 -> {COLUMN}"),
    ],
)
def test_scratch_of_any_elements_on_a5(name: str, operands: str) -> None:
    """The headers of a5 copy bytes to scratch, or leave it alone; those of a2 and a3 compute in it."""
    program(row("a5", name, "", "", ""), operands).verify()
    with pytest.raises(VerifyException, match=r"expects (A2/A3 )?tmp "):
        program(row("a3", name, "", "", ""), operands).verify()


def test_a_program_without_a_chip_has_to_be_right_on_one() -> None:
    """A sum of bf16 is for a5 only, one of i64 for none; the device it was written on does not choose."""
    for element, device, is_right in (("bf16", False, True), ("bf16", True, True), ("i64", False, False)):
        case = row("a3", "tadd", "", "", "")
        module = program(case, f"{V}{element} | {V}{element} -> {V}{element}")
        del module.attributes["pto.target_arch"]
        if device:
            module.attributes["pto.device-spec"] = StringAttr("Ascend910B3")
        if is_right:
            module.verify()
        else:
            with pytest.raises(VerifyException, match="A2/A3 tadd element type to be i32/i16/f16/f32"):
                module.verify()


def test_modules_in_one_may_be_for_other_chips() -> None:
    """Equal operations are checked once in a module, not once in all."""
    tile = "!pto.tile_buf<vec, 16x64xbf16>"
    function = f"""func.func @f(%t: {tile}) {{
  pto.tadd ins(%t, %t : {tile}, {tile}) outs(%t : {tile})
  return
}}"""
    for second, is_right in (("a5", True), ("a3", False)):
        text = "\n".join(
            f'module @{name} attributes {{pto.target_arch = "{chip}"}} {{\n{function}\n}}'
            for name, chip in (("x", "a5"), ("y", second))
        )
        module = parse_ir(context(), f"module {{\n{text}\n}}", "modules.pto")
        if is_right:
            verify(module)
        else:
            with pytest.raises(LoomError, match="A2/A3 tadd element type"):
                verify(module)


def test_a_single_column_has_rows() -> None:
    """However it is stored: a sum of columns is one of numbers behind each other."""
    program(row("a3", "tadd", "", "", ""), f"{COLUMN} | {COLUMN} -> {COLUMN}").verify()


def test_every_row_of_the_table_has_an_operation() -> None:
    known = context()
    for name in TILE_RULES:
        assert known.get_optional_op(f"pto.{name}") is not None, name
