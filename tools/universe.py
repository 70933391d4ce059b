"""Shows our dialects and passes to every xDSL tool that looks for `xdsl.universe` entry points."""

from __future__ import annotations

from xdsl.universe import Universe

from ..dialects import get_all_dialects
from ..passes import get_all_passes

LOOM_UNIVERSE = Universe(all_dialects=get_all_dialects(), all_passes=get_all_passes())
