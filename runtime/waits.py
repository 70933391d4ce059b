"""Who waits for what: the form in which tasks, queues, FIFOs and channels say it when a machine is at rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from .program import Application
    from .unit_class import UnitClass
    from .units import UnitSet

Unit: TypeAlias = tuple[int, int]
"""(x, y) of a unit in the grid."""


class Wait(NamedTuple):
    """Units that wait: for what, in words."""

    cls: UnitClass
    units: UnitSet
    text: str
    where: str | None
    awaited: Awaited | None = None
    """What other units have to do something for, if it is that."""
    held: bool = False
    """Whether a task waits, and not only a microthread."""


class Awaited(Protocol):
    """One end of what joins units: a queue, or a channel."""

    def pairs(self, wait: Wait) -> Iterable[tuple[Unit, Unit]]:
        """Units that wait here, each with one that it waits for."""
        ...

    def remedy(self, *, held: bool) -> str:
        """What to do where units wait for each other; `held` tells whether a task of one of them waits."""
        ...

    def silence(self, wait: Wait) -> str | None:
        """Why nobody does what is waited for, where that is known and no unit waits for another in a circle."""
        ...


def who(application: Application) -> str:
    """A task or microthread and its operation, in words."""
    name = f"microthread {application.microthread}" if application.is_async else f"task @{application.task}"
    return f"{name}: {application.text}{f' ({application.where})' if application.where else ''}"
