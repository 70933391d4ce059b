"""Trace of a run: a JSON object a line for each task that starts and each operation that is issued or completed."""

from __future__ import annotations

import json
from typing import IO

from .pes import PE, Issue
from .tasks import Task


class Trace:
    """A binary stream that gets the trace. Names are rows of `strings`."""

    def __init__(self, stream: IO[bytes], strings: tuple[str, ...], tasks: list[str]) -> None:
        self._stream = stream
        self._strings = strings
        self._tasks = tasks
        """The name of each task."""

    def starts(self, pe: PE, task: Task) -> None:
        """Write that a task starts."""
        self._write("task", self._tasks[task.number], pe, pe.now)

    def issues(self, issue: Issue) -> None:
        """Write that an operation is issued."""
        self._operation("operation", issue, issue.pe.now)

    def completes(self, issue: Issue, time: int, count: int) -> None:
        """Write that an operation that has waited is completed, with its elements."""
        self._operation("completed", issue, time, elements=count)

    def _operation(self, event: str, issue: Issue, time: int, **more: object) -> None:
        task = issue.user.task
        name = f"{issue.operation.name} in @{self._tasks[task] if task < len(self._tasks) else ''}"
        where = self._strings[issue.user.where] or None
        self._write(event, name, issue.pe, time, where=where, microthread=issue.settings.microthread, **more)

    def _write(self, event: str, name: str, pe: PE, time: int, **more: object) -> None:
        place = f"PE ({pe.x}, {pe.y})"
        line: dict[str, object] = {"cycle": time, "last_cycle": time, "event": event, "name": name, "pes": place}
        line.update({key: value for key, value in more.items() if value is not None})
        self._stream.write(json.dumps(line).encode() + b"\n")
