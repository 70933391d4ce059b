"""xDSL universe: our dialects, passes and targets, for every xDSL tool that loads `xdsl.universe` entry points."""

from __future__ import annotations

from xdsl.universe import Universe

from ..backend import get_all_targets
from ..dialects import get_all_dialects
from ..importers import get_all_importers
from ..passes import get_all_passes

LOOM_UNIVERSE = Universe(
    all_dialects=get_all_dialects(), all_passes=get_all_passes() | get_all_importers(), all_targets=get_all_targets()
)
