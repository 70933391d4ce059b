"""Elements of operations: one after the other, each from the elements of its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...operations.float_exceptions import raises
from ...operations.floats import LOWEST_NORMAL
from ..findings import Code
from .arithmetic import bits_of, read
from .descriptors import Descriptor, Walk, Wavelets
from .exceptions import finding_values, raised
from .pes import PE, Issue
from .walks import check_walk

if TYPE_CHECKING:
    from .machine import Machine

Operand: TypeAlias = "Descriptor | int"
"""A descriptor, or the bits of a number."""


def compute(
    machine: Machine,
    issue: Issue,
    destination: Descriptor,
    sources: Sequence[Operand],
    low: int,
    high: int,
    payloads: Mapping[int, Sequence[int]],
) -> list[int]:
    """Compute elements `low` to `high` of an operation, in order: one may read what an earlier one has written.

    `payloads` has, by the place of a source, the bits that queues and FIFOs give for them. Return the results if the
    destination is not in memory.
    """
    pe, row = issue.pe, issue.operation.row
    for walk in (destination, *sources):
        if isinstance(walk, Walk):
            check_walk(machine, issue, walk, low, high)
    operands = [
        map(_reader(pe, kind), source.words(low, high)) if isinstance(source, Walk)
        else iter(payloads[place]) if place in payloads
        else _repeated(source, high - low)
        for place, (source, kind) in enumerate(zip(sources, row.sources, strict=True))
    ]  # fmt: skip
    masks = [(1 << bits_of(kind)) - 1 for kind in row.sources]
    targets = destination.words(low, high) if isinstance(destination, Walk) else None
    size = bits_of(row.destination) // 8
    traps = pe.unmasked and row.destination in LOWEST_NORMAL and raises(row.function)
    results: list[int] = []
    for _ in range(low, high):
        bits = [next(operand) & mask for operand, mask in zip(operands, masks, strict=True)]
        result = issue.element(*bits)
        if traps:
            _stop_at_exceptions(machine, issue, bits, result)
        if targets is None:
            results.append(result)
        else:
            pe.write(2 * next(targets), size, result)
    return results


def zeroed_place(destination: Operand, sources: Sequence[Operand]) -> int | None:
    """Return the place of the source that is set to zero when it is sent; None if none is."""
    if not isinstance(destination, Wavelets) or destination.zeroed is None:
        return None
    return min(destination.zeroed, len(sources) - 1)


def set_to_zero(issue: Issue, destination: Descriptor, sources: Sequence[Operand], low: int, high: int) -> None:
    """Set elements `low` to `high` of the source to zero that is so when it is sent (DSD-246, DSD-247)."""
    place = zeroed_place(destination, sources)
    if place is not None:
        walk = sources[place]
        assert isinstance(walk, Walk)
        for word in walk.words(low, high):
            issue.pe.write(2 * word, 2 * walk.width, 0)


def _reader(pe: PE, kind: str) -> Callable[[int], int]:
    size = bits_of(kind) // 8
    return lambda word: pe.read(2 * word, size)


def _repeated(value: Operand, count: int) -> Iterator[int]:
    assert isinstance(value, int)
    return iter([value] * count)


def _stop_at_exceptions(machine: Machine, issue: Issue, bits: Sequence[int], result: int) -> None:
    """Find a floating point exception of one element that the PE has unmasked."""
    row = issue.operation.row
    values = [float(read(pattern, kind)) for pattern, kind in zip(bits, row.sources, strict=True)]
    number = float(read(result, row.destination))
    found = raised(row.function, values, number, row.destination) & issue.pe.unmasked
    if found:
        machine.fail_of(issue, Code.FLOAT_EXCEPTION, *finding_values(found, values, number))
