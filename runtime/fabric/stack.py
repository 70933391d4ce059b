"""Stacks of PEs: how much memory calls take, and how much a PE has left for them behind its variables."""

from __future__ import annotations

import numpy as np

from ...targets.model import Target
from ..tables.format import Tables
from .classes import words_in_use
from .model import Array


def stack_rooms(tables: Tables, target: Target) -> Array:
    """Return the bytes of memory for the calls that are open on a PE, int64 [classes]."""
    used = [2 * words_in_use(int(words)) for words in tables["classes"]["words"]]
    return np.maximum(target.memory_bytes - np.array(used, np.int64), 0)


def bytes_of_calls(tables: Tables, target: Target) -> Array:
    """Return the bytes that a call of each body takes of a stack while it is open, int64 [bodies]."""
    bodies = tables["bodies"]
    changing = bodies["registers"].astype(np.int64) - bodies["numbers"]
    return target.call_bytes + target.call_register_bytes * changing
