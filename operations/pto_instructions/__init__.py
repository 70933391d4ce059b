"""Instructions of the public dialect: one row for the name, the text and the effect of each.

The dialect makes its operations from these tables, its printer and its reference page follow from them. They know
nothing of IR. `instruction` explains the notation.
"""

from __future__ import annotations

from dataclasses import replace

from . import communication, scalars, synchronization, threads, tiles, transfers, vectors, virtual_vectors
from .attributes import ATTRIBUTES
from .instruction import Instruction

MODULES = (tiles, synchronization, communication, scalars, transfers, vectors, virtual_vectors, threads)
"""The tables, in the order of the reference page."""

INSTRUCTIONS: dict[str, Instruction] = {
    row.name: replace(row, attributes=ATTRIBUTES.get(row.name, "")) for module in MODULES for row in module.TABLE
}
"""The instructions by name without `pto.`."""
