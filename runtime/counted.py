"""Counts of what a run is charged for, by the names of prices: times them, the cycles that all PEs together worked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .tables.format import Tables
from .tables.instructions import COSTS, DSD_ROWS

IN_MEMORY, TO_SEND, TO_RECEIVE, IN_REGISTERS, ELEMENTS, FIELDS = range(6)
"""What is counted of an operation: how often it is issued, by where its elements go, or with all its descriptors in
registers; its elements; how many these are."""


class Counted:
    """Counters that an executor of tables adds to.

    `ticked` counts uses of each row of costs, `issued` [operations, FIELDS] is of each row of operations. Elements of
    operations that never end are not counted.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.ticked: npt.NDArray[np.uint64] = np.zeros(max(len(tables["costs"]), 1), np.uint64)
        self.issued: npt.NDArray[np.uint64] = np.zeros((max(len(tables["operations"]), 1), FIELDS), np.uint64)

    def classes(self, task_runs: int) -> dict[str, Any]:
        """Return how often each price has been charged; those never charged are left out.

        Under "elements" are those of DSD operations by name.
        """
        found: dict[str, Any] = {}
        rows = self._tables["costs"]["counts"].astype(np.uint64)
        totals = (self.ticked[: len(rows), None] * rows).sum(axis=0)
        found |= {name: int(total) for name, total in zip(COSTS, totals, strict=False) if total}
        issued = self.issued.sum(axis=0)
        for name, count in (
            ("task_start", task_runs), ("memory_setup", issued[IN_MEMORY]), ("send_setup", issued[TO_SEND]),
            ("receive_setup", issued[TO_RECEIVE]), ("register_setup", issued[IN_REGISTERS]),
        ):  # fmt: skip
            if count:
                found[name] = int(count)
        elements: dict[str, int] = {}
        for row, count in zip(self._tables["operations"]["function"], self.issued[:, ELEMENTS], strict=False):
            if count:
                name = DSD_ROWS[int(row)]
                elements[name] = elements.get(name, 0) + int(count)
        if elements:
            found["elements"] = elements
        return found
