"""Wait graph of a machine at rest: the waits of tasks, queues, FIFOs and channels, and whom they wait for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from xdsl.ir import Operation

if TYPE_CHECKING:
    from .program import Application
    from .tasks import Task
    from .unit_class import UnitClass
    from .units import UnitSet

Unit: TypeAlias = tuple[int, int]
"""(x, y) of a unit in the grid."""


class Wait(NamedTuple):
    """A node of the wait graph: units that wait for the same thing."""

    cls: UnitClass
    units: UnitSet
    text: str
    where: str | None
    awaited: Awaited | None = None
    """The queue or channel that other units have to act on, if any."""
    held: bool = False
    """True if a task waits, and not only a microthread."""
    queue: str | None = None
    """The name of the queue, FIFO or channel in messages."""
    missing: int | None = None
    """Wavelets, elements or entries that each unit lacks, or cannot send."""
    tasks: tuple[str, ...] = ()
    """The tasks and functions that go on, or start, once what is awaited has come."""
    op: Operation | None = None
    """The operation behind which a held task goes on, where that is known; else it is all of `tasks`."""
    sends: tuple[str, ...] = ()
    """The output queues that the operation itself sends to."""
    begun: bool = False
    """True if a microthread has received some of its wavelets."""

    def first(self) -> Unit:
        """Return (x, y) of the first unit."""
        row, column = (int(values.ravel()[0]) for values in self.units.cells())
        return self.cls.grid_position(row, column)

    def places(self) -> list[Unit]:
        """Return (x, y) of each unit."""
        rows, columns = (values.ravel().tolist() for values in self.units.cells())
        return [self.cls.grid_position(y, x) for y, x in zip(rows, columns, strict=True)]


class Awaited(Protocol):
    """What gives a wait its edges: one end of a queue or channel."""

    waits_for_all: bool
    """True if a unit waits for all that `pairs` names, and not for any one of them."""

    def pairs(self, wait: Wait) -> Iterable[tuple[Unit, Unit, str]]:
        """Return each waiting unit with a unit it waits for and the queue or channel that one has to use."""
        ...

    def remedy(self, *, held: bool) -> str:
        """Return what to do where units wait for each other; `held` means that a task of one of them waits."""
        ...

    def explanation(self, wait: Wait) -> str | None:
        """Return why no unit ends the wait, if that is known and there is no circular wait."""
        ...


def completion_tasks(application: Application) -> tuple[str, ...]:
    """Return the tasks that an asynchronous operation starts or unblocks."""
    tasks: list[Task | None] = [
        application.activate, application.unblock, application.control_activate, application.control_unblock
    ]  # fmt: skip
    return tuple(task.name for task in tasks if task is not None)


def waiter(application: Application) -> str:
    """Return a task or microthread and its operation, in words."""
    name = f"microthread {application.microthread}" if application.is_async else f"task @{application.task}"
    return f"{name}: {application.text}{f' ({application.where})' if application.where else ''}"
