"""Resources that one asynchronous operation of a unit uses at a time: queues and microthreads.

Two operations that use one at the same time are the programmer's mistake (DSD-208, DSD-209). Whether they do is a
question of times: when the second starts, the first must have completed. The engine may learn of the second start
first, so an open use is remembered and judged when its end is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...diagnostics.errors import LoomError
from .tasks import NEVER
from .units import Array, UnitSet, intersect, select, some, subtract

if TYPE_CHECKING:
    from .program import Application
    from .unit_class import UnitClass


def _without(units: UnitSet, others: UnitSet) -> list[UnitSet]:
    common = intersect(units, others)
    return [units] if common is None else subtract(units, common)


class Resource:
    """One queue or microthread of every unit of a class. Times are cycles, numbers or one per unit."""

    def __init__(self, cls: UnitClass, text: str, remedy: str):
        self.cls = cls
        self.text = text
        self.remedy = remedy
        self._ends: Array | None = None
        """When the last known use ends, NEVER while it is going on, [rows, columns]."""
        self._user: Application | None = None
        self._early: list[tuple[UnitSet, Any, Application, Application]] = []
        """Uses that started while an earlier one was open: units, start, the later and the earlier operation."""

    def use(self, units: UnitSet, application: Application, start: Any, end: Any) -> None:
        """Use the resource from `start` to `end` for an operation. Raises LoomError if another one still uses it."""
        if self._ends is None:
            self._ends = np.zeros(self.cls.shape, np.int64)
        last = self._ends[units.index]
        overlap = last > start
        if some(overlap):
            assert self._user is not None
            closed = overlap & (last != NEVER)
            if closed.any():
                raise self._conflict(units, closed, application, self._user)
            self._early.append((units, start, application, self._user))
        self._ends[units.index] = end
        self._user = application

    def is_open(self, units: UnitSet) -> Array | bool:
        """Return on which units a use is still going on, [rows, columns]."""
        return False if self._ends is None else self._ends[units.index] == NEVER

    def release(self, units: UnitSet, end: Any) -> None:
        """End an open use. Raises LoomError if another had started before."""
        assert self._ends is not None
        if self._early:
            self._judge(units, end)
        else:
            self._ends[units.index] = end

    def _judge(self, units: UnitSet, end: Any) -> None:
        assert self._ends is not None
        waiting, self._early = self._early, []
        last: list[UnitSet] = [units]  # on these no use has started since
        for others, start, later, earlier in waiting:
            kept: list[UnitSet] = [others]
            rest: list[UnitSet] = []
            for piece in last:
                common = intersect(others, piece)
                if common is None:
                    rest.append(piece)
                    continue
                overlap = np.broadcast_to(
                    np.asarray(select(units, common, end) > select(others, common, start)), common.shape
                )
                if overlap.any():
                    raise self._conflict(common, overlap, later, earlier)
                rest += subtract(piece, common)
                kept = [part for other in kept for part in _without(other, common)]
            last = rest
            self._early += [(part, select(others, part, start), later, earlier) for part in kept]
        for part in last:
            self._ends[part.index] = select(units, part, end)

    def rest(self) -> None:
        """Check uses that are still open when the machine is at rest. Raises LoomError if another use had started."""
        for units, _, later, earlier in self._early:
            raise self._conflict(units, np.ones(units.shape, np.bool_), later, earlier)

    def _conflict(self, units: UnitSet, overlap: Array, later: Application, earlier: Application) -> LoomError:
        place, _ = self.cls.describe_first(units, overlap, overlap)
        other = "itself, started before," if later is earlier else earlier.text
        return LoomError(
            f"{later.text} and {other} use {self.text} at the same time on {place}; {self.remedy}", later.where
        )
