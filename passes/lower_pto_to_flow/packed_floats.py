"""Floats of 4 bits, two in a byte: to and from 32-bit floats, by their bits.

The first of a pair is in the lower half of its byte. A float of 4 bits is a sign above three bits, which are the upper
exponent and fraction of the 32-bit float that is 2^126 times smaller.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import StringAttr, bf16, f32, i32
from xdsl.ir import Attribute

from ...analysis.pto.pipe_ends import refusal
from ...diagnostics.records import record
from ...dialects.pto.attributes import RoundMode
from ...dialects.pto.tiles import TCvtOp, TileOperation
from ...dialects.pto.types import F4E1M2x2Type, F4E2M1x2Type, TileBufType
from .emission import Emitter
from .instruction_context import Instructions, Scratch, shape_of_tile
from .tile_operations import ROUNDINGS, ui8
from .views import Number, View

_FRACTION_BITS = 23
"""Bits of the fraction of an f32; its exponent is above them."""

_BIAS = 127
_MAGNITUDE = (1 << 31) - 1
_NO_NUMBER = 7
"""The 4 bits that a NaN becomes: the largest float, since the types have no NaN (the headers' encoder does so)."""

_SCALE = 2.0**126
"""By how much the bits of a small float, in an f32, are too small."""


@record
class Format:
    """A float of 4 bits: its bits of fraction, its largest number, and that number's exponent."""

    fraction: int
    largest: float
    exponent: int


FORMATS: dict[type[Attribute], Format] = {F4E2M1x2Type: Format(1, 6.0, 2), F4E1M2x2Type: Format(2, 1.75, 0)}
"""The floats of 4 bits, by the type of a pair."""


def format_of(element: Attribute) -> Format | None:
    """Return the format of pairs of 4-bit floats; None for other elements."""
    return FORMATS.get(type(element))


def doubled(emitter: Emitter, extents: tuple[Number, ...], along: int) -> tuple[Number, ...]:
    """Return extents in elements of what has pairs along rows (0) or columns (1)."""
    return tuple(emitter.multiply(extent, 2) if place == along else extent for place, extent in enumerate(extents))


def unpack(kernel: Instructions, scratch: Scratch, source: View, room: tuple[int, int], along: int) -> View:
    """Return pairs of 4-bit floats as 32-bit floats, twice as many along rows (0) or columns (1)."""
    emitter, form = kernel.emitter, format_of(source.element)
    assert form is not None
    pairs = scratch.view(i32, source.extents, room)
    emitter.apply("copy", pairs, [replace(source, element=ui8)])
    wide = scratch.view(i32, doubled(emitter, source.extents, along), _twice(room, along))
    low, high = _halves(emitter, wide, source.extents, along)
    emitter.apply("bit_and", low, [pairs, emitter.constant(15)])
    emitter.apply("shift_right", high, [pairs, emitter.constant(4)])
    signs = scratch.view(i32, wide.extents, _twice(room, along))
    emitter.apply("bit_and", signs, [wide, emitter.constant(8)])
    emitter.apply("shift_left", signs, [signs, emitter.constant(28)])
    emitter.apply("bit_and", wide, [wide, emitter.constant(7)])
    emitter.apply("shift_left", wide, [wide, emitter.constant(_FRACTION_BITS - form.fraction)])
    floats = replace(wide, element=f32)
    emitter.apply("multiply", floats, [floats, emitter.constant(_SCALE, f32)])
    emitter.apply("bit_or", wide, [wide, signs])
    return floats


def pack(
    kernel: Instructions, scratch: Scratch, values: View, room: tuple[int, int], target: View, rounding: str
) -> None:
    """Write 32-bit floats as pairs of 4-bit floats side by side, rounded and held at the largest; changes `values`.

    `room` is how many values the area has that `values` is in.
    """
    emitter, form = kernel.emitter, format_of(target.element)
    assert form is not None
    bits, extents = replace(values, element=i32), values.extents
    signs, codes = (scratch.view(i32, extents, room) for _ in range(2))
    is_none = scratch.bits(extents, room)
    steps = replace(codes, element=f32)
    emitter.apply("compare_unequal", is_none, [values, values])
    emitter.apply("shift_right", signs, [bits, emitter.constant(28)])
    emitter.apply("bit_and", signs, [signs, emitter.constant(8)])
    # The distance of floats of this size: of the exponent, within those that the format has.
    emitter.apply("bit_and", codes, [bits, emitter.constant(_MAGNITUDE)])
    emitter.apply("shift_right", codes, [codes, emitter.constant(_FRACTION_BITS)])
    emitter.apply("maximum", codes, [codes, emitter.constant(_BIAS)])
    emitter.apply("minimum", codes, [codes, emitter.constant(_BIAS + form.exponent)])
    emitter.apply("subtract", codes, [codes, emitter.constant(form.fraction)])
    emitter.apply("shift_left", codes, [codes, emitter.constant(_FRACTION_BITS)])
    emitter.apply("divide", values, [values, steps])
    emitter.apply("copy", values, [values], {"rounding": StringAttr(rounding)})
    emitter.apply("multiply", values, [values, steps])
    emitter.apply("minimum", values, [values, emitter.constant(form.largest, f32)])
    emitter.apply("maximum", values, [values, emitter.constant(-form.largest, f32)])
    emitter.apply("multiply", values, [values, emitter.constant(1 / _SCALE, f32)])
    emitter.apply("bit_and", codes, [bits, emitter.constant(_MAGNITUDE)])
    emitter.apply("shift_right", codes, [codes, emitter.constant(_FRACTION_BITS - form.fraction)])
    emitter.apply("bit_or", codes, [codes, signs])
    emitter.apply("select", codes, [is_none, emitter.constant(_NO_NUMBER), codes])
    low, high = _halves(emitter, codes, target.extents, 1)
    emitter.apply("shift_left", high, [high, emitter.constant(4)])
    emitter.apply("bit_or", low, [low, high])
    emitter.apply("copy", replace(target, element=ui8), [low])


def _twice(room: tuple[int, int], along: int) -> tuple[int, int]:
    return (2 * room[0], room[1]) if along == 0 else (room[0], 2 * room[1])


def _halves(emitter: Emitter, wide: View, pairs: tuple[Number, ...], along: int) -> tuple[View, View]:
    """Return the first elements of all pairs, and the second ones."""
    step = wide.strides[along]
    strides = tuple(
        emitter.multiply(stride, 2) if place == along else stride for place, stride in enumerate(wide.strides)
    )
    first = replace(wide, extents=pairs, strides=strides)
    return first, replace(first, address=emitter.add(wide.address, emitter.multiply(step, 4)))


# ---------------------------------------------------------------------------------------------
# Conversions
# ---------------------------------------------------------------------------------------------


def converts(op: TileOperation) -> bool:
    """Return True for a conversion from or to pairs of 4-bit floats."""
    return isinstance(op, TCvtOp) and any(format_of(_element(tile.type)) is not None for tile in (op.src, op.dst))


def convert(kernel: Instructions, op: TCvtOp) -> None:
    """Convert pairs of 4-bit floats to bf16, or bf16 to them: a column of pairs is two of bf16."""
    scratch = Scratch(kernel.tiles)
    source, target = kernel.handles.view(op.src), kernel.handles.view(op.dst)
    if {source.element, target.element} - {bf16} == {source.element, target.element}:
        raise refusal(op, f"converts {source.element} to {target.element}; 4-bit floats are made from and to bf16")
    if format_of(source.element) is not None:
        kernel.emitter.apply("copy", target, [unpack(kernel, scratch, source, shape_of_tile(op.src), 1)])
        return
    mode = RoundMode.CAST_RINT if op.rmode is None or op.rmode.data is RoundMode.NONE else op.rmode.data
    if mode is RoundMode.ODD:
        raise refusal(op, "rounds by ODD to 4-bit floats, which the chips support only from f32 to f16; use RINT")
    room = shape_of_tile(op.src)
    values = scratch.view(f32, doubled(kernel.emitter, target.extents, 1), room)
    kernel.emitter.apply("copy", values, [source])
    pack(kernel, scratch, values, room, target, ROUNDINGS[mode])


def _element(type: Attribute) -> Attribute:
    return cast("TileBufType", type).element_type
