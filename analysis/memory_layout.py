"""Memory layout of a PE: the addresses of its buffers. Knows sizes and alignments, nothing of IR."""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics.records import record

ROW_PERIOD = 128
"""In 32-bit words. The engine keeps one row of an array for each 32-bit word of PE memory; a row count
that is a multiple of a power of two this large makes rows collide in the caches of the host."""


@record
class Allocation:
    """A buffer to place; sizes and alignment in 16-bit words."""

    name: str
    words: int
    alignment: int
    address: int | None = None
    """In words, if the buffer must be there; a multiple of `alignment`."""


@record
class Layout:
    """The word address of each buffer, in the order given, and the words used in all."""

    addresses: tuple[int, ...]
    words: int


def lay_out(allocations: Sequence[Allocation], capacity: int) -> Layout | None:
    """Place the buffers one after the other in `capacity` words; None if they do not fit.

    Those with an address of their own, which must not overlap, are there, and the others before, between and behind
    them. The size is even, as memory is accessed in 32-bit words too, and avoids multiples of ROW_PERIOD
    where there is room.
    """
    fixed = sorted((a.address, a.address + a.words) for a in allocations if a.address is not None and a.words)
    addresses: list[int] = []
    end = 0
    for allocation in allocations:
        if allocation.address is not None:
            addresses.append(allocation.address)
            continue
        start = -(-end // allocation.alignment) * allocation.alignment
        for first, last in fixed:
            if start < last and first < start + allocation.words:
                start = -(-last // allocation.alignment) * allocation.alignment
        addresses.append(start)
        end = start + allocation.words
    end = max([end, *(last for _, last in fixed)])
    words = end + end % 2
    if words > capacity:
        return None
    if words and words // 2 % ROW_PERIOD == 0 and words + 2 <= capacity:
        words += 2
    return Layout(tuple(addresses), words)
