"""Shows what is here under the names that host scripts import, `cerebras...`, to one process, by an import finder.

No package of that name is installed, and one that is would be found first only if it came before ours.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGES = (
    "cerebras",
    "cerebras.sdk",
    "cerebras.sdk.runtime",
    "cerebras.sdk.debug",
    "cerebras.geometry",
)

MODULES: dict[str, dict[str, str]] = {
    "cerebras.sdk.runtime.sdkruntimepybind": {
        "SdkRuntime": "runtime",
        "MemcpyDataType": "runtime",
        "MemcpyOrder": "runtime",
        "Task": "runtime",
        "SdkCompileArtifacts": "platforms",
        "SdkExecutionPlatform": "platforms",
        "SdkTarget": "platforms",
        "SimfabConfig": "platforms",
        "get_platform": "platforms",
        "get_simulator": "platforms",
        "get_system": "platforms",
    },
    "cerebras.sdk.sdk_utils": {
        "calculate_cycles": "conversions",
        "input_array_to_u32": "conversions",
        "memcpy_view": "conversions",
    },
    "cerebras.sdk.debug.debug_util": {"debug_util": "debugging"},
    "cerebras.geometry.geometry": {"IntVector": "geometry", "IntRectangle": "geometry"},
}
"""Of each module its names, and our module that has them."""


class SdkFinder(MetaPathFinder, Loader):
    """Finds the SDK's packages and modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in PACKAGES:
            return ModuleSpec(fullname, self, is_package=True)
        if fullname in MODULES:
            return ModuleSpec(fullname, self)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fills a module with our names; a package with nothing."""
        for name, home in MODULES.get(module.__name__, {}).items():
            setattr(module, name, getattr(import_module(f".{home}", __package__), name))


def install() -> None:
    """Makes the SDK's modules importable in this process, before any installed package of their name."""
    if not any(isinstance(finder, SdkFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, SdkFinder())
