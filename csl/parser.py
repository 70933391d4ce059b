"""Parser of CSL: recursive descent, with precedence climbing for expressions.

The grammar is docs/csl-grammar.ebnf, and `grammar` has a file for each of its parts. At most three tokens are looked at
and nothing is ever tried twice. A mistake is recorded and reading goes on at the next statement or declaration, so that
one run shows several.
"""

from __future__ import annotations

from ..diagnostics.nesting import deep_nesting
from .grammar.declarations import Declarations
from .source import Source
from .syntax import File


class Parser(Declarations):
    """Reads one file. `file()` may be called once; `diagnostics` then holds what was wrong."""

    __slots__ = ()


@deep_nesting()
def parse(text: str, path: str) -> File:
    """Parse the text of a CSL file; `path` is the file's name in messages.

    Raises CslError with every mistake.
    """
    parser = Parser(Source(path, text))
    file = parser.file()
    if parser.diagnostics:
        # Here, as only errors need xDSL, which takes long to import.
        from .errors import CslError

        raise CslError(sorted(parser.diagnostics, key=lambda diagnostic: diagnostic.start))
    return file
