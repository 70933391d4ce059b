"""Import finder that provides our modules under the names that host scripts import, `cerebras...`, to one process.

No package of that name is installed, and one that is would be found first only if it came before ours.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from .errors import SdkError

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
        "SdkLayout": "layout",
        "FP16TYPE": "layout",
        "CodeRegion": "code_regions",
        "Color": "routing",
        "Edge": "routing",
        "EdgeRouteInfo": "routing",
        "PortHandle": "code_regions",
        "PortId": "direct_link",
        "Route": "routing",
        "RoutingPosition": "routing",
        "get_edge_routing": "routing",
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

NO_APPLIANCE = (
    "there is no appliance to connect to; compile with cslc and use SdkRuntime of cerebras.sdk.runtime.sdkruntimepybind"
)
MISSING: dict[str, dict[str, str]] = {
    "cerebras.sdk.client": dict.fromkeys(("SdkCompiler", "SdkLauncher", "SdkRuntime"), NO_APPLIANCE),
}
"""Names of the SDK that are not provided, each with the error for a script that uses it."""


class SdkFinder(MetaPathFinder, Loader):
    """Finds the SDK's packages and modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in PACKAGES:
            return ModuleSpec(fullname, self, is_package=True)
        if fullname in MODULES or fullname in MISSING:
            return ModuleSpec(fullname, self)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Give a module our names, each once it is asked for: what makes layouts is no matter of most scripts."""
        homes = MODULES.get(module.__name__, {})
        missing = MISSING.get(module.__name__, {})

        def provide(name: str) -> object:
            """Return what a name stands for; raises SdkError for one that is missing, else AttributeError."""
            if name in homes:
                found = module.__dict__[name] = getattr(import_module(f".{homes[name]}", __package__), name)
                return found
            if name in missing:
                raise SdkError(f"{name}: {missing[name]}")
            raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")

        module.__dict__.update(
            __all__=list(homes), __getattr__=provide, __dir__=lambda: sorted({*module.__dict__, *homes})
        )


def install() -> None:
    """Make the SDK's modules importable in this process, before any installed package of their name."""
    if not any(isinstance(finder, SdkFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, SdkFinder())
