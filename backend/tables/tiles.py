"""Tiles and channels of cores: making a tile, functions on tiles, and the entries of channels."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects import arith, builtin
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, Signedness, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of, written_as
from ...dialects import flow
from ...dialects.scalar_types import kind_of
from ...operations.tile_functions import FUNCTIONS
from ...runtime.tables.format import (
    ACCUMULATES,
    NONE,
    RELU,
    RESHAPES,
    SATURATES,
    TILE_AT_WAIT,
    TILE_DIMENSIONS,
    VALUE_IS_FLOAT,
    WRAPS,
)
from ...runtime.tables.instructions import ELEMENT, NO_REGISTER, ROLES, ROUNDINGS, TILE_ELEMENTS, TILE_FUNCTIONS
from .body import Body
from .code import Late, Place
from .values import Known

if TYPE_CHECKING:
    from .cores import Cores

_FLOATS: dict[type[Attribute], str] = {
    builtin.Float64Type: "f64", builtin.Float32Type: "f32", builtin.Float16Type: "f16", builtin.BFloat16Type: "bf16",
    builtin.Float8E4M3FNType: "f8E4M3FN", builtin.Float8E5M2Type: "f8E5M2",
}  # fmt: skip

_FLAGS = {
    "saturate": SATURATES, "wrap": WRAPS, "relu": RELU, "accumulate": ACCUMULATES, "reshape": RESHAPES,
}  # fmt: skip

_OF_FLOATS = frozenset({"exponential", "logarithm", "square_root", "reciprocal"})
"""Functions that integers do not have."""

_OF_INTEGERS = frozenset({"bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"})
"""Functions that floats do not have."""

_I64 = 64


def _cores(body: Body) -> Cores:
    return cast("Cores", body.units)


def element_of(type: Attribute, op: Operation) -> int:
    """Return the number of the elements of a tile. Raises LoomError for a type that nothing computes with."""
    assert isinstance(type, flow.TileType)
    element = type.element_type
    name = _FLOATS.get(element.__class__)
    if isinstance(element, IntegerType):
        unsigned = element == IntegerType(element.bitwidth, Signedness.UNSIGNED)
        name = f"{'u' if unsigned else 'i'}{element.bitwidth}"
    number = ELEMENT.get(name or "", TILE_ELEMENTS)
    if number >= TILE_ELEMENTS:
        raise LoomError(f"tiles of {element} are not supported in computations", location_of(op))
    return number


def tile(body: Body, op: flow.TileOp) -> None:
    """Append the making of a tile."""
    element, cores = element_of(op.result.type, op), _cores(body)
    operands = [body.use(op.address)]
    owner = None
    if op.owner is not None:
        owner = op.owner.units
        operands.append(body.use(op.owner.lane))
    slot = op.slot
    if slot is not None:
        operands.append(body.use(slot.index))
    numbers: list[int] = []
    opened = 0
    fields = [*op.mixed_extents(), *op.mixed_strides()]
    rank = len(fields) // 2
    for place, field in enumerate(fields):
        known = field if isinstance(field, int) else body.known(field)
        numbers.append(known or 0)
        if known is None:
            opened |= 1 << (place if place < rank else TILE_DIMENSIONS + place - rank)
            operands.append(body.use(cast("SSAValue", field)))
    rest = (0,) * (TILE_DIMENSIONS - rank)
    space = cores.space(op, op.space.root_reference.data, owner)
    channel, count, size, role, flags = NONE, 0, 0, 0, 0
    if slot is not None:
        # A number that has been carried on takes no place.
        flags = TILE_AT_WAIT if slot.role == "copied" and isinstance(slot.index.owner, flow.WaitOp) else 0
        channel, count, size, role = cores.channel(op, slot.channel), slot.count, slot.size, ROLES.index(slot.role)
        cores.check_end(op, channel, slot.channel, producing=slot.role == "written")
        _check_halfword(op, "slots", count)
    row = body.sections.intern(
        "tiles", (*numbers[:rank], *rest), (*numbers[rank:], *rest), size, space,
        NONE if owner is None else cores.class_row(owner), channel, count, opened, element, rank, role, flags,
    )  # fmt: skip
    first, registers = body.together(operands)
    result = body.define(op.result)
    body.control("tile", result, first, ("tile", row), [result], registers)


def _check_halfword(op: Operation, noun: str, count: int) -> None:
    if count >= NONE:
        raise LoomError(f"{count} {noun} are more than there can be; use fewer than {NONE}", location_of(op))


def apply(body: Body, op: flow.TileApplyOp) -> None:
    """Append a function on tiles."""
    name = op.function.data
    element = element_of(op.destination.type, op)
    if name in _OF_FLOATS and element >= ELEMENT["i64"]:
        raise LoomError(f"'{name}' computes floats, and its tile has integers; convert it", location_of(op))
    if name in _OF_INTEGERS and element < ELEMENT["i64"]:
        raise LoomError(f"'{name}' combines the bits of integers, and its tile has floats", location_of(op))
    destination = body.use(op.destination)
    sources: list[int] = []
    kinds: list[int] = []
    for source in op.sources:
        if isinstance(source.type, flow.TileType):
            kinds.append(element_of(source.type, op))
            sources.append(body.use(source))
        else:
            kinds.append(_scalar_kind(body, source, op))
            sources.append(_scalar(body, source))
    alike = _open_extents(op) if FUNCTIONS[name].shape == "elementwise" else [0] * len(sources)
    options, rounding, value = _options(op)
    label = body.sections.string(written_as(op) or f"'{name}'")
    is_tile = [isinstance(source.type, flow.TileType) for source in op.sources]

    def row(register: Place, descriptor: Place) -> Any:
        places = [
            descriptor(source) if tile else register(source) for source, tile in zip(sources, is_tile, strict=True)
        ]
        places += [NO_REGISTER] * (3 - len(places))
        return body.sections.intern(
            "tile_applies", value, label, TILE_FUNCTIONS.index(name), descriptor(destination), tuple(places), options,
            (*kinds, *(0,) * (3 - len(kinds))), (*alike, *(0,) * (3 - len(alike))), rounding,
        )  # fmt: skip

    body.control("tile_apply", Late("tile_apply", row), uses=[destination, *sources])


def _scalar_kind(body: Body, value: SSAValue, op: Operation) -> int:
    kind = kind_of(value.type)
    if kind is not None:
        return ELEMENT[kind]
    if isinstance(body.values[value], Known) and value.type.__class__ in _FLOATS:
        return ELEMENT["f64"]
    raise LoomError(f"the engine cannot compute with a value of type {value.type}; use another type", location_of(op))


def _scalar(body: Body, value: SSAValue) -> int:
    """Return the register of a scalar; a constant of a type that registers do not hold is one of 64 bits."""
    found = body.values[value]
    if isinstance(found, Known) and found.kind is None:
        assert isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, FloatAttr), "checked before"
        return body.number(_bits_of_double(value.owner.value.value.data))
    return body.use(value)


def _bits_of_double(number: float) -> int:
    """Return the bits of a float of 64 bits, as a register holds them."""
    return struct.unpack("<q", struct.pack("<d", number))[0]


def _options(op: flow.TileApplyOp) -> tuple[int, int, int]:
    """Return the options of a function: flags, the number of how it rounds, and its value."""
    flags = rounding = value = 0
    for name in flow.TileApplyOp.OPTIONS:
        attribute = op.attributes.get(name)
        match attribute:
            case None:
                pass
            case UnitAttr() if name in _FLAGS:
                flags |= _FLAGS[name]
            case StringAttr() if name == "rounding" and attribute.data in ROUNDINGS:
                rounding = ROUNDINGS.index(attribute.data)
            case IntegerAttr() if name == "value" and -(1 << _I64 - 1) <= attribute.value.data < 1 << _I64 - 1:
                value = attribute.value.data
            case FloatAttr() if name == "value":
                value = _bits_of_double(attribute.value.data)
                flags |= VALUE_IS_FLOAT
            case _:
                raise LoomError(f"option {name} of a function on tiles cannot be {attribute}", location_of(op))
    return flags, rounding, value


def _open_extents(op: flow.TileApplyOp) -> list[int]:
    """Return for each source the dimensions that must match the destination at run time, as bits from the last on."""
    made = op.destination.owner
    if not isinstance(made, flow.TileOp):
        return [0] * len(op.sources)
    extents = made.mixed_extents()
    return [_must_match(source.owner, extents) for source in op.sources]


def _must_match(tile: object, extents: Sequence[int | SSAValue]) -> int:
    if not isinstance(tile, flow.TileOp) or len(tile.mixed_extents()) != len(extents):
        return 0
    bits = 0
    for dimension, (own, wanted) in enumerate(zip(reversed(tile.mixed_extents()), reversed(extents), strict=True)):
        if own != wanted and own != 1:
            bits |= 1 << dimension
    return bits


def print_(body: Body, op: flow.TilePrintOp) -> None:
    """Append the print of a tile."""
    element_of(op.tile.type, op)
    source = body.use(op.tile)
    row = body.sections.intern("tile_prints", body.sections.string(op.label.data))
    body.control("tile_print", source, ("tile_print", row), uses=[source])


def get(body: Body, op: flow.TileGetOp) -> None:
    """Append the read of the first element of a tile."""
    element_of(op.tile.type, op)
    if kind_of(op.result.type) is None:
        raise LoomError(
            f"the engine cannot compute with a value of type {op.result.type}; use another type", location_of(op)
        )
    source = body.use(op.tile)
    result = body.define(op.result)
    body.control("tile_get", result, source, 0, [result], [source])


# Channels


def acquire(body: Body, op: flow.AcquireOp) -> None:
    """Append the acquisition of the producer's next entry."""
    _take(body, op, "acquire", producing=True)


def wait(body: Body, op: flow.WaitOp) -> None:
    """Append the wait for the consumer's next entry."""
    _take(body, op, "wait", producing=False)


def _take(body: Body, op: flow.AcquireOp | flow.WaitOp, name: str, *, producing: bool) -> None:
    slot = _end(body, op, producing=producing)
    result = body.define(op.result)
    body.control(name, result, slot, 0, [result])


def commit(body: Body, op: flow.CommitOp) -> None:
    """Append the commit of an entry."""
    body.control("commit", _end(body, op, producing=True))


def release(body: Body, op: flow.ReleaseOp) -> None:
    """Append the release of an entry."""
    body.control("release", _end(body, op, producing=False))


def drain(body: Body, op: flow.DrainOp) -> None:
    """Append the producer's end."""
    slot = _end(body, op, producing=True)
    _cores(body).drained.add(slot[1])
    body.control("drain", slot)


def rest(body: Body, op: flow.RestOp) -> None:
    """Append a rest, unless a condition holds."""
    if op.label is not None:
        body.sections.intern("rests", body.sections.place(op), body.sections.string(op.label.data))
    condition, found, wanted = (body.use(operand) for operand in op.operands)
    body.control("rest", condition, found, wanted, uses=[condition, found, wanted])


def _end(
    body: Body, op: flow.AcquireOp | flow.CommitOp | flow.WaitOp | flow.ReleaseOp | flow.DrainOp, *, producing: bool
) -> tuple[str, int]:
    """Return the slot of one end of a channel. Raises LoomError unless the core is at that end."""
    name = op.channel.root_reference.data
    row = _cores(body).channel(op, name)
    _cores(body).check_end(op, row, name, producing=producing)
    return ("producer" if producing else "consumer", row)


HANDLERS: dict[type[Operation], Any] = {
    flow.TileOp: tile,
    flow.TileApplyOp: apply,
    flow.TilePrintOp: print_,
    flow.TileGetOp: get,
    flow.AcquireOp: acquire,
    flow.CommitOp: commit,
    flow.WaitOp: wait,
    flow.ReleaseOp: release,
    flow.DrainOp: drain,
    flow.RestOp: rest,
}
