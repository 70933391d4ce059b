"""Import of xDSL's own `csl` dialect, whose operations mirror the text of a CSL file, to `wse` and `dsd`.

Modules of the dialect become CSL trees, which the CSL front end compiles, so that whatever they import (the
libraries, CSL files beside them) means what it does in CSL; errors and locations are those of the IR.
"""

from __future__ import annotations

from .imported import import_modules as import_modules

__all__ = ["import_modules"]
