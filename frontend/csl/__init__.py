# pyright: strict
"""CSL text to tree and back.

    from loomir.frontend import csl

    file = csl.parse(text, "pe_program.csl")    # raises csl.CslError

    layout = csl.compile_layout("layout.csl", arch="wse3")    # a program in wse and dsd IR

Imports neither xDSL nor numpy until there is an error to raise or a program to compile, so that tools start fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import syntax as syntax
from .parser import parse as parse
from .source import Diagnostic as Diagnostic
from .source import Note as Note
from .source import Source as Source

if TYPE_CHECKING:
    from .errors import CslError as CslError
    from .sema.compilation import CompiledLayout as CompiledLayout
    from .sema.compilation import compile_layout as compile_layout

__all__ = ["CompiledLayout", "CslError", "Diagnostic", "Note", "Source", "compile_layout", "parse", "syntax"]


def __getattr__(name: str) -> object:
    if name == "CslError":
        from .errors import CslError

        return CslError
    if name in ("CompiledLayout", "compile_layout"):
        from .sema import compilation

        return getattr(compilation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
