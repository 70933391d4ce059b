"""Executors by name. A run loads only what the chosen one needs."""

from __future__ import annotations

import os
from importlib import import_module

from ..diagnostics.errors import LoomError
from .executor import Loader

EXECUTOR = "LOOM_EXECUTOR"
"""Environment variable: the executor that runs programs of the wafer, by name."""

DEFAULT = "warps"

EXECUTORS = {"warps": "warps.machine"}
"""The executors: by name, the module below this package with their `load`."""


def chosen() -> str:
    """Return the name of the executor that the environment asks for, or of the default one. Raises LoomError."""
    name = os.environ.get(EXECUTOR) or DEFAULT
    if name not in EXECUTORS:
        raise LoomError(f"{EXECUTOR} is '{name}'; the executors are: {', '.join(EXECUTORS)}")
    return name


def loader(name: str) -> Loader:
    """Return what makes an executor of a name. Raises LoomError."""
    if name not in EXECUTORS:
        raise LoomError(f"there is no executor '{name}'; the executors are: {', '.join(EXECUTORS)}")
    found: Loader = import_module(f".{EXECUTORS[name]}", __package__).load
    return found
