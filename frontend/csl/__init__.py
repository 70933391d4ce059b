# pyright: strict
"""CSL text to tree and back.

    from loomir.frontend import csl

    file = csl.parse(text, "pe_program.csl")    # raises csl.CslError

Imports neither xDSL nor numpy until there is an error to raise, so that tools start fast.
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

__all__ = ["CslError", "Diagnostic", "Note", "Source", "parse", "syntax"]


def __getattr__(name: str) -> object:
    if name != "CslError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .errors import CslError

    return CslError
