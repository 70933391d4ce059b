"""The passes, one to a file: `dsd-assign-queues` is the ModulePass in `dsd_assign_queues.py`.

A new pass is found by its file; there is no list to keep. Pure algorithms are in `passes.analysis`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from xdsl.passes import ModulePass


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Every pass of this package by name; calling an entry imports its file and returns the class."""
    modules = (module.name for module in iter_modules(__path__) if not module.ispkg)
    return {module.replace("_", "-"): _loader(module) for module in modules}


def _loader(module: str) -> Callable[[], type[ModulePass]]:
    def load() -> type[ModulePass]:
        name = module.replace("_", "-")
        for value in vars(import_module(f".{module}", __name__)).values():
            if isinstance(value, type) and issubclass(value, ModulePass) and value.__dict__.get("name") == name:
                return value
        raise ImportError(f"{module}.py defines no pass named '{name}'")

    return load
