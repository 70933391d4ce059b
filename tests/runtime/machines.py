"""Machines of the executor under test, from the IR of a program."""

from __future__ import annotations

from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp

from loomir.diagnostics import limits
from loomir.dialects.flow import FabricOp
from loomir.host import machines
from loomir.runtime import Machine


def load(program: ModuleOp | FabricOp, *, trace: IO[bytes] | None = None, **options: Any) -> Machine:
    """Return a machine with a program loaded, which looks for races if LOOM_CHECK says so."""
    if limits.check():
        options.setdefault("check", True)
    return machines.load(program, trace=trace, **options)
