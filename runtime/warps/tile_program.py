"""Compiler of the operations on tiles and channels.

A tile whose numbers are all known is made once; one in a slot of a channel is made for each entry, but its walk, and
with it its views, only once for each slot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of, written_as
from ...dialects import flow
from ...operations.tile_functions import FUNCTIONS
from .channel_rows import Copy, Rows
from .channels import Channel
from .tile_arithmetic import KERNELS, Kernel
from .tiles import Space, Tile, Walk, element_dtype, pieces
from .units import Array, UnitSet, select, singles
from .warp import Warp

if TYPE_CHECKING:
    from .program import Body

MAX_WALKS = 4096
"""Walks an instruction keeps for slots and addresses it has met."""


@dataclass
class Printed:
    """A tile that a unit printed: row and column of the grid, the label, and a copy of the elements."""

    row: int
    column: int
    label: str
    values: Array
    where: str | None


def _space(body: Body, symbol: Any, op: Operation) -> Space:
    name = symbol.root_reference.data
    space = body.cls.spaces.get(name) or body.machine.spaces.get(name)
    if space is None:
        raise LoomError(f"@{name} is not a memory of units @{body.cls.name}", location_of(op))
    return space


def _channel(body: Body, symbol: Any, op: Operation) -> Channel:
    channel = body.machine.channels.get(symbol.root_reference.data)
    if channel is None:
        raise LoomError(f"{symbol} is not a channel", location_of(op))
    return channel


def _dtype(type: Attribute, op: Operation) -> np.dtype[Any]:
    assert isinstance(type, flow.TileType)
    dtype = element_dtype(type.element_type)
    if dtype is None:
        raise LoomError(f"tiles of {type.element_type} are not supported in computations", location_of(op))
    return dtype


def tile(body: Body, op: flow.TileOp) -> None:
    """Compile the making of a tile."""
    owner, owner_lane = None, None
    if op.owner is not None:
        owner = next((cls for cls in body.machine.classes if cls.name == op.owner.units), None)
        if owner is None or op.space.root_reference.data not in owner.spaces:
            raise LoomError(f"{op.space} is not a memory of units @{op.owner.units}", location_of(op))
        space = owner.spaces[op.space.root_reference.data]
        owner_lane = body.use(op.owner.lane)
    else:
        space = _space(body, op.space, op)
    dtype = _dtype(op.result.type, op)
    extents = [_field(body, extent) for extent in op.mixed_extents()]
    strides = [_field(body, stride) for stride in op.mixed_strides()]
    address = body.use(op.address)
    fields = [*extents, *strides]
    slots = [slot for slot, number in fields if number is None]
    if owner_lane is not None:
        slots.append(owner_lane)
    slot = op.slot

    def walk(values: Sequence[Any], first: Any) -> Walk:
        numbers = [number if number is not None else _whole(values[at]) for at, number in fields]
        lane = 0 if owner_lane is None else _whole(values[owner_lane])
        return Walk(space, dtype, first, tuple(numbers[: len(extents)]), tuple(numbers[len(extents) :]), owner, lane)

    if slot is None:
        if all(s in body.known for s in (*slots, address)):
            template = body.code.template
            body.define_known(op.result, Tile(walk(template, template[address])))
            return
        result = body.define(op.result)
        fixed = all(s in body.known for s in slots)
        walks: dict[int, Walk] = {}

        def make(warp: Warp) -> None:
            values = warp.slots
            first = values[address]
            if fixed and type(first) is int:
                found = walks.get(first)
                if found is None:
                    found = walk(values, first)
                    if len(walks) < MAX_WALKS:
                        walks[first] = found
                values[result] = Tile(found)
                return
            values[result] = Tile(walk(values, _whole(first)))

        body.emit(make)
        return

    channel = _channel(body, op.channel, op)
    number_slot = body.use(slot.index)
    result = body.define(op.result)
    count, size, role = slot.count, slot.size, slot.role
    fixed = all(s in body.known for s in slots)
    shared, rings, where = space.shape is None and role != "copied", body.machine.slot_rings, location_of(op)
    known: dict[tuple[int, int], Walk] = {}
    # The copy is made where the entry is taken; a number that has been carried on makes none.
    noted = role == "copied" and isinstance(slot.index.owner, flow.WaitOp)

    def make_slot(warp: Warp) -> None:
        values = warp.slots
        first, number = values[address], _whole(values[number_slot])
        if type(number) is not int or number < 0:
            make_apart(warp, first, number)
            return
        if fixed and type(first) is int:
            key = (first, number % count)
            found = known.get(key)
            if found is None:
                found = walk(values, first + number % count * size)
                if shared:
                    rings.use(channel, space, warp.units, first, (count - 1) * size + found.bytes(), where)
                if len(known) < MAX_WALKS:
                    known[key] = found
        else:
            found = walk(values, _whole(first + number % count * size))
            if shared:
                rings.use(channel, space, warp.units, first, (count - 1) * size + found.bytes(), where)
        values[result] = Tile(found, channel, number, role, count)
        if noted:
            place = channel.place(warp, producing=False)
            if place is not None:
                note_copy(place.rows, place.members, found, number)

    def make_apart(warp: Warp, first: Any, number: Any) -> None:
        """Make tiles for units that are at entries of their own, or, with a negative number, at none."""
        values = warp.slots
        place = np.where(number < 0, 0, number % count * size)
        found = walk(values, _whole(first + place))
        if shared and np.all(number >= 0):
            rings.use(channel, space, warp.units, first, (count - 1) * size + found.bytes(), where)
        values[result] = Tile(found) if type(number) is int else Tile(found, channel, number, role, count)

    body.emit(make_slot)


def _field(body: Body, field: int | SSAValue) -> tuple[int, int | None]:
    """Return the slot of a value, or a number."""
    if isinstance(field, int):
        return -1, field
    slot = body.use(field)
    return (slot, body.code.template[slot]) if slot in body.known else (slot, None)


def _whole(value: Any) -> Any:
    """Return an integer for all units, or an array of integers that differ."""
    if type(value) is np.ndarray:
        first = value.ravel()[0]
        return int(first) if (value == first).all() else value.astype(np.int64, copy=False)
    return int(value)


def _options(op: flow.TileApplyOp) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in flow.TileApplyOp.OPTIONS:
        attribute = op.attributes.get(name)
        match attribute:
            case None:
                pass
            case UnitAttr():
                found[name] = True
            case IntegerAttr() | FloatAttr():
                found[name] = attribute.value.data
            case StringAttr():
                found[name] = attribute.data
            case _:
                raise LoomError(f"option {name} of a function on tiles cannot be {attribute}", location_of(op))
    return found


class _Apply:
    """A function on tiles as an instruction."""

    __slots__ = ("alike", "destination", "kernel", "name", "options", "sources", "where")

    def __init__(
        self, name: str, kernel: Kernel, destination: int, sources: list[int], options: dict[str, Any],
        where: str | None, alike: list[tuple[int, int]],
    ):  # fmt: skip
        self.alike = alike
        """Sources, and which of their dimensions, counted from the last, have to be checked against the destination."""
        self.name = name
        """Its name in messages."""
        self.kernel = kernel
        self.destination = destination
        self.sources = sources
        self.options = options
        self.where = where

    def __call__(self, warp: Warp) -> None:
        slots = warp.slots
        units = warp.units
        destination: Tile = slots[self.destination]
        if destination.channel is not None:
            _check_use(warp, destination, self.where, writes=True)
        out = destination.walk.views.get(units)
        if out is None:
            out = destination.walk.view(units, self.where)
        operands: list[Any] = []
        for source in self.sources:
            value = slots[source]
            if type(value) is Tile:
                if value.channel is not None:
                    _check_use(warp, value, self.where, writes=False)
                view = value.walk.views.get(units)
                if view is None:
                    view = value.walk.view(units, self.where)
                    if view is None:
                        return self._in_pieces(warp, destination, [slots[s] for s in self.sources])
                operands.append(view)
            elif type(value) is np.ndarray:
                rank = len(destination.walk.extents)
                operands.append(value.reshape((*value.shape, *(1,) * rank)))
            else:
                operands.append(value)
        if out is None:
            return self._in_pieces(warp, destination, [slots[s] for s in self.sources])
        try:
            if self.alike:
                self._check_extents(out, operands)
            self.kernel(out, operands, self.options)
        except ValueError as error:
            raise self._mismatch(units, out, operands) from error
        return None

    def _in_pieces(self, warp: Warp, destination: Tile, sources: list[Any]) -> None:
        """Compute part by part, where the units have no common view."""
        units = warp.units
        tiles = [destination, *(source for source in sources if type(source) is Tile)]
        for part in pieces(units, tiles):
            self._part(
                part, destination.restrict(units, part), [
                    source.restrict(units, part) if type(source) is Tile else select(units, part, source)
                    for source in sources
                ],
            )  # fmt: skip

    def _part(self, units: UnitSet, destination: Tile, sources: list[Any]) -> None:
        out = destination.walk.view(units, self.where)
        operands: list[Any] = []
        for source in sources:
            if type(source) is Tile:
                view = source.walk.view(units, self.where)
                if view is None:
                    break
                operands.append(view)
            elif type(source) is np.ndarray:
                rank = len(destination.walk.extents)
                operands.append(source.item() if units.count == 1 else source.reshape((*source.shape, *(1,) * rank)))
            else:
                operands.append(source)
        if out is None or len(operands) < len(sources):
            tiles = [destination, *(source for source in sources if type(source) is Tile)]
            for part in pieces(units, tiles):
                self._part(
                    part, destination.restrict(units, part), [
                        source.restrict(units, part) if type(source) is Tile else select(units, part, source)
                        for source in sources
                    ],
                )  # fmt: skip
            return
        try:
            if self.alike:
                self._check_extents(out, operands)
            self.kernel(out, operands, self.options)
        except ValueError as error:
            raise self._mismatch(units, out, operands) from error

    def _check_extents(self, out: Array, operands: list[Any]) -> None:
        """Raise ValueError where numpy would broadcast an operand that must not be."""
        for source, dimension in self.alike:
            if operands[source].shape[dimension] != out.shape[dimension]:
                raise ValueError

    def _mismatch(self, units: UnitSet, out: Array, operands: list[Any]) -> LoomError:
        # Views of several units have their rows and columns in front.
        first = 2 if units.count > 1 else 0
        into, *out_of = (
            " x ".join(map(str, each.shape[first:])) for each in (out, *operands) if type(each) is np.ndarray
        )
        return LoomError(
            f"the shapes of {self.name} do not match: {into} from {', '.join(out_of)}; "
            "correct the valid shapes of the tiles",
            self.where,
        )


def _check_use(warp: Warp, tile: Tile, where: str | None, *, writes: bool) -> None:
    """Report a tile that is used outside the lifetime of its entry."""
    channel = tile.channel
    assert channel is not None
    produced = tile.role == "written"
    units: UnitSet | None = warp.units
    if channel.leaves_out:
        units = channel.taking_part(warp.units, producing=produced)
        if units is not warp.units and writes and produced:
            _reject_outsiders(warp, channel, where)
    if units is None:
        return
    if type(tile.number) is int and units is warp.units:
        place = channel.place(warp, producing=produced)
        if place is not None:
            for member in place.members:
                _check_member(channel, place.rows, member, tile, tile.number, where, writes=writes)
            return
    # Rows that have parted are at entries of their own.
    rows, columns = units.cells()
    numbers = np.broadcast_to(select(warp.units, units, tile.number), units.shape)
    many = channel.many_produce if produced else channel.many_consume
    cells = zip(rows.ravel().tolist(), columns.ravel().tolist(), numbers.ravel().tolist(), strict=True)
    for row, column, number in cells:
        if number < 0:
            continue
        group = next(group for group in channel.groups if row in group.rows)
        _check_member(channel, group, column if many else 0, tile, number, where, writes=writes)


def _reject_outsiders(warp: Warp, channel: Channel, where: str | None) -> None:
    """Report a unit that writes to a slot of a channel in which it takes no part."""
    rows, columns = warp.units.cells()
    row, lane = next(
        (row, lane) for row, lane in zip(rows.ravel().tolist(), columns.ravel().tolist(), strict=True)
        if lane >= channel.lanes
    )  # fmt: skip
    name = channel.machine.unit_name(*warp.cls.grid_position(row, lane))
    channel.machine.findings.add(
        "error", "second-core", channel.name, where,
        f"{name} writes to a slot of channel @{channel.name} but takes no part in its entries, which are not split: "
        "it may overwrite other entries, and on a5 it starts one row too far (H9); let only the first vector core take "
        "the slot and write to it",
    )  # fmt: skip


def _check_member(
    channel: Channel, group: Rows, member: int, tile: Tile, number: int, where: str | None, *, writes: bool
) -> None:
    """Report entry `number` that a producer or consumer of some rows uses outside its lifetime."""
    role = tile.role
    add = channel.machine.findings.add
    if role == "written":
        if writes:
            group.written[member] = max(group.written[member], number)
        if group.committed[member] > number:
            add(
                "error", "store-after-push", channel.name, where,
                f"entry {number} of channel @{channel.name} is {'written' if writes else 'read'} after it has been "
                "pushed: its consumer may have read it already; use it before the push",
            )  # fmt: skip
    elif role == "read":
        if group.released[member] > number:
            add(
                "error", "use-after-free", channel.name, where,
                f"entry {number} of channel @{channel.name} is {'written' if writes else 'read'} after it has been "
                "freed: its producer may have overwritten it; free it after its last use",
            )  # fmt: skip
    else:
        _check_copy(channel, group, member, tile, number, where)


def _check_copy(channel: Channel, group: Rows, member: int, tile: Tile, number: int, where: str | None) -> None:
    """Report a copy of an entry that is used after the copy of a later one has overwritten it."""
    walk, count = tile.walk, tile.count
    if type(walk.address) is not int or walk.shapes_differ():
        return
    start, end = walk.address, walk.end()
    for later in group.copies:
        if later.member != member or later.number <= number or later.start >= end or later.end <= start:
            continue
        alike = later.end - later.start == end - start
        reason = (
            f"there are {count} local slots (H4); have at most {count} tiles in use, or more local slots"
            if alike
            else "the slot stride equals the size of each popped tile (H5); pop tiles of one size, or one at a time"
        )
        channel.machine.findings.add(
            "error", "local-aliasing" if alike else "mixed-tile-sizes", channel.name, where,
            f"tile {number} popped from channel @{channel.name} is used after the pop of tile {later.number} has "
            f"overwritten it: {reason}",
        )  # fmt: skip
        return


def note_copy(group: Rows, members: range, walk: Walk, number: int) -> None:
    """Remember where some consumers have their copies of an entry."""
    if type(walk.address) is int and not walk.shapes_differ():
        group.copies.extend(Copy(member, number, walk.address, walk.end()) for member in members)


def apply(body: Body, op: flow.TileApplyOp) -> None:
    """Compile a function on tiles."""
    name = op.function.data
    _dtype(op.destination.type, op)
    for source in op.sources:
        if isinstance(source.type, flow.TileType):
            _dtype(source.type, op)
    sources = [body.use(source) for source in op.sources]
    alike = _open_extents(op) if FUNCTIONS[name].shape == "elementwise" else []
    written = written_as(op) or f"'{name}'"
    body.emit(_Apply(written, KERNELS[name], body.use(op.destination), sources, _options(op), location_of(op), alike))


def _open_extents(op: flow.TileApplyOp) -> list[tuple[int, int]]:
    """Return the sources and dimensions, counted from the last, that must match the destination at run time."""
    made = op.destination.owner
    if not isinstance(made, flow.TileOp):
        return []
    extents = made.mixed_extents()
    found: list[tuple[int, int]] = []
    for place, source in enumerate(op.sources):
        tile = source.owner
        if not isinstance(tile, flow.TileOp) or len(tile.mixed_extents()) != len(extents):
            continue
        for dimension, (own, wanted) in enumerate(zip(tile.mixed_extents(), extents, strict=True), -len(extents)):
            if own != wanted and own != 1:
                found.append((place, dimension))
    return found


def tile_print(body: Body, op: flow.TilePrintOp) -> None:
    """Compile a print: keep a copy of a tile for the host."""
    source, label, where = body.use(op.tile), op.label.data, location_of(op)
    printed = body.machine.tile_log

    def show(warp: Warp) -> None:
        value: Tile = warp.slots[source]
        if value.channel is not None:
            _check_use(warp, value, where, writes=False)
        for unit, view in _each(warp, value, where):
            x, y = warp.cls.grid_position(unit.rows[0], unit.columns[0])
            printed.append(Printed(y, x, label, view.copy(), where))

    body.emit(show)


def _each(warp: Warp, tile: Tile, where: str | None) -> list[tuple[Any, Array]]:
    found: list[tuple[Any, Array]] = []
    for unit in singles(warp.units):
        view = tile.restrict(warp.units, unit).walk.view(unit, where)
        assert view is not None, "a single unit has a view"
        found.append((unit, view))
    return found


def tile_get(body: Body, op: flow.TileGetOp) -> None:
    """Compile the read of one element."""
    source, where = body.use(op.tile), location_of(op)
    result = body.define(op.result)

    def get(warp: Warp) -> None:
        value: Tile = warp.slots[source]
        found = [view.ravel()[0] for _, view in _each(warp, value, where)]
        if found[0].dtype.kind == "u":
            found = [element.view(f"i{element.itemsize}") for element in found]
        first = found[0].item()
        if all(other.item() == first for other in found):
            warp.slots[result] = first
        else:
            warp.slots[result] = np.asarray(found).reshape(warp.units.shape)

    body.emit(get)


# Channels


def acquire(body: Body, op: flow.AcquireOp) -> None:
    """Compile the acquisition of the producer's next entry."""
    _take(body, op, "acquire", producing=True)


def wait(body: Body, op: flow.WaitOp) -> None:
    """Compile the wait for the consumer's next entry."""
    _take(body, op, "wait", producing=False)


def _take(body: Body, op: flow.AcquireOp | flow.WaitOp, action: str, *, producing: bool) -> None:
    """Compile taking the next entry of one side: its number, or a reason to part or to wait."""
    channel, where = _channel(body, op.channel, op), location_of(op)
    _belongs(body, op, channel, producing=producing)
    result = body.define(op.result)
    here = body.here
    again = here if body.retry_at is None else body.retry_at
    take = channel.acquire if producing else channel.wait

    def instruction(warp: Warp) -> int | None:
        number = take(warp, where)
        if number is None:
            place = channel.place(warp, producing=producing)
            if place is None or channel.uneven(warp, producing=producing):
                return channel.apart(warp, here, producing=producing)
            return channel.suspend(warp, again, action, where, place.rows, place.members)
        warp.slots[result] = number
        return None

    body.emit(instruction)


def commit(body: Body, op: flow.CommitOp) -> None:
    """Compile the commit of an entry."""
    channel, where = _channel(body, op.channel, op), location_of(op)
    _belongs(body, op, channel, producing=True)
    _give(body, channel, lambda warp: channel.commit(warp, where), producing=True)


def release(body: Body, op: flow.ReleaseOp) -> None:
    """Compile the release of an entry."""
    channel, where = _channel(body, op.channel, op), location_of(op)
    _belongs(body, op, channel, producing=False)
    _give(body, channel, lambda warp: channel.release(warp, where), producing=False)


def _give(body: Body, channel: Channel, give: Callable[[Warp], Any], *, producing: bool) -> None:
    here = body.here
    machine = body.machine

    def instruction(warp: Warp) -> int | None:
        group = give(warp)
        if group is None:
            return channel.apart(warp, here, producing=producing)
        if group.waiters:
            channel.wake(group)
        if machine.prompt and producing:
            return channel.let_others(warp, here + 1)
        return None

    body.emit(instruction)


def drain(body: Body, op: flow.DrainOp) -> None:
    """Compile the producer's end."""
    channel, where = _channel(body, op.channel, op), location_of(op)
    _belongs(body, op, channel, producing=True)
    channel.drained = True
    here = body.here

    def instruction(warp: Warp) -> int | None:
        done = channel.drain(warp)
        if done is None:
            return channel.apart(warp, here, producing=True)
        if not done:
            place = channel.place(warp, producing=True)
            assert place is not None
            return channel.suspend(warp, here, "drain", where, place.rows, place.members)
        return None

    body.emit(instruction)


def _belongs(body: Body, op: Operation, channel: Channel, *, producing: bool) -> None:
    cls = channel.producer if producing else channel.consumer
    if body.cls is not cls:
        raise LoomError(
            f"{op.name} of channel @{channel.name} is in units @{body.cls.name}, but its "
            f"{'producer' if producing else 'consumer'} is @{cls.name}",
            location_of(op),
        )


HANDLERS: dict[type[Operation], Callable[[Any, Any], None]] = {
    flow.TileOp: tile,
    flow.TileApplyOp: apply,
    flow.TilePrintOp: tile_print,
    flow.TileGetOp: tile_get,
    flow.AcquireOp: acquire,
    flow.WaitOp: wait,
    flow.CommitOp: commit,
    flow.ReleaseOp: release,
    flow.DrainOp: drain,
}
"""The function that compiles each operation."""
