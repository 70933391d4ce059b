"""The word of memory by which each PE lets its host go on: what it writes when it unblocks its command stream."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...targets.memcpy import COMMAND_STREAM
from ..tables.format import EXPORT_BUFFER, Tables


def command_words(tables: Tables) -> NDArray[Any]:
    """Return the word address of each class, int64 [classes], -1 for one that no host commands."""
    found = np.full(len(tables["classes"]), -1, np.int64)
    for row in tables["exports"]:
        if row["type"] == EXPORT_BUFFER and tables.strings[int(row["name"])] == COMMAND_STREAM:
            found[int(row["owner"])] = int(tables["buffers"]["address"][int(row["row"])])
    return found
