"""Interpreter of `flow`: `Machine` loads a module, runs it, and reads and writes its memory for the host."""

from .warps.deadlock import Deadlock
from .warps.machine import Machine

__all__ = ["Deadlock", "Machine"]
