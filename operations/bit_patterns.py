"""Numbers compared by their bits: 0.0 and -0.0 are two numbers, and so are two NaNs with other payloads."""

from __future__ import annotations

from struct import pack
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray


def patterns(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array to compare and sort by: the bits of floats, other numbers themselves."""
    return values if values.dtype.kind in "biuO" else values.view(f"u{values.dtype.itemsize}")


def are_all_same(values: NDArray[Any]) -> bool:
    """Return True if all elements along the first axis are the same, bit for bit."""
    compared = patterns(values)
    return bool((compared == compared[:1]).all())


def identity(number: Any) -> Any:
    """Return what a number, or an array of numbers, is equal to another of its kind by, bit for bit."""
    if isinstance(number, np.ndarray):
        # The bytes of Python's integers are addresses.
        array = cast("NDArray[Any]", number)
        return array.dtype.str, tuple(array.tolist()) if array.dtype.kind == "O" else array.tobytes()
    return pack("<d", number) if isinstance(number, float) else number
