"""Conversion of a host's values to the type and shape of a buffer, with errors that say why one does not fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..diagnostics.errors import LoomError


def as_array(value: ArrayLike, what: str) -> NDArray[np.generic]:
    """Return `value` as an array of numbers; raises LoomError for anything else."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise LoomError(f"{what} is not an array: {error}") from error
    if array.dtype == object and array.size and all(isinstance(element, int) for element in array.flat):
        raise LoomError(f"{what} holds an integer of more than 64 bits")
    if array.dtype == object or (array.dtype.kind in "SUMmV" and array.dtype.isbuiltin != 2):
        raise LoomError(f"{what} holds {array.dtype}, not numbers")
    return array


def convert(value: ArrayLike, dtype: np.dtype, what: str) -> NDArray[np.generic]:
    """Return `value` with elements of `dtype`. Raises LoomError if more than the precision of floats would change."""
    array = as_array(value, what)
    if array.dtype == dtype:
        return array
    integral = dtype.kind in "iu"
    if array.dtype.kind == "c":
        raise LoomError(f"{what} holds complex numbers, but the program takes {dtype}")
    if not integral:
        with np.errstate(over="ignore"):
            rounded = array.astype(dtype)
        overflown = ~np.isfinite(rounded) & np.isfinite(array)
        if overflown.any():
            raise LoomError(f"{what} holds {array[overflown].flat[0]}, which is too large for {dtype}")
        return rounded
    if array.dtype.kind not in "iub":
        raise LoomError(f"{what} holds {array.dtype}, but the program takes {dtype}; convert it first")
    limits = np.iinfo(dtype)
    if array.size and (int(array.min()) < limits.min or int(array.max()) > limits.max):
        low, high = int(array.min()), int(array.max())
        raise LoomError(f"{what} holds values from {low} to {high}, but {dtype} only {limits.min} to {limits.max}")
    return array.astype(dtype)


def spread(
    array: NDArray[np.generic], shape: Sequence[int], rectangle: tuple[int, int], what: str
) -> NDArray[np.generic]:
    """Return `array` as [height, width, *shape], a read-only view if it is the same for all PEs.

    `shape` is the buffer's on one PE. Accepts the whole array, one PE's buffer, or one number.
    """
    width, height = rectangle
    whole = (height, width, *shape)
    if array.shape == whole:
        return array
    if array.shape in (tuple(shape), ()):
        return np.broadcast_to(array, whole)
    needed = f"{list(whole)} for the rectangle of {width}x{height} PEs"
    if shape:
        needed += f", {list(shape)} for the same on every PE"
    raise LoomError(f"{what} has shape {list(array.shape)}, needs {needed}, or one number")
