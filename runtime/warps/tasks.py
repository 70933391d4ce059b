"""Tasks of a class: functions that the host launches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .units import Array

if TYPE_CHECKING:
    from .unit_class import UnitClass
    from .warp import Code


@dataclass(eq=False)
class Task:
    """A function of every unit of a class that the host launches."""

    cls: UnitClass
    name: str
    code: Code
    active: Array
    """Where it has been launched and not been started yet, bool [rows, columns]."""
    hot: set[int] = field(default_factory=set[int])
    """Blocks of the class in which some unit may have the task active."""

    def activate(self) -> None:
        """Activate the task on all units."""
        self.active[self.cls.units.index] = True
        self.cls.touch(self.cls.units, self)
