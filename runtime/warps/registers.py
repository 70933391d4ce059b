"""Data structure registers (DSRs): each keeps a stream from one task to the next.

What a register holds may differ from unit to unit, so it is kept by sets of units. An operation takes the stream as
it is when the operation starts; with `save_address` it leaves the register behind what it covers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...diagnostics.errors import LoomError
from .memory import WIDE
from .streams import MemoryStream, Mixed, Parts
from .units import UnitSet, intersect, subtract
from .warp import restrict

if TYPE_CHECKING:
    from .program import Settings
    from .unit_class import UnitClass


class Held:
    """What a register holds: a stream, whether operations move it on, and how they run if they are asynchronous."""

    __slots__ = ("register", "save_address", "settings", "stream")

    def __init__(self, register: Register, stream: Any, save_address: bool, settings: Settings | None):
        self.register = register
        self.stream = stream
        self.save_address = save_address
        self.settings = settings

    def restrict(self, outer: UnitSet, inner: UnitSet) -> Held:
        return Held(self.register, restrict(outer, inner, self.stream), self.save_address, self.settings)

    @staticmethod
    def merge(units: UnitSet, parts: Parts) -> Any:
        """Return the stream of a joined warp: one where only addresses differ."""
        first = parts[0][1]
        alike = all(
            type(part) is Held
            and type(part.stream) is MemoryStream
            and (part.save_address, part.settings) == (first.save_address, first.settings)
            for _, part in parts
        )
        if not alike:
            return Mixed(parts)
        stream = MemoryStream.merge(units, [(part, held.stream) for part, held in parts])
        if type(stream) is Mixed:
            return Mixed(parts)
        return Held(first.register, stream, first.save_address, first.settings)


class Register:
    """One register of every unit of a class."""

    def __init__(self, cls: UnitClass, file: str, number: int):
        self.cls = cls
        self.name = f"{file} register {number}"
        self._parts: list[tuple[UnitSet, Held]] = []

    def load(self, units: UnitSet, stream: Any, *, save_address: bool, settings: Settings | None) -> None:
        """Put a stream into the register of some units."""
        held = Held(self, stream, save_address, settings)
        kept: list[tuple[UnitSet, Held]] = []
        for others, value in self._parts:
            common = intersect(others, units)
            if common is None:
                kept.append((others, value))
            else:
                kept += [(rest, value.restrict(others, rest)) for rest in subtract(others, common)]
        self._parts = [*kept, (units, held)]

    def read(self, units: UnitSet, where: str | None) -> Any:
        """Return what the register of some units holds. Raises LoomError if one was never loaded (DSR-003)."""
        found: Parts = []
        missing: list[UnitSet] = [units]
        for others, value in self._parts:
            common = intersect(others, units)
            if common is not None:
                found.append((common, value if common is others else value.restrict(others, common)))
                missing = [rest for part in missing for rest in _without(part, common)]
        if missing:
            raise LoomError(
                f"nothing has been loaded into {self.name} of {self.cls.describe(missing[0])}, which an operation "
                "uses; load a descriptor into it first",
                where,
            )
        return found[0][1] if len(found) == 1 else Held.merge(units, found)


def _without(units: UnitSet, others: UnitSet) -> list[UnitSet]:
    common = intersect(units, others)
    return [units] if common is None else subtract(units, common)


def behind(stream: MemoryStream, count: int) -> MemoryStream:
    """Return a walk advanced behind `count` elements, by steps of the slowest dimension (DSR-067)."""
    if count == 0:
        return stream
    elements = int(stream.walk.table[count - 1]) + stream.strides[-1]
    return stream.moved(elements * (2 if stream.kind in WIDE else 1))
