"""The engine: `Machine` loads a program, runs it, and reads and writes its memory for the host.

The names are loaded on first use: a compiler assembles tables without what runs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .deadlock import Deadlock as Deadlock
    from .machine import Machine as Machine

__all__ = ["Deadlock", "Machine"]


def __getattr__(name: str) -> object:
    if name == "Deadlock":
        from .deadlock import Deadlock

        return Deadlock
    if name == "Machine":
        from .machine import Machine

        return Machine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
