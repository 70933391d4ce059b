"""The library of the core: loaded once, after a check that it is built from the sources beside it."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

from ...diagnostics.errors import LoomError
from . import compile_core

BUILD = "`pip install --editable .` in a checkout, or `pip install --force-reinstall loomir`, builds it"

NOT_INSTALLED = f"the engine's core is not installed; {BUILD}, unless LOOM_CORE is none"


def is_named() -> bool:
    """Return True if the environment names a library (LOOM_CORE_LIBRARY), as tests under sanitizers do."""
    return bool(os.environ.get("LOOM_CORE_LIBRARY"))


def path() -> Path:
    """Return where the library is: beside its sources, unless the environment names another."""
    return Path(os.environ["LOOM_CORE_LIBRARY"]) if is_named() else compile_core.FOLDER / compile_core.LIBRARY


def is_present() -> bool:
    """Return True if there is a library to load."""
    return path().exists()


@cache
def load() -> ctypes.CDLL:
    """Return the library. Raises LoomError if it is absent, damaged, or of other sources."""
    return open_library(path())


def open_library(file: Path) -> ctypes.CDLL:
    """Return the library in a file. Raises LoomError if it is absent, damaged, or of other sources."""
    if not file.exists():
        raise LoomError(NOT_INSTALLED, str(file))
    try:
        library = ctypes.CDLL(str(file))
        library.loom_sources.restype = ctypes.c_char_p
        found = library.loom_sources().decode()
    except (OSError, AttributeError):
        raise LoomError(f"the engine's core cannot be loaded; {BUILD} again", str(file)) from None
    wanted = compile_core.source_hash()
    if found != wanted:
        raise LoomError(
            f"the engine's core is of other sources ({found[:8]}) than those beside it ({wanted[:8]}); {BUILD} again",
            str(file),
        )
    return library
