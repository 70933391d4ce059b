"""The passes, one module or package each, named as the pass: `dsd-assign-queues` is in dsd_assign_queues.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pkgutil import iter_modules

from xdsl.passes import ModulePass


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Return every pass of this package by name; calling an entry imports the pass and returns its class."""
    return passes_in(__name__, __path__)


def passes_in(package: str, path: Iterable[str]) -> dict[str, Callable[[], type[ModulePass]]]:
    """Return the passes in the modules of a package on `path`.

    A pass `a-b` is the class `ABPass` of the module `a_b`.
    """

    def getter(module: str) -> Callable[[], type[ModulePass]]:
        def get() -> type[ModulePass]:
            name = "".join(map(str.capitalize, module.split("_"))) + "Pass"
            return getattr(import_module(f"{package}.{module}"), name)

        return get

    return {found.name.replace("_", "-"): getter(found.name) for found in iter_modules(path)}
