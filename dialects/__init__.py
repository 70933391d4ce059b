"""The dialects of Loom IR, loaded only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.context import Context
from xdsl.ir import Dialect


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Every dialect of this package by name; calling an entry imports and returns it."""

    def get_wse() -> Dialect:
        from .wse import Wse

        return Wse

    def get_dsd() -> Dialect:
        from .dsd import Dsd

        return Dsd

    def get_dsr() -> Dialect:
        from .dsr import Dsr

        return Dsr

    def get_flow() -> Dialect:
        from .flow import Flow

        return Flow

    def get_pto() -> Dialect:
        from .pto import Pto

        return Pto

    return {"wse": get_wse, "dsd": get_dsd, "dsr": get_dsr, "flow": get_flow, "pto": get_pto}


def context() -> Context:
    """An xDSL context that knows our dialects and xDSL's own, each loaded when first met."""
    from xdsl.dialects import get_all_dialects as xdsl_dialects

    ctx = Context()
    for name, factory in {**xdsl_dialects(), **get_all_dialects()}.items():
        ctx.register_dialect(name, factory)
    return ctx
