"""Target machines: every number of a machine is here, once, with its source."""

from __future__ import annotations

from ..diagnostics.errors import LoomError
from .a2a3 import CHIP as _A2A3
from .a2a3 import COSTS as _A2A3_COSTS
from .a5 import CHIP as _A5
from .a5 import COSTS as _A5_COSTS
from .chip import LANES, Chip
from .chip_costs import Costs
from .chip_fabric import as_fabric
from .model import MemcpyResources, Target, Timing
from .wse2 import TARGET as _WSE2
from .wse3 import TARGET as _WSE3

TARGETS: dict[str, Target] = {target.name: target for target in (_WSE2, _WSE3)}


def get(name: str) -> Target:
    """Return the target called `name`; raises LoomError naming those there are."""
    try:
        return TARGETS[name]
    except (KeyError, TypeError):
        raise LoomError(f"unknown target '{name}'; choose one of {', '.join(sorted(TARGETS))}") from None


CHIPS: dict[str, Chip] = {chip.name: chip for chip in (_A2A3, _A5)}


def chip(name: str) -> Chip:
    """Return the chip of cube and vector cores called `name`; raises LoomError naming those there are."""
    try:
        return CHIPS[name]
    except (KeyError, TypeError):
        raise LoomError(f"unknown chip '{name}'; choose one of {', '.join(sorted(CHIPS))}") from None


COSTS: dict[str, Costs] = {_A2A3.name: _A2A3_COSTS, _A5.name: _A5_COSTS}
"""What operations of a chip of cube and vector cores cost, estimated."""


FABRICS: dict[str, Target] = TARGETS | {chip.name: as_fabric(chip, LANES) for chip in CHIPS.values()}
"""All that `flow` can be run on: wafers, and chips of cube and vector cores."""


def fabric(name: str) -> Target:
    """Return the wafer or chip called `name`, as what `flow` runs on; raises LoomError naming those there are."""
    try:
        return FABRICS[name]
    except (KeyError, TypeError):
        raise LoomError(f"unknown target '{name}'; choose one of {', '.join(sorted(FABRICS))}") from None


__all__ = [
    "CHIPS",
    "COSTS",
    "FABRICS",
    "LANES",
    "TARGETS",
    "Chip",
    "Costs",
    "MemcpyResources",
    "Target",
    "Timing",
    "chip",
    "fabric",
    "get",
]
