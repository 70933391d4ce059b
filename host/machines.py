"""Machines for compiled programs: the module of a `flow.fabric` as the chosen executor takes it."""

from __future__ import annotations

from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp

from ..dialects import flow
from ..runtime import Machine


def load(
    module: ModuleOp | flow.FabricOp, *, executor: str | None = None, trace: IO[bytes] | None = None, **options: Any
) -> Machine:
    """Return a machine with a program loaded; see `Machine`."""
    return Machine(module, executor=executor, trace=trace, **options)
