"""The engine that interprets `flow`: `Machine` loads a module, runs it and shows its memory to the host."""

from .machine import Deadlock, Machine

__all__ = ["Deadlock", "Machine"]
