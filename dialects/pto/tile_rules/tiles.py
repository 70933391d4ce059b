"""What rules see of an operation: its tiles by upstream's names, the chip, and the conditions that many rules have.

A condition raises VerifyException in upstream's words where it does not hold; it passes over missing operands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import NoReturn, TypeAlias, cast

from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....targets.tile_limits import SMALLEST_SCRATCH
from ..attributes import AddressSpace, BLayout, PadValue, SLayout
from ..kernels import Architecture, fail, possible_architectures
from ..types import (
    DYNAMIC,
    F4E1M2x2Type,
    F4E2M1x2Type,
    F8E8M0Type,
    HiF8Type,
    PackedType,
    PartitionTensorViewType,
    TensorViewType,
    TileBufType,
    element_bytes,
    static_bytes,
)

CHIP_NAMES: Mapping[str, str] = {"a2a3": "A2/A3", "a5": "A5"}
"""What messages call the chips."""

_ELEMENT = re.compile(r"[a-z]*\d+")


@cache
def _element_list(text: str) -> frozenset[str]:
    """Return the elements of a list in a message: `i8/i16 or f32`."""
    return frozenset(found.replace("ui", "i").replace("u", "i") for found in _ELEMENT.findall(text))


def element_name(element: Attribute) -> str:
    """Return the name of an element in messages; integers of any sign are `i8`."""
    return f"i{cast('IntegerType', element).width.data}" if isinstance(element, IntegerType) else str(element)


def is_one_of(element: Attribute, listed: str) -> bool:
    """Return True for an element that a list of a message names."""
    return element_name(element) in _element_list(listed)


def is_integer(element: Attribute, *widths: int) -> bool:
    """Return True for integers of a width, of any sign."""
    return isinstance(element, IntegerType) and cast("IntegerType", element).width.data in widths


def is_float8(element: Attribute) -> bool:
    """Return True for the floats of 8 bits of MLIR with four or five bits of exponent."""
    return str(element).startswith(("f8E4M3", "f8E5M2"))


def is_float4(element: Attribute) -> bool:
    """Return True for pairs of floats of 4 bits."""
    return isinstance(element, F4E1M2x2Type | F4E2M1x2Type)


def is_low_precision(element: Attribute) -> bool:
    """Return True for elements that most operations do not take."""
    return isinstance(element, PackedType) or is_float8(element)


def is_hif8(element: Attribute) -> bool:
    return isinstance(element, HiF8Type)


def is_exponent(element: Attribute) -> bool:
    return isinstance(element, F8E8M0Type)


def is_number(type: Attribute) -> bool:
    return isinstance(type, IntegerType | AnyFloat)


def differ(left: int, right: int) -> bool:
    """Return True for extents that are known and not equal."""
    return DYNAMIC not in (left, right) and left != right


def shapes_differ(left: Sequence[int], right: Sequence[int]) -> bool:
    return any(map(differ, left, right))


def known(extent: int) -> bool:
    return extent != DYNAMIC


def is_chosen_by_chip(tile: TileBufType) -> bool:
    """Return True for left operands: their boxes are ordered as the chip needs, whatever their type says."""
    return tile.location is AddressSpace.LEFT


def is_row_major(tile: TileBufType) -> bool:
    return tile.blayout is BLayout.ROW_MAJOR


def has_rows(tile: TileBufType) -> bool:
    """Return True for tiles with rows behind each other; a single column has them however it is stored (assumed)."""
    return is_row_major(tile) or tile.columns == 1


def is_nd(tile: TileBufType) -> bool:
    """Return True for rows behind each other, without boxes."""
    return is_row_major(tile) and tile.slayout is SLayout.NONE_BOX


def is_dn(tile: TileBufType) -> bool:
    """Return True for columns behind each other, without boxes."""
    return not is_row_major(tile) and tile.slayout is SLayout.NONE_BOX


def is_nz(tile: TileBufType) -> bool:
    """Return True for columns of boxes that have rows behind each other."""
    return not is_row_major(tile) and tile.slayout is SLayout.ROW_MAJOR


def names_of(names: Sequence[str]) -> str:
    """Return names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])}{',' * (len(names) > 2)} and {names[-1]}"


class Tiles:
    """An operation on tiles and the chip that it is for."""

    def __init__(self, op: Operation, chip: Architecture, values: Mapping[str, SSAValue]) -> None:
        self.op = op
        self.chip = chip
        self.values = values

    @property
    def is_a5(self) -> bool:
        return self.chip == "a5"

    @property
    def name(self) -> str:
        """The name of the operation without `pto.`."""
        return self.op.name.removeprefix("pto.")

    def fail(self, message: str) -> NoReturn:
        """Raise VerifyException; `{chip}` and `{name}` in the message are those of the operation."""
        fail(self.op, message.replace("{chip}", CHIP_NAMES[self.chip]).replace("{name}", self.name))

    def has(self, name: str) -> bool:
        return name in self.values

    def type(self, name: str) -> Attribute:
        return self.values[name].type

    def tile(self, name: str) -> TileBufType:
        """Return the type of a tile; raises VerifyException if it is something else."""
        found = self.values[name].type
        if not isinstance(found, TileBufType):
            self.fail(f"expects {name} to be a !pto.tile_buf")
        return found

    def element(self, name: str) -> Attribute:
        """Return the elements of a tile or of a part of a tensor."""
        found = self.values[name].type
        if not isinstance(found, TileBufType | PartitionTensorViewType | TensorViewType):
            self.fail(f"expects {name} to be a !pto.tile_buf")
        return found.element_type

    def attribute(self, name: str) -> Attribute | None:
        found = self.op.properties.get(name)  # which may be false: a number that is 0
        return self.op.attributes.get(name) if found is None else found

    def choice(self, name: str) -> str | None:
        """Return the value of an attribute that is one of several words; None if it is missing."""
        found = self.attribute(name)
        return None if found is None else str(getattr(getattr(found, "data", found), "value", found))

    def present(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self.values]

    # Conditions

    def common(self, *names: str, low_precision: bool = False) -> None:
        """Check that operands are tiles, of elements that the operation takes."""
        for name in self.present(names):
            element = self.tile(name).element_type
            if not low_precision and is_low_precision(element):
                self.fail(f"{name}: dtype {element} is not supported by this op yet")

    def in_vec(self, *names: str, low_precision: bool = False) -> None:
        """Check that tiles are in the vector core's memory."""
        self.common(*names, low_precision=low_precision)
        for name in self.present(names):
            self.in_space(name, AddressSpace.VEC)

    def in_space(self, name: str, space: AddressSpace) -> None:
        if self.tile(name).location is not space:
            self.fail(f"expects {name} to be in the {space.value} address space")

    def plain(self, *names: str) -> None:
        """Check that tiles are in the vector core's memory, row by row."""
        self.in_vec(*names)
        for name in self.present(names):
            if not has_rows(self.tile(name)):
                self.fail(f"expects {name} to use the row_major blayout")

    def nd(self, *names: str, low_precision: bool = False) -> None:
        """Check that tiles are in the vector core's memory, row by row and without boxes."""
        self.in_vec(*names, low_precision=low_precision)
        for name in self.present(names):
            if not is_row_major(self.tile(name)):
                self.fail(f"expects {name} to use the row_major blayout")
            if self.tile(name).slayout is not SLayout.NONE_BOX:
                self.fail(f"expects {name} to use the none_box slayout")

    def row_major(self, *names: str) -> None:
        """Check that tiles have their rows behind each other."""
        if not all(has_rows(self.tile(name)) for name in self.present(names)):
            self.fail(f"expects {names_of(names)} to use row-major layout")

    def same_elements(self, first: str, *others: str, text: str = "") -> None:
        for name in self.present(others):
            if self.element(name) != self.element(first):
                self.fail(text or f"expects {first} and {name} to have the same element type")

    def same_valid(self, first: str, *others: str) -> None:
        for name in self.present(others):
            if shapes_differ(self.tile(first).valid_shape, self.tile(name).valid_shape):
                self.fail(f"expects {first} and {name} to have the same valid_shape")

    def same_shape(self, *names: str, text: str = "") -> None:
        if len({self.tile(name).shape for name in names}) > 1:
            self.fail(text or f"expects {'/'.join(names)} to have the same shape")

    def capacity(self, name: str, least: int | None, *, needs: str = "") -> None:
        """Check the bytes of a scratch tile; `least` is None where what it depends on is not known: `needs`."""
        if least is None:
            self.fail(needs)
        found = self.tile(name).bytes
        if found is None:
            self.fail(f"expects {name} to have statically known byte capacity")
        if found < least:
            self.fail(f"expects {name} capacity to be at least {least} bytes, but got {found} bytes")

    def some_capacity(self, name: str) -> None:
        self.capacity(name, SMALLEST_SCRATCH)


Rule: TypeAlias = Callable[[Tiles], None]


_are_checked: ContextVar[bool] = ContextVar("are_checked", default=True)


@contextmanager
def without_tile_rules() -> Generator[None]:
    """Let operations on tiles verify that no chip has: to look at the rest of a program in which some are refused."""
    token = _are_checked.set(False)
    try:
        yield
    finally:
        _are_checked.reset(token)


def verify_tiles(op: Operation, values: Mapping[str, SSAValue], rules: Sequence[Rule]) -> None:
    """Raise VerifyException if the rules hold on none of the chips that a program may be for."""
    if not _are_checked.get():
        return
    first: VerifyException | None = None
    for chip in possible_architectures(op):
        tiles = Tiles(op, chip, values)
        try:
            for rule in rules:
                rule(tiles)
        except VerifyException as error:
            first = first or error
        else:
            return
    assert first is not None
    raise first


__all__ = [
    "DYNAMIC",
    "AddressSpace",
    "BLayout",
    "PadValue",
    "PartitionTensorViewType",
    "Rule",
    "SLayout",
    "TensorViewType",
    "TileBufType",
    "Tiles",
    "element_bytes",
    "static_bytes",
    "verify_tiles",
    "without_tile_rules",
]
