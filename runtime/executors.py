"""Executors by name. A run loads only what the chosen one needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from inspect import signature
from typing import IO, Any

from ..diagnostics.errors import LoomError
from .executor import Executor, Loader
from .tables.format import Tables
from .warnings import Warnings

EXECUTOR = "LOOM_EXECUTOR"
"""Environment variable: the executor that runs programs of the wafer, by name."""

AUTO = "auto"
"""In place of a name: that of `of_grid` if it can run the program, else warps."""

DEFAULT = AUTO

MAX_UNITS_OF_CORE = 4096
"""Units of the largest grid that the core runs unless it is named: it goes from one to the next on one thread, so that
warps are faster where very many march in step."""

MAX_UNITS_OF_REFERENCE = 1024
"""Units of the largest grid that the reference runs unless it is named, where the core is not installed."""

EXECUTORS = {"warps": "warps.machine", "reference": "reference.executor", "core": "core.executor"}
"""The executors: by name, the module below this package with their `load`."""

OF_TABLES = frozenset({"reference", "core"})
"""Those that run tables, and not IR."""


class Unable(LoomError):
    """An executor lacks what a program needs; another one may have it."""


def chosen() -> str:
    """Return the name of the executor that the environment asks for, or of the default one; it may be `AUTO`.

    Raises LoomError for a name that is not known.
    """
    name = os.environ.get(EXECUTOR) or DEFAULT
    if name not in (*EXECUTORS, AUTO):
        raise LoomError(f"{EXECUTOR} is '{name}'; the executors are: {', '.join(EXECUTORS)}, and {AUTO}")
    return name


def of(program: object) -> str:
    """Return the name of the executor of a program: the one that the environment asks for, or one for its form."""
    name = chosen()
    if name != AUTO:
        return name
    if not isinstance(program, Tables):
        return "warps"
    return "core" if has_core() else "reference"


def of_grid(units: int) -> str | None:
    """Return the executor of tables that `AUTO` tries first for a program on so many units; None for none."""
    if has_core():
        return "core" if units <= MAX_UNITS_OF_CORE else None
    return "reference" if units <= MAX_UNITS_OF_REFERENCE else None


@cache
def has_core() -> bool:
    """Return True if the core is installed. The first time, a line on stderr says so if it is not."""
    library = import_module(".core.library", __package__)
    if not library.is_present():
        print(f"note: {library.NOT_INSTALLED}; until then programs run slowly", file=sys.stderr, flush=True)
        return False
    return True


def wants_tables() -> bool:
    """Return True if the executor that is chosen runs tables, or may do so. Raises LoomError."""
    return chosen() in (*OF_TABLES, AUTO)


def load(
    name: str, program: object, warnings: Warnings, trace: IO[bytes] | None, options: Mapping[str, Any]
) -> Executor:
    """Return an executor of a name with a program loaded. Raises LoomError."""
    if name not in EXECUTORS:
        raise LoomError(f"'{name}' is not an executor; the executors are: {', '.join(EXECUTORS)}")
    loader: Loader = import_module(f".{EXECUTORS[name]}", __package__).load
    known = signature(loader).parameters
    for option in options:
        if option not in known:
            raise LoomError(f"the executor '{name}' has no option '{option}'")
    if name in OF_TABLES and not isinstance(program, Tables):
        raise LoomError(f"the executor '{name}' runs tables, not {type(program).__name__}; assemble the program first")
    return loader(program, warnings, trace, **options)
