"""Conversion of modules of xDSL's `csl` dialect to a `wse` program through the CSL front end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp

from ... import targets
from ...backend.csl.types import refuse
from ...csl.parser import parse
from ...csl.printer import print_file
from ...diagnostics.errors import LoomError
from ...frontend.compilation import compile_layout
from .files import ProgramWriter, modules_in
from .origins import Origins


def import_modules(
    module: ModuleOp, *, arch: str, directory: Path, params: Mapping[str, str | int | float | bool] | None = None
) -> ModuleOp | None:
    """Return a module with the `wse.program` that the `csl` modules in `module` describe; None without `csl` modules.

    CSL files that they import are looked for in `directory`; `params` gives values to params of the layout that have
    none. Raises LoomError at the operation that cannot be imported, naming it.
    """
    modules = modules_in(module.body.block.ops)
    if not modules:
        return None
    others = [op for op in module.body.block.ops if op not in modules]
    if others:
        raise refuse(others[0], f"{others[0].name} is beside a csl.module and cannot be imported; remove it")
    writer = ProgramWriter(modules, targets.get(arch))
    files = writer.write()
    origins = Origins(writer.origins)
    with TemporaryDirectory() as written:
        for name, tree in files.items():
            path = Path(written) / name
            path.write_text(print_file(tree), encoding="utf-8")
            origins.add(tree, parse(path.read_text(encoding="utf-8"), str(path)))
        try:
            compiled = compile_layout(
                Path(written) / writer.layout_file,
                arch=arch,
                params=params or {},
                memcpy=True,
                channels=1,
                import_paths=(directory,),
                lint=False,
            )
        except LoomError as error:
            # The files written here are nobody's; those of the user are in the directory.
            both = f"{written} (beside this file), {directory} (--import-path)"
            error.message = error.message.replace(both, str(directory)).replace(written, str(directory))
            raise origins.error(error) from None
    for op in compiled.module.walk():
        op.location = cast(Any, origins.location(op.location))
    return compiled.module
