"""CSL source from `wse` and `dsd` IR.

    from loomir.backend import csl

    files = csl.source_of(module)  # {"layout.csl": ..., "cell.csl": ...}

The text is that of an SDK program: a layout, one file for each `wse.pe`, and the memcpy library for the host.
"""

from __future__ import annotations

from .program import LAYOUT_FILE as LAYOUT_FILE
from .program import files_of as files_of
from .program import source_of as source_of

__all__ = ["LAYOUT_FILE", "files_of", "source_of"]
