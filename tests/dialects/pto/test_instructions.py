"""Instructions of the tables: each is read as it is printed, and refuses what its row does not say."""

from __future__ import annotations

from io import StringIO
from itertools import chain

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    bf16,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from loomir.diagnostics.errors import LoomError
from loomir.dialects import context
from loomir.dialects.ir_text import parse_ir
from loomir.dialects.pto import syntax
from loomir.dialects.pto.enumerations import ENUMERATIONS
from loomir.dialects.pto.instruction_rules import RULES
from loomir.dialects.pto.instructions import OPERATIONS, InstructionOp
from loomir.dialects.pto.kinds import KINDS
from loomir.dialects.pto.tile_rules.registry import TILE_RULES

TYPES = {
    "V": "!pto.vreg<64xf32>", "M": "!pto.mask<b32>", "M8": "!pto.mask<b8>", "M16": "!pto.mask<b16>",
    "M32": "!pto.mask<b32>", "A": "!pto.align", "L": "!pto.vmi.vreg<100xf32>", "K": "!pto.vmi.mask<100xpred>",
    "W": "!pto.vmi.mask<100xb32>", "R": "!pto.vreg<128xbf16>", "B": "!pto.ptr<f32, ub>", "P": "!pto.ptr<f32>",
    "Q": "!pto.ptr<i8, ub>", "T": "!pto.tile_buf<vec, 16x16xf32>", "TB": "!pto.tile_buf<vec, 16x16xf16>",
    "C": "!pto.partition_tensor_view<16x16xf32>", "G": "!pto.tensor_view<16x?xf32>", "index": "index", "i1": "i1",
    "i16": "i16", "i32": "i32", "i64": "i64", "f32": "f32", "N": "f16", "I": "ui32", "S": "i8", "F": "bf16",
    "number": "si16", "printable": "ui8", "F1": "bf16", "F2": "vector<2xbf16>", "F3": "vector<2xf16>",
    "F4": "vector<2xbf16>", "SH": "i64", "RX": "f16", "AT": "vector<2xf16>", "DV": "i8", "I2": "i64",
    "CV": "!pto.hif8x2", "": "f32",
}  # fmt: skip
"""A type of each kind."""


def type_of(text: str) -> Attribute:
    return Parser(context(), text).parse_type()


def elements_of(elements: tuple[syntax.Element, ...]) -> list[syntax.Element]:
    inner = [e.elements if isinstance(e, syntax.Part) else getattr(e, "parts", ()) for e in elements]
    return [*elements, *chain.from_iterable(elements_of(tuple(each)) for each in inner)]


def sample(element: syntax.AttributeElement) -> Attribute:
    """A value of an attribute."""
    match element:
        case syntax.Choice():
            return StringAttr(element.words[-1])
        case syntax.Flag():
            return UnitAttr()
        case syntax.Number():
            return IntegerAttr(3, i32)
        case syntax.Numbers():
            return DenseArrayBase.from_list(i64, [1, 0])
        case syntax.Named() if element.kind != "pipe":
            kind = ENUMERATIONS[element.kind]
            return kind(next(iter(kind.enum_type)))
        case syntax.Named():
            return Parser(context(), "#pto.pipe<PIPE_V>").parse_attribute()
        case syntax.NoText():
            return Parser(context(), "#pto.pipe_event_type<TVEC>").parse_attribute()
        case _:
            return StringAttr("EVEN")


def made(name: str, *, whole: bool) -> ModuleOp:
    """A module with one instruction: with everything that may be there, or with nothing that may be missing."""
    kind = OPERATIONS[name]
    text = kind.syntax()
    count = {"": 1, "?": int(whole), "*": 2 * int(whole), "+": 3 * int(whole)}
    groups = {
        operand.name: [operand.fixed or type_of(TYPES["AT" if operand.twin else operand.kind])]
        * (kind.row.text.count(f"%{operand.name}+") * int(whole) if operand.count == "+" else count[operand.count])
        for operand in text.operands
    }
    if "positional" in groups:
        groups["positional"] = []  # instead of those with names
    required = {e.name for e in kind.syntax().elements if isinstance(e, syntax.AttributeElement)}
    attributes: dict[str, Attribute] = {}
    chosen = set[int]()
    for element in elements_of(text.elements):
        if isinstance(element, syntax.Alternatives):
            # One of them; the operands decide.
            given = [p for p in element.parts if any(isinstance(e, syntax.Operand) for e in elements_of(p.elements))]
            others = [p for p in element.parts if any(isinstance(e, syntax.AttributeElement) for e in p.elements)]
            keep = (given or others)[0] if whole else (others or given)[0]
            for part in element.parts:
                if part is not keep:
                    chosen |= {id(e) for e in elements_of(part.elements)}
                    for e in part.elements:
                        if isinstance(e, syntax.Operand):
                            groups[e.name] = []
            for e in keep.elements:
                if isinstance(e, syntax.Operand) and not groups[e.name]:
                    groups[e.name] = [e.fixed or type_of(TYPES[e.kind])]
                if isinstance(e, syntax.AttributeElement):
                    required.add(e.name)
    for element in elements_of(text.elements):
        if isinstance(element, syntax.AttributeElement) and id(element) not in chosen:
            if whole or element.name in required:
                attributes.setdefault(element.name, sample(element))
    values = test.TestOp(result_types=[t for types in groups.values() for t in types])
    sizes = {"": 1, "?": int(whole), "*": 1}
    properties: dict[str, Attribute] = {}
    if text.has_segments:
        properties[syntax.SEGMENTS] = DenseArrayBase.from_list(i32, [len(types) for types in groups.values()])
    regions = [Region(Block()) for e in text.elements if isinstance(e, syntax.BlockOf)]
    op = kind.create(
        operands=values.results,
        result_types=[r.fixed or type_of(TYPES[r.kind]) for r in text.results for _ in range(sizes[r.count])],
        attributes=attributes,
        properties=properties,
        regions=regions,
    )
    return ModuleOp([values, op])


def printed(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "least"])
@pytest.mark.slow
def test_instructions_are_read_as_they_are_printed(whole: bool) -> None:
    for name in OPERATIONS:
        module = made(name, whole=whole)
        text = printed(module)
        again = parse_ir(context(), text, name)
        assert printed(again) == text, name
        *_, op = again.ops
        assert isinstance(op, InstructionOp)
        if name not in RULES and name not in TILE_RULES:
            op.verify()


@pytest.mark.slow
def test_instructions_refuse_what_their_kinds_do_not_say() -> None:
    """The message is upstream's: the number of the operand, what it must be, and what it is."""
    for name, kind in OPERATIONS.items():
        text = kind.syntax()
        kinds = [operand.kind for operand in text.operands if operand.kind in KINDS]
        if not kinds or any(operand.count for operand in text.operands):
            continue
        place = next(n for n, operand in enumerate(text.operands) if operand.kind in KINDS)
        types = [operand.fixed or type_of(TYPES["AT" if operand.twin else operand.kind]) for operand in text.operands]
        types[place] = type_of("!pto.pipe")
        values = test.TestOp(result_types=types)
        results = [r.fixed or type_of(TYPES[r.kind]) for r in text.results if r.count == ""]
        op = kind.create(
            operands=values.results,
            result_types=results,
            regions=[Region(Block()) for e in text.elements if isinstance(e, syntax.BlockOf)],
        )
        with pytest.raises(VerifyException) as caught:
            op.verify_()
        assert str(caught.value) == (
            f"'pto.{name}' op operand #{place} must be {KINDS[kinds[0]].summary}, but got '!pto.pipe'"
        )


def test_instructions_count_their_operands() -> None:
    op = OPERATIONS["vadd"].create(operands=[], result_types=[])
    with pytest.raises(VerifyException, match=r"'pto.vadd' op expects 3 operands, not 0"):
        op.verify_()
    values = test.TestOp(result_types=[type_of(TYPES[kind]) for kind in "VVM"])
    op = OPERATIONS["vadd"].create(operands=values.results, result_types=[])
    with pytest.raises(VerifyException, match=r"'pto.vadd' op expects 1 result, not 0"):
        op.verify_()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!pto.vreg<32xf32>", "expected exactly 256 bytes, not 128: elements of 32 bits are 64"),
        ("!pto.vreg<0xf32>", "expected a positive element count, not 0"),
        ("!pto.vreg<64xindex>", "expected an integer, floating-point, or PTO low-precision element type"),
        ("!pto.mask<b64>", "expected granularity to be one of b8, b16, b32"),
        ("!pto.vmi.mask<4xb64>", "expected granularity to be one of pred, b8, b16, b32"),
        ("!pto.vmi.vreg<4x!pto.pipe>", "expected an integer, index, floating-point, or PTO low-precision element type"),
        ("!pto.vmi.vreg<4xf32, #pto.layout<nd>>", "expected a #pto.vmi.layout<...>, not #pto.layout<nd>"),
        (
            "!pto.vmi.vreg<4xf32, #pto.vmi.layout<deinterleaved = 3>>",
            "#pto.vmi.layout<deinterleaved = 3> expected factor to be 2 or 4",
        ),
        (
            "!pto.vmi.vreg<4xf32, #pto.vmi.layout<spread = 3>>",
            "expected VMI layout kind 'contiguous' or 'deinterleaved'",
        ),
        ("!pto.vmi.vreg<4xf32, #pto.vmi.layout<contiguous, slots = 3>>", "expected 'lane_stride = <integer>'"),
        ("!pto.vmi.vreg<4xf32, #pto.vmi.layout<num_groups = 0>>", "requires num_groups to be positive"),
        ("!pto.vmi.vreg<4xf32, #pto.vmi.layout<contiguous, lane_stride = 0>>", "requires lane_stride to be positive"),
        ("!pto.vmi.vreg<4xi64>", "expected an 8-bit, 16-bit, or 32-bit logical element type"),
        ("!pto.vmi.vreg<4xf32, #pto.vmi.layout<num_groups = 8>>", "exactly one logical result lane per group"),
        ("!pto.vmi.mask<4xpred, #pto.vmi.layout<contiguous>>", "pred mask must not carry layout"),
        ("!pto.local_array<f32>", "'!pto.local_array' requires at least one dimension"),
        ("!pto.local_array<4x!pto.pipe>", "element type must be a scalar integer or floating-point type"),
        ("!pto.local_array<4x0xf32>", "dimension 1 must be a positive static size, got 0"),
        ("!pto.struct<f32, !pto.pipe>", "field 1 must be a signless integer, a floating-point type or a nested"),
        ("!pto.struct<>", "'!pto.struct' requires at least one field"),
        ("!pto.eventid_array<0>", "'!pto.eventid_array' requires positive size, got 0"),
        ("!pto.multi_tile_buf<vec, 16x16xf16, count=1>", r"multi_tile_buf count must be >= 2 (got 1)"),
        ("!pto.multi_tile_buf<vec, 16x16xf16, count=17>", r"multi_tile_buf count must be <= 16 (got 17)"),
        ("!pto.multi_tile_buf<vec, 16x16xf16>", "expected a tile and its count"),
    ],
)
def test_types_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(LoomError) as caught:
        parse_ir(context(), f"func.func private @f({text})", "types.mlir")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "!pto.multi_tile_buf<!pto.tile_buf<loc=vec, dtype=f16, rows=16, cols=16, v_row=?, v_col=?, blayout=row_major, "
        "slayout=none_box, fractal=512, pad=0>, count=3>",
        "!pto.vmi.vreg<8xf32, #pto.vmi.layout<num_groups = 8, slots = 8, lane_stride = 2>>",
        "!pto.struct<f32, !pto.struct<i8, bf16>>",
        "!pto.local_array<8x2xi32>",
        "!pto.vreg<256x!pto.f4E1M2x2>",
        "!pto.vreg<64x!pto.bf16x2>",
        "!pto.vreg<128xui16>",
    ],
)
def test_types_are_read_as_they_are_printed(text: str) -> None:
    assert str(type_of(text)) == text


def test_kinds_accept_the_samples() -> None:
    for name, kind in KINDS.items():
        assert kind.accepts(type_of(TYPES[name])), name
        assert not kind.accepts(type_of("!pto.pipe")), name
    assert KINDS["B"].accepts(MemRefType(f32, [4]))
    assert not KINDS["AT"].accepts(i8) and KINDS["AT"].accepts(bf16)
    assert not KINDS["DV"].accepts(i1) and KINDS["DV"].accepts(i16)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pto.set_cross_block <PIPE_V>, 16", "expects static event_id in [0, 15], but got 16"),
        ("pto.wait_intra_block <PIPE_V>, 32", "expects static event_id in [0, 31], but got 32"),
        ("pto.set_intra_block <PIPE_S>, 1", "pto.set_intra_block expects pipe to be one of <PIPE_FIX>, <PIPE_MTE1>"),
        (
            "%r = pto.vmi.vand %v, %v : !pto.vmi.vreg<4xf32>, !pto.vmi.vreg<4xf32> -> !pto.vmi.vreg<4xf32>",
            "requires integer-like VMI element type, not f32",
        ),
    ],
)
def test_rules_of_instructions(text: str, message: str) -> None:
    module = parse_ir(context(), f"func.func @f(%v: !pto.vmi.vreg<4xf32>) {{\n  {text}\n  return\n}}", "rules.mlir")
    with pytest.raises(VerifyException) as caught:
        module.verify()
    assert message in str(caught.value)


def vmi(count: int, element: str) -> str:
    return f"!pto.vmi.vreg<{count}x{element}>"


F, G, H = vmi(64, "f32"), vmi(64, "si8"), vmi(64, "f16")
ALL, SOME = "!pto.vmi.mask<64xpred>", "!pto.vmi.mask<32xpred>"
LEFT, MAT = "!pto.ptr<f16, left>", "!pto.ptr<f16, mat>"


@pytest.mark.parametrize(
    ("name", "operands", "results", "attributes", "message"),
    [
        ("vmi.vadd", [F, vmi(32, "f32")], [F], "", "requires all VMI data values to have the same logical lane count"),
        ("vmi.vadd", [F, H], [F], "", "requires all VMI data values to have the same element type"),
        ("vmi.vadd", [F, F, SOME], [F], "", "requires mask logical lane count to match data lane count"),
        ("vmi.vadd", [F, F, "!pto.vmi.mask<64xb8>"], [F], "", "requires mask granularity to match data element width"),
        ("vmi.vadd", [F, F], [F], 'pmode = "some"', 'pmode must be "merge" or "zero", got "some"'),
        ("vmi.vdiv", [G, G], [G], "", "requires f16 or f32 VMI element type"),
        ("vmi.vadd", [vmi(64, "!pto.bf16x2")] * 2, [vmi(64, "!pto.bf16x2")], "", "bf16x2 is conversion-only"),
        ("vmi.vabs", [vmi(64, "ui8")], [vmi(64, "ui8")], "", "requires si8, si16, si32, f16, bf16, or f32 VMI element"),
        ("vmi.vand", [ALL, SOME], [ALL], "", "requires all VMI mask values to have the same logical lane count"),
        ("vmi.vand", [ALL, ALL, ALL], [ALL], "", "mask logic op does not support predication mask"),
        ("vmi.vcadd", [F, ALL], [vmi(1, "f32")], "", "floating add-reduction requires reassoc attr"),
        ("vmi.vcmax", [F, ALL], [vmi(8, "f32")], "group = 7 : i64", "group count 7 must divide source lane count 64"),
        ("vmi.vcmax", [F, ALL], [F], "", "full reduction (no group) requires 1-lane result, got 64"),
        ("vmi.vcvt", [F], [H], "", "'saturate' attribute is required for fp-narrow / int-narrow conversions"),
        ("vmi.vcvt", [F], [H], 'saturate = "MAY"', "saturate must be 'SAT' or 'NOSAT'"),
        ("vmi.vcvt", [H], [F], 'rounding = "R"', "'rounding' attribute is only valid for floating-point narrowing"),
        ("vmi.vcvt", [F], [G], "", "unsupported fp-to-si conversion element type pair"),
        ("vmi.vcvt", [F], [H], 'rounding = "Q", saturate = "SAT"', "rounding must be 'R' (nearest-even)"),
        ("vmi.extsi", [F], [F], "", "requires signed integer source and result element types"),
        ("vmi.bitcast", [F], [H], "", "requires source and result to carry the same total number of bits"),
        ("vmi.vgather", ["!pto.ptr<f32>", vmi(64, "i32"), ALL], [F], "", "requires memory source to be UB-backed"),
        ("vmi.vgather", ["!pto.ptr<f32, ub>", G, ALL], [F], "", "requires signless or unsigned 16-bit or 32-bit"),
        ("vmi.store", [F, "!pto.ptr<f16, ub>", "index"], [], "", "requires memory destination element type to match"),
        ("vmi.vmull", [F, F, ALL], [F, F], "", "element types to be exactly i32 or ui32"),
        ("vmi.shuffle", [F], [F], "indices = array<i64: 0, 64>", "requires shuffle index count to match result"),
        ("vmi.channel_merge", [F, H], [vmi(128, "f32")], "", "to have the same lane count and element type"),
        ("vmi.constant", [], [F], "value = dense<1.0> : vector<32xf32>", "element count to match result logical lane"),
        ("vexp", ["!pto.vreg<256xf8E4M3FN>", "!pto.mask<b8>"], ["!pto.vreg<256xf8E4M3FN>"], "",
         "operand type must not use low-precision vector element type"),
        ("vshl", ["!pto.vreg<64xi32>", "!pto.vreg<64xui32>", "!pto.mask<b32>"], ["!pto.vreg<64xi32>"], "",
         "requires shift count to use a signed integer element type"),
        ("vlds", ["!pto.ptr<f32, ub>", "index"], ["!pto.vreg<64xf32>", "!pto.ptr<f16, ub>"], "",
         "requires updated base result to match base type"),
        ("load_cbuf_to_ca", [LEFT, LEFT, *["i64"] * 6], [], "", "requires MAT source"),
        ("load_cbuf_to_ca", [MAT, MAT, *["i64"] * 6], [], "", "requires LEFT destination"),
    ],
)  # fmt: skip
def test_rules_by_table(name: str, operands: list[str], results: list[str], attributes: str, message: str) -> None:
    """Upstream's words, for instructions that each break one rule."""
    kind = OPERATIONS[name]
    values = test.TestOp(result_types=[type_of(text) for text in operands])
    given = Parser(context(), f"{{{attributes}}}").parse_optional_attr_dict()
    properties: dict[str, Attribute] = {}
    if kind.syntax().has_segments:
        left = len(operands)
        sizes: list[int] = []
        for operand in kind.syntax().operands:
            sizes.append(min(left, 1) if operand.count != "*" else left)
            left -= sizes[-1]
        properties[syntax.SEGMENTS] = DenseArrayBase.from_list(i32, sizes)
    op = kind.create(
        operands=values.results, result_types=[type_of(text) for text in results], attributes=given,
        properties=properties,
    )  # fmt: skip
    with pytest.raises(VerifyException) as caught:
        op.verify_()
    assert message in str(caught.value)
