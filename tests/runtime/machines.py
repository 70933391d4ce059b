"""Machines of the executor under test, from the IR of a program."""

from __future__ import annotations

from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp

from loomir.dialects.flow import FabricOp
from loomir.host import machines
from loomir.runtime import Machine
from loomir.runtime.executors import chosen


def load(
    program: ModuleOp | FabricOp, *, block_units: int | None = None, trace: IO[bytes] | None = None, **options: Any
) -> Machine:
    """Return a machine with a program loaded.

    `block_units` is for the executor that runs units in batches, whose results do not depend on them.
    """
    if chosen() == "warps":
        options["block_units"] = block_units
    return machines.load(program, trace=trace, **options)
