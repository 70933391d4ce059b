"""Operations on pipes in a dry run: pushes, pops, slots and frees, which wait for entries and credits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from xdsl.ir import Operation

from ....diagnostics.locations import location_of
from ....dialects.pto.attributes import HardwarePipe, KernelKind
from ....dialects.pto.internal_pipes import (
    InitializeL2G2LPipeOp,
    InitializeL2LPipeOp,
    InitializePipeOp,
    TAllocOp,
    TFreeOp,
    TPopOp,
    TPopSignalOp,
    TPushOp,
    TPushSignalOp,
)
from ....operations import pipe_protocol
from .channels import Channel, Entry
from .core_state import CoreState, Undecided, Waiting
from .program import Ring
from .trace import Access, Problem
from .values import Tile, View


class PipeOperations(CoreState):
    """Executes the operations of a core on pipes."""

    def _open(self, op: InitializePipeOp) -> None:
        for ring in self.program.rings:
            produced = pipe_protocol.C2V if self.kind is KernelKind.CUBE else pipe_protocol.V2C
            producing = (use.action in ("push", "alloc") for use in ring.uses if use.pipe is op)
            if ring.direction == produced and any(producing):
                self.opened[ring.name] = op

    def _end(self, op: Operation) -> tuple[Ring, Channel, int] | None:
        """Return the ring and channel of a use, and which producer or consumer of it the core is; None if neither."""
        ring = self.program.of_use.get(op)
        if ring is None:
            raise Undecided(f"the pipe at {location_of(op)}")
        if self.kind is KernelKind.VECTOR and self.lane >= self.program.lanes_of(ring):
            return None
        return ring, self.channels[ring.name], 0 if self.kind is KernelKind.CUBE else self.lane

    def _push(self, op: TPushOp | TPushSignalOp) -> Waiting:
        end = self._end(op)
        value = self.values.get(op.entry_value)
        tile = value if isinstance(value, Tile) else None
        name = op.entry_value.name_hint
        contents = None if tile is None or end is None else self.memory.read(op, tile, name)
        if end is None:
            return
        ring, channel, member = end
        after: tuple[int, ...] = ()
        if tile is not None or isinstance(op, TPushSignalOp):
            granted = channel.acquire(member)
            while granted is None:
                yield
                granted = channel.acquire(member)
            after = granted
        accesses: tuple[Access, ...] = ()
        extents: tuple[int, ...] = ()
        if tile is not None:
            accesses = (Access(self.memory.name(tile), tile.region(), False),)
            extents = tuple(n or 0 for n in tile.valid)
        pipe = HardwarePipe.FIX if self.kind is KernelKind.CUBE else HardwarePipe.MTE3
        size, position = 4 if tile is None else tile.size, channel.pushed[member]
        index = self._step(op, "push", pipe, accesses, after, extents, size, ring.name, position)
        entry = channel.push(member, index, contents, () if tile is None else tile.valid)
        entry.splits.append(None if tile is None else op.split_axis)
        if isinstance(op, TPushSignalOp):
            entry.signal = self.values.get(op.signal)

    def _pop(self, op: TPopOp | TPopSignalOp) -> Waiting:
        end = self._end(op)
        tile = self.values.get(op.entry_value)
        if end is None:
            if isinstance(tile, Tile):
                tile.address, tile.entry = None, None
            return
        ring, channel, member = end
        while not channel.is_ready(member):
            yield
        position = channel.popped[member]
        entry = channel.entry(position)
        channel.popped[member] += 1
        extents: tuple[int, ...] = ()
        accesses: tuple[Access, ...] = ()
        size = 4
        if isinstance(tile, Tile):
            base, pipe = self._buffer(op, ring), op.pipe_handle.owner
            slots = pipe.local_depth if isinstance(pipe, InitializeL2G2LPipeOp) else ring.pipe.depth
            tile.entry = (ring.name, position)
            tile.address = None if base is None else base + position % slots * ring.pipe.entry_bytes
            accesses = (Access(self.memory.name(tile), tile.region(), True),)
            self._check_entry(op, ring, entry, tile)
            extents, size = tuple(n or 0 for n in tile.valid), tile.size
            self.held.setdefault(ring.name, deque()).append(accesses[0])
        by = HardwarePipe.S if self.program.chip == "a5" else HardwarePipe.MTE2
        index = self._step(op, "pop", by, accesses, tuple(entry.pushed), extents, size, ring.name, position)
        if channel.frees_at_pop:
            channel.free(member, index)
        if isinstance(op, TPopSignalOp):
            self.values[op.signal] = entry.signal
        if isinstance(tile, Tile):
            split = op.split_axis != pipe_protocol.NO_SPLIT
            part = (self.lane,) if split and self.kind is KernelKind.VECTOR else ()
            self.memory.write(tile, hash((ring.name, self.place.device, self.place.block, position, *part)))

    def _check_entry(self, op: TPopOp | TPopSignalOp, ring: Ring, entry: Entry, tile: Tile) -> None:
        """Report an entry that is split otherwise than popped, or whose valid columns, or rows together, are others."""
        # The first push of an entry stands for all: vector cores run one text.
        split = next((each for each in entry.splits if each is not None), op.split_axis)
        if split != op.split_axis:
            self.trace.report(
                Problem(
                    "split-mismatch",
                    op,
                    f"an entry of {ring.name} is popped with split = {op.split_axis}, but pushed with split = {split}; "
                    "make both ends agree",
                )
            )
            return
        shapes = [shape for shape in entry.shapes if len(shape) == 2 and 0 not in shape]
        if not shapes or 0 in tile.valid or ring.has_epilogue:
            return
        splits_columns = op.split_axis in (pipe_protocol.LEFT_RIGHT, pipe_protocol.LEFT_RIGHT_ODD)
        for place, what in enumerate(("rows", "columns")):
            given, taken = [shape[place] for shape in shapes], tile.valid[place]
            is_split = op.split_axis != pipe_protocol.NO_SPLIT and (place == 1) == splits_columns
            if is_split and ring.direction == pipe_protocol.C2V:
                continue  # Each vector core takes its part.
            known = [number for number in given if number is not None]
            if taken is None or len(known) < len(given):
                continue
            pushed = sum(known) if is_split else known[0]
            # Fewer rows than there are can be popped: they are the first ones.
            if taken > pushed or (place == 1 and taken != pushed):
                self.trace.report(
                    Problem(
                        "shape-mismatch",
                        op,
                        f"a tile of {tile.valid[0]} x {tile.valid[1]} valid elements is popped from {ring.name}, but "
                        f"the entry has {pushed} valid {what}; make both ends agree",
                    )
                )
                return

    def _buffer(self, op: TPopOp | TPopSignalOp, ring: Ring) -> int | None:
        """Return the address of the consumer's slots."""
        pipe = op.pipe_handle.owner
        second = isinstance(pipe, InitializePipeOp) and pipe.direction == pipe_protocol.BOTH
        name = "peer_local_addr" if second and ring.direction == pipe_protocol.V2C else "local_addr"
        value = getattr(pipe, name, None)
        return None if value is None else self.values.get(value)

    def _alloc(self, op: TAllocOp) -> Waiting:
        end = self._end(op)
        if end is None:
            return
        ring, channel, member = end
        granted = channel.acquire(member)
        while granted is None:
            yield
            granted = channel.acquire(member)
        position = channel.acquired[member] - 1
        self._step(op, "alloc", HardwarePipe.MTE3, (), granted, (), 4, ring.name, position)
        self.values[op.entry] = self._slot(op, ring, channel, position)

    def _slot(self, op: TAllocOp | TPopOp, ring: Ring, channel: Channel, position: int) -> View | None:
        """Return the slot of an entry that is a tensor."""
        pipe = op.pipe_handle.owner
        slots = self.values.get(pipe.gm_addr) if isinstance(pipe, InitializeL2G2LPipeOp) else None
        if not isinstance(slots, View) or slots.offset is None:
            return None
        self.trace.slots.add(slots.array)
        place = position % channel.depth * ring.pipe.entry_bytes
        return View(slots.array, slots.offset + place, slots.extents, slots.strides, slots.size)

    def _free(self, op: TFreeOp) -> None:
        end = self._end(op)
        if end is None:
            return
        ring, channel, member = end
        held = self.held.get(ring.name)
        accesses = (held.popleft(),) if held and not channel.frees_at_pop else ()
        index = self._step(op, "free", HardwarePipe.S, accesses, (), (), 4, ring.name, channel.freed[member])
        if not channel.frees_at_pop:
            channel.free(member, index)

    def _drain(self, name: str) -> Waiting:
        ring = next(ring for ring in self.program.rings if ring.name == name)
        channel, member = self.channels[name], 0 if self.kind is KernelKind.CUBE else self.lane
        if not channel.drains or member >= channel.producers:
            return
        granted = channel.drain(member)
        while granted is None:
            yield
            granted = channel.drain(member)
        if granted:
            last = channel.acquired[member]
            self._step(self.opened[name], "drain", HardwarePipe.S, (), granted, (), 4, ring.name, last)

    HANDLERS: ClassVar[Mapping[type[Operation], Callable[[Any, Any], None]]] = {
        TFreeOp: _free,
        InitializeL2LPipeOp: _open,
        InitializeL2G2LPipeOp: _open,
    }

    WAITING: ClassVar[Mapping[type[Operation], Callable[[Any, Any], Waiting]]] = {
        TPushOp: _push,
        TPushSignalOp: _push,
        TPopOp: _pop,
        TPopSignalOp: _pop,
        TAllocOp: _alloc,
    }
