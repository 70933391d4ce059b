"""Arithmetic that numpy gets wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from .units import Array


def negate(source: Any, out: Array) -> None:
    """Write `-source`, of the type of `out`, into it.

    numpy's own negative (2.2 to 2.4) takes wrong elements where 32-bit ones are 4 apart and those written are not
    side by side; 64-bit ones likewise at 8 apart.
    """
    source = np.asarray(source, out.dtype)
    if out.dtype.kind in "iu":
        np.subtract(out.dtype.type(0), source, out=out)
    else:
        bits = np.dtype(f"u{out.itemsize}")
        np.bitwise_xor(source.view(bits), bits.type(1 << (8 * out.itemsize - 1)), out=out.view(bits))
