"""The target `loom-tables` of xDSL's tools: the tables of a `flow.fabric`, as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ...diagnostics.errors import LoomError
from ...dialects import flow
from ...runtime.tables.dump import dump
from .fabric import assemble


@dataclass(frozen=True)
class TablesTarget(Target):
    """Prints what executors run: `loom-opt -t loom-tables`. Raises LoomError unless there is one `flow.fabric`."""

    name = "loom-tables"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        fabrics = [op for op in module.body.block.ops if isinstance(op, flow.FabricOp)]
        if len(fabrics) != 1:
            raise LoomError(f"a module to assemble has exactly one flow.fabric, not {len(fabrics)}")
        output.write(dump(assemble(fabrics[0])))
