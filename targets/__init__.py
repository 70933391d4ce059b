"""The machines: every number of a machine lives here, once, with its source."""

from __future__ import annotations

from ..diagnostics import LoomError
from .model import Target, Timing
from .wse2 import TARGET as _WSE2
from .wse3 import TARGET as _WSE3

TARGETS: dict[str, Target] = {target.name: target for target in (_WSE2, _WSE3)}


def get(name: str) -> Target:
    """The target called `name`; raises LoomError naming those there are."""
    try:
        return TARGETS[name]
    except (KeyError, TypeError):
        raise LoomError(f"unknown target '{name}'; choose one of {', '.join(sorted(TARGETS))}") from None


__all__ = ["TARGETS", "Target", "Timing", "get"]
