"""Tensors of memcpy: one-dimensional arrays of 32-bit words, and the three-dimensional tensors they hold.

A tensor is A[y][x][k]: h rows and w columns of PEs with l elements each. Here it has shape [h, w, l]; the host's
array holds it flat in one of two orders (HOST-039, HOST-049). Nothing here knows the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import SdkError

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Words = NDArray[np.uint32]


def _is_array(value: object) -> TypeIs[NDArray[Any]]:
    return isinstance(value, np.ndarray)


def check_array(array: object, elements: int, what: str, *, shape: str, exact: bool = True) -> NDArray[Any]:
    """Return `array`, if it is numpy's, with 32-bit elements and as many as needed, or more if it need not be `exact`
    (HOST-040, HOST-043)."""
    if not _is_array(array):
        raise SdkError(f"{what} is {type(array).__name__}, not a numpy array; give an array of 32-bit elements")
    if array.dtype.itemsize != 4 or array.dtype.kind not in "iuf":
        hint = (
            "widen 16-bit data to 32 bits with sdk_utils.input_array_to_u32 or memcpy_view"
            if array.dtype.itemsize == 2
            else "convert it to int32, uint32 or float32"
        )
        raise SdkError(f"{what} holds {array.dtype}, but memcpy moves 32-bit elements; {hint}")
    if array.size < elements or (exact and array.size > elements):
        raise SdkError(f"{what} has {array.size} elements, but the region needs {shape} = {elements}")
    return array


def unpack(array: NDArray[Any], shape: tuple[int, int, int], column_major: bool) -> Words:
    """Return the tensor [h, w, l] in a host's array of h*w*l elements of 32 bits; may share memory with the array."""
    flat = array.reshape(-1).view(np.uint32)
    height, width, length = shape
    if column_major:
        return flat.reshape(length, width, height).transpose(2, 1, 0)
    return flat.reshape(height, width, length)


def pack(tensor: Words, array: NDArray[Any], column_major: bool) -> None:
    """Write a tensor [h, w, l] into the host's array, in place, whatever its shape and strides."""
    flat = np.ascontiguousarray(tensor.transpose(2, 1, 0) if column_major else tensor).reshape(-1)
    array[...] = flat.view(array.dtype).reshape(array.shape)


def not_widened(tensor: Words) -> str | None:
    """Return where words of 16-bit data first have bits in their upper half, which copies drop (HOST-045); or None."""
    wrong = tensor >> 16 != 0
    if not wrong.any():
        return None
    y, x, k = (int(i) for i in np.argwhere(wrong)[0])
    return f"{int(tensor[y, x, k]):#010x} for PE ({x}, {y}) of the region, element {k}"
