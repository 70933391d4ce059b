"""Machines for compiled programs: the module of a `flow.fabric` as the chosen executor takes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from xdsl.dialects.builtin import ModuleOp

from ..backend.tables import NotAssembled, assemble
from ..diagnostics.errors import LoomError
from ..dialects import flow
from ..operations.prices import Prices
from ..runtime import Machine
from ..runtime.executors import AUTO, OF_TABLES, Unable, chosen, of_grid


def load(
    module: ModuleOp | flow.FabricOp, *, executor: str | None = None, trace: IO[bytes] | None = None,
    trace_kinds: Iterable[str] | None = None, trace_last: int | None = None, prices: Prices | None = None,
    counts: bool = False, threads: int | None = None, statistics: bool = False, **options: Any,
) -> Machine:  # fmt: skip
    """Return a machine with a program loaded; see `Machine`. `threads` are for the core; other executors have one.

    If any executor may run it, that is the one of `of_grid` where it can, and else the one of warps.
    """
    asked: dict[str, Any] = {
        "trace": trace, "trace_kinds": trace_kinds, "trace_last": trace_last, "prices": prices, "counts": counts,
        "statistics": statistics,
    }  # fmt: skip
    name = chosen() if executor is None else executor
    of_core: dict[str, Any] = {} if threads is None else {"threads": threads}
    if name == "core":
        options |= of_core
    if name in OF_TABLES:
        return Machine(assemble(_fabric(module)), executor=name, **asked, **options)
    if name != AUTO:
        return Machine(module, executor=name, **asked, **options)
    fabric = _fabric(module)
    first = of_grid(fabric.width.value.data * fabric.height.value.data)
    if first is not None and not options:
        try:
            given: dict[str, Any] = of_core if first == "core" else {}
            return Machine(assemble(fabric), executor=first, **asked, **given)
        except (NotAssembled, Unable):
            pass
    return Machine(module, executor="warps", **asked, **options)


def _fabric(module: ModuleOp | flow.FabricOp) -> flow.FabricOp:
    if isinstance(module, flow.FabricOp):
        return module
    fabrics = [op for op in module.body.block.ops if isinstance(op, flow.FabricOp)]
    if len(fabrics) != 1:
        raise LoomError(f"a module to run has exactly one flow.fabric, not {len(fabrics)}")
    return fabrics[0]
