"""Configuration registers that a program sets before it starts: an attribute of a PE program, and of its units."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ...targets.wavelets import WORD_MASK

CONFIGURATION = "configuration"
"""The attribute: a word address, then what is there, and so on."""


def configuration_attr(values: Mapping[int, int]) -> DenseArrayBase:
    """Return the attribute with what registers hold, by word address."""
    return DenseArrayBase.from_list(i64, [number for pair in sorted(values.items()) for number in pair])


def configuration_of(op: Operation) -> list[tuple[int, int]]:
    """Return the word addresses of the registers that an operation sets, and what is there."""
    given = op.attributes.get(CONFIGURATION)
    if given is None:
        return []
    numbers = list(given.get_values()) if isinstance(given, DenseArrayBase) else [-1]
    pairs = list(zip(numbers[::2], numbers[1::2], strict=False))
    if len(numbers) % 2 or any(not 0 <= each <= WORD_MASK for each in numbers):
        raise VerifyException(
            f"the {CONFIGURATION} of {op.name} is not pairs of a word address and a word; write array<i64: address, "
            "word>"
        )
    return pairs  # pyright: ignore[reportReturnType]
