"""Exceptions that stop a task or an operation: an error, no step left, the end of an epoch."""

from __future__ import annotations

from typing import Any


class Fault(Exception):
    """A finding that is an error: the task or operation stays where it is."""

    def __init__(self, finding: Any) -> None:
        super().__init__(finding)
        self.finding = finding


class OutOfSteps(Exception):
    """The task that runs wants a step beyond the last before the host looks at the machine again."""


class EpochEnds(Exception):
    """The task that runs has come to the end of the epoch."""
