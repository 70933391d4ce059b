"""The program of an artifact, loaded into a machine."""

from __future__ import annotations

from typing import IO

from ...runtime import Machine
from ..garbage_collection import collector_paused
from .artifact import Artifact, read_program


def load(artifact: Artifact, trace: IO[bytes] | None) -> Machine:
    """Return a machine with the program of an artifact loaded. Raises LoomError."""
    from .. import machines  # loads IR

    with collector_paused():
        return machines.load(read_program(artifact), trace=trace)
