"""Other compilers' IR to ours: each importer is a pass, in a module named as the pass."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.passes import ModulePass

from ..passes import passes_in


def get_all_importers() -> dict[str, Callable[[], type[ModulePass]]]:
    """Return every importing pass by name; calling an entry imports the pass and returns its class."""
    all_passes = passes_in(__name__, __path__)
    return {name: all_passes[name] for name in all_passes if name.startswith("import-")}
