"""The engine: `Machine` loads a program, runs it, and reads and writes its memory for the host."""

from .deadlock import Deadlock
from .machine import Machine

__all__ = ["Deadlock", "Machine"]
