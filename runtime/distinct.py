"""The distinct values of an array, without what `np.unique` imports to find them: `numpy.ma`, for masked arrays."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

ScalarT = TypeVar("ScalarT", bound=np.generic)


def distinct(values: NDArray[ScalarT]) -> NDArray[ScalarT]:
    """Return each value of an array of numbers once, in ascending order."""
    ordered = np.sort(values, axis=None)
    is_new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]
