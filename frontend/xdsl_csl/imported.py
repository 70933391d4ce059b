"""Modules of xDSL's `csl` dialect to a `wse` program, by way of the CSL front end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ... import targets
from ...backend.csl import LAYOUT_FILE
from ...backend.csl.types import refuse
from ...diagnostics import LoomError, location_of
from ..csl.errors import CslError
from ..csl.parser import parse
from ..csl.printer import print_file
from .files import ProgramWriter, modules_in
from .origins import Origins


def import_modules(
    module: ModuleOp, *, arch: str, directory: Path, params: Mapping[str, str | int | float | bool] | None = None
) -> ModuleOp | None:
    """A module with the `wse.program` that the `csl` modules in `module` are; None if there are none.

    CSL files that they import are looked for in `directory`; `params` gives values to params of the layout that have
    none. Raises LoomError at the operation that cannot be imported, naming it.
    """
    modules = modules_in(module.body.block.ops)
    if not modules:
        return None
    others = [op for op in module.body.block.ops if op not in modules]
    if others:
        raise refuse(others[0], f"{others[0].name} stands beside a csl.module and cannot be imported; remove it")
    writer = ProgramWriter(modules, targets.get(arch))
    origins = Origins(writer.origins)
    from ..csl.compilation import compile_layout

    files = {}
    for name, written in writer.write().items():
        path = directory / name
        parsed = parse(print_file(written), str(path))
        origins.add(written, parsed)
        files[path] = parsed
    try:
        compiled = compile_layout(
            directory / LAYOUT_FILE, arch=arch, params=params or {}, memcpy=True, channels=1, files=files
        )
    except CslError as error:
        raise origins.error(error) from None
    except LoomError as error:
        if error.location is None and modules:
            error.location = location_of(modules[0])
        raise
    for op in compiled.module.walk():
        op.location = origins.location(op.location)
    return compiled.module
