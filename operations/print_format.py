"""Format strings of print operations: the conversions in braces, and what they may print.

`wse.print` and `flow.print` share it, and the engine, which fills in the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast

from . import integers
from .scalar_types import numpy_type

Conversion: TypeAlias = Literal["u", "d", "x", "X", "b", "f"]

CONVERSIONS: dict[str, str] = {
    "u": "unsigned",
    "d": "signed",
    "x": "hexadecimal",
    "X": "hexadecimal in capitals, every digit of the type",
    "b": "binary, every digit of the type",
    "f": "float",
}
"""How each conversion prints its operand."""


MAX_DIGITS = 17
"""Digits by which any float is read back."""

MAX_WHOLE = 1e15
"""Below it all digits of a whole number are printed."""


def assertion_message(text: str, value: int) -> str:
    """Return the message of an assertion with its value: `{u}` as a number of 16 bits without sign, `{d}` as it is."""
    return text.replace("{u}", str(value & 0xFFFF)).replace("{d}", str(value))


@lru_cache(maxsize=1024)
def split_format(text: str) -> tuple[tuple[str, ...], tuple[Conversion, ...]]:
    """Split a format into the texts around the conversions, and the conversions: one text more than those.

    `{{` and `}}` stand for braces. Raises ValueError for a brace that is neither.
    """
    texts: list[str] = []
    conversions: list[Conversion] = []
    current = ""
    position = 0
    while position < len(text):
        letter = text[position]
        if letter not in "{}":
            current += letter
            position += 1
        elif text.startswith(letter * 2, position):
            current += letter
            position += 2
        elif text[position + 1 : position + 2] in CONVERSIONS and text[position + 2 : position + 3] == "}":
            texts.append(current)
            conversions.append(cast(Conversion, text[position + 1]))
            current = ""
            position += 3
        else:
            known = ", ".join(f"{{{name}}}" for name in CONVERSIONS)
            raise ValueError(
                f"'{text[position : position + 3]}' in the format is not a conversion; use {known}, or double the brace"
            )
    return (*texts, current), tuple(conversions)


def check_format(text: str, floats: Sequence[bool]) -> None:
    """Raise ValueError unless the conversions of `text` fit operands, of which some are `floats`."""
    _, conversions = split_format(text)
    if len(conversions) != len(floats):
        raise ValueError(f"the format prints {len(conversions)} operands, but there are {len(floats)}; make both agree")
    for place, (conversion, is_float) in enumerate(zip(conversions, floats, strict=True), 1):
        if (conversion == "f") != is_float:
            kind = "a float; print it as {f}" if is_float else "an integer; print it as {u}, {d}, {x}, {X} or {b}"
            raise ValueError(f"operand {place} is {kind}")


def _shortest(kind: str, value: float) -> str:
    """Return the fewest digits by which a float of a kind is read back, all those before the point and one behind."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < MAX_WHOLE:
        return repr(value)
    import numpy as np  # tools that only read text start without it

    rounded = numpy_type(kind).type
    text = repr(value)
    with np.errstate(over="ignore"):
        for digits in range(1, MAX_DIGITS):
            fewer = f"{value:.{digits}g}"
            if float(rounded(float(fewer))) == value:
                text = fewer
                break
    text = format(Decimal(text), "f")
    return text if "." in text else text + ".0"


def shown(conversion: str, kind: str, value: Any) -> str:
    """Return a number of a scalar kind ("i16", "f32") as a conversion writes it; integers are kept signed."""
    if conversion == "f":
        return _shortest(kind, float(value))
    bits = integers.INDEX_BITS if kind == "index" else int(kind[1:])
    number = int(value) if conversion == "d" and kind != "i1" else integers.unsigned(int(value), bits)
    match conversion:
        case "x":
            return f"{number:x}"
        case "X":
            return f"{number:0{-(-bits // 4)}X}"
        case "b":
            return f"{number:0{bits}b}"
        case _:
            return str(number)
