"""The engine that interprets `flow`: `Machine` loads a module, runs it and shows its memory to the host."""

from .deadlock import Deadlock
from .machine import Machine

__all__ = ["Deadlock", "Machine"]
