"""CSL as an output of xDSL's tools: `-t csl`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ...dialects import wse
from .program import source_of

HEADING = "// FILE: "
"""Begins the line before each file, as in what xDSL prints of its own `csl` dialect."""


@dataclass(frozen=True)
class CslTarget(Target):
    """Prints a program of `wse` and `dsd` as CSL files, one after the other, each under a `// FILE:` line.

    A module without a `wse.program` but with modules of xDSL's own `csl` dialect is printed by xDSL.
    """

    name = "csl"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        ops = list(module.body.block.ops)
        if not any(isinstance(op, wse.ProgramOp) for op in ops) and any(op.dialect_name() == "csl" for op in ops):
            from xdsl.backend.csl.print_csl import CSLTarget

            CSLTarget().emit(ctx, module, output)
            return
        for position, (name, text) in enumerate(source_of(module).items()):
            output.write(f"{'' if position == 0 else chr(10)}{HEADING}{name}\n{text}")


@dataclass(frozen=True)
class LoomCslTarget(CslTarget):
    """The same under a name that xDSL's own tools do not have."""

    name = "loom-csl"


def split_files(text: str) -> dict[str, str]:
    """The files in what `CslTarget` printed."""
    files: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines(keepends=True):
        if line.startswith(HEADING):
            current = files.setdefault(line.removeprefix(HEADING).strip(), [])
        elif current is not None:
            current.append(line)
    return {name: f"{''.join(lines).rstrip()}\n" for name, lines in files.items()}
