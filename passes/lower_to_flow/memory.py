"""The memory of a PE program: an address for every buffer, or one error that says what takes how much."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from ...analysis.memory_layout import Allocation, lay_out
from ...diagnostics.errors import LoomError, Mistakes
from ...diagnostics.locations import location_of
from ...dialects import wse
from ...dialects.machine.elements import memory_bytes
from ...targets.model import Target
from .emission import refusal

MAX_NAMED_BUFFERS = 8
"""How many buffers the error about full memory names."""


def lay_out_buffers(
    pe: wse.PeOp, target: Target, mistakes: Mistakes, told: set[tuple[str, str]]
) -> tuple[dict[str, int], int]:
    """Return the first word of each buffer of a PE program, and how many words it takes in all.

    Mistakes are buffers that overlap, are not aligned, or exceed the memory of a PE; all are at 0 then. What exceeds it
    in several PE programs of one file is reported for the first: `told` has the places and numbers of those before.
    """
    buffers = [op for op in pe.body.block.ops if isinstance(op, wse.BufferOp)]
    fifo_buffers = {op.buffer.string_value() for op in pe.body.block.ops if isinstance(op, wse.FifoOp)}
    found = Mistakes()
    allocations = [_allocation(buffer, target, buffer.sym_name.data in fifo_buffers, found) for buffer in buffers]
    for error in _wrongly_fixed(allocations, buffers, target):
        found.add_independent(error)
    # Where a buffer with an address is in the wrong place, what is around it is there for the wrong reason.
    layout = None if found else lay_out(allocations, target.memory_bytes // 2)
    if layout is None and (not found or sum(2 * each.words for each in allocations) > target.memory_bytes):
        largest = max(zip(allocations, buffers, strict=True), key=lambda pair: pair[0].words)[1]
        of_pe = f"the buffers of @{pe.sym_name.data}"
        message = _memory_error(allocations, buffers, target)
        place = location_of(largest)
        if place is None or (place, message) not in told:
            told.add((place or "", message))
            found.add_independent(refusal(largest, f"{of_pe} {message}"))
    with mistakes.going_on():
        found.end()
    if layout is None:
        return {each.name: 0 for each in allocations}, 0
    return dict(zip((a.name for a in allocations), layout.addresses, strict=True)), layout.words


def _allocation(buffer: wse.BufferOp, target: Target, of_fifo: bool, mistakes: Mistakes) -> Allocation:
    words = (buffer.element_count * memory_bytes(buffer.type.element_type) + 1) // 2
    least = target.fifo_alignment if of_fifo else 2
    element = memory_bytes(buffer.type.element_type) // 2
    alignment = max(1, element, (least if buffer.alignment is None else buffer.alignment.value.data) // 2)
    address = None if buffer.address is None else buffer.address.value.data
    if address is not None and address % (2 * alignment):
        message = f"buffer @{buffer.sym_name.data} is at address {address}, which is not a multiple of"
        mistakes.add(refusal(buffer, f"{message} {2 * alignment} bytes; choose one that is"))
        address -= address % (2 * alignment)
    # What is larger than a word may be looked at as elements of 32 bits.
    wanted = max(2 if words > 1 else 1, alignment) if address is None else alignment
    return Allocation(buffer.sym_name.data, words, wanted, None if address is None else address // 2)


def _wrongly_fixed(
    allocations: Sequence[Allocation], buffers: Sequence[wse.BufferOp], target: Target
) -> Iterator[LoomError]:
    """Yield errors about buffers with addresses of their own that are not in memory, or not disjoint."""
    fixed = [(a.address, a, op) for a, op in zip(allocations, buffers, strict=True) if a.address is not None]
    before: Allocation | None = None
    for address, allocation, op in sorted(fixed, key=lambda one: one[0]):
        name, first, end = allocation.name, 2 * address, 2 * (address + allocation.words)
        if end > target.memory_bytes:
            yield refusal(
                op,
                f"buffer @{name} takes the bytes {first} to {end - 1}, but a PE of {target.name} has "
                f"{target.memory_bytes:,}; choose a smaller address",
            )
        if before is not None and before.address is not None and address < before.address + before.words:
            yield refusal(
                op,
                f"buffer @{name} is at address {first}, but @{before.name} takes the bytes {2 * before.address} to "
                f"{2 * (before.address + before.words) - 1}; choose addresses further apart",
            )
        before = allocation


def _memory_error(allocations: Sequence[Allocation], buffers: Sequence[wse.BufferOp], target: Target) -> str:
    """Return how many bytes buffers take that exceed the memory of a PE, and which are the largest."""
    used = sum(2 * allocation.words for allocation in allocations)
    pairs = sorted(zip(allocations, buffers, strict=True), key=lambda pair: -pair[0].words)
    listed = ", ".join(f"@{a.name} {2 * a.words:,}{_line_of(op)}" for a, op in pairs[:MAX_NAMED_BUFFERS])
    largest = [allocation for allocation, _ in pairs]
    rest = sum(2 * allocation.words for allocation in largest[MAX_NAMED_BUFFERS:])
    more = f", {len(largest) - MAX_NAMED_BUFFERS} others {rest:,}" if rest else ""
    padding = "" if used > target.memory_bytes else " with their alignment"
    return (
        f"take {used:,} bytes{padding}, but a PE of {target.name} has "
        f"{target.memory_bytes:,}: {listed}{more}; make them smaller or spread them over more PEs"
    )


def _line_of(op: Operation) -> str:
    """Return where an operation comes from, ` (pe.csl:3)`, for a list; nothing if that is not known."""
    file, separator, line = (location_of(op) or "").rpartition(":")[0].rpartition(":")
    return f" ({os.path.basename(file)}:{line})" if separator else ""
