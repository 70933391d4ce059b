"""xDSL's own `csl` dialect, which says in operations what a CSL file says in text, brought to `wse` and `dsd`.

Modules of the dialect are written as CSL trees and compiled by the CSL front end, so that whatever they import (the
libraries, CSL files beside them) means what it means there; errors and locations are those of the IR.
"""

from __future__ import annotations

from .imported import import_modules as import_modules

__all__ = ["import_modules"]
