"""What the layout says of PEs, kept until all of it has been evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..csl import syntax
from ..csl.source import Source
from .values import Lanes


@dataclass
class Effect:
    """Something the layout says of PEs, to be carried out when all of it has been evaluated."""

    name: str
    node: syntax.Node
    source: Source
    lanes: Lanes
    arguments: tuple[Any, ...] = field(default=())
