"""Conversions of registers (`pto.vcvt`): the pairs of types there are, and what each has to say about itself."""

from __future__ import annotations

from typing import cast

from xdsl.ir import Attribute

from ...diagnostics.records import record
from .instruction_operation import InstructionOp
from .kernels import fail
from .registers import MaskType, VRegType
from .rules import is_float8, is_unsigned, signedness, type_of, width, word_of

_WORD = 32


@record
class _Contract:
    """What a conversion between two types has to say."""

    rounds: bool = False
    saturates: bool = False
    has_part: bool = False
    """It converts one part of a register, since its elements become wider or narrower."""
    is_packed: bool = False
    """Its parts are quarters, although its elements are halved or doubled."""
    modes: str = "RAFCZOH"
    """The ways to round."""


def _rows(sources: str, results: str, contract: _Contract) -> dict[tuple[str, str], _Contract]:
    return {(source, result): contract for source in sources.split() for result in results.split()}


_PART = _Contract(has_part=True)
_CLAMPED = _Contract(saturates=True, has_part=True)
_ROUNDED = _Contract(rounds=True, saturates=True, has_part=True)
_F4 = "f4E1M2x2 f4E2M1x2"

_CONTRACTS = {
    **_rows("f32", "f8", _Contract(True, True, True, True, "RAHZ")),
    **_rows("f32", "hif8", _Contract(True, True, True, True, "AH")),
    **_rows("f32", "f16 bf16 s16 s64", _ROUNDED),
    **_rows("f32", "s32", _Contract(rounds=True, saturates=True)),
    **_rows("f16 bf16", "f8", _Contract(True, True, True, modes="RAFZC")),
    **_rows("f16", "hif8", _Contract(True, True, True, modes="AH")),
    **_rows("f16 bf16", "f32", _PART),
    **_rows("f16", "s32", _Contract(rounds=True, has_part=True)),
    **_rows("f16", "s16", _Contract(rounds=True, saturates=True)),
    **_rows("f16", "s8 u8", _ROUNDED),
    **_rows("bf16", _F4, _Contract(True, False, True, True, "RAFZC")),
    **_rows("bf16", "f16", _Contract(rounds=True, saturates=True)),
    **_rows("bf16", "s32", _ROUNDED),
    **_rows("u8", "f16 u16 u32", _PART),
    **_rows("s8", "f16 s16 s32", _PART),
    **_rows("u16", "u8", _CLAMPED),
    **_rows("u16", "u32", _PART),
    **_rows("s16", "f16", _Contract(rounds=True)),
    **_rows("s16", "f32 u32 s32", _PART),
    **_rows("s16", "u8", _CLAMPED),
    **_rows("u32 s32", "u8 u16 s16", _CLAMPED),
    **_rows("s32", "f32", _Contract(rounds=True)),
    **_rows("s32", "s64", _PART),
    **_rows("s64", "f32", _Contract(rounds=True, has_part=True)),
    **_rows("s64", "s32", _CLAMPED),
    **_rows("f8 hif8", "f32", _Contract(has_part=True, is_packed=True)),
    **_rows(_F4, "bf16", _Contract(has_part=True, is_packed=True)),
}  # fmt: skip
"""The conversions by the names of types: of integers `s` or `u`, where those without a sign count as signed."""


def _name(element: Attribute) -> str:
    if signedness(element) is not None:
        return f"{'u' if is_unsigned(element) else 's'}{width(element)}"
    return "f8" if is_float8(element) else str(element).removeprefix("!pto.")


def has_conversion(source: Attribute, result: Attribute) -> bool:
    """Return True if the chip converts elements of one type to the other."""
    return (_name(source), _name(result)) in _CONTRACTS


def _short(prefix: str, found: str | None, words: str) -> str | None:
    """Return a word without its prefix, if it is one of some."""
    short = None if found is None else found.removeprefix(prefix)
    return short if short in words.split() else None


def converts(op: InstructionOp) -> None:
    """Check `vcvt`: its types, and that it says what their conversion needs, and no more."""
    source, result = (cast("VRegType", type_of(op, name)) for name in ("input", "result"))
    contract = _CONTRACTS.get((_name(source.element_type), _name(result.element_type)))
    if contract is None:
        fail(op, "unsupported vcvt source/result element type pair")
    before, after = width(source.element_type), width(result.element_type)
    granularity = f"b{min(before, _WORD)}"
    if cast("MaskType", type_of(op, "mask")).granularity.data != granularity:
        fail(op, f"mask type must be !pto.mask<{granularity}>")
    if source.count.data * before != result.count.data * after:
        fail(op, "requires source and result vectors to carry the same total number of bits")
    _check_rounding(op, contract)
    _check_presence(op, "sat", contract.saturates)
    ratio = max(before, after) // min(before, after)
    if (part := word_of(op, "part")) is not None:
        _check_part(op, part, 4 if contract.is_packed else ratio)
    _check_presence(op, "part", contract.has_part)


def _check_rounding(op: InstructionOp, contract: _Contract) -> None:
    if (given := word_of(op, "rnd") or word_of(op, "round_mode")) is not None:
        mode = _short("ROUND_", given, "R A F C Z O H")
        if mode is None:
            fail(op, f"rnd has unsupported value '{given}'; rnd must be one of R/A/F/C/Z/O/H")
        if mode not in contract.modes:
            fail(op, "rnd attr is not valid for this vcvt type pair")
    _check_presence(op, "rnd", contract.rounds)
    if (given := word_of(op, "sat")) is not None and given not in ("SAT", "NOSAT", "RS_ENABLE", "RS_DISABLE"):
        fail(op, f"sat has unsupported value '{given}'; sat must be SAT or NOSAT")


def _check_part(op: InstructionOp, given: str, ratio: int) -> None:
    part = _short("PART_", given, "EVEN ODD P0 P1 P2 P3")
    if part is None:
        fail(op, f"part has unsupported value '{given}'; part must be one of EVEN/ODD/P0/P1/P2/P3")
    if ratio not in (2, 4):
        fail(op, "part attr is not supported for this vcvt width relation")
    if ratio == 2 and part not in ("EVEN", "ODD"):
        fail(op, "part must be EVEN or ODD for 8/16 and 16/32 vcvt forms")
    if ratio == 4 and part in ("EVEN", "ODD"):
        fail(op, "part must be P0, P1, P2, or P3 for packed vcvt forms")


def _check_presence(op: InstructionOp, name: str, wanted: bool) -> None:
    given = op.attribute(name) is not None or (name == "rnd" and op.attribute("round_mode") is not None)
    if given is not wanted:
        fail(op, f"requires {name} attr for this vcvt type pair" if wanted
             else f"{name} attr is not valid for this vcvt type pair")  # fmt: skip
