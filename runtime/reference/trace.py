"""Trace of a run: a record for each task that starts or ends and each operation that is issued or completed."""

from __future__ import annotations

from ..tables.format import NONE
from ..trace_lines import COMPLETED, ENDS, ISSUED, STARTS, Lines
from .pes import PE, Issue
from .tasks import Task


class Trace:
    """Gives lines their records, one at a time."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def starts(self, pe: PE, task: Task) -> None:
        """Write that a task starts."""
        self._write(pe.now, 0, pe.number, task.number, NONE, 0, NONE, STARTS)

    def ends(self, pe: PE, task: Task) -> None:
        """Write that a task ends."""
        self._write(pe.now, 0, pe.number, task.number, NONE, 0, NONE, ENDS)

    def issues(self, issue: Issue) -> None:
        """Write that an operation is issued."""
        self._operation(ISSUED, issue, issue.pe.now, 0)

    def completes(self, issue: Issue, time: int, count: int) -> None:
        """Write that an operation is completed, with its elements, or wavelets if it sends."""
        self._operation(COMPLETED, issue, time, count)

    def _operation(self, event: int, issue: Issue, time: int, count: int) -> None:
        thread, user = issue.settings.microthread, issue.user
        self._write(time, count, issue.pe.number, user.task, issue.operation.number, user.where,
                    NONE if thread is None else thread, event)  # fmt: skip

    def _write(self, *values: int) -> None:
        self._lines.write([values])
