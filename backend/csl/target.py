"""The target `csl` of xDSL's tools: `-t csl`."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ...diagnostics.errors import shown
from ...dialects import wse
from .names import file_name_problem
from .program import source_of
from .types import refuse

HEADING = "// FILE: "
"""Begins the line before each file, as in what xDSL prints of its own `csl` dialect."""

DIVIDER = "// -----\n"
"""Between two files of xDSL's."""


@dataclass(frozen=True)
class CslTarget(Target):
    """Prints a program of `wse` and `dsd` as CSL files, one after the other, each under a `// FILE:` line.

    A module without a `wse.program` but with modules of xDSL's own `csl` dialect is printed by xDSL.
    """

    name = "csl"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        ops = list(module.body.block.ops)
        if not any(isinstance(op, wse.ProgramOp) for op in ops) and any(op.dialect_name() == "csl" for op in ops):
            _print_theirs(module, output)
            return
        for position, (name, text) in enumerate(source_of(module).items()):
            output.write(f"{'' if position == 0 else chr(10)}{HEADING}{name}\n{text}")


def _print_theirs(module: ModuleOp, output: IO[str]) -> None:
    """Print modules of xDSL's dialect by xDSL. Raises LoomError for those whose names are not those of files."""
    from xdsl.backend.csl.print_csl import get_csl_modules_in_module_op, print_to_csl

    names: set[str] = set()
    texts: list[str] = []
    for op in get_csl_modules_in_module_op(module):
        name = op.sym_name.data
        problem = file_name_problem(name)
        if problem is None and file_of(name).lower() in names:
            problem = "is that of another module too"
        if problem is not None:
            raise refuse(
                op, f"csl.module '{shown(name, lines=True)}' cannot be a file, as its name {problem}; rename it"
            )
        names.add(file_of(name).lower())
        text = StringIO()
        print_to_csl(ModuleOp([op.clone()]), text)
        if text.getvalue().count(f"\n{HEADING}"):
            raise refuse(op, f"csl.module '{name}' has a line that begins another file, '{HEADING}'; change the string")
        texts.append(text.getvalue())
    output.write(DIVIDER.join(texts))


@dataclass(frozen=True)
class LoomCslTarget(CslTarget):
    """The same under a name that xDSL's own tools do not have."""

    name = "loom-csl"


def file_of(name: str) -> str:
    """Return the name of a file under a heading: xDSL's modules have none or one with `.csl`."""
    return name if name.endswith(".csl") else f"{name}.csl"


def split_files(text: str) -> dict[str, str]:
    """Split the output of `CslTarget` into files."""
    files: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines(keepends=True):
        if line.startswith(HEADING):
            current = files.setdefault(line.removeprefix(HEADING).strip(), [])
        elif current is not None:
            current.append(line)
    return {name: f"{''.join(lines).rstrip()}\n" for name, lines in files.items()}
