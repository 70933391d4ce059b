"""Deadlock error of host scripts. It imports the engine, which `errors` must not."""

from __future__ import annotations

from ...runtime.deadlock import Deadlock, Hang
from .errors import SdkError


class SdkDeadlock(SdkError, Deadlock):
    """A run that hangs: a `loomir.Deadlock`, with all that it knows, and an SdkError."""

    def __init__(self, message: str, location: str | None, hang: Hang) -> None:
        Deadlock.__init__(self, message, location, hang)
