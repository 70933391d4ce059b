"""The build backend of this distribution (PEP 517): setuptools, and a C compiler where the machine has none.

pyproject.toml names it; setup.py has the commands that build the core.
"""

from __future__ import annotations

from typing import Any

import compile_core
from setuptools.build_meta import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]
from setuptools.build_meta import get_requires_for_build_editable as _for_editable
from setuptools.build_meta import get_requires_for_build_wheel as _for_wheel

COMPILER = "ziglang>=0.13,<0.16"
"""The wheel with a C compiler."""


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what building a wheel needs beyond setuptools."""
    return [*_for_wheel(config_settings), *_compiler()]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return what an editable installation needs beyond setuptools."""
    return [*_for_editable(config_settings), *_compiler()]


def _compiler() -> list[str]:
    try:
        needed = compile_core.is_wanted() and compile_core.system_compiler() is None
    except compile_core.CompileError as error:
        raise SystemExit(f"error: {error}") from None
    return [COMPILER] if needed else []
