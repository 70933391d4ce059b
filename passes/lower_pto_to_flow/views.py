"""Views of memory during lowering: address, extents and strides of tiles and tensors, as constants or values.

Knows layouts and no operations of `pto`; `emission` makes a `flow.tile` from a view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from xdsl.ir import Attribute, SSAValue

from ...diagnostics.records import record
from ...dialects.flow import Slot
from ...dialects.pto.attributes import AddressSpace, Layout

Number: TypeAlias = int | SSAValue
"""A number of bytes or elements: known, or an i64 of the new program."""

GLOBAL_MEMORY = "gm"
"""Name of the space that all cores share."""

SPACES = {
    AddressSpace.MAT: "mat",
    AddressSpace.LEFT: "left",
    AddressSpace.RIGHT: "right",
    AddressSpace.ACC: "acc",
    AddressSpace.BIAS: "bias",
    AddressSpace.SCALING: "scaling",
    AddressSpace.VEC: "vec",
}
"""Names of the spaces of a core."""

TENSOR_RANK = 5
"""Dimensions of a tensor in global memory; those that a view leaves out are the first and have one element."""

_MATRICES: Mapping[Layout, tuple[tuple[int, ...], tuple[int, ...]]] = {
    Layout.DN: ((3,), (0, 1, 2, 4)),
    Layout.NZ: ((2, 3), (0, 1, 4)),
    Layout.MX_A_ZZ: ((1, 3), (0, 2, 4)),
    Layout.MX_B_NN: ((2, 4), (0, 1, 3)),
}
"""The dimensions of a tensor that are the rows of its matrix, and those that are its columns, outermost first."""


@record
class View:
    """A strided walk over a space, `address` in bytes and `strides` in elements, outermost dimension first."""

    space: str
    element: Attribute
    address: Number
    extents: tuple[Number, ...]
    strides: tuple[Number, ...]
    entry: Slot | None = None
    """The entry of a channel it belongs to."""
    owner: tuple[str, Number] | None = None
    """Class of units and lane, if the memory is not the core's own."""
    bound: Number = 1
    """0 where a pipe has not yet given it this place."""
    layout: Layout = Layout.ND
    """Which of the dimensions of a tensor are rows; a tensor with another layout has five, or two whose scales are in
    boxes."""


@record
class Declared:
    """A tile or tensor that has no place before a pipe gives it one, and the extents it was given."""

    extents: tuple[Number, ...]


def known(numbers: Sequence[Number]) -> tuple[int, ...] | None:
    """Return the numbers if all are constants."""
    found = tuple(number for number in numbers if isinstance(number, int))
    return found if len(found) == len(numbers) else None


def in_order_of_matrix(tensor: View) -> tuple[View, Sequence[Number], Sequence[Number]]:
    """Return a tensor of five dimensions with its elements in the row-major order of its matrix.

    Also the extents that are its rows, and those that are its columns.
    """
    rows, columns = _MATRICES[tensor.layout]
    # Dimensions of one element say nothing, but two dimensions are left.
    kept = [place for place in rows[:-1] if tensor.extents[place] != 1] + [rows[-1]]
    kept += [place for place in columns[:-1] if tensor.extents[place] != 1] + [columns[-1]]
    ordered = replace(
        tensor,
        extents=tuple(tensor.extents[place] for place in kept),
        strides=tuple(tensor.strides[place] for place in kept),
        layout=Layout.ND,
    )
    return ordered, [tensor.extents[place] for place in rows], [tensor.extents[place] for place in columns]
