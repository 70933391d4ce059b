"""Products of matrices whose blocks of 32 elements have scales: in f32, each block times its scale.

Tiles of pairs of 4-bit floats count pairs, which are two elements along K: columns of the left matrix, rows of the
right one.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import f16, f32, i32

from ...analysis.pto.pipe_ends import refusal
from ...dialects.pto.instructions import InstructionOp
from ...dialects.pto.types import F8E8M0Type
from ...targets.tile_limits import SCALED
from .instruction_context import Instructions, Scratch, shape_of
from .packed_floats import format_of, unpack
from .tile_operations import ui8
from .views import Number, View

_FRACTION_BITS = 23
"""Bits of the fraction of an f32: the byte of a scale is the exponent above them."""

_LEAST = 1 << _FRACTION_BITS - 1
"""The f32 of the least scale, 2^-127, which has no exponent of its own."""

_NO_NUMBER = 0x7FC0_0000
"""The f32 of the byte 255."""


def scaled_product(kernel: Instructions, op: InstructionOp) -> None:
    """Multiply two matrices, each block of 32 elements along K times its scale; add the accumulator or a bias."""
    emitter, scratch = kernel.emitter, Scratch(kernel.tiles)
    (rows, inner), (depth, columns) = kernel.view(op, "a").extents, kernel.view(op, "b").extents
    emitter.at_most(inner, depth, f"the right tile of {op.name} has a row for each valid column of the left one")
    left, right = (
        _scaled(kernel, op, scratch, "a", (rows, inner), 1),
        _scaled(kernel, op, scratch, "b", (inner, columns), 0),
    )
    target = replace(kernel.view(op, "dst"), extents=(rows, columns))
    if op.operand("c_in") is not None:
        before = replace(kernel.view(op, "c_in"), extents=(rows, columns))
        emitter.apply("matrix_multiply_add", target, [before, left, right])
        return
    emitter.apply("matrix_multiply", target, [left, right])
    if op.operand("bias") is not None:
        emitter.apply("add", target, [target, replace(kernel.view(op, "bias"), extents=(1, columns))])


def _scaled(
    kernel: Instructions, op: InstructionOp, scratch: Scratch, name: str, extents: tuple[Number, Number], along: int
) -> View:
    """Return a matrix as f32, its elements times the scales of their blocks along rows (0) or columns (1)."""
    emitter = kernel.emitter
    source, room = replace(kernel.view(op, name), extents=extents), list(shape_of(op, name))
    if format_of(source.element) is not None:
        source = unpack(kernel, scratch, source, shape_of(op, name), along)
        extents = (source.extents[0], source.extents[1])
        room[along] *= 2
    blocks = emitter.divide(emitter.add(extents[along], SCALED - 1), SCALED)
    most = -(-room[along] // SCALED)
    room[along] = most * SCALED
    # The last block may have fewer elements; what is beyond them is scaled too, and not read.
    wide = scratch.view(f32, extents, (room[0], room[1]))
    padded = replace(wide, extents=_with(extents, along, emitter.multiply(blocks, SCALED)))
    emitter.apply("fill", padded, [emitter.constant(0.0, f32)])
    emitter.apply("copy", wide, [source])
    factors = _factors(kernel, op, scratch, f"{name}_scale", _with(extents, along, blocks))
    # Dimensions: a block, and the elements in it, beside the one without blocks.
    pitch = wide.strides[along]
    inside = (*padded.extents[:along], blocks, SCALED, *padded.extents[along + 1 :])
    strides = (*wide.strides[:along], emitter.multiply(pitch, SCALED), pitch, *wide.strides[along + 1 :])
    in_blocks = replace(wide, extents=inside, strides=strides)
    of_blocks = replace(
        factors,
        extents=(*factors.extents[: along + 1], 1, *factors.extents[along + 1 :]),
        strides=(*factors.strides[: along + 1], 1, *factors.strides[along + 1 :]),
    )
    emitter.apply("multiply", in_blocks, [in_blocks, of_blocks])
    return wide


def _factors(
    kernel: Instructions, op: InstructionOp, scratch: Scratch, name: str, extents: tuple[Number, Number]
) -> View:
    """Return scales as f32: two to the power of a byte less 127, where 255 is not a number; an f16 is the scale."""
    emitter, scales, room = kernel.emitter, kernel.view(op, name), shape_of(op, name)
    if not isinstance(scales.element, F8E8M0Type) and scales.element != f16:
        raise refusal(op, f"has scales of {scales.element}; use !pto.f8E8M0, or f16")
    for number, limit, what in zip(extents, room, ("rows", "columns"), strict=True):
        if isinstance(number, int) and number > limit:
            raise refusal(
                op,
                f"has {limit} {what} of scales in {name}, and {number} blocks of {SCALED} elements; give a scale for "
                "each block: pairs of 4-bit floats are two elements along K",
            )
        emitter.at_most(number, limit, f"{name} of {op.name} has {what} for all blocks")
    if scales.element == f16:
        factors = scratch.view(f32, extents, room)
        emitter.apply("copy", factors, [replace(scales, extents=extents)])
        return factors
    words, is_none = scratch.view(i32, extents, room), scratch.bits(extents, room)
    emitter.apply("copy", words, [replace(scales, element=ui8, extents=extents)])
    emitter.apply("compare_equal", is_none, [words, emitter.constant((1 << 8) - 1)])
    emitter.apply("shift_left", words, [words, emitter.constant(_FRACTION_BITS)])
    emitter.apply("maximum", words, [words, emitter.constant(_LEAST)])
    emitter.apply("select", words, [is_none, emitter.constant(_NO_NUMBER), words])
    return replace(words, element=f32)


def _with(extents: tuple[Number, Number], place: int, number: Number) -> tuple[Number, Number]:
    """Return extents of which one is another number."""
    return (number, extents[1]) if place == 0 else (extents[0], number)
