"""The program of an artifact, loaded into a machine."""

from __future__ import annotations

import os
from typing import IO, Any

from ...diagnostics.limits import STATISTICS
from ...runtime import Machine
from ..garbage_collection import collector_paused
from .artifact import Artifact, read_program, read_tables

TRACED = ("tasks", "operations")
"""The kinds of records in the traces that every host script writes."""

MAX_TRACED = 100_000
"""The records in such a trace, the last ones: making lines of them takes longer than running a large program."""


def load(artifact: Artifact, trace: IO[bytes] | None, *, statistics: bool = False) -> Machine:
    """Return a machine with the program of an artifact loaded; the environment asks for statistics too.

    Raises LoomError.
    """
    counts = bool(os.environ.get(STATISTICS))
    asked: dict[str, Any] = {
        "trace": trace,
        "trace_kinds": TRACED,
        "trace_last": None if trace is None else MAX_TRACED,
        "counts": counts,
        "statistics": counts or statistics,
        "check": None,
    }
    tables = read_tables(artifact)
    if tables is not None:
        return Machine(tables, **asked)
    from .. import machines  # loads IR

    with collector_paused():
        return machines.load(read_program(artifact), **asked)
