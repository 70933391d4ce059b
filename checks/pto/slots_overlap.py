"""Tiles whose addresses are inside the memory of a consumer's slots, and slots beyond the end of the memory."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ...analysis.pto.local_memory import capacity, tile_bytes
from ...analysis.pto.rings import consumer_buffer
from ...analysis.pto.schedules import Kernel
from ...diagnostics.records import record
from ...dialects.pto.attributes import AddressSpace, KernelKind
from ...dialects.pto.buffers import ReserveBufferOp
from ...dialects.pto.internal_pipes import InitializeL2G2LPipeOp, InitializePipeOp, number
from ...dialects.pto.kernels import core_of
from ...dialects.pto.memory import AllocTileOp, constant_value
from ...dialects.traversal import walk
from ...operations import pipe_protocol
from ...targets.chips import chip
from .hazard import Hazard

CODES = ("slots-overlap",)
"""Codes of the findings that this check reports."""


@record
class _Slots:
    """Bytes of a memory that contain slots, and the operation that says so."""

    op: Operation
    name: str
    space: AddressSpace
    start: int
    end: int


def find_in_kernel(kernel: Kernel) -> Iterator[Hazard]:
    """Yield the tiles with an address that overlap slots with one, and the slots that their memory does not hold."""
    slots = [found for op in walk(kernel.function) for found in _slots(op)]
    for each in slots:
        room = 0 if kernel.chip is None else capacity(chip(kernel.chip), each.space)
        if room and each.end > room and not isinstance(each.op, ReserveBufferOp):
            yield Hazard(
                "slots-overlap",
                each.op,
                f"the slots of {each.name} are in bytes {each.start} to {each.end - 1} of '{each.space.value}', which "
                f"has {room}; use fewer or smaller slots, or another address",
            )
    for op in walk(kernel.function) if slots else ():
        address = constant_value(op.addr) if isinstance(op, AllocTileOp) and op.addr is not None else None
        if not isinstance(op, AllocTileOp) or address is None:
            continue
        size, space = tile_bytes(op.result.type), op.result.type.location
        hit = next((each for each in slots if each.space is space and size is not None
                    and address < each.end and each.start < address + size), None)  # fmt: skip
        if hit is not None and size is not None:
            yield Hazard(
                "slots-overlap",
                op,
                f"the tile in bytes {address} to {address + size - 1} of '{space.value}' overlaps the slots of "
                f"{hit.name}, bytes {hit.start} to {hit.end - 1}: entries and the tile overwrite each other; move one "
                "of them",
            )


def _slots(op: Operation) -> Iterator[_Slots]:
    """Yield the memory of slots that an operation states."""
    if isinstance(op, ReserveBufferOp) and op.base is not None:
        start = number(op.base)
        yield _Slots(op, f"'{op.key}'", op.space, start, start + number(op.size))
    if not isinstance(op, InitializePipeOp):
        return
    for direction, consumer, space in (
        (pipe_protocol.C2V, KernelKind.VECTOR, AddressSpace.VEC),
        (pipe_protocol.V2C, KernelKind.CUBE, AddressSpace.MAT),
    ):
        buffer = consumer_buffer(op, direction) if op.direction & direction else None
        start = None if buffer is None or core_of(op) is not consumer else constant_value(buffer)
        if start is not None:
            depth = op.local_depth if isinstance(op, InitializeL2G2LPipeOp) else op.depth
            yield _Slots(op, "the pipe", space, start, start + depth * op.entry_bytes)
