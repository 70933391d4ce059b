"""Operands of one operation that share bytes although it writes some of them while it still reads others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from xdsl.ir import Operation, SSAValue

from ...analysis.pto.local_memory import tile_bytes, tile_strides
from ...analysis.pto.schedules import Kernel
from ...diagnostics.records import record
from ...dialects.pto.apart_operands import tiles_kept_apart
from ...dialects.pto.attributes import SLayout
from ...dialects.pto.instruction_operation import InstructionOp
from ...dialects.pto.memory import AllocTileOp, SubViewOp, TReshapeOp, constant_value
from ...dialects.pto.registers import MultiTileBufType
from ...dialects.pto.types import TileBufType, element_bytes
from ...dialects.traversal import walk
from .hazard import Hazard

CODES = ("operand-overlap",)
"""Codes of the findings that this check reports."""


@record
class _Bytes:
    """Bytes `start` to `end` behind the beginning of a tile; `address` is where that begins, if it is known."""

    tile: Operation
    address: int | None
    start: int
    end: int
    shape: TileBufType
    """How the bytes of the whole are laid out."""

    def overlaps(self, other: _Bytes) -> bool:
        """Return True if both are known to share bytes."""
        if self.tile is other.tile:
            return self.start < other.end and other.start < self.end
        if self.address is None or other.address is None or self.shape.location is not other.shape.location:
            return False
        return self.address + self.start < other.address + other.end and (
            other.address + other.start < self.address + self.end
        )

    def text(self, name: str) -> str:
        """Return a description of the bytes of the operand `name`."""
        first, behind = (place + (self.address or 0) for place in (self.start, self.end))
        where = f"of '{self.shape.location.value}'" if self.address is not None else "of its tile"
        return f"{name} is in bytes {first} to {behind - 1} {where}"


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the operations whose operands have to be apart and are not."""
    for op in walk(kernel.function):
        named = [(name, found) for name, value in tiles_kept_apart(op) if (found := _bytes_of(value)) is not None]
        for (name, here), (other, there) in combinations(named, 2):
            if here.overlaps(there):
                yield Hazard(
                    "operand-overlap",
                    op,
                    f"'{op.name}' op operand byte ranges overlap: "
                    f"{here.text(name)}, and {there.text(other)}, but it writes one while it still needs the other; "
                    "give each operand memory of its own",
                )
                break


def _bytes_of(value: SSAValue) -> _Bytes | None:
    """Return the bytes of a tile or of a part of one; None if they are not known."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    match owner:
        case AllocTileOp():
            size = tile_bytes(owner.result.type)
            address = None if owner.addr is None else constant_value(owner.addr)
            return None if size is None else _Bytes(owner, address, 0, size, owner.result.type)
        case TReshapeOp():
            return _viewed_as(_bytes_of(owner.src), value)
        case SubViewOp():
            whole = _bytes_of(owner.source)
            return None if whole is None else _part(owner, whole)
        case InstructionOp() if owner.row.name == "bitcast":
            return _viewed_as(_bytes_of(owner.operands[0]), value)
        case InstructionOp() if owner.row.name == "multi_tile_get":
            return _slot(owner)
        case _:
            return None


def _viewed_as(found: _Bytes | None, value: SSAValue) -> _Bytes | None:
    if found is None or not isinstance(value.type, TileBufType):
        return None
    return _Bytes(found.tile, found.address, found.start, found.end, value.type)


def _part(op: SubViewOp, whole: _Bytes) -> _Bytes:
    """Return the bytes from the first to the last element of a part; all of a tile of boxes, or at unknown places."""
    size = element_bytes(whole.shape.element_type)
    offsets = [constant_value(offset) for offset in op.offsets]
    extents = [size.value.data for size in op.sizes]
    if whole.shape.slayout is not SLayout.NONE_BOX or not size or None in offsets or min(extents) < 1:
        return whole
    strides = tile_strides(whole.shape)
    first = whole.start + size * _dot([offset or 0 for offset in offsets], strides)
    last = first + size * _dot([extent - 1 for extent in extents], strides)
    return _Bytes(whole.tile, whole.address, first, last + size, whole.shape)


def _dot(places: Sequence[int], strides: Sequence[int]) -> int:
    return sum(place * stride for place, stride in zip(places, strides, strict=True))


def _slot(op: InstructionOp) -> _Bytes | None:
    """Return the bytes of one of several tiles behind each other."""
    several, slot = op.operands[0], constant_value(op.operands[1])
    maker = several.owner
    if not isinstance(several.type, MultiTileBufType) or not isinstance(maker, InstructionOp) or slot is None:
        return None
    size, address = tile_bytes(several.type.tile), maker.operand("addr")
    if size is None or slot < 0:
        return None
    start = None if address is None else constant_value(address)
    return _Bytes(maker, start, slot * size, (slot + 1) * size, several.type.tile)
