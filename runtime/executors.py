"""Executors by name. A run loads only what the chosen one needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from inspect import signature
from typing import IO, Any

from ..diagnostics import limits
from ..diagnostics.errors import LoomError
from ..diagnostics.output import tell
from ..targets import is_chip
from .executor import Executor, Loader
from .tables.format import Tables
from .warnings import Warnings

EXECUTOR = "LOOM_EXECUTOR"
"""Environment variable: the executor that runs programs, by name."""

AUTO = "auto"
"""In place of a name: that of `of_grid`."""

DEFAULT = AUTO

MAX_UNITS_OF_REFERENCE = 1024
"""Units of the largest grid that the reference runs unless it is named, where the core is not installed."""

MAX_CHECKED_UNITS = 4096
"""Units of the largest grid on which races are looked for unless something else is asked for."""

EXECUTORS = {"core": "core.executor", "reference": "reference.executor"}
"""The executors of programs of the wafer: by name, the module below this package with their `load`. They run tables."""

OF_CHIPS = {"core": "core.chip_executor", "reference": "reference.chip_executor"}
"""The same of programs of chips."""


def chosen() -> str:
    """Return the name of the executor that the environment asks for, or of the default one; it may be `AUTO`.

    Raises LoomError for a name that is not known.
    """
    name = os.environ.get(EXECUTOR) or DEFAULT
    if name not in (*EXECUTORS, AUTO):
        raise LoomError(f"{EXECUTOR} is '{name}'; the executors are: {', '.join(EXECUTORS)}, and {AUTO}")
    return name


def of(program: object) -> str:
    """Return the name of the executor of a program: that of the environment, or of `of_grid`. Raises LoomError."""
    name = chosen()
    if name != AUTO:
        return name
    if not isinstance(program, Tables):
        return next(iter(EXECUTORS))
    return of_grid(int(program["program"]["width"][0]) * int(program["program"]["height"][0]))


def is_of_chip(tables: Tables) -> bool:
    """Return True if a program is one of a chip of cube and vector cores."""
    return is_chip(tables.strings[int(tables["program"]["target"][0])])


def is_checked(tables: Tables) -> bool:
    """Return True if races are looked for by default: as the environment says, else on grids that are not large.

    Where the size of the grid decides against it, a line on stderr says so. Raises LoomError.
    """
    wanted = limits.check()
    if wanted is not None:
        return wanted
    units = int(tables["program"]["width"][0]) * int(tables["program"]["height"][0])
    if units > MAX_CHECKED_UNITS:
        tell("note", f"races are not looked for on {units:,} PEs, which takes time; {limits.CHECK}=1 does it")
    return units <= MAX_CHECKED_UNITS


def of_grid(units: int) -> str:
    """Return the executor that `AUTO` takes for a wafer's program on so many units: the core where it is installed.

    Else a line on stderr says, once, that the reference runs it. Raises LoomError if it has too many units for that.
    """
    library = import_module(".core.library", __package__)
    if library.is_present():
        return "core"
    if units > MAX_UNITS_OF_REFERENCE:
        raise LoomError(
            f"{library.NOT_INSTALLED}; without it programs on up to {MAX_UNITS_OF_REFERENCE:,} PEs run, and this one "
            f"is on {units:,}; with {EXECUTOR}=reference it runs all the same, slowly"
        )
    _note_slow(library.NOT_INSTALLED)
    return "reference"


@cache
def _note_slow(reason: str) -> None:
    tell("note", f"{reason}; until then programs run slowly")


def load(
    name: str, program: object, warnings: Warnings, trace: IO[bytes] | None, options: Mapping[str, Any]
) -> Executor:
    """Return an executor of a name with a program loaded. Raises LoomError."""
    if name not in EXECUTORS:
        raise LoomError(f"'{name}' is not an executor; the executors are: {', '.join(EXECUTORS)}")
    modules = OF_CHIPS if isinstance(program, Tables) and is_of_chip(program) else EXECUTORS
    loader: Loader = import_module(f".{modules[name]}", __package__).load
    known = signature(loader).parameters
    for option in options:
        if option not in known:
            raise LoomError(f"the executor '{name}' has no option '{option}'")
    if not isinstance(program, Tables):
        raise LoomError(f"the executor '{name}' runs tables, not {type(program).__name__}; assemble the program first")
    return loader(program, warnings, trace, **options)
