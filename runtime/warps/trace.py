"""Execution trace: what the units of a machine do, one JSON object a line.

An object is one step of the engine, for all the units that take it together: a task that starts, a DSD operation that
is issued, a receiving operation that completes. `cycle` and `last_cycle` are the estimated clocks of the first and the
last of these units. Lines come in the order in which the engine works; sort by `cycle` to read them in time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from .executor import Executor
from .scheduler import Scheduler

if TYPE_CHECKING:
    from .machine import WarpMachine
    from .program import Application
    from .queues import Message, Transfer
    from .registers import Held
    from .tasks import Task
    from .unit_class import UnitClass
    from .units import UnitSet
    from .warp import Warp


class Trace:
    """A binary stream that gets the trace."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def record(self, event: str, name: str, cls: UnitClass, units: UnitSet, time: Any, **more: object) -> None:
        """Write one line; fields that are None are left out."""
        line: dict[str, object] = {
            "cycle": int(np.min(time)),
            "last_cycle": int(np.max(time)),
            "event": event,
            "name": name,
            "pes": cls.describe(units),
        }
        line.update({key: value for key, value in more.items() if value is not None})
        self._stream.write(json.dumps(line).encode() + b"\n")


class TracingScheduler(Scheduler):
    """A scheduler that writes what starts."""

    def __init__(self, machine: WarpMachine, trace: Trace) -> None:
        super().__init__(machine)
        self._trace = trace

    def start_task(self, cls: UnitClass, task: Task, units: UnitSet, begin: Any, arguments: Sequence[Any]) -> None:
        self._trace.record("task", task.name, cls, units, begin)
        super().start_task(cls, task, units, begin, arguments)

    def consume(self, cls: UnitClass, task: Task, message: Message, units: UnitSet) -> None:
        begin = np.maximum(cls.clock[units.index], message.head_time)
        self._trace.record("task", task.name, cls, units, begin, wavelets=message.remaining)
        super().consume(cls, task, message, units)


class TracingExecutor(Executor):
    """An executor that writes what it does."""

    def __init__(self, machine: WarpMachine, trace: Trace) -> None:
        super().__init__(machine)
        self._trace = trace

    def execute(
        self,
        warp: Warp,
        application: Application,
        destination: Any,
        sources: list[Any],
        moving: Sequence[Held] = (),
        *,
        in_registers: bool = False,
    ) -> int | None:
        self._trace.record(
            "operation", application.text, warp.cls, warp.units, warp.now,
            where=application.where, microthread=application.microthread,
        )  # fmt: skip
        return super().execute(warp, application, destination, sources, moving, in_registers=in_registers)

    def complete(self, transfer: Transfer) -> None:
        application = transfer.application
        self._trace.record(
            "completed", application.text, transfer.queues[0].cls, transfer.units, transfer.time,
            where=application.where, microthread=application.microthread, elements=transfer.count,
        )  # fmt: skip
        super().complete(transfer)
