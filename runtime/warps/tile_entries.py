"""Fused instructions for a whole entry of a channel: take it, copy into or out of it, hand it on.

The operations of a push or a pop of a tile are together in the code: wait for the entry, make tiles of its slot,
copy, signal the other side. Where all units of a warp do so in step, nothing of it depends on more than the number of
the entry, and the views that are copied repeat with the slots; so they are kept, and an entry costs a look at counters.
Everything else, waiting included, is left to the instructions of the single operations, which follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lcm
from typing import TYPE_CHECKING, Any

from numpy import copyto
from xdsl.ir import Operation, SSAValue

from ...diagnostics.locations import location_of
from ...dialects import flow
from .channel_rows import Rows
from .channels import Channel
from .tile_program import note_copy
from .tiles import Tile
from .units import Array, UnitSet
from .warp import Warp

if TYPE_CHECKING:
    from .program import Body

MAX_ROUND = 256
"""Entries after which all slots repeat; more views are not kept."""

MAX_REBUILT = 64
"""How often the views of one set of units are made anew before that is given up."""


def entry_at(ops: Sequence[Operation], position: int) -> Sequence[Operation]:
    """Return the operations of one entry that begin at a position, none if nothing is to be gained there."""
    first = ops[position]
    if not isinstance(first, flow.AcquireOp | flow.WaitOp):
        return ()
    channel, producing = first.channel, isinstance(first, flow.AcquireOp)
    last = position + 1
    own: set[SSAValue] = set()
    while last < len(ops):
        op = ops[last]
        if isinstance(op, flow.TileOp):
            slot = op.slot
            if slot is not None:
                if slot.index is not first.result:
                    break
                own.add(op.result)
        elif isinstance(op, flow.TileApplyOp):
            if op.function.data != "copy" or op.attributes.keys() - {"loc"}:
                break
            source, destination = op.sources[0].type, op.destination.type
            if source != destination or own.isdisjoint(op.operands):
                break
        elif isinstance(op, flow.CommitOp if producing else flow.ReleaseOp):
            return ops[position : last + 1] if op.channel == channel else ()
        else:
            break
        last += 1
    copied = max((k for k in range(position, last) if isinstance(ops[k], flow.TileApplyOp)), default=None)
    # Without its end a pop is worth it as far as its last copy; a push is not yet complete.
    return () if copied is None or producing else ops[position : copied + 1]


class _Views:
    """What an entry copies, for one set of units, by the number of the entry in a round."""

    __slots__ = ("copies", "group", "inputs", "lanes", "members", "rebuilt", "tiles")

    def __init__(self, group: Rows, members: range, lanes: range, inputs: list[Any], round_: int, rebuilt: int):
        self.group = group
        self.members = members
        self.lanes = lanes
        self.inputs = inputs
        self.copies: list[tuple[tuple[Array, Array], ...] | None] = [None] * round_
        self.tiles: list[tuple[Tile, ...]] = [()] * round_
        self.rebuilt = rebuilt


def compile_entry(body: Body, ops: Sequence[Operation]) -> None:
    """Compile the operations of an entry, and an instruction before them that does it all where it can."""
    place = body.emit(_nothing)
    makers: list[tuple[Operation, int]] = []
    body.retry_at = place
    for op in ops:
        makers.append((op, body.here))
        body.operation(op)
        body.retry_at = None
    instructions = body.code.instructions
    first, last = ops[0], ops[-1]
    assert isinstance(first, flow.AcquireOp | flow.WaitOp)
    channel = body.machine.channels[first.channel.root_reference.data]
    round_ = lcm(*(op.slot.count for op in ops if isinstance(op, flow.TileOp) and op.slot is not None))
    if round_ > MAX_ROUND:
        return
    made = {result for op in ops for result in op.results}
    inputs = sorted({body.use(value) for op in ops for value in op.operands if value not in made} - body.known)
    make = [
        instructions[start]
        for op, start in makers
        if isinstance(op, flow.TileOp) and body.use(op.result) not in body.known
    ]
    copies = [
        (body.use(op.destination), body.use(op.sources[0]), location_of(op))
        for op in ops
        if isinstance(op, flow.TileApplyOp)
    ]
    number_slot = body.use(first.result)
    outside = [
        body.use(result)
        for op in ops
        for result in op.results
        if isinstance(op, flow.TileOp) and body.use(result) not in body.known and _used_outside(result, ops)
    ]
    number_outside = _used_outside(first.result, ops)
    run = _Entry(
        channel, location_of(first), location_of(last), place, body.here, round_, inputs, make, copies, outside,
        number_slot, producing=isinstance(first, flow.AcquireOp), ends=isinstance(last, flow.CommitOp | flow.ReleaseOp),
        keeps_number=number_outside,
    )  # fmt: skip
    if channel.lanes == 1:
        instructions[place] = run.push_alone if run.producing else run.pop_alone
    else:
        instructions[place] = run.push if run.producing else run.pop


def _used_outside(value: SSAValue, ops: Sequence[Operation]) -> bool:
    return any(use.operation not in ops for use in value.uses)


def _nothing(warp: Warp) -> None:
    return None


class _Entry:
    """One entry as an instruction; see `compile_entry`."""

    def __init__(
        self,
        channel: Channel,
        where: str | None,
        where_last: str | None,
        here: int,
        after: int,
        round_: int,
        inputs: list[int],
        make: list[Callable[[Warp], Any]],
        copies: list[tuple[int, int, str | None]],
        outside: list[int],
        number: int,
        *,
        producing: bool,
        ends: bool,
        keeps_number: bool,
    ):
        self.channel = channel
        self.where = where
        self.where_last = where_last
        self.here = here
        self.after = after
        self.round = round_
        self.inputs = inputs
        self.make = make
        self.copies = copies
        self.outside = outside
        self.number = number
        self.producing = producing
        self.ends = ends
        self.keeps_number = keeps_number
        self.views: dict[UnitSet, _Views | None] = {}

    def push_alone(self, warp: Warp) -> int | None:
        """Return `push` on a channel of one lane."""
        found = self._found(warp)
        if found is None:
            return None
        channel, group = self.channel, found.group
        number = group.acquired[0]
        again = number - channel.depth
        takes = again >= 0 and number % channel.period == 0
        if takes and group.credits[0] < 1:
            return channel.suspend(warp, self.here, "acquire", self.where, group, found.members)
        copies = found.copies[number % self.round] or self._build(warp, found, number)
        if copies is None:
            self.views[warp.units] = None
            return None
        if takes:
            channel.take(group, 0)
        if again >= group.safe[0]:
            channel.check_slot(group, found.lanes, number, self.where)
        group.acquired[0] = number + 1
        group.committed[0] += 1
        group.written[0] = number
        for destination, source in copies:
            copyto(destination, source)
        group.ready[0] += 1
        if channel.answered:
            channel.record_answers(group, found.lanes)
        if group.waiters:
            channel.wake(group)
        if channel.machine.prompt:
            return channel.let_others(warp, self.after)
        return self.after

    def push(self, warp: Warp) -> int | None:
        """Push the producer's entry; None leaves it to the instructions behind."""
        found = self._found(warp)
        if found is None:
            return None
        channel, group = self.channel, found.group
        acquired, lanes = group.acquired, found.lanes
        number = acquired[found.members.start]
        members = found.members
        if len(members) > 1 and not _even(acquired, members):
            return None
        if number >= channel.depth:
            if number % channel.period == 0:
                credits = group.credits
                for lane in lanes:
                    if credits[lane] < 1:
                        return None
        copies = found.copies[number % self.round] or self._build(warp, found, number)
        if copies is None:
            self.views[warp.units] = None
            return None
        if number >= channel.depth:
            if number % channel.period == 0:
                for lane in lanes:
                    channel.take(group, lane)
            channel.check_slot(group, lanes, number, self.where)
        for member in members:
            acquired[member] = number + 1
            group.committed[member] += 1
            group.written[member] = number
        for destination, source in copies:
            copyto(destination, source)
        ready = group.ready
        for lane in lanes:
            ready[lane] += 1
        if channel.answered:
            channel.record_answers(group, lanes)
        if group.waiters:
            channel.wake(group)
        if channel.machine.prompt:
            return channel.let_others(warp, self.after)
        return self.after

    def pop_alone(self, warp: Warp) -> int | None:
        """Return `pop` on a channel of one lane."""
        found = self._found(warp)
        if found is None:
            return None
        group = found.group
        if group.ready[0] < 1:
            return self.channel.suspend(warp, self.here, "wait", self.where, group, found.members)
        number = group.waited[0]
        copies = found.copies[number % self.round] or self._build(warp, found, number)
        if copies is None or group.committed[0] <= number:
            self.views[warp.units] = None
            return None
        group.ready[0] -= 1
        if self.channel.answered:
            self.channel.apply_answers(group, found.lanes)
        group.waited[0] = number + 1
        for destination, source in copies:
            copyto(destination, source)
        self._end_pop(warp, found, number)
        return self.after

    def pop(self, warp: Warp) -> int | None:
        """Pop the consumer's entry; None leaves it to the instructions behind."""
        found = self._found(warp)
        if found is None:
            return None
        group, members, lanes = found.group, found.members, found.lanes
        waited, ready = group.waited, group.ready
        number = waited[members.start]
        if len(members) > 1 and not _even(waited, members):
            return None
        for lane in lanes:
            if ready[lane] < 1:
                return None
        copies = found.copies[number % self.round] or self._build(warp, found, number)
        if copies is None or not self.channel.complete(group, lanes, number):
            self.views[warp.units] = None
            return None
        for lane in lanes:
            ready[lane] -= 1
        if self.channel.answered:
            self.channel.apply_answers(group, lanes)
        for member in members:
            waited[member] = number + 1
        for destination, source in copies:
            copyto(destination, source)
        self._end_pop(warp, found, number)
        return self.after

    def _end_pop(self, warp: Warp, found: _Views, number: int) -> None:
        """Hand an entry to the operations behind, or be done with it."""
        group = found.group
        if self.outside or self.keeps_number:
            slots = warp.slots
            if self.keeps_number:
                slots[self.number] = number
            for slot, tile in zip(self.outside, found.tiles[number % self.round], strict=True):
                own = tile.channel is not None
                slots[slot] = Tile(tile.walk, tile.channel, number, tile.role, tile.count) if own else tile
                if tile.role == "copied":
                    note_copy(group, found.members, tile.walk, number)
        if self.ends:
            self.channel.give(group, found.members, found.lanes, self.where_last)
            if group.waiters:
                self.channel.wake(group)

    # Views

    def _found(self, warp: Warp) -> _Views | None:
        """Return the views for the units of a warp, if they may be had for all at once."""
        found = self.views.get(warp.units)
        if found is None or found.group.left:
            return self._renew(warp)
        slots = warp.slots
        for position, slot in enumerate(self.inputs):
            given, value = slots[slot], found.inputs[position]
            if given is not value and (type(given) is not int or given != value):
                return self._renew(warp)
        return found

    def _renew(self, warp: Warp) -> _Views | None:
        """Return new views to be filled for the units and inputs of a warp; None if they have none in common."""
        units = warp.units
        old = self.views.get(units)
        rebuilt = 0 if old is None else old.rebuilt + 1
        if rebuilt > MAX_REBUILT or (old is None and units in self.views):
            self.views[units] = None
            return None
        place = self.channel.place(warp, producing=self.producing)
        if place is None:
            return None
        inputs = [warp.slots[slot] for slot in self.inputs]
        found = _Views(place.rows, place.members, place.lanes, inputs, self.round, rebuilt)
        self.views[units] = found
        return found

    def _build(self, warp: Warp, found: _Views, number: int) -> tuple[tuple[Array, Array], ...] | None:
        """Return the views of an entry whose tiles the instructions behind make; None if there are none in common."""
        slots = warp.slots
        slots[self.number] = number
        for make in self.make:
            make(warp)
        copies: list[tuple[Array, Array]] = []
        for destination_slot, source_slot, where in self.copies:
            destination, source = slots[destination_slot], slots[source_slot]
            for tile in (destination, source):
                if tile.channel is not None and (tile.channel is not self.channel or tile.number != number):
                    return None  # whether it may still be used is checked one by one
            views = destination.walk.view(warp.units, where), source.walk.view(warp.units, where)
            if views[0] is None or views[1] is None or views[0].shape != views[1].shape:
                return None
            copies.append((views[0], views[1]))
        at = number % self.round
        found.copies[at] = tuple(copies)
        found.tiles[at] = tuple(slots[slot] for slot in self.outside)
        return found.copies[at]


def _even(counts: list[int], members: range) -> bool:
    first = counts[members.start]
    return all(counts[member] == first for member in members)
