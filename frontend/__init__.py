"""The CSL front end: compile-time evaluation, types, and IR in `wse` and `dsd` for what is left to run time.

    from loomir import frontend

    layout = frontend.compile_layout("layout.csl", arch="wse3")    # raises csl.CslError

One partial evaluator walks the tree. A value is known at compile time, or differs from PE to PE but is fixed when the
program starts (a `Column`), or is an SSA value of the function being emitted; every rule of the language is written
once for all three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .compilation import CompiledLayout as CompiledLayout
    from .compilation import compile_layout as compile_layout

__all__ = ["CompiledLayout", "compile_layout"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from . import compilation

        return getattr(compilation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
