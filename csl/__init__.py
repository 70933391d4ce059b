"""The CSL language as text and tree: `parse` text, walk the tree, print it again.

    from loomir import csl

    file = csl.parse(text, "pe_program.csl")    # raises csl.CslError

Imports neither xDSL nor numpy until there is an error to raise, so that tools start fast; `loomir.frontend` compiles
the tree.
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
    if name == "CslError":
        from .errors import CslError

        return CslError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
