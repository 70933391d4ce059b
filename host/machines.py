"""Machines for compiled programs: the module of a `flow.fabric` as the chosen executor takes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp

from .. import targets
from ..backend.tables import assemble
from ..diagnostics.errors import LoomError
from ..dialects import flow
from ..operations.prices import Prices
from ..runtime import Machine
from ..runtime.executors import AUTO, EXECUTORS, OF_CHIPS, chosen, of_grid


def load(
    module: ModuleOp | flow.FabricOp, *, executor: str | None = None, trace: IO[bytes] | None = None,
    trace_kinds: Iterable[str] | None = None, trace_last: int | None = None, prices: Prices | None = None,
    counts: bool = False, threads: int | None = None, statistics: bool = False, **options: Any,
) -> Machine:  # fmt: skip
    """Return a machine with a program loaded; see `Machine`. `threads` are for the core; other executors have one.

    What the environment asks for is for programs of the wafer.
    """
    fabric = _fabric(module)
    if executor is None:
        executor = OF_CHIPS if fabric.target.data in targets.CHIPS else chosen()
    if executor == AUTO:
        executor = of_grid(fabric.width.value.data * fabric.height.value.data)
    if executor == "core" and threads is not None:
        options["threads"] = threads
    return Machine(
        assemble(fabric) if executor in EXECUTORS else module, executor=executor, trace=trace, trace_kinds=trace_kinds,
        trace_last=trace_last, prices=prices, counts=counts, statistics=statistics, **options,
    )  # fmt: skip


def _fabric(module: ModuleOp | flow.FabricOp) -> flow.FabricOp:
    if isinstance(module, flow.FabricOp):
        return module
    fabrics = [op for op in module.body.block.ops if isinstance(op, flow.FabricOp)]
    if len(fabrics) != 1:
        raise LoomError(f"a module to run has exactly one flow.fabric, not {len(fabrics)}")
    return fabrics[0]
