"""Quantization of blocks of 32 elements to 8-bit floats that share a scale."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import Float8E4M3FNType, UnitAttr, f32, i32

from ...analysis.pto.pipe_ends import refusal
from ...dialects.pto.instructions import InstructionOp
from ...targets.tile_limits import SCALED
from .instruction_context import Instructions, Scratch, shape_of, word_of
from .tile_operations import ui8
from .views import Number, View

_FRACTION_BITS = 23
"""Bits of the fraction of an f32; its exponent is above them."""

_INFINITE = 0x7F80_0000
_NO_NUMBER = 0x7FC0_0000
_NO_SCALE = 255
"""The scale of a block with an element that is not a number."""

_LARGEST_EXPONENT = 8
_LARGEST = 448.0
"""The largest 8-bit float with 4 bits of exponent, and its exponent."""


def quantize_blocks(kernel: Instructions, op: InstructionOp) -> None:
    """Write a scale for each 32 elements of a row or column, and the elements divided by it, to nearest even.

    A scale is the largest power of two that is not above the largest element over 256, as its exponent plus 127.
    """
    _refuse(kernel, op)
    emitter, scratch = kernel.emitter, Scratch(kernel.tiles)
    source, room = kernel.view(op, "src"), shape_of(op, "src")
    of_columns = word_of(op, "grpAxis", "axis1") == "axis0"
    sizes = scratch.view(f32, source.extents, room)
    emitter.apply("negate", sizes, [source])
    emitter.apply("maximum", sizes, [source, sizes])
    most = (-(-room[0] // SCALED), room[1]) if of_columns else (room[0], -(-room[1] // SCALED))
    in_blocks = _in_blocks(kernel, sizes, of_columns=of_columns)
    count = in_blocks.extents[:2]
    largest, factors = (scratch.view(f32, (*count, 1), (*most, 1)) for _ in range(2))
    scales = scratch.view(i32, (*count, 1), (*most, 1))
    emitter.apply("row_maximum", largest, [in_blocks])
    _write_scales(kernel, scratch, largest, scales, factors, most)
    scaled = scratch.view(f32, source.extents, room)
    emitter.apply(
        "multiply", _in_blocks(kernel, scaled, of_columns=of_columns),
        [_in_blocks(kernel, source, of_columns=of_columns), factors],
    )  # fmt: skip
    emitter.apply("minimum", scaled, [scaled, emitter.constant(_LARGEST, f32)])
    emitter.apply("maximum", scaled, [scaled, emitter.constant(-_LARGEST, f32)])
    emitter.apply("copy", replace(kernel.view(op, "dst"), element=Float8E4M3FNType()), [scaled])
    for name, found in (("exp", scales), ("max", largest), ("scaling", factors)):
        target = kernel.view(op, name)
        target = replace(target, element=ui8) if name == "exp" else target
        flat = replace(found, extents=count, strides=found.strides[:2])
        emitter.apply("copy", target, [flat], {} if target.extents == count else {"reshape": UnitAttr()})


def _refuse(kernel: Instructions, op: InstructionOp) -> None:
    """Refuse the forms that are deprecated, or whose numbers the engine does not have."""
    element = kernel.view(op, "src").element
    if word_of(op, "quantType", word_of(op, "quant_type", "")) != "MXFP8" or element != f32:
        raise refusal(op, f"quantizes {element}, or to 4 bits, which has no counterpart in `flow`; use f32 and MXFP8")
    if word_of(op, "quantScaleAlg", "ocp") != "ocp" or op.operand("exp_zz") is not None or op.attribute("interleave"):
        raise refusal(op, "has scales in another order, or not by ocp, which has no counterpart in `flow`")


def _in_blocks(kernel: Instructions, view: View, *, of_columns: bool) -> View:
    """Return a tile as rows and columns of blocks, with the elements of a block last."""
    emitter = kernel.emitter
    (rows, columns), (down, across) = view.extents, view.strides
    extents: tuple[Number, ...] = (rows, emitter.divide(columns, SCALED), SCALED)
    strides: tuple[Number, ...] = (down, emitter.multiply(across, SCALED), across)
    if of_columns:
        extents = (emitter.divide(rows, SCALED), columns, SCALED)
        strides = (emitter.multiply(down, SCALED), across, down)
    return replace(view, extents=extents, strides=strides)


def _write_scales(
    kernel: Instructions, scratch: Scratch, largest: View, scales: View, factors: View, most: tuple[int, int]
) -> None:
    """Write the scale of each block, and what its elements are multiplied by."""
    emitter, room = kernel.emitter, (*most, 1)
    bits = replace(largest, element=i32)
    magnitudes = scratch.view(i32, largest.extents, room)
    is_none = scratch.bits(largest.extents, room)
    emitter.apply("bit_and", magnitudes, [bits, emitter.constant((1 << 31) - 1)])
    emitter.apply("compare_greater", is_none, [magnitudes, emitter.constant(_INFINITE)])
    emitter.apply("shift_right", scales, [magnitudes, emitter.constant(_FRACTION_BITS)])
    emitter.apply("subtract", scales, [scales, emitter.constant(_LARGEST_EXPONENT)])
    emitter.apply("maximum", scales, [scales, emitter.constant(0)])
    into = replace(factors, element=i32)
    emitter.apply("fill", into, [emitter.constant(2 * 127)])
    emitter.apply("subtract", into, [into, scales])
    emitter.apply("shift_left", into, [into, emitter.constant(_FRACTION_BITS)])
    emitter.apply("select", into, [is_none, emitter.constant(_NO_NUMBER), into])
    emitter.apply("select", scales, [is_none, emitter.constant(_NO_SCALE), scales])
