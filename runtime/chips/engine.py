"""What a machine that runs tables of chips provides: the reference, in Python, and the core, in C.

`hosted.py` makes an executor of one. Cores are numbered by rows of the grid, channels and tasks are rows of the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ..places import Array
from .chip import ChannelCounts, Ring, Waiting


class Printed(NamedTuple):
    """A tile that a core has printed."""

    unit: int
    row: int
    """Of `tile_prints`."""
    values: Array


class Position(NamedTuple):
    """Where a core is in its program."""

    unit: int
    task: int
    where: int


class ChipEngine(Protocol):
    """A machine made of tables, with nothing run yet."""

    def run(self, steps: int) -> int:
        """Run about so many steps more, or until nothing can happen; return `engine.DONE`, BUDGET or ERROR."""
        ...

    def limit(self, steps: int | None) -> None:
        """Let each core take so many steps from now on, None for any number; one more is an error."""
        ...

    def place(self) -> Position:
        """Return where the core is that stopped last for want of steps."""
        ...

    def error(self) -> Any:
        """Return the record of the error that has ended the run: that of the first row of the grid."""
        ...

    def take_findings(self) -> Array:
        """Return the records of findings since the last call, by rows of the grid, and forget them.

        Of equal ones of a row only the first is kept.
        """
        ...

    def take_rings(self) -> Sequence[Ring]:
        """Return the rings of slots used in shared memories since the last call, by rows of the grid."""
        ...

    def launch(self, task: int, arguments: Sequence[int]) -> None:
        """Activate a launch task on all cores of its class; arguments are as registers hold them."""
        ...

    def active(self, unit: int) -> set[int]:
        """Return the launch tasks of a core that have not begun."""
        ...

    def totals(self) -> tuple[int, int]:
        """Return the tasks started and the steps taken so far."""
        ...

    def take_printed(self) -> Sequence[Printed]:
        """Return the tiles printed since the last call, by rows of the grid."""
        ...

    def waiting(self) -> Sequence[Waiting]:
        """Return the cores that wait when nothing can happen any more."""
        ...

    def counts(self, channel: int, row: int) -> ChannelCounts:
        """Return the state of a channel on a row of the grid."""
        ...

    def renew(self) -> None:
        """Begin a new launch: number entries from 0 again; clear flags but for those that drained channels keep."""
        ...
