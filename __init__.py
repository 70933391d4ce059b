"""Loom IR compiles and runs programs for dataflow machines without the machine.

    import loomir

    program = loomir.compile("stencil.mlir", rectangle=(8, 8))
    simulator = loomir.Simulator(program)
    simulator.set("u", field)
    simulator.launch("main", 10)
    result = simulator.get("u")

The names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .diagnostics.errors import LoomError as LoomError
    from .host import pto as pto
    from .host.compilation import ExportedSymbol as ExportedSymbol
    from .host.compilation import Program as Program
    from .host.compilation import compile as compile
    from .host.simulator import Simulator as Simulator
    from .runtime import Deadlock as Deadlock

__version__ = "0.1.0"

_HOMES = {
    "Deadlock": ".runtime",
    "ExportedSymbol": ".host.compilation",
    "LoomError": ".diagnostics.errors",
    "Program": ".host.compilation",
    "Simulator": ".host.simulator",
    "compile": ".host.compilation",
}

_MODULES = {"pto": ".host.pto"}

__all__ = ["Deadlock", "ExportedSymbol", "LoomError", "Program", "Simulator", "compile", "pto"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name], __name__), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name], __name__)
    else:
        raise AttributeError(f"module 'loomir' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
