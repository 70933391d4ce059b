"""Folding of descriptors: what canonicalization patterns have in common.

Nothing here knows an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from .fields import Integer


def replace_changed(rewriter: PatternRewriter, op: Operation, new: Operation, source: Operation) -> None:
    """Replace `op` by `new`, a changed copy of `source`; names, attributes and location stay."""
    new.attributes.update(source.attributes)
    new.location = op.location
    rewriter.replace(op, new)


def known_number(value: SSAValue | None, known: Callable[[Integer], int | None], allowed: range) -> int | None:
    """Return the number that a field is known to be, None if it is not known or not `allowed`."""
    number = None if value is None else known(value)
    return number if number is not None and number in allowed else None


def known_numbers(
    values: Sequence[Integer], known: Callable[[Integer], int | None], allowed: range
) -> tuple[Integer, ...]:
    """Return the fields, with a number wherever it is known and allowed."""
    numbers = [known_number(value, known, allowed) if isinstance(value, SSAValue) else value for value in values]
    return tuple(value if number is None else number for value, number in zip(values, numbers, strict=True))
