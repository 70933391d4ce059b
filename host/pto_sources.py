"""Sources of PTO kernels: files, texts, xDSL modules, and kernels written in Python.

PTOAS's `ptodsl` and the DSL of the same name that came before it turn a Python function into an MLIR module. Its text
is taken as that of a file; where the module says from which line of Python an operation comes, messages do too. Neither
is imported here, and no file is run as Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr

from ..diagnostics.errors import LoomError
from ..diagnostics.records import record
from ..dialects import context
from ..dialects.ir_text import parse_ir, text_of
from ..dialects.traversal import walk


@runtime_checkable
class TracedKernel(Protocol):
    """What `@pto.jit` of PTOAS's `ptodsl` makes of a function, or `compile` of that for given constants."""

    def mlir_text(self) -> str:
        """Return the text of the module."""
        ...


@runtime_checkable
class TracedModule(Protocol):
    """A module of MLIR's Python bindings, as `to_ir_module` and `merge_jit_modules` return it: its text is its str."""

    @property
    def operation(self) -> Any:
        """The operation of the module."""
        ...


PythonKernel: TypeAlias = TracedKernel | TracedModule


@record
class KernelText:
    """The text of a program and its name in messages; with the MLIR module it was printed from, if there is one."""

    text: str
    name: str
    traced: Any = None

    def parse(self) -> ModuleOp:
        """Return the program; raises LoomError at the place of the first mistake."""
        module = parse_ir(context(), self.text, self.name, "a kernel, func.func")
        if self.traced is not None:
            _locate(module, self.traced)
        return module


Source: TypeAlias = Path | str | ModuleOp | PythonKernel | KernelText
"""A program: a file, its text, also with a name, an xDSL module, or a kernel written in Python."""


def read_source(source: Path | str | PythonKernel | KernelText) -> KernelText:
    """Return the text of a program that is not an xDSL module; raises LoomError for what is none."""
    if isinstance(source, KernelText):
        return source
    if isinstance(source, Path | str):
        text, name = text_of(source)
        if name.endswith(".py"):
            raise LoomError(
                "is a Python program, which is not run here: let it print the text of its kernel, as in "
                f"`python {name} > kernel.pto`, or call loomir.pto.run from it",
                name,
            )
        return KernelText(text, name)
    text = kernel_text(source)
    build = getattr(source, "mlir_module", None)
    traced = build() if callable(build) else source
    function = getattr(source, "ir_function_name", None) or getattr(source, "__name__", None) or "kernel"
    return KernelText(text, f"<{function}>", traced if isinstance(traced, TracedModule) else None)


def kernel_text(kernel: PythonKernel, **constants: Any) -> str:
    """Return the text of PTOAS for a kernel written in Python.

    `kernel` is what `@pto.jit` of PTOAS's `ptodsl` returns, or a module of MLIR's Python bindings, such as
    `to_ir_module` returns it. `constants` are the kernel's compile-time constants, those annotated `pto.const_expr`:
    `kernel_text(kernel, BLOCK=64)` is the text of `kernel.compile(BLOCK=64)`. What the DSL raises for a wrong kernel
    passes through; raises LoomError for anything that is not such a kernel.
    """
    if constants:
        compiled = getattr(kernel, "compile", None)
        if not callable(compiled):
            raise LoomError(f"{_shown(kernel)} has no compile-time constants; give {', '.join(constants)} to the DSL")
        kernel = compiled(**constants)  # pyright: ignore[reportAssignmentType]
    if isinstance(kernel, TracedKernel):
        return kernel.mlir_text()
    if isinstance(kernel, TracedModule) and not isinstance(kernel, type):
        return str(kernel)
    raise LoomError(
        f"{_shown(kernel)} is not a program; give a file, the text of kernels, an xDSL module, a kernel of ptodsl "
        "(`@pto.jit`), or the module that to_ir_module returns"
    )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"a {type(value).__name__}"


_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')
"""File, line and column in the text of a location of MLIR."""


def _locate(module: ModuleOp, traced: Any) -> None:
    """Give the operations of a module the places that those of the MLIR module have, one after the other.

    If the two do not have the same operations, as those may print differently, the places stay those of the text.
    """
    theirs = list(_operations(traced.operation))
    ours = list(walk(module))
    if [op.name for op in ours] != [name for name, _ in theirs]:
        return
    for op, (_, location) in zip(ours, theirs, strict=True):
        found = _PLACE.search(location)
        if found is not None:
            op.location = FileLineColLoc(StringAttr(found[1]), IntAttr(int(found[2])), IntAttr(int(found[3])))


def _operations(root: Any) -> Iterator[tuple[str, str]]:
    """Yield name and location of an operation of MLIR's bindings and of all inside it, outer before inner."""
    pending = [root]
    while pending:
        op = pending.pop()
        op = getattr(op, "operation", op)
        yield op.name, str(op.location)
        inner = [member for region in op.regions for block in region.blocks for member in block.operations]
        pending += reversed(inner)
