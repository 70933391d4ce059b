"""The chips of cube and vector cores by name, apart from the wafers: a run on a wafer has no use for them."""

from __future__ import annotations

from ..diagnostics.errors import LoomError
from .a2a3 import CHIP as _A2A3
from .a2a3 import COSTS as _A2A3_COSTS
from .a5 import CHIP as _A5
from .a5 import COSTS as _A5_COSTS
from .chip import LANES, Chip
from .chip_costs import Costs
from .chip_fabric import as_fabric
from .model import Target

CHIPS: dict[str, Chip] = {chip.name: chip for chip in (_A2A3, _A5)}

COSTS: dict[str, Costs] = {_A2A3.name: _A2A3_COSTS, _A5.name: _A5_COSTS}
"""What operations of a chip cost, estimated."""

CHIP_FABRICS: dict[str, Target] = {chip.name: as_fabric(chip, LANES) for chip in CHIPS.values()}
"""What `flow` runs on, for each chip."""


def chip(name: str) -> Chip:
    """Return the chip called `name`; raises LoomError naming those there are."""
    try:
        return CHIPS[name]
    except (KeyError, TypeError):
        raise LoomError(f"unknown chip '{name}'; choose one of {', '.join(sorted(CHIPS))}") from None
