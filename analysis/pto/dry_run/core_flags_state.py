"""State of the flags between cores in a dry run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ..core_flags import FlagsOfProgram


@dataclass
class CoreFlags:
    """The flags of the cores of one device."""

    of_program: FlagsOfProgram
    raised: dict[tuple[int, int, int], list[int]] = field(default_factory=dict[tuple[int, int, int], "list[int]"])
    """The steps that have raised a flag, by mode, flag and core."""
    taken: dict[tuple[int, int, int], int] = field(default_factory=dict[tuple[int, int, int], int])
    """Waits of a core for a flag so far, by mode, flag and core."""
    stuck: dict[int, tuple[Operation, int, Sequence[int]]] = field(
        default_factory=dict[int, "tuple[Operation, int, Sequence[int]]"]
    )
    """The present wait of each core: the operation, the flag, and the cores that have not set it."""
