"""Types of the `pto` dialect: pipes, pointers, views of global memory, tiles, and 8-bit and 4-bit elements.

Knows shapes, sizes and text; operations verify how values are used.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, FixedBitwidthType, IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .attributes import AddressSpace, AddressSpaceAttr, BLayout, BLayoutAttr, PadValue, SLayout, SLayoutAttr

DYNAMIC = DYNAMIC_INDEX
"""The extent of a dimension that is only known when the program runs, written `?`."""

FRACTALS = (32, 512, 1024)
"""Bytes a box of a tile may have."""

COMPACT_MODES = 3
"""Modes of packing the rows of a tile: as they are, packed, packed with one row more."""

TILE_SPACES = (
    AddressSpace.MAT,
    AddressSpace.LEFT,
    AddressSpace.RIGHT,
    AddressSpace.ACC,
    AddressSpace.VEC,
    AddressSpace.BIAS,
    AddressSpace.SCALING,
)
"""The memories that contain tiles."""

_POINTER_SPACES: dict[str, AddressSpace] = {
    "gm": AddressSpace.GM,
    "ub": AddressSpace.VEC,
    "vec": AddressSpace.VEC,
    "l1": AddressSpace.MAT,
    "mat": AddressSpace.MAT,
    "l0a": AddressSpace.LEFT,
    "left": AddressSpace.LEFT,
    "l0b": AddressSpace.RIGHT,
    "right": AddressSpace.RIGHT,
    "l0c": AddressSpace.ACC,
    "acc": AddressSpace.ACC,
    "bt": AddressSpace.BIAS,
    "bias": AddressSpace.BIAS,
    "fb": AddressSpace.SCALING,
    "scaling": AddressSpace.SCALING,
}
"""The memory of a pointer by any of its names."""


# ---------------------------------------------------------------------------------------------
# Elements
# ---------------------------------------------------------------------------------------------


def element_bytes(element: Attribute) -> int | None:
    """Return the bytes of an element in memory; None if unknown."""
    match element:
        case PackedType():
            return element.bits // 8
        case FixedBitwidthType():
            return (element.bitwidth + 7) // 8
        case _:
            return None


def static_bytes(shape: Sequence[int], element: Attribute) -> int | None:
    """Return the bytes of an array of `shape`; None if an extent or the element's size is unknown."""
    size = element_bytes(element)
    return None if size is None or DYNAMIC in shape else prod(shape) * size


# ---------------------------------------------------------------------------------------------
# Pipes, pointers, views
# ---------------------------------------------------------------------------------------------


@irdl_attr_definition
class PipeType(ParametrizedAttribute, TypeAttribute):
    """A FIFO of tiles between the cube core and the vector cores, `!pto.pipe` (PTO-001)."""

    name = "pto.pipe"


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute):
    """A pointer to elements in global memory, `!pto.ptr<f32>`, or in another, `!pto.ptr<f32, ub>`."""

    name = "pto.ptr"
    element_type: Attribute
    space: AddressSpaceAttr

    @staticmethod
    def get(element_type: Attribute, space: AddressSpace = AddressSpace.GM) -> PtrType:
        return PtrType(element_type, AddressSpaceAttr(space))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            element_type = parser.parse_type()
            space = AddressSpace.GM
            if parser.parse_optional_punctuation(",") is not None:
                space = _POINTER_SPACES[parser.parse_keyword_in(_POINTER_SPACES)]
        return (element_type, AddressSpaceAttr(space))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element_type)
            if self.space.data is not AddressSpace.GM:
                name = "ub" if self.space.data is AddressSpace.VEC else self.space.data.value
                printer.print_string(f", {name}")


@dataclass(frozen=True, init=False)
class ViewType(ParametrizedAttribute, TypeAttribute, ABC):
    """Elements of global memory as an array; `?` is an extent known only at run time."""

    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    @property
    def extents(self) -> tuple[int, ...]:
        """The extent of each dimension, outermost first; `DYNAMIC` where it is unknown."""
        return tuple(extent.data for extent in self.shape)

    @property
    def bytes(self) -> int | None:
        """The bytes of all elements; None if unknown."""
        return static_bytes(self.extents, self.element_type)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element_type = _parse_shape(parser)
        return (ArrayAttr(IntAttr(extent) for extent in shape), element_type)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            if self.shape.data:
                printer.print_dimension_list(self.extents)
                printer.print_string("x")
            printer.print_attribute(self.element_type)


def _parse_shape(parser: AttrParser) -> tuple[list[int], Attribute]:
    """Parse `16x?xf32`, also with blanks: `16 x ? x f32`."""
    extents: list[int] = []
    while (element_type := parser.parse_optional_type()) is None:
        extents.append(parser.parse_shape_dimension())
        parser.parse_shape_delimiter()
    return extents, element_type


_ViewT = TypeVar("_ViewT", bound=ViewType)


def _view(kind: type[_ViewT], extents: Sequence[int], element_type: Attribute) -> _ViewT:
    return kind.new((ArrayAttr(IntAttr(extent) for extent in extents), element_type))


@irdl_attr_definition
class TensorViewType(ViewType):
    """A tensor in global memory, `!pto.tensor_view<16x?xf32>`; a slot of a pipe in global memory is one."""

    name = "pto.tensor_view"

    @staticmethod
    def get(extents: Sequence[int], element_type: Attribute) -> TensorViewType:
        return _view(TensorViewType, extents, element_type)


@irdl_attr_definition
class PartitionTensorViewType(ViewType):
    """A part of a tensor in global memory, `!pto.partition_tensor_view<16x16xf32>`."""

    name = "pto.partition_tensor_view"

    @staticmethod
    def get(extents: Sequence[int], element_type: Attribute) -> PartitionTensorViewType:
        return _view(PartitionTensorViewType, extents, element_type)


# ---------------------------------------------------------------------------------------------
# Tiles
# ---------------------------------------------------------------------------------------------

_ChoiceT = TypeVar("_ChoiceT", bound=StrEnum)


@irdl_attr_definition
class TileBufType(ParametrizedAttribute, TypeAttribute):
    """A tile: a matrix in a core's own memory, of which the upper left part is valid.

    Written in full, and printed so,
    `!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=16, v_col=?, blayout=row_major, slayout=none_box,
    fractal=512, pad=0>`, with `, compact=1` behind it if the rows are packed; in short
    `!pto.tile_buf<vec, 16x16xf32, valid=16x?>`, where each field left out has the value above.
    `blayout` orders boxes of `fractal` bytes, `slayout` the elements in a box; a tile without boxes (`none_box`)
    has its elements in the order of `blayout`.
    """

    name = "pto.tile_buf"
    space: AddressSpaceAttr
    element_type: Attribute
    row_count: IntAttr
    column_count: IntAttr
    valid_row_count: IntAttr
    valid_column_count: IntAttr
    box_layout: BLayoutAttr
    element_layout: SLayoutAttr
    fractal: IntAttr
    pad: IntAttr
    compact: IntAttr

    @staticmethod
    def get(
        location: AddressSpace,
        element_type: Attribute,
        shape: tuple[int, int],
        valid: tuple[int, int] | None = None,
        *,
        blayout: BLayout = BLayout.ROW_MAJOR,
        slayout: SLayout = SLayout.NONE_BOX,
        fractal: int = 512,
        pad: int = 0,
        compact: int = 0,
    ) -> TileBufType:
        """Return the type with these fields; without `valid`, the whole tile is valid."""
        rows, columns = shape
        valid_rows, valid_columns = shape if valid is None else valid
        return TileBufType(
            AddressSpaceAttr(location),
            element_type,
            IntAttr(rows),
            IntAttr(columns),
            IntAttr(valid_rows),
            IntAttr(valid_columns),
            BLayoutAttr(blayout),
            SLayoutAttr(slayout),
            IntAttr(fractal),
            IntAttr(pad),
            IntAttr(compact),
        )

    @property
    def location(self) -> AddressSpace:
        """The memory that contains the tile."""
        return self.space.data

    @property
    def rows(self) -> int:
        return self.row_count.data

    @property
    def columns(self) -> int:
        return self.column_count.data

    @property
    def shape(self) -> tuple[int, int]:
        """The rows and columns."""
        return self.rows, self.columns

    @property
    def valid_shape(self) -> tuple[int, int]:
        """The valid rows and columns; `DYNAMIC` where they are known only at run time."""
        return self.valid_row_count.data, self.valid_column_count.data

    @property
    def has_dynamic_valid(self) -> bool:
        """True if both valid rows and valid columns are dynamic."""
        return self.valid_shape == (DYNAMIC, DYNAMIC)

    @property
    def blayout(self) -> BLayout:
        return self.box_layout.data

    @property
    def slayout(self) -> SLayout:
        return self.element_layout.data

    @property
    def bytes(self) -> int | None:
        """The bytes of the whole tile; None if the element's size is unknown."""
        return static_bytes(self.shape, self.element_type)

    @property
    def valid_bytes(self) -> int | None:
        """The bytes of the valid part; None if unknown."""
        return static_bytes(self.valid_shape, self.element_type)

    @property
    def config(self) -> tuple[BLayout, SLayout, int, int, int]:
        """All fields that are not extents, elements or the memory."""
        return self.blayout, self.slayout, self.fractal.data, self.pad.data, self.compact.data

    def verify(self) -> None:
        if self.location not in TILE_SPACES:
            raise VerifyException(f"unknown loc: {self.location.value}; use one of {_names(TILE_SPACES)}")
        if self.rows <= 0 or self.columns <= 0:
            raise VerifyException("tile_buf rows/cols must be positive; give the tile at least one of each")
        valid_rows, valid_columns = self.valid_shape
        for name, valid, whole in (("row", valid_rows, self.rows), ("col", valid_columns, self.columns)):
            if valid > whole:
                raise VerifyException(
                    f"tile_buf valid_{name} ({valid}) exceeds {name} ({whole}); make it at most as large"
                )
            if valid < 0 and valid != DYNAMIC:
                raise VerifyException(f"v_{name} must be '?', -1, or a non-negative integer, not {valid}")
        if self.fractal.data not in FRACTALS:
            known = ", ".join(map(str, FRACTALS))
            raise VerifyException(f"unsupported s_fractal_size: {self.fractal.data}, must be one of {{{known}}}")
        if not 0 <= self.pad.data < len(list(PadValue)):
            raise VerifyException(f"unknown pad: {self.pad.data}; use 0 to {len(list(PadValue)) - 1}")
        if not 0 <= self.compact.data < COMPACT_MODES:
            raise VerifyException(f"unknown compact: {self.compact.data}; use 0 to {COMPACT_MODES - 1}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            if parser.parse_optional_keyword("loc") is None:
                return parse_compact_tile(parser)[0].parameters
            parser.parse_punctuation("=")
            return _parse_full_tile(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"loc={self.location.value}, dtype=")
            printer.print_attribute(self.element_type)
            valid_rows, valid_columns = map(_extent_text, self.valid_shape)
            printer.print_string(
                f", rows={self.rows}, cols={self.columns}, v_row={valid_rows}, v_col={valid_columns}, "
                f"blayout={self.blayout.value}, slayout={self.slayout.value}, fractal={self.fractal.data}, "
                f"pad={self.pad.data}"
            )
            if self.compact.data:
                printer.print_string(f", compact={self.compact.data}")


def _extent_text(extent: int) -> str:
    return "?" if extent == DYNAMIC else str(extent)


@contextmanager
def _errors_from(parser: AttrParser, start: int) -> Generator[None]:
    """Report an invalid type as an error at the text from `start` on."""
    try:
        yield
    except VerifyException as error:
        parser.raise_error(str(error), start, parser.pos)


def _parse_full_tile(parser: AttrParser) -> Sequence[Attribute]:
    """Parse the fields of a tile in the long form, from after `loc=` to before `>`."""
    start = parser.pos
    location = _parse_name(parser, TILE_SPACES, "unknown loc")
    _parse_key(parser, "dtype")
    element_type = parser.parse_type()
    rows, columns = _parse_field(parser, "rows"), _parse_field(parser, "cols")
    valid = (_parse_valid_field(parser, "v_row"), _parse_valid_field(parser, "v_col"))
    _parse_key(parser, "blayout")
    blayout = _parse_name(parser, list(BLayout), "unknown blayout")
    _parse_key(parser, "slayout")
    slayout = _parse_name(parser, list(SLayout), "unknown slayout")
    fractal, pad = _parse_field(parser, "fractal"), _parse_field(parser, "pad")
    compact = 0
    if parser.parse_optional_punctuation(",") is not None:
        parser.parse_keyword("compact")
        parser.parse_punctuation("=")
        compact = parser.parse_integer(allow_boolean=False)
    with _errors_from(parser, start):
        tile = TileBufType.get(
            location, element_type, (rows, columns), valid,
            blayout=blayout, slayout=slayout, fractal=fractal, pad=pad, compact=compact,
        )  # fmt: skip
    return tile.parameters


def parse_compact_tile(parser: AttrParser, *, has_count: bool = False) -> tuple[TileBufType, int | None]:
    """Parse the fields of a tile in the short form, between `<` and `>`, and of several tiles also `count=2`."""
    start = parser.pos
    location = _parse_name(parser, TILE_SPACES, "unknown loc")
    parser.parse_punctuation(",")
    position = parser.pos
    shape, element_type = _parse_shape(parser)
    rows, columns = _two(parser, shape, position, "tile_buf compact syntax expects exactly two shape dims")
    valid = (rows, columns)
    blayout, slayout = BLayout.ROW_MAJOR, SLayout.NONE_BOX
    numbers = {"fractal": 512, "pad": 0, "compact": 0}
    seen: set[str] = set()
    while parser.parse_optional_punctuation(",") is not None:
        position = parser.pos
        key = parser.parse_identifier()
        if key in seen:
            parser.raise_error(f"duplicate {key} in tile_buf compact syntax", position, parser.pos)
        seen.add(key)
        parser.parse_punctuation("=")
        match key:
            case "valid":
                position = parser.pos
                extents = parser.parse_dimension_list()
                valid = _two(parser, extents, position, "tile_buf valid must have exactly two dims")
            case "blayout":
                blayout = _parse_name(parser, list(BLayout), "unknown blayout")
            case "slayout":
                slayout = _parse_name(parser, list(SLayout), "unknown slayout")
            case "fractal" | "pad" | "compact":
                numbers[key] = parser.parse_integer(allow_boolean=False)
            case "count" if has_count:
                numbers[key] = parser.parse_integer(allow_boolean=False)
            case _:
                parser.raise_error(f"unknown key in tile_buf compact syntax: {key}", position, parser.pos)
    count = numbers.pop("count", None)
    with _errors_from(parser, start):
        tile = TileBufType.get(
            location, element_type, (rows, columns), valid, blayout=blayout, slayout=slayout, **numbers
        )
    return tile, count


def _two(parser: AttrParser, extents: Sequence[int], position: int, message: str) -> tuple[int, int]:
    if len(extents) != 2:
        parser.raise_error(message, position, parser.pos)
    return extents[0], extents[1]


def _parse_key(parser: AttrParser, key: str) -> None:
    parser.parse_punctuation(",")
    parser.parse_keyword(key)
    parser.parse_punctuation("=")


def _parse_field(parser: AttrParser, key: str) -> int:
    _parse_key(parser, key)
    return parser.parse_integer(allow_boolean=False)


def _parse_valid_field(parser: AttrParser, key: str) -> int:
    _parse_key(parser, key)
    if parser.parse_optional_punctuation("?") is not None:
        return DYNAMIC
    position = parser.pos
    extent = parser.parse_integer(allow_boolean=False)
    if extent < -1:
        parser.raise_error(f"{key} must be '?', -1, or a non-negative integer", position, parser.pos)
    return DYNAMIC if extent == -1 else extent


def _parse_name(parser: AttrParser, choices: Sequence[_ChoiceT], message: str) -> _ChoiceT:
    position = parser.pos
    name = parser.parse_optional_identifier_or_str_literal()
    found = next((choice for choice in choices if choice.value == name), None)
    if found is None:
        parser.raise_error(f"{message}: {name or ''}; use one of {_names(choices)}", position, parser.pos)
    return found


def _names(choices: Sequence[StrEnum]) -> str:
    return ", ".join(choice.value for choice in choices)


# ---------------------------------------------------------------------------------------------
# Elements that builtin lacks
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class PackedType(ParametrizedAttribute, TypeAttribute, ABC):
    """An element type that builtin lacks; `bits` of memory each."""

    @property
    def bits(self) -> int:
        """The width in memory."""
        match self:
            case BF16x2Type():
                return 32
            case HiF8x2Type():
                return 16
            case _:
                return 8


@irdl_attr_definition
class HiF8Type(PackedType):
    """An 8-bit float of tapered precision, `!pto.hif8`."""

    name = "pto.hif8"


@irdl_attr_definition
class HiF8x2Type(PackedType):
    """Two `!pto.hif8` in 16 bits, `!pto.hif8x2`."""

    name = "pto.hif8x2"


@irdl_attr_definition
class F8E8M0Type(PackedType):
    """An 8-bit power of two, the scale of a block of elements, `!pto.f8E8M0`."""

    name = "pto.f8E8M0"


@irdl_attr_definition
class F4E1M2x2Type(PackedType):
    """Two 4-bit floats with 1 bit of exponent in a byte, `!pto.f4E1M2x2`."""

    name = "pto.f4E1M2x2"


@irdl_attr_definition
class F4E2M1x2Type(PackedType):
    """Two 4-bit floats with 2 bits of exponent in a byte, `!pto.f4E2M1x2`."""

    name = "pto.f4E2M1x2"


@irdl_attr_definition
class BF16x2Type(PackedType):
    """Two `bf16` in 32 bits, `!pto.bf16x2`."""

    name = "pto.bf16x2"
