"""Target machines: every number of a machine is here, once, with its source."""

from __future__ import annotations

from ..diagnostics.errors import LoomError
from .model import MemcpyResources, Target, Timing
from .wse2 import TARGET as _WSE2
from .wse3 import TARGET as _WSE3

TARGETS: dict[str, Target] = {target.name: target for target in (_WSE2, _WSE3)}


def get(name: str) -> Target:
    """Return the wafer called `name`; raises LoomError naming those there are."""
    try:
        return TARGETS[name]
    except (KeyError, TypeError):
        raise LoomError(f"unknown target '{name}'; choose one of {', '.join(sorted(TARGETS))}") from None


def fabrics() -> dict[str, Target]:
    """Return all that `flow` can be run on by name: wafers, and chips of cube and vector cores."""
    from .chips import CHIP_FABRICS  # programs of the wafer do without

    return TARGETS | CHIP_FABRICS


def fabric(name: str) -> Target:
    """Return the wafer or chip called `name`, as what `flow` runs on; raises LoomError naming those there are."""
    found = TARGETS.get(name) or fabrics().get(name)
    if found is None:
        raise LoomError(f"unknown target '{name}'; choose one of {', '.join(sorted(fabrics()))}")
    return found


def is_chip(name: str) -> bool:
    """Return True if one of `fabrics` is a chip of cube and vector cores."""
    return name not in TARGETS


__all__ = ["TARGETS", "MemcpyResources", "Target", "Timing", "fabric", "fabrics", "get", "is_chip"]
