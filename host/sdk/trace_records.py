"""Trace records of <debug>: the words of a trace buffer, as the library writes them, and back to values.

Word 0 counts the words of records, word 1 the records dropped for lack of room; records follow, each a tag (kind in the
low byte) and its payload, low word first. `frontend/libraries/debug.csl` has the other side of this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...operations import cb16
from .errors import SdkError

HEADER = 2
"""Words before the first record."""

STRING = 2
STRING_ADDRESS = 3
BOOL = 4

KINDS: dict[int, tuple[str, int]] = {
    1: ("timestamp", 3),
    STRING_ADDRESS: ("address", 1),
    BOOL: ("bool", 1),
    5: ("int8", 1),
    6: ("uint8", 1),
    7: ("int16", 1),
    8: ("uint16", 1),
    9: ("int32", 2),
    10: ("uint32", 2),
    11: ("float16", 1),
    12: ("float32", 2),
    13: ("bfloat16", 1),
    14: ("uint16", 1),
    15: ("uint32", 2),
    16: ("cb16", 1),
    17: ("int64", 4),
    18: ("uint64", 4),
}
"""Type and words of payload by kind; a string of kind 2 has its length in the tag's high byte and follows packed."""


def decode(buffer: NDArray[np.uint16], memory: NDArray[np.uint16], what: str) -> tuple[list[Any], int]:
    """Return the values in a trace buffer, in the order recorded, and how many were dropped.

    `memory` is all of the PE's, for strings recorded by address. Raises SdkError if the words are not records.
    """
    used = int(buffer[0])
    words = buffer[HEADER : HEADER + used]
    if len(words) < used:
        raise SdkError(f"{what} is damaged: it says {used} words, but has room for {len(words)}")
    values: list[Any] = []
    at = 0
    while at < used:
        tag = int(words[at])
        kind, extra = tag & 0xFF, tag >> 8
        at += 1
        if kind == STRING:
            length = (extra + 1) // 2
            if at + length > used:
                raise SdkError(f"{what} is damaged: its last record is truncated")
            values.append(_text(words[at : at + length], extra))
        elif kind in KINDS:
            name, length = KINDS[kind]
            payload = words[at : at + length]
            if len(payload) < length:
                raise SdkError(f"{what} is damaged: its last record is truncated")
            if kind == STRING_ADDRESS:
                address = int(payload[0])
                count = int(memory[address])
                values.append(_text(memory[address + 1 : address + 1 + (count + 1) // 2], count))
            else:
                values.append(_value(name, payload))
        else:
            raise SdkError(f"{what} is damaged: word {HEADER + at - 1} holds {tag:#06x}, which is not a record")
        at += length
    return values, int(buffer[1])


def _text(words: NDArray[np.uint16], length: int) -> str:
    return np.ascontiguousarray(words).tobytes()[:length].decode("utf-8", errors="replace")


def _value(name: str, payload: NDArray[np.uint16]) -> int | float | bool:
    if name == "timestamp":
        low, middle, high = (int(word) for word in payload)
        return low | middle << 16 | high << 32
    if name == "bool":
        return bool(payload[0])
    if name == "cb16":
        return cb16.from_bits(int(payload[0]))
    if name == "bfloat16":
        return float(np.array([0, payload[0]], np.uint16).view(np.float32)[0])
    # Numbers of 8 bits are in the low byte of their word.
    return np.ascontiguousarray(payload).view(name)[0].item()
