"""Types of values that are not in memory: vector registers, masks, local variables of a kernel, events.

`!pto.vreg` and `!pto.mask` are registers of the vector core, of 256 bytes; `!pto.vmi.vreg` and `!pto.vmi.mask` have any
number of elements, and a layout once registers have been chosen for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, FixedBitwidthType, IndexType, IntAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .types import PackedType, TileBufType, parse_compact_tile

REGISTER_BITS = 2048
"""The bits of a vector register."""

_GRANULARITIES = ("b8", "b16", "b32")


def element_bits(element: Attribute) -> int | None:
    """Return the bits of an element of a register; None for what cannot be one."""
    match element:
        case PackedType():
            return element.bits
        case FixedBitwidthType():
            return element.bitwidth
        case _:
            return None


def _parse_length(parser: AttrParser) -> int:
    """Parse `64x`, where the element type follows."""
    position = parser.pos
    length = parser.parse_shape_dimension(allow_dynamic=False)
    parser.parse_shape_delimiter()
    if length <= 0:
        parser.raise_error(f"expected a positive element count, not {length}", position, parser.pos)
    return length


@irdl_attr_definition
class VRegType(ParametrizedAttribute, TypeAttribute):
    """A vector register of 256 bytes, `!pto.vreg<64xf32>`."""

    name = "pto.vreg"
    count: IntAttr
    element_type: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return IntAttr(_parse_length(parser)), parser.parse_type()

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.count.data}x")
        printer.print_attribute(self.element_type)
        printer.print_string(">")

    def verify(self) -> None:
        bits = element_bits(self.element_type)
        if bits is None:
            raise VerifyException(
                f"'{self}' expected an integer, floating-point, or PTO low-precision element type; use one"
            )
        if bits * self.count.data != REGISTER_BITS:
            raise VerifyException(
                f"'{self}' expected exactly 256 bytes, not {bits * self.count.data // 8}: elements of {bits} bits are "
                f"{REGISTER_BITS // bits}"
            )


@irdl_attr_definition
class MaskType(ParametrizedAttribute, TypeAttribute):
    """A bit for each element of a register whose elements have 8, 16 or 32 bits, `!pto.mask<b32>`."""

    name = "pto.mask"
    granularity: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (StringAttr(parser.parse_identifier()),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.granularity.data}>")

    def verify(self) -> None:
        if self.granularity.data not in _GRANULARITIES:
            raise VerifyException(f"'{self}' expected granularity to be one of {', '.join(_GRANULARITIES)}")


@irdl_attr_definition
class AlignType(ParametrizedAttribute, TypeAttribute):
    """What an unaligned load or store keeps for the next one, `!pto.align`."""

    name = "pto.align"


# ---------------------------------------------------------------------------------------------
# Registers of any length
# ---------------------------------------------------------------------------------------------

_LAYOUTS = ("contiguous", "deinterleaved", "block_deinterleaved", "num_groups")


@irdl_attr_definition
class VmiLayoutAttr(ParametrizedAttribute):
    """How the elements of a vector are spread over registers, `#pto.vmi.layout<deinterleaved = 2>`.

    They follow each other (`contiguous`), or every second, fourth... element, or block of elements, is in a register of
    its own (`deinterleaved`, `block_deinterleaved`), or there is one element for each group (`num_groups = 8, slots =
    8`). `lane_stride` is how far elements are from each other.
    """

    name = "pto.vmi.layout"
    kind: StringAttr
    factor: IntAttr
    slots: IntAttr
    lane_stride: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            kind = parser.parse_identifier()
            if kind not in _LAYOUTS:
                wanted = " or ".join(f"'{name}'" for name in _LAYOUTS)
                parser.raise_error(f"expected VMI layout kind {wanted}", position, parser.pos)
            numbers = {"factor": 1, "slots": 0, "lane_stride": 1}
            if kind != "contiguous":
                parser.parse_punctuation("=")
                numbers["factor"] = parser.parse_integer(allow_boolean=False)
            known = ["lane_stride"] if kind != "block_deinterleaved" else []
            known += ["slots"] if kind == "num_groups" else []
            while parser.parse_optional_punctuation(",") is not None:
                position = parser.pos
                field = parser.parse_identifier()
                if field not in known:
                    wanted = " or ".join(f"'{name} = <integer>'" for name in reversed(known)) or "'>'"
                    parser.raise_error(f"expected {wanted}", position, parser.pos)
                parser.parse_punctuation("=")
                numbers[field] = parser.parse_integer(allow_boolean=False)
        return StringAttr(kind), *(IntAttr(number) for number in numbers.values())

    def print_parameters(self, printer: Printer) -> None:
        text = self.kind.data
        if text != "contiguous":
            text += f" = {self.factor.data}"
        if self.slots.data:
            text += f", slots = {self.slots.data}"
        if self.lane_stride.data != 1:
            text += f", lane_stride = {self.lane_stride.data}"
        printer.print_string(f"<{text}>")

    def verify(self) -> None:
        kind, factor, slots, stride = self.kind.data, self.factor.data, self.slots.data, self.lane_stride.data
        if stride <= 0:
            raise VerifyException(f"#pto.vmi.layout<{kind}> requires lane_stride to be positive, not {stride}")
        if kind in ("deinterleaved", "block_deinterleaved") and factor not in (2, 4):
            raise VerifyException(f"#pto.vmi.layout<{kind} = {factor}> expected factor to be 2 or 4")
        if kind == "num_groups" and factor <= 0:
            raise VerifyException(f"#pto.vmi.layout<num_groups = {factor}> requires num_groups to be positive")
        if kind == "num_groups" and slots < 0:
            raise VerifyException(
                f"#pto.vmi.layout<num_groups = {factor}, slots = {slots}> requires slots to be omitted or positive"
            )


def _parse_layout(parser: AttrParser) -> ArrayAttr[VmiLayoutAttr]:
    if parser.parse_optional_punctuation(",") is None:
        return ArrayAttr(())
    position = parser.pos
    layout = parser.parse_attribute()
    if not isinstance(layout, VmiLayoutAttr):
        parser.raise_error(f"expected a #pto.vmi.layout<...>, not {layout}", position, parser.pos)
    return ArrayAttr((layout,))


def _print_layout(printer: Printer, layout: ArrayAttr[VmiLayoutAttr]) -> None:
    for each in layout:
        printer.print_string(", ")
        printer.print_attribute(each)
    printer.print_string(">")


@irdl_attr_definition
class VmiVRegType(ParametrizedAttribute, TypeAttribute):
    """A vector of any number of elements, `!pto.vmi.vreg<100xf32>`; behind a comma its layout, once chosen."""

    name = "pto.vmi.vreg"
    count: IntAttr
    element_type: Attribute
    layout: ArrayAttr[VmiLayoutAttr]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return IntAttr(_parse_length(parser)), parser.parse_type(), _parse_layout(parser)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.count.data}x")
        printer.print_attribute(self.element_type)
        _print_layout(printer, self.layout)

    def verify(self) -> None:
        element: Attribute = self.element_type
        if not isinstance(element, IntegerType | IndexType | AnyFloat | PackedType):
            raise VerifyException(
                f"'{self}' expected an integer, index, floating-point, or PTO low-precision element type"
            )
        if element_bits(cast("Attribute", element)) not in (8, 16, 32):
            raise VerifyException(f"'{self}' expected an 8-bit, 16-bit, or 32-bit logical element type")
        for layout in self.layout:
            if layout.kind.data == "num_groups" and layout.factor.data != self.count.data:
                raise VerifyException(
                    f"'{self}' expected num_groups layout to describe exactly one logical result lane per group"
                )


@irdl_attr_definition
class VmiMaskType(ParametrizedAttribute, TypeAttribute):
    """A bit for each element of a vector of any length, `!pto.vmi.mask<100xpred>`, or `b32` for elements of 32 bits."""

    name = "pto.vmi.mask"
    count: IntAttr
    granularity: StringAttr
    layout: ArrayAttr[VmiLayoutAttr]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return IntAttr(_parse_length(parser)), StringAttr(parser.parse_identifier()), _parse_layout(parser)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.count.data}x{self.granularity.data}")
        _print_layout(printer, self.layout)

    def verify(self) -> None:
        if self.granularity.data not in ("pred", *_GRANULARITIES):
            raise VerifyException(f"'{self}' expected granularity to be one of pred, {', '.join(_GRANULARITIES)}")
        if self.granularity.data == "pred" and self.layout.data:
            raise VerifyException(f"'{self}' pred mask must not carry layout")


def mask_bits(mask: VmiMaskType) -> int | None:
    """Return the width of elements that the registers of a mask are for; None for `pred`, and more than 32."""
    name = mask.granularity.data.removeprefix("b")
    stride = mask.layout.data[0].lane_stride.data if mask.layout.data else 1
    bits = int(name) * stride if name.isdecimal() else 0
    return bits if f"b{bits}" in _GRANULARITIES else None


def registers_of(type: VmiVRegType | VmiMaskType) -> int | None:
    """Return how many registers a vector or mask takes; None before its layout is chosen."""
    bits = element_bits(type.element_type) if isinstance(type, VmiVRegType) else mask_bits(type)
    if not type.layout.data or bits is None:
        return None
    layout, lanes = type.layout.data[0], REGISTER_BITS // bits
    if layout.kind.data == "num_groups" and layout.slots.data:
        return -(-layout.factor.data // layout.slots.data)
    factor = layout.factor.data if "deinterleaved" in layout.kind.data else 1
    block = lanes // _BLOCKS if layout.kind.data == "block_deinterleaved" else 1
    stride = layout.lane_stride.data if isinstance(type, VmiVRegType) and layout.kind.data != "num_groups" else 1
    sizes = [_lanes_in_part(type.count.data, factor, block, part) for part in range(factor)]
    return sum(-(-((size - 1) * stride + 1) // lanes) for size in sizes if size)


_BLOCKS = 8
"""The blocks of 32 bytes of a register."""


def _lanes_in_part(count: int, factor: int, block: int, part: int) -> int:
    """Return how many lanes a part takes of `count` elements, of which blocks go to each part in turn."""
    blocks = -(-count // block)
    if part >= blocks:
        return 0
    own = (blocks - 1 - part) // factor
    last = own * factor + part
    return own * block + min(block, count - last * block)


# ---------------------------------------------------------------------------------------------
# Variables of a kernel, tiles in several copies
# ---------------------------------------------------------------------------------------------


@irdl_attr_definition
class EventIdArrayType(ParametrizedAttribute, TypeAttribute):
    """Numbers of flags chosen when the kernel runs, `!pto.eventid_array<4>`."""

    name = "pto.eventid_array"
    size: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (IntAttr(parser.parse_integer(allow_boolean=False)),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.size.data}>")

    def verify(self) -> None:
        if self.size.data <= 0:
            raise VerifyException(f"'!pto.eventid_array' requires positive size, got {self.size.data}")


@irdl_attr_definition
class LocalArrayType(ParametrizedAttribute, TypeAttribute):
    """An array of numbers that the scalar unit has for itself, `!pto.local_array<8x8xf32>`."""

    name = "pto.local_array"
    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        extents: list[IntAttr] = []
        with parser.in_angle_brackets():
            while (element := parser.parse_optional_type()) is None:
                extents.append(IntAttr(parser.parse_shape_dimension(allow_dynamic=False)))
                parser.parse_shape_delimiter()
        return ArrayAttr(extents), element

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<" + "".join(f"{extent.data}x" for extent in self.shape))
        printer.print_attribute(self.element_type)
        printer.print_string(">")

    def verify(self) -> None:
        if not self.shape.data:
            raise VerifyException("'!pto.local_array' requires at least one dimension")
        for place, extent in enumerate(self.shape):
            if extent.data <= 0:
                raise VerifyException(
                    f"'!pto.local_array' dimension {place} must be a positive static size, got {extent.data}"
                )
        if not isinstance(self.element_type, IntegerType | AnyFloat):
            raise VerifyException(
                "'!pto.local_array' element type must be a scalar integer or floating-point type, not "
                f"{self.element_type}"
            )


@irdl_attr_definition
class StructType(ParametrizedAttribute, TypeAttribute):
    """Several variables in one, `!pto.struct<f32, !pto.struct<i8>>`."""

    name = "pto.struct"
    fields: ArrayAttr[Attribute]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return (ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parser.parse_type)),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.fields, printer.print_attribute)

    def verify(self) -> None:
        if not self.fields.data:
            raise VerifyException("'!pto.struct' requires at least one field")
        for place, field in enumerate(self.fields):
            if not isinstance(field, StructType) and not _is_scalar(field):
                raise VerifyException(
                    f"'!pto.struct' field {place} must be a signless integer, a floating-point type or a nested "
                    f"!pto.struct, got {field}"
                )


def _is_scalar(type: Attribute) -> bool:
    return isinstance(type, AnyFloat) or (isinstance(type, IntegerType) and type.bitwidth in (8, 16, 32, 64))


@irdl_attr_definition
class MultiTileBufType(ParametrizedAttribute, TypeAttribute):
    """Several tiles of one type of which one is used at a time, `!pto.multi_tile_buf<vec, 16x16xf16, count=2>`."""

    name = "pto.multi_tile_buf"
    tile: TileBufType
    count: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            if (tile := parser.parse_optional_type()) is None:
                tile, count = parse_compact_tile(parser, has_count=True)
            else:
                parser.parse_punctuation(",")
                parser.parse_keyword("count")
                parser.parse_punctuation("=")
                count = parser.parse_integer(allow_boolean=False)
            if not isinstance(tile, TileBufType) or count is None:
                parser.raise_error("expected a tile and its count", position, parser.pos)
        return tile, IntAttr(count)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.tile)
            printer.print_string(f", count={self.count.data}")

    def verify(self) -> None:
        if self.count.data < 2:
            raise VerifyException(f"multi_tile_buf count must be >= 2 (got {self.count.data})")
        if self.count.data > 16:
            raise VerifyException(f"multi_tile_buf count must be <= 16 (got {self.count.data})")


# ---------------------------------------------------------------------------------------------
# Between devices
# ---------------------------------------------------------------------------------------------


@irdl_attr_definition
class AsyncSessionType(ParametrizedAttribute, TypeAttribute):
    """What asynchronous transfers between devices share, `!pto.async_session`."""

    name = "pto.async_session"


@irdl_attr_definition
class AsyncEventType(ParametrizedAttribute, TypeAttribute):
    """The end of an asynchronous transfer, `!pto.async_event`."""

    name = "pto.async_event"


@irdl_attr_definition
class PrefetchAsyncContextType(ParametrizedAttribute, TypeAttribute):
    """What asynchronous prefetches share, `!pto.prefetch_async_context`."""

    name = "pto.prefetch_async_context"
