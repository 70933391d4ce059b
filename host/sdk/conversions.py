"""sdk_utils: between the arrays a host computes with and the 32-bit words that memcpy moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...targets.wavelets import EXTENTS
from .errors import SdkError


def calculate_cycles(timestamp_buf: NDArray[Any]) -> np.int64:
    """Return cycles between two time stamps, packed into three 32-bit words (HOST-056, HOST-057).

    The words hold six 16-bit halves, low half first: start 0, 1, 2, then end 0, 1, 2; a time stamp is 48 bits, low word
    first. Raises SdkError for anything but three words of 32 bits.
    """
    words = np.asarray(timestamp_buf)
    if words.size != 3 or words.dtype.itemsize != 4:
        raise SdkError(
            f"calculate_cycles takes the 3 words of 32 bits of two packed time stamps, not "
            f"{words.size} of {words.dtype}"
        )
    halves = np.ascontiguousarray(words).reshape(-1).view("<u2").astype(np.int64)
    scale = np.array([1, 1 << 16, 1 << 32], np.int64)
    return np.int64((halves[3:] * scale).sum() - (halves[:3] * scale).sum())


def input_array_to_u32(
    np_arr: NDArray[Any] | None = None,
    sentinel: int | None = None,
    fast_dim_sz: int = 1,
    *,
    arr: NDArray[Any] | None = None,
) -> NDArray[np.uint32]:
    """Return an array of 16- or 32-bit elements as 32-bit words for memcpy, flat (HOST-059 to HOST-063).

    16-bit elements go to the low halves. The upper halves are zero if `sentinel` is None, else the element's place in
    the innermost dimension, which has `fast_dim_sz` elements. 32-bit elements keep their bits. The array may be named
    `np_arr` or `arr`; the manuals differ.
    """
    given = arr if np_arr is None else np_arr
    if given is None:
        raise SdkError("input_array_to_u32 takes an array; pass it first")
    array = np.asarray(given)
    if array.dtype.itemsize not in (2, 4) or array.dtype.kind not in "iufV":
        raise SdkError(f"input_array_to_u32 takes elements of 2 or 4 bytes, not {array.dtype}")
    flat = np.ascontiguousarray(array).reshape(-1)
    if array.dtype.itemsize == 4:
        return flat.view(np.uint32)
    words = flat.view(np.uint16).astype(np.uint32)
    if sentinel is None:
        return words
    if (
        isinstance(fast_dim_sz, bool)
        or not isinstance(fast_dim_sz, int | np.integer)
        or not 0 < fast_dim_sz <= len(EXTENTS)
    ):
        raise SdkError(f"fast_dim_sz is {fast_dim_sz}; give the size of the innermost dimension, 1 to {len(EXTENTS)}")
    index = np.arange(words.size, dtype=np.int64) % int(fast_dim_sz)
    return words | (index.astype(np.uint32) << np.uint32(16))


def memcpy_view(arr: NDArray[Any], datatype: DTypeLike) -> NDArray[Any]:
    """Return a view of 32-bit words as elements of 4, 2 or 1 bytes, the low end of each (HOST-064 to HOST-068).

    It has the shape of `arr`, and what is written through it is in `arr`.
    """
    if not isinstance(arr, np.ndarray) or arr.dtype.itemsize != 4:
        found = arr.dtype if isinstance(arr, np.ndarray) else type(arr).__name__
        raise SdkError(f"memcpy_view takes a numpy array with elements of 4 bytes, not {found}")
    dtype = np.dtype(datatype)
    if dtype.itemsize not in (1, 2, 4):
        raise SdkError(f"memcpy_view shows elements of 1, 2 or 4 bytes, not {dtype} of {dtype.itemsize}")
    if dtype.itemsize == 4:
        return arr.view(dtype)
    # A field at the start of each word: numpy views it with the strides of the words, for any shape and layout.
    return arr.view(np.dtype({"names": ["low"], "formats": [dtype], "offsets": [0], "itemsize": 4}))["low"]
