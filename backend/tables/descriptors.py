"""Streams: descriptors of the use where all of them is known, else of the frame, changed field by field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from math import prod
from struct import unpack
from typing import Any

from xdsl.ir import Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...dialects.scalar_types import kind_of
from ...runtime.findings import MAX_WALK
from ...runtime.tables.format import (
    ADVANCE_SWITCH,
    CIRCULAR,
    CONTROL_TRANSFORM,
    CONTROL_WAVELETS,
    FIFO_END,
    IN_PAIRS,
    MEMORY_WALK,
    MESSAGE,
    PACKED,
    QUEUE_RUN,
    ZERO_FIRST,
    ZERO_SECOND,
)
from ...runtime.tables.instructions import BITS, KIND
from ...targets.wavelets import MAX_DIMENSIONS, MEM4D_STRIDES, WORD_MASK
from .body import Body
from .code import DESCRIPTOR


def stream(body: Body, op: flow.StreamOp) -> None:
    """Make a walk over memory: what is known of it at once, the rest by instructions."""
    kind = kind_of(op.result.type.element_type) or "i32"
    words = 2 if BITS[kind] == 32 else 1
    # Mostly all fields are literals, and which value is which takes long to find out.
    dynamic = len(op.operands) > (op.buffer is None)
    strides = _fields(_numbers(op.static_strides.data.data), op.strides if dynamic else ())
    extents = _fields(_numbers(op.static_extents.data.data), op.extents if dynamic else ())
    (offset,) = _fields([op.static_offset.value.data], [op.offset] if dynamic and op.offset else [])
    known_offset = _known(body, offset)
    name, address, pointed = _start(body, op)
    if known_offset is not None and not pointed:
        address += known_offset * words
    known_strides = [_known(body, stride) for stride in strides]
    known_extents = [_known(body, extent) for extent in extents]
    for stride in known_strides:
        if stride is not None and stride not in MEM4D_STRIDES:
            raise LoomError(
                f"a stride of {stride} elements does not fit a descriptor; choose one from {MEM4D_STRIDES[0]} to "
                f"{MEM4D_STRIDES[-1]}", location_of(op),
            )  # fmt: skip
    template = _memory_walk(
        body, name, address, [stride or 0 for stride in known_strides],
        [(extent or 0) & WORD_MASK for extent in known_extents], kind,
    )  # fmt: skip
    if None not in known_extents:
        masked = [extent & WORD_MASK for extent in known_extents]
        if prod(masked) > MAX_WALK:
            raise LoomError(
                f"a stream of extents {masked} has {prod(masked):,} elements, far beyond the memory of a unit; "
                "check the extents", location_of(op),
            )  # fmt: skip
    if not pointed and None not in (known_offset, *known_strides, *known_extents):
        body.values[op.result] = template
        return
    if not is_kept(op):
        body.charge("descriptor")
    result = _copy(body, op.result, template)
    if pointed:
        assert op.address is not None
        _change(body, "set_address", result, body.use(op.address))
    if (known_offset is None or pointed) and known_offset != 0:
        _change(body, "set_offset", result, _register(body, offset))
    for place, (stride, known) in enumerate(zip(strides, known_strides, strict=True)):
        if known is None:
            _change(body, "set_stride", result, _register(body, stride), place)
    for place, (extent, known) in enumerate(zip(extents, known_extents, strict=True)):
        if known is None:
            _change(body, "set_extent", result, _register(body, extent), place)


def is_kept(op: flow.StreamOp) -> bool:
    """Return True if a stream is a descriptor as memory keeps it, the address in front of all other words of it.

    The setup of an operation pays for the loads of these, as of those that a constant descriptor consists of.
    """
    loads = [value.owner for value in op.operands]
    buffers = [load.buffer for load in loads if isinstance(load, flow.LoadOp)]
    if op.address is None or len(buffers) < len(loads) or None in buffers:
        return False
    return len(set(buffers)) == 1


def circular_stream(body: Body, op: flow.CircularStreamOp) -> None:
    """Make a walk that returns to its start."""
    kind = KIND[kind_of(op.result.type.element_type) or "i32"]
    name, address, pointed = _start(body, op)
    extents = _filled([op.extent.value.data, op.wraparound.value.data])
    template = body.static(MEMORY_WALK, name, address, extents, _filled([1, 0]), kind, 2, CIRCULAR)
    if not pointed:
        body.values[op.result] = template
        return
    assert op.address is not None
    body.charge("descriptor")
    _change(body, "set_address", _copy(body, op.result, template), body.use(op.address))


def _start(body: Body, op: flow.StreamOp | flow.CircularStreamOp) -> tuple[str | None, int, bool]:
    """Return the buffer of a walk, or the address in words; and if that has to be set where it is reached."""
    if op.buffer is not None:
        name = body.units.buffer(op, op.buffer).name
        body.depend("buffer", name)
        return name, 0, False
    assert op.address is not None
    pointer = body.known(op.address)
    if pointer is None or pointer & 1:
        return None, 0, True  # an odd address is an error, where it is reached
    return None, (pointer & WORD_MASK) >> 1, False


@cache
def _numbers(data: bytes) -> tuple[int, ...]:
    return unpack(f"<{len(data) // 8}q", data)


def _fields(static: Sequence[int], dynamic: Iterable[SSAValue]) -> Sequence[int | SSAValue]:
    """Return the fields of a stream, literals and values in one list."""
    if flow.DYNAMIC not in static:
        return static
    operands = iter(dynamic)
    return [next(operands) if value == flow.DYNAMIC else value for value in static]


def _known(body: Body, field: int | SSAValue) -> Any:
    return field if isinstance(field, int) else body.known(field)


def _register(body: Body, field: int | SSAValue) -> int:
    return body.number(field) if isinstance(field, int) else body.use(field)


def _filled(values: Sequence[int]) -> tuple[int, ...]:
    return (*values, *(0,) * (MAX_DIMENSIONS - len(values)))


def _memory_walk(
    body: Body, name: str | None, address: int, strides: Sequence[int], extents: Sequence[int], kind: str
) -> int:
    dimensions = len(extents)
    return body.static(MEMORY_WALK, name, address, _filled(extents), _filled(strides), KIND[kind], dimensions, 0)


def _copy(body: Body, value: SSAValue, source: int) -> int:
    """Return a new descriptor of the frame, for a value, that begins as another one."""
    result = body.define(value)
    body.emit(DESCRIPTOR, result, source, 0, [result], [source])
    return result


def _change(body: Body, name: str, descriptor: int, register: int, place: int = 0) -> None:
    body.control(name, descriptor, register, place, [descriptor], [descriptor, register])


def queue_stream(body: Body, op: flow.QueueStreamOp) -> None:
    """Make a run of wavelets of a queue."""
    kind = KIND[kind_of(op.result.type.element_type) or "i32"]
    name = op.queue.root_reference.data
    body.depend("queue", name)
    body.units.queue(op, name)
    flags = 0
    for given, flag in (
        (op.control, CONTROL_WAVELETS), (op.advance_switch, ADVANCE_SWITCH), (op.packed, PACKED), (op.message, MESSAGE),
        (op.control_transform, CONTROL_TRANSFORM), (op.in_pairs, IN_PAIRS),
    ):  # fmt: skip
        flags |= flag if given is not None else 0
    if op.zero is not None:
        flags |= ZERO_FIRST if op.zero.data == "first" else ZERO_SECOND
    (extent,) = _fields([op.static_extent.value.data], [op.extent] if op.extent else [])
    count = _known(body, extent)
    extents = _filled([0 if count is None else count & WORD_MASK])
    template = body.static(QUEUE_RUN, name, 0, extents, _filled([]), kind, 1, flags)
    if count is not None:
        body.values[op.result] = template
        return
    body.charge("descriptor")
    _change(body, "set_extent", _copy(body, op.result, template), _register(body, extent))


def fifo_stream(body: Body, op: flow.FifoStreamOp) -> None:
    """Make an end of a FIFO."""
    kind = KIND[kind_of(op.result.type.element_type) or "i32"]
    name = op.fifo.root_reference.data
    body.depend("fifo", name)
    body.units.fifo(op, name)
    body.values[op.result] = body.static(FIFO_END, name, 0, _filled([]), _filled([]), kind, 0, 0)


_UPDATES: dict[type[Operation], str] = {
    flow.AdvanceOp: "advance",
    flow.ResizeOp: "resize",
    flow.RestrideOp: "restride",
    flow.RebaseOp: "rebase",
    flow.IndexedOp: "mark",
}


def update(body: Body, op: flow.AdvanceOp | flow.ResizeOp | flow.RestrideOp | flow.RebaseOp | flow.IndexedOp) -> None:
    """Make a stream from another one by the change of a field."""
    source, amount = body.use(op.stream), body.use(op.amount)
    body.charge("descriptor")
    _change(body, _UPDATES[type(op)], _copy(body, op.result, source), amount)


HANDLERS: dict[type[Operation], Any] = {
    flow.StreamOp: stream,
    flow.CircularStreamOp: circular_stream,
    flow.QueueStreamOp: queue_stream,
    flow.FifoStreamOp: fifo_stream,
    **dict.fromkeys(_UPDATES, update),
}
