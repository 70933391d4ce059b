"""The dialects of Loom IR, loaded only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pkgutil import iter_modules

from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.ir import Dialect

_SHARED = "machine"
"""The one folder here that is not a dialect: what `wse`, `dsd`, `dsr` and `flow` have in common."""

_EXTENDED = ("arith", "llvm", "scf")
"""The dialects of xDSL that we add operations to, in the modules here that are named as they are."""


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Return what loads each dialect, by name: every folder here is one, named as the folder is."""
    return {
        module.name: partial(_load, module.name)
        for module in iter_modules(__path__)
        if module.ispkg and module.name != _SHARED
    }


def _load(name: str) -> Dialect:
    dialect: Dialect = getattr(import_module(f".{name}", __name__), name.capitalize())
    return dialect


def context() -> Context:
    """Return an xDSL context that knows our dialects and xDSL's own, each loaded when first met."""
    ctx = Context()
    extended = {name: partial(_load, name) for name in _EXTENDED}
    for name, load in {**get_xdsl_dialects(), **get_all_dialects(), **extended}.items():
        ctx.register_dialect(name, load)
    return ctx
