"""Layouts of vectors and masks of any length: in which register and lane each of their elements is."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, SSAValue

from ....diagnostics.records import record
from ....dialects.pto.registers import (
    REGISTER_BITS,
    VmiLayoutAttr,
    VmiMaskType,
    VmiVRegType,
    element_bits,
    mask_bits,
    registers_of,
)

Virtual: TypeAlias = "VmiVRegType | VmiMaskType"

BLOCKS = 8
"""The blocks of 32 bytes of a register."""


def _layout(kind: str, factor: int = 1, slots: int = 0, stride: int = 1) -> VmiLayoutAttr:
    return VmiLayoutAttr(StringAttr(kind), IntAttr(factor), IntAttr(slots), IntAttr(stride))


def contiguous(stride: int = 1) -> VmiLayoutAttr:
    """Return the layout of elements that follow each other, `stride` lanes apart."""
    return _layout("contiguous", stride=stride)


def deinterleaved(factor: int) -> VmiLayoutAttr:
    """Return the layout of which every `factor`-th element is in a part of its own; contiguous for one part."""
    return contiguous() if factor == 1 else _layout("deinterleaved", factor)


def block_deinterleaved(factor: int) -> VmiLayoutAttr:
    """Return the layout of which every `factor`-th block of 32 bytes is in a part of its own."""
    return _layout("block_deinterleaved", factor)


def group_slots(groups: int, slots: int = 0, stride: int = 1) -> VmiLayoutAttr:
    """Return the layout of one element for each group, `slots` of them in a register; 0 if that is still open."""
    return _layout("num_groups", groups, slots, stride)


def is_contiguous(layout: VmiLayoutAttr | None, stride: int | None = None) -> bool:
    """Return True for elements that follow each other; `stride` lanes apart, if that is given."""
    if layout is None or layout.kind.data != "contiguous":
        return False
    return stride is None or layout.lane_stride.data == stride


def is_group_slots(layout: VmiLayoutAttr | None) -> bool:
    """Return True for one element for each group."""
    return layout is not None and layout.kind.data == "num_groups"


def parts_in(layout: VmiLayoutAttr) -> int:
    """Return in how many parts elements, or blocks of them, are dealt out in turn."""
    return layout.factor.data if "deinterleaved" in layout.kind.data else 1


def layout_of(type: Attribute) -> VmiLayoutAttr | None:
    """Return the layout of a vector or mask; None before it is chosen, and for other types."""
    return type.layout.data[0] if isinstance(type, VmiVRegType | VmiMaskType) and type.layout.data else None


def is_virtual(value: SSAValue) -> bool:
    """Return True for vectors and masks of any length."""
    return isinstance(value.type, VmiVRegType | VmiMaskType)


def with_layout(type: Virtual, layout: VmiLayoutAttr | None) -> Virtual:
    """Return a type with another layout, or with none."""
    chosen: ArrayAttr[VmiLayoutAttr] = ArrayAttr(() if layout is None else (layout,))
    if isinstance(type, VmiVRegType):
        return VmiVRegType(type.count, type.element_type, chosen)
    return VmiMaskType(type.count, type.granularity, chosen)


def with_width(mask: VmiMaskType, bits: int) -> VmiMaskType:
    """Return a mask for elements of a width."""
    return VmiMaskType(mask.count, StringAttr(f"b{bits}"), mask.layout)


def bits_of(type: Virtual) -> int:
    """Return the width of a vector's elements, or of those that a mask is for; 0 if that is not known."""
    if isinstance(type, VmiVRegType):
        return element_bits(type.element_type) or 0
    name = type.granularity.data.removeprefix("b")
    return int(name) if name.isdecimal() else 0


def lanes_of(type: Virtual) -> int:
    """Return how many elements a register has room for; 0 if the width of elements is not known."""
    bits = (mask_bits(type) or 0) if isinstance(type, VmiMaskType) else bits_of(type)
    return REGISTER_BITS // bits if bits else 0


def registers_in(type: Virtual, layout: VmiLayoutAttr | None = None) -> int:
    """Return how many registers a vector or mask takes, in its own layout or in another; 0 if it has none."""
    return registers_of(type if layout is None else with_layout(type, layout)) or 0


@record
class Place:
    """Where an element is: in which register of which part, and in which lane."""

    part: int
    register: int
    lane: int


class Placement:
    """The places of the elements of a vector or mask that has a layout."""

    def __init__(self, type: Virtual) -> None:
        layout = layout_of(type)
        assert layout is not None
        self.count = type.count.data
        self.lanes = lanes_of(type)
        self.layout = layout
        self.parts = parts_in(layout)
        self._slots = layout.slots.data if is_group_slots(layout) else 0
        self._block = self.lanes // BLOCKS if layout.kind.data == "block_deinterleaved" else 1
        strided = isinstance(type, VmiVRegType) and is_contiguous(layout)
        self._stride = layout.lane_stride.data if strided else 1

    def place(self, element: int) -> Place:
        """Return where an element is."""
        if self._slots:
            return Place(0, element // self._slots, element % self._slots)
        block, inside = divmod(element, self._block)
        index = (block // self.parts * self._block + inside) * self._stride
        return Place(block % self.parts, index // self.lanes, index % self.lanes)

    def registers(self) -> dict[tuple[int, int], dict[int, int]]:
        """Return, by part and register of it, the elements by their lanes."""
        found: dict[tuple[int, int], dict[int, int]] = {}
        for element in range(self.count):
            place = self.place(element)
            found.setdefault((place.part, place.register), {})[place.lane] = element
        return dict(sorted(found.items()))

    def registers_in_part(self, part: int) -> int:
        """Return how many registers a part takes."""
        size = self._sizes()[part]
        return -(-((size - 1) * self._stride + 1) // self.lanes) if size else 0

    @property
    def is_full(self) -> bool:
        """True if every lane of every register has an element."""
        if self._slots or self._stride != 1:
            return False
        return all(size % self.lanes == 0 for size in self._sizes())

    def _sizes(self) -> list[int]:
        whole, rest = divmod(self.count, self._block * self.parts)
        return [whole * self._block + max(0, min(self._block, rest - part * self._block)) for part in range(self.parts)]
