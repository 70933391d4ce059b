"""Machines for compiled programs: the module of a `flow.fabric` as the chosen executor takes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp

from ..backend.tables import assemble
from ..diagnostics.errors import LoomError
from ..dialects import flow
from ..operations.prices import Prices
from ..runtime import Machine
from ..runtime.executors import AUTO, chosen, of_grid
from ..runtime.tables.format import Tables


def load(
    module: ModuleOp | flow.FabricOp, *, executor: str | None = None, trace: IO[bytes] | None = None,
    trace_kinds: Iterable[str] | None = None, trace_last: int | None = None, prices: Prices | None = None,
    counts: bool = False, threads: int | None = None, statistics: bool = False,
    check: bool | None = False, tables: Tables | None = None, **options: Any,
) -> Machine:  # fmt: skip
    """Return a machine with a program loaded; see `Machine`. `threads` are for the core.

    `tables` are those of the program, if they are known.

    Other executors have one thread. Raises LoomError for what tables do not hold.
    """
    fabric = _fabric(module)
    name = chosen() if executor is None else executor
    if name == AUTO:
        name = of_grid(fabric.width.value.data * fabric.height.value.data)
    if name == "core" and threads is not None:
        options["threads"] = threads
    return Machine(
        assemble(fabric) if tables is None else tables, executor=name, trace=trace, trace_kinds=trace_kinds,
        trace_last=trace_last, prices=prices, counts=counts, statistics=statistics, check=check, **options,
    )  # fmt: skip


def _fabric(module: ModuleOp | flow.FabricOp) -> flow.FabricOp:
    if isinstance(module, flow.FabricOp):
        return module
    fabrics = [op for op in module.body.block.ops if isinstance(op, flow.FabricOp)]
    if len(fabrics) != 1:
        raise LoomError(f"a module to run has exactly one flow.fabric, not {len(fabrics)}")
    return fabrics[0]
