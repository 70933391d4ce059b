"""Arrays of the direct link: wavelets that a host script sends to and receives from the streams of a layout."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from .errors import SdkError
from .streams import PlacedStream

if TYPE_CHECKING:
    from typing_extensions import TypeIs

COUNTED_TYPES = ("int32", "uint32", "float32")
"""Types of arrays whose number of wavelets `send` finds out itself."""

WORD_BYTES = 4

PortId = int
"""What get_port_id returns."""


def find_stream(call: str, streams: Sequence[PlacedStream], port: object, *, is_input: bool) -> PlacedStream:
    """Return the stream of a port id or name; raises SdkError if there is none for that direction."""
    if not streams:
        raise SdkError(f"{call}: the program has no streams; make one with SdkLayout.create_input_stream")
    way = "input" if is_input else "output"
    known = ", ".join(f"'{stream.name}'" for stream in streams if stream.is_input == is_input) or "none"
    if isinstance(port, str):
        found = next((stream for stream in streams if stream.name == port), None)
    else:
        try:
            number = index(cast("int", port))
        except TypeError:
            raise SdkError(f"{call}: {port!r} is not a port; give the name of a stream or its id") from None
        found = streams[number] if 0 <= number < len(streams) else None
    if found is None:
        raise SdkError(f"{call}: there is no {way} stream {port!r}; the {way} streams are: {known}")
    if found.is_input != is_input:
        raise SdkError(
            f"{call}: '{found.name}' is an {'input' if found.is_input else 'output'} stream; the {way} streams are: "
            f"{known}"
        )
    return found


def options(call: str, kwargs: dict[str, Any]) -> bool:
    """Return nonblock; raises SdkError for other arguments."""
    for keyword in kwargs:
        if keyword != "nonblock":
            raise SdkError(f"{call}: unknown argument '{keyword}'; the only keyword is nonblock")
    return bool(kwargs.get("nonblock", False))


def words_to_send(call: str, src: object, n_wavelets: object) -> NDArray[np.uint32]:
    """Return a copy of the first wavelets of an array, [n]; all of it if `n_wavelets` is None."""
    array = _array(call, "src", src)
    if n_wavelets is None:
        if str(array.dtype) not in COUNTED_TYPES:
            raise SdkError(
                f"{call}: src holds {array.dtype}; without n_wavelets it is an array of {', '.join(COUNTED_TYPES)}: "
                "convert it, or pass n_wavelets"
            )
        count = array.size
    else:
        count = _count(call, n_wavelets)
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if count * WORD_BYTES > data.size:
        raise SdkError(
            f"{call}: src has {data.size} bytes, which are {data.size // WORD_BYTES} wavelets of {WORD_BYTES}, and "
            f"n_wavelets is {count}; correct n_wavelets, or widen the data to 32 bits"
        )
    return data[: count * WORD_BYTES].copy().view(np.uint32)


def room_to_receive(call: str, dest: object, n_wavelets: object) -> tuple[NDArray[Any], int]:
    """Return the array that wavelets are received into, and how many; raises SdkError if they do not fit."""
    array = _array(call, "dest", dest)
    count = _count(call, n_wavelets)
    if not array.flags.writeable or not array.flags.c_contiguous:
        problem = "read-only" if not array.flags.writeable else "not contiguous"
        raise SdkError(f"{call}: dest is {problem}; give a new array, such as numpy.empty(n, numpy.uint32)")
    if count * WORD_BYTES > array.nbytes:
        raise SdkError(
            f"{call}: dest has {array.nbytes} bytes, which is room for {array.nbytes // WORD_BYTES} wavelets of "
            f"{WORD_BYTES}, and n_wavelets is {count}; give a larger array of 32-bit elements"
        )
    return array, count


def put(words: NDArray[np.uint32], dest: NDArray[Any]) -> None:
    """Write received wavelets into the first bytes of an array."""
    dest.reshape(-1).view(np.uint8)[: words.nbytes] = words.view(np.uint8)


def _array(call: str, name: str, value: object) -> NDArray[Any]:
    if not _is_array(value):
        raise SdkError(f"{call}: {name} is {type(value).__name__}, not a numpy array")
    if value.dtype.kind not in "iufb" or value.dtype.hasobject:
        raise SdkError(f"{call}: {name} holds {value.dtype}; give an array of integers or floats")
    if value.dtype.itemsize > WORD_BYTES:
        raise SdkError(
            f"{call}: {name} holds {value.dtype}, elements of {8 * value.dtype.itemsize} bits, and a wavelet has "
            f"{8 * WORD_BYTES}; give an array of {', '.join(COUNTED_TYPES)}, or a view of it as 32-bit words"
        )
    return value


def _is_array(value: object) -> TypeIs[NDArray[Any]]:
    return isinstance(value, np.ndarray)


def _count(call: str, n_wavelets: object) -> int:
    try:
        count = index(cast("int", n_wavelets))
    except TypeError:
        raise SdkError(f"{call}: n_wavelets is {n_wavelets!r}; give an int") from None
    if count < 1:
        raise SdkError(f"{call}: n_wavelets is {count}; give at least 1")
    return count
