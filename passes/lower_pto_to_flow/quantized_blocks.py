"""Quantization of blocks of 32 elements that share a scale: to 8-bit floats, or to pairs of 4-bit floats.

The scale of a block is a power of two, its exponent plus 127. By OCP it is that of the largest element, less that of
the format's largest number; by NV the smallest one that the largest element over that number does not exceed.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import Float8E4M3FNType, UnitAttr, f16, f32, i32
from xdsl.ir import Attribute

from ...diagnostics.records import record
from ...dialects.pto.instructions import InstructionOp
from ...dialects.pto.types import F4E2M1x2Type, element_bytes
from ...targets.tile_limits import SCALED
from .instruction_context import Instructions, Scratch, number_of, row_major, shape_of, word_of
from .packed_floats import FORMATS, pack
from .scale_orders import order_of_rows
from .tile_operations import ui8, ui16
from .views import Number, View

_FRACTION_BITS = 23
"""Bits of the fraction of an f32; its exponent is above them."""

_INFINITE = 0x7F80_0000
_LOWEST_NORMAL = 1 << _FRACTION_BITS
_LARGEST_SCALE = 254
_NO_SCALE = 255
"""The scale of a block with an element that is not a number."""

_LEAST_FACTOR = 1 << _FRACTION_BITS - 1
"""The f32 of 2^-127, which the elements of the largest scale are multiplied by."""

_UPPER_HALF = 0xFFFF_0000
"""The bits of an f32 that a bf16 keeps."""


@record
class _Format:
    """What elements become: the largest number and its exponent, and what elements of 16 bits without a scale are
    multiplied by."""

    largest: float
    exponent: int
    no_number: int


_OF_8_BITS = _Format(448.0, 8, 0x7F81)
_OF_4_BITS = _Format(FORMATS[F4E2M1x2Type].largest, FORMATS[F4E2M1x2Type].exponent, 0x7FC0)
_NO_NUMBER_OF_F32 = 0x7FC0_0000


def quantize_blocks(kernel: Instructions, op: InstructionOp) -> None:
    """Write a scale for each 32 elements of a row or column, and the elements divided by it, to nearest even."""
    emitter, scratch = kernel.emitter, Scratch(kernel.tiles)
    source, room = kernel.view(op, "src"), shape_of(op, "src")
    packs = word_of(op, "quant_type", "") != "MXFP8"
    form, by_ocp = _OF_4_BITS if packs else _OF_8_BITS, word_of(op, "quantScaleAlg", "ocp") == "ocp"
    of_columns = word_of(op, "grpAxis", "axis1") == "axis0"
    values = scratch.view(f32, source.extents, room)
    sizes = scratch.view(f32, source.extents, room)
    emitter.apply("copy", values, [source])
    emitter.apply(
        "bit_and", replace(sizes, element=i32), [replace(values, element=i32), emitter.constant((1 << 31) - 1)]
    )
    # The OCP rule takes the sizes of f16 as those of bf16, without the bits that this does not have.
    cuts = by_ocp and source.element == f16
    if cuts:
        bits = replace(sizes, element=i32)
        emitter.apply("bit_and", bits, [bits, emitter.constant(_UPPER_HALF)])
    most = (-(-room[0] // SCALED), room[1]) if of_columns else (room[0], -(-room[1] // SCALED))
    in_blocks = _in_blocks(kernel, sizes, of_columns=of_columns)
    count = in_blocks.extents[:2]
    largest, factors = (scratch.view(f32, (*count, 1), (*most, 1)) for _ in range(2))
    scales = scratch.view(i32, (*count, 1), (*most, 1))
    emitter.apply("row_maximum", largest, [in_blocks])
    is_none = scratch.bits(largest.extents, (*most, 1))
    emitter.apply("compare_greater", is_none, [replace(largest, element=i32), emitter.constant(_INFINITE)])
    if by_ocp:
        _scales_of_exponents(kernel, largest, scales, form)
    else:
        _scales_of_quotients(kernel, scratch, largest, scales, form, most)
    _write_factors(kernel, scales, factors, is_none, source.element, form)
    in_blocks = _in_blocks(kernel, values, of_columns=of_columns)
    emitter.apply("multiply", in_blocks, [in_blocks, factors])
    if packs:
        pack(kernel, scratch, values, room, kernel.view(op, "dst"), "rint")
    else:
        emitter.apply("minimum", values, [values, emitter.constant(form.largest, f32)])
        emitter.apply("maximum", values, [values, emitter.constant(-form.largest, f32)])
        emitter.apply("copy", _stored(kernel, op), [values])
    _write_outputs(kernel, op, scales, largest, factors, keeps_bits=cuts)


def _stored(kernel: Instructions, op: InstructionOp) -> View:
    """Return the place of the 8-bit floats: with the layout `nz`, 32 columns of all rows are behind each other."""
    target = replace(kernel.view(op, "dst"), element=Float8E4M3FNType())
    if word_of(op, "storeMode", "nd") != "nz":
        return target
    rows, columns = target.extents
    assert isinstance(rows, int) and isinstance(columns, int)
    return replace(target, extents=(rows, columns // SCALED, SCALED), strides=(SCALED, rows * SCALED, 1))


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


def _scales_of_exponents(kernel: Instructions, largest: View, scales: View, form: _Format) -> None:
    """Write the exponents of the largest elements, less that of the largest number."""
    emitter = kernel.emitter
    emitter.apply("shift_right", scales, [replace(largest, element=i32), emitter.constant(_FRACTION_BITS)])
    emitter.apply("subtract", scales, [scales, emitter.constant(form.exponent)])
    emitter.apply("maximum", scales, [scales, emitter.constant(0)])


def _scales_of_quotients(
    kernel: Instructions, scratch: Scratch, largest: View, scales: View, form: _Format, most: tuple[int, int]
) -> None:
    """Write the exponents of the largest elements over the largest number, rounded up.

    The quotient is the product with the f32 nearest to one over that number, as in the headers. One below the normal
    numbers is rounded up only where it is more than half of the smallest.
    """
    emitter, room = kernel.emitter, (*most, 1)
    small = scratch.view(i32, scales.extents, room)
    is_small = scratch.bits(scales.extents, room)
    quotients = replace(scales, element=f32)
    emitter.apply("multiply", quotients, [largest, emitter.constant(1 / form.largest, f32)])
    emitter.apply("compare_less", is_small, [scales, emitter.constant(_LOWEST_NORMAL)])
    emitter.apply("add", small, [scales, emitter.constant(_LEAST_FACTOR - 1)])
    emitter.apply("add", scales, [scales, emitter.constant(_LOWEST_NORMAL - 1)])
    emitter.apply("select", scales, [is_small, small, scales])
    emitter.apply("shift_right", scales, [scales, emitter.constant(_FRACTION_BITS)])
    emitter.apply("minimum", scales, [scales, emitter.constant(_LARGEST_SCALE)])


def _write_factors(
    kernel: Instructions, scales: View, factors: View, is_none: View, element: Attribute, form: _Format
) -> None:
    """Write what elements are multiplied by, two to the power of 127 less the scale; blocks with a NaN have none."""
    emitter, into = kernel.emitter, replace(factors, element=i32)
    no_number = _NO_NUMBER_OF_F32 if element == f32 else form.no_number << 16
    emitter.apply("fill", into, [emitter.constant(2 * 127)])
    emitter.apply("subtract", into, [into, scales])
    emitter.apply("shift_left", into, [into, emitter.constant(_FRACTION_BITS)])
    emitter.apply("maximum", into, [into, emitter.constant(_LEAST_FACTOR)])
    emitter.apply("select", into, [is_none, emitter.constant(no_number), into])
    emitter.apply("select", scales, [is_none, emitter.constant(_NO_SCALE), scales])


def _write_outputs(
    kernel: Instructions, op: InstructionOp, scales: View, largest: View, factors: View, *, keeps_bits: bool
) -> None:
    """Write scales, largest elements and factors to their tiles."""
    emitter, extents = kernel.emitter, scales.extents[:2]
    flat = [replace(view, extents=extents, strides=view.strides[:2]) for view in (scales, largest, factors)]
    exponents = replace(kernel.view(op, "exp"), element=ui8)
    if number_of(op, "interleave", 0):
        _interleave(kernel, exponents, flat[0])
    else:
        _copy(kernel, exponents, flat[0])
    of_maximum, of_factors = kernel.view(op, "max"), kernel.view(op, "scaling")
    # In 16 bits, factors are those of bf16, since a float of 16 bits does not reach far enough.
    halves = element_bytes(of_factors.element) == element_bytes(ui16)
    for target, view, as_bits in ((of_maximum, flat[1], keeps_bits), (of_factors, flat[2], halves)):
        if as_bits:
            bits = replace(view, element=i32)
            emitter.apply("shift_right", bits, [bits, emitter.constant(16)])
            _copy(kernel, replace(target, element=ui16), bits)
        else:
            _copy(kernel, target, view)
    if op.operand("exp_zz") is not None:
        ordered = replace(kernel.view(op, "exp_zz"), element=ui8)
        rows, columns = extents
        assert isinstance(rows, int) and isinstance(columns, int)
        behind = replace(exponents, extents=extents, strides=row_major((rows, columns)))
        order_of_rows(kernel, behind, ordered, extents)


def _copy(kernel: Instructions, target: View, found: View) -> None:
    """Copy numbers of blocks into a tile of their extents, or of one row."""
    options: dict[str, Attribute] = {} if target.extents == found.extents else {"reshape": UnitAttr()}
    kernel.emitter.apply("copy", target, [found], options)


def _interleave(kernel: Instructions, target: View, scales: View) -> None:
    """Copy scales of two rows of blocks side by side: those of a column are neighbors."""
    emitter, (rows, columns), (down, across) = kernel.emitter, scales.extents, scales.strides
    assert isinstance(rows, int)
    shape = (rows // 2, columns, 2)
    emitter.apply(
        "copy",
        replace(target, extents=shape, strides=(target.strides[0], 2, 1)),
        [replace(scales, extents=shape, strides=(emitter.multiply(down, 2), across, down))],
    )
