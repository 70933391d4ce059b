"""Pipes as channels: the channels of each pipe, and the lowering of pushes, pops and frees.

The protocol of a channel is the chip's, or one credit for each slot; its slots are in global memory or in the memory of
the consumer, depending on the pipe.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import prod

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...analysis.pto.local_memory import tile_strides
from ...analysis.pto.pipe_ends import lane_problem, refusal
from ...diagnostics.records import record
from ...dialects import flow
from ...dialects.pto.attributes import AddressSpace, FixpipeLayout, KernelKind, Layout
from ...dialects.pto.internal_pipes import (
    BoundPipeOp,
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
from ...dialects.pto.types import TensorViewType, TileBufType, element_bytes
from ...operations import pipe_protocol
from ...operations.pipe_protocol import Behavior
from .emission import Emitter
from .handles import Handles
from .views import GLOBAL_MEMORY, SPACES, Number, View

CUBE, VECTOR = "cube", "vector"
"""Names of the classes of units."""


@record
class Ring:
    """One direction of a pipe: the channel, and its slots in global memory from `offset` on."""

    channel: str
    direction: int
    depth: int
    slot_bytes: int
    lanes: int
    """Vector cores that take part."""
    offset: int
    producer: InitializePipeOp
    """Where the side that pushes opens it."""

    def operation(self, protocol_name: Behavior) -> flow.ChannelOp:
        """Return the operation that declares the channel."""
        ends = (CUBE, VECTOR) if self.direction == pipe_protocol.C2V else (VECTOR, CUBE)
        period = pipe_protocol.credit_period(self.depth, protocol_name)
        local = not isinstance(self.producer, InitializeL2G2LPipeOp)
        seed = pipe_protocol.seeded_credits(self.depth, protocol_name, whole=not is_shared(self.producer), local=local)
        channel = flow.ChannelOp(self.channel, *ends, depth=self.depth, period=period, lanes=self.lanes, seed=seed)
        channel.location = self.producer.location
        return channel


@record
class Plan:
    """What is alike for both ends of a pipe."""

    rings: Mapping[int, Ring]
    """By direction."""
    popped: Attribute | None
    """What the elements of the consumers' tiles are, where they pop tiles."""


@record
class Machine:
    """What kernels are lowered for."""

    protocol: Behavior
    lanes: int
    """Vector cores of a block."""
    blocks: int
    devices: int
    """Each has all blocks, and a part of global memory of its own; several get their arguments from a table there."""
    chip: str
    """Whose memories and data paths the program has: also those of a program for ideal pipes."""


@record
class _Pipe:
    """An end of a pipe in a kernel."""

    maker: InitializePipeOp
    plan: Plan
    slots: View | Number | None
    """In global memory: a tensor as large as a slot, or an address."""
    buffers: Mapping[int, Number]
    """Of the consumers, by direction."""

    @property
    def by_global_memory(self) -> bool:
        return isinstance(self.maker, InitializeL2G2LPipeOp)


class Pipes:
    """Lowers what one kernel does with its pipes."""

    def __init__(
        self,
        emitter: Emitter,
        handles: Handles,
        core: KernelKind,
        machine: Machine,
        plans: Mapping[InitializePipeOp, Plan],
        lane: SSAValue,
        convert: Callable[[TPushOp, InitializePipeOp, View], tuple[View, dict[str, Attribute]]],
    ) -> None:
        self.emitter = emitter
        self.handles = handles
        self.core = core
        self.machine = machine
        self.plans = plans
        self.lane = lane
        self.convert = convert
        self.pipes: dict[SSAValue, _Pipe] = {}

    # Opening and closing -----------------------------------------------------------------------

    def open(self, op: InitializePipeOp) -> None:
        """Record the memory of a pipe."""
        assert isinstance(op, InitializeL2LPipeOp | InitializeL2G2LPipeOp)
        slots: View | Number | None = None
        if isinstance(op, InitializeL2G2LPipeOp):
            slots = (
                self.handles.view(op.gm_addr) if self.handles.is_known(op.gm_addr) else self.handles.number(op.gm_addr)
            )
        both = op.direction == pipe_protocol.BOTH
        if both and self.machine.protocol == "a5" and isinstance(op, InitializeL2G2LPipeOp):
            raise refusal(
                op,
                "is a pipe of both directions through global memory, which hangs on a5: there the vector cores wait "
                "for the flag of free slots instead of the data flag (H8); open a pipe for each direction",
            )
        first = pipe_protocol.C2V if both else op.direction
        buffers: dict[int, Number] = {}
        if op.local_addr is not None:
            buffers[first] = self.handles.number(op.local_addr)
        if op.peer_local_addr is not None:
            buffers[pipe_protocol.V2C] = self.handles.number(op.peer_local_addr)
        self.pipes[op.pipe] = _Pipe(op, self.plans[op], slots, buffers)

    def close(self, op: InitializePipeOp) -> None:
        """Lower the end of a pipe: on chips, the producer waits for the outstanding credits."""
        if self.machine.protocol == "ideal":
            return
        ring = self.pipes[op.pipe].plan.rings.get(self._produced)
        if ring is not None:
            with self._taking_part(ring):
                self.emitter.append(flow.DrainOp(ring.channel))

    @property
    def _produced(self) -> int:
        return pipe_protocol.C2V if self.core is KernelKind.CUBE else pipe_protocol.V2C

    def _end(self, op: BoundPipeOp) -> tuple[_Pipe, Ring]:
        pipe = self.pipes.get(op.pipe_handle)
        if pipe is None:
            raise refusal(op, "uses a pipe that cannot be lowered to `flow`; open it in the kernel")
        direction = self._produced if op.IS_PRODUCER else pipe_protocol.BOTH ^ self._produced
        ring = pipe.plan.rings.get(direction)
        if ring is None:
            way = "C2V" if direction == pipe_protocol.C2V else "V2C"
            raise refusal(op, f"needs a pipe in direction {way}; its dir_mask is {pipe.maker.direction}")
        return pipe, ring

    # Who takes part ----------------------------------------------------------------------------

    def _is_partial(self, ring: Ring) -> bool:
        """Return True if only the first of the vector cores takes part."""
        return self.core is KernelKind.VECTOR and ring.lanes < self.machine.lanes

    @contextmanager
    def _taking_part(self, ring: Ring) -> Generator[None]:
        """Emit the following operations for the cores that take part."""
        if not self._is_partial(ring):
            yield
            return
        body = Block()
        condition = self.emitter.compare(self.lane, 0)
        with self.emitter.inside(body):
            yield
            self.emitter.append(scf.YieldOp())
        self.emitter.append(scf.IfOp(condition, [], Region(body)))

    def _numbered(self, ring: Ring, entry: Callable[[], SSAValue]) -> SSAValue:
        """Return the number of an entry; 0 for a core that does not take part."""
        if not self._is_partial(ring):
            return entry()
        taken, other = Block(), Block()
        condition = self.emitter.compare(self.lane, 0)
        with self.emitter.inside(taken):
            self.emitter.append(scf.YieldOp(entry()))
        with self.emitter.inside(other):
            self.emitter.append(scf.YieldOp(self.emitter.constant(0)))
        return self.emitter.make(scf.IfOp(condition, [i64], Region(taken), Region(other)))

    def _outside(self, view: View) -> View:
        """Return a view of a slot by its address, for cores of which some do not take part."""
        return replace(view, address=self.emitter.slot_address(view), entry=None)

    def _lane_of(self, op: TPushOp | TPopOp) -> Number:
        return self.lane if op.aiv_subblockid is None else self.handles.number(op.aiv_subblockid)

    # Pushing -----------------------------------------------------------------------------------

    def push(self, op: TPushOp) -> None:
        pipe, ring = self._end(op)
        with self._taking_part(ring):
            if isinstance(op.tile.type, TileBufType):
                source = self.handles.view(op.tile)
                options: dict[str, Attribute] = {}
                if pipe.maker.acc_push_epilogue is not None:
                    source, options = self.convert(op, pipe.maker, source)
                    element = pipe.plan.popped or source.element
                else:
                    element = source.element
                index = self.emitter.make(flow.AcquireOp(ring.channel))
                entry = flow.Slot(ring.channel, index, ring.depth, ring.slot_bytes, "written")
                place = self._place_in_global_memory if pipe.by_global_memory else self._places_at_consumer
                for target, part in place(op, pipe, ring, source, op.tile.type):
                    self.emitter.apply("copy", replace(target, element=element, entry=entry), [part], options)
            self.emitter.append(flow.CommitOp(ring.channel))

    def _place_in_global_memory(
        self, op: TPushOp, pipe: _Pipe, ring: Ring, source: View, tile: TileBufType
    ) -> list[tuple[View, View]]:
        emitter, (rows, columns) = self.emitter, source.extents
        address, stride = self._slots(pipe, ring), columns
        if ring.direction == pipe_protocol.V2C:
            size = _size(op, pipe.plan.popped or source.element)
            part, stride = self._part_of_slot(op, rows, columns)
            address = emitter.add(address, emitter.multiply(part, size))
        return [(View(GLOBAL_MEMORY, source.element, address, source.extents, (stride, 1)), source)]

    def _places_at_consumer(
        self, op: TPushOp, pipe: _Pipe, ring: Ring, source: View, tile: TileBufType
    ) -> list[tuple[View, View]]:
        emitter, (rows, columns) = self.emitter, source.extents
        problem = lane_problem(tile, op.split_axis, ring.direction) if self.machine.protocol == "a5" else None
        if problem is not None and pipe.maker.acc_push_epilogue is None:
            raise refusal(op, problem)
        address = pipe.buffers[ring.direction]
        if ring.direction == pipe_protocol.V2C:
            stride, lane = tile.columns, self._lane_of(op)
            size = _size(op, source.element)
            if op.split_axis == pipe_protocol.UP_DOWN:
                address = emitter.add(address, emitter.multiply(emitter.multiply(lane, rows), stride * size))
            elif op.split_axis == pipe_protocol.LEFT_RIGHT:
                address = emitter.add(address, emitter.multiply(emitter.multiply(lane, columns), size))
                stride *= 2
            space = SPACES[AddressSpace.MAT]
            return [(View(space, source.element, address, source.extents, (stride, 1), owner=(CUBE, 0)), source)]
        extents, steps, width = source.extents, (0, 0), tile.columns
        if op.split_axis == pipe_protocol.UP_DOWN:
            extents = (emitter.divide(rows, 2), columns)
            steps = (extents[0], 0)
        elif op.split_axis == pipe_protocol.LEFT_RIGHT:
            extents = (rows, emitter.divide(columns, 2))
            steps, width = (0, extents[1]), tile.columns // 2
        strides = (width, 1)
        epilogue = pipe.maker.acc_push_epilogue
        if epilogue is not None and epilogue.layout.data is FixpipeLayout.NZ2DN:
            strides = (1, tile.rows)
        found: list[tuple[View, View]] = []
        for lane in range(ring.lanes):
            part = emitter.part(source, [emitter.multiply(step, lane) for step in steps], extents)
            space = SPACES[AddressSpace.VEC]
            found.append((View(space, source.element, address, extents, strides, owner=(VECTOR, lane)), part))
        return found

    def _slots(self, pipe: _Pipe, ring: Ring, *, of_tensors: bool = False) -> Number:
        """Return the address of the slots of a direction in global memory."""
        slots = pipe.slots
        assert slots is not None, "the pipe goes by way of global memory"
        address = slots.address if isinstance(slots, View) else slots
        # On the chips, slots taken as tensors are those of the first ring.
        offset = 0 if of_tensors and self.machine.protocol != "ideal" else ring.offset
        return self.emitter.add(address, offset)

    # Popping -----------------------------------------------------------------------------------

    def pop(self, op: TPopOp) -> None:
        pipe, ring = self._end(op)
        tile = op.tile.type
        if not isinstance(tile, TileBufType):
            self._bind_slot(op, op.tile, pipe, ring, "read")
            return
        emitter, extents = self.emitter, self.handles.extents(op.tile)
        address = pipe.buffers.get(ring.direction)
        if address is None:
            raise refusal(op, "needs a consumer buffer to pop tiles; name one where the pipe is opened")
        here = View(SPACES[tile.location], tile.element_type, address, extents, tile_strides(tile))
        count, size, role = ring.depth, ring.slot_bytes, "read"
        if isinstance(pipe.maker, InitializeL2G2LPipeOp):
            count, role = pipe.maker.local_depth, "copied"
            if self.machine.protocol == "a5":
                # There as many copies of its own kind precede a copy.
                size = prod(tile.shape) * _size(op, tile.element_type)

        def bound(index: SSAValue) -> View:
            return replace(here, entry=flow.Slot(ring.channel, index, count, size, role))

        def wait() -> SSAValue:
            index = emitter.make(flow.WaitOp(ring.channel))
            if pipe.by_global_memory:
                entry = flow.Slot(ring.channel, index, ring.depth, ring.slot_bytes, "read")
                source = self._popped_from_global_memory(op, pipe, ring, extents, tile)
                emitter.apply("copy", bound(index), [replace(source, entry=entry)])
                if self.machine.protocol != "ideal":
                    # On a5 the free that the text needs gives the slot back once more (H6).
                    emitter.append(flow.ReleaseOp(ring.channel))
            return index

        view = bound(self._numbered(ring, wait))
        if self._is_partial(ring):
            view = self._outside(view)
            body = Block()
            condition = emitter.compare(self.lane, 0, "ne")
            with emitter.inside(body):
                emitter.apply("fill", view, [emitter.zero(view.element)])
                emitter.append(scf.YieldOp())
            emitter.append(scf.IfOp(condition, [], Region(body)))
        emitter.tile(view, op.tile.name_hint)
        self.handles.bind(op.tile, view)

    def _popped_from_global_memory(
        self, op: TPopOp, pipe: _Pipe, ring: Ring, extents: tuple[Number, ...], tile: TileBufType
    ) -> View:
        emitter, (rows, columns) = self.emitter, extents
        address, stride = self._slots(pipe, ring), columns
        if ring.direction == pipe_protocol.C2V:
            size = _size(op, tile.element_type)
            part, stride = self._part_of_slot(op, rows, columns)
            address = emitter.add(address, emitter.multiply(part, size))
        return View(GLOBAL_MEMORY, tile.element_type, address, extents, (stride, 1))

    def _part_of_slot(self, op: TPushOp | TPopOp, rows: Number, columns: Number) -> tuple[Number, Number]:
        """Return where the part of a vector core begins in a slot in global memory, and how far apart its rows are."""
        emitter, lane = self.emitter, self._lane_of(op)
        match op.split_axis:
            case pipe_protocol.UP_DOWN:
                return emitter.multiply(emitter.multiply(lane, rows), columns), columns
            case pipe_protocol.LEFT_RIGHT:
                return emitter.multiply(lane, columns), emitter.multiply(columns, 2)
            case pipe_protocol.UP_DOWN_ODD:
                return emitter.multiply(emitter.multiply(lane, emitter.add(rows, lane)), columns), columns
            case pipe_protocol.LEFT_RIGHT_ODD:
                # The whole has two columns of the first core less one, or of the second and one.
                first = emitter.multiply(lane, emitter.add(columns, lane))
                return first, emitter.add(emitter.multiply(emitter.add(columns, lane), 2), -1)
            case _:
                return 0, columns

    # Slots as tensors --------------------------------------------------------------------------

    def allocate(self, op: TAllocOp) -> None:
        pipe, ring = self._end(op)
        self._bind_slot(op, op.entry, pipe, ring, "written")

    def _bind_slot(self, op: TAllocOp | TPopOp, handle: SSAValue, pipe: _Pipe, ring: Ring, role: str) -> None:
        slots, tensor = pipe.slots, handle.type
        assert isinstance(tensor, TensorViewType)
        if not isinstance(slots, View):
            raise refusal(op, "needs a tensor that describes a slot in global memory; set gm_slot_tensor")
        if slots.layout is not Layout.ND:
            raise refusal(op, f"uses slots with layout {slots.layout.value} in global memory; use nd")
        emitter = self.emitter
        index = self._numbered(
            ring,
            lambda: emitter.make(flow.WaitOp(ring.channel) if role == "read" else flow.AcquireOp(ring.channel)),
        )
        extents = tuple(
            whole if extent < 0 else extent for extent, whole in zip(tensor.extents, slots.extents, strict=True)
        )
        address = self._slots(pipe, ring, of_tensors=True)
        # Cube cores have the whole slot, vector cores their part of it. On a5 one that takes a whole slot gets the
        # address of its part of one shared by columns, which is right for the first core alone (H9).
        is_part = op.split_axis != pipe_protocol.NO_SPLIT
        is_shifted = role == "written" and self.machine.protocol == "a5" and self._is_partial(ring)
        if self.core is KernelKind.VECTOR and (is_part or is_shifted):
            rows, columns = extents[-2:]
            by_columns = op.split_axis in (pipe_protocol.LEFT_RIGHT, pipe_protocol.NO_SPLIT)
            part = columns if by_columns else emitter.multiply(rows, columns)
            size = _size(op, tensor.element_type)
            address = emitter.add(address, emitter.multiply(emitter.multiply(self.lane, part), size))
        entry = flow.Slot(ring.channel, index, ring.depth, ring.slot_bytes, role)
        view = View(GLOBAL_MEMORY, tensor.element_type, address, extents, slots.strides, entry)
        self.handles.bind(handle, view)

    # Control signals ---------------------------------------------------------------------------

    def push_signal(self, op: TPushSignalOp) -> None:
        """Lower the push of a signal, a tile of one word."""
        pipe, ring = self._end(op)
        emitter = self.emitter
        with self._taking_part(ring):
            word = emitter.make(arith.ExtUIOp(self.handles.value(op.signal), i64))
            index = emitter.make(flow.AcquireOp(ring.channel))
            emitter.apply("fill", self._word(pipe, ring, index, "written"), [word])
            emitter.append(flow.CommitOp(ring.channel))

    def pop_signal(self, op: TPopSignalOp) -> None:
        """Lower the pop of a signal, read from its slot."""
        pipe, ring = self._end(op)
        emitter = self.emitter
        index = emitter.make(flow.WaitOp(ring.channel))
        word = emitter.make(flow.TileGetOp(emitter.tile(self._word(pipe, ring, index, "read")), i32))
        if pipe.by_global_memory and self.machine.protocol == "a2a3":
            emitter.append(flow.ReleaseOp(ring.channel))
        signal = emitter.make(arith.CmpiOp(word, emitter.constant(1, i32), "eq"))
        signal.name_hint = op.signal.name_hint
        self.handles.values[op.signal] = signal

    def _word(self, pipe: _Pipe, ring: Ring, index: SSAValue, role: str) -> View:
        """Return a view of the first word of a slot."""
        entry = flow.Slot(ring.channel, index, ring.depth, ring.slot_bytes, role)
        if pipe.by_global_memory:
            return View(GLOBAL_MEMORY, i32, self._slots(pipe, ring), (1,), (1,), entry)
        owner = (CUBE, 0) if self.core is KernelKind.VECTOR else None
        return View(SPACES[AddressSpace.MAT], i32, pipe.buffers[ring.direction], (1,), (1,), entry, owner)

    # Giving back -------------------------------------------------------------------------------

    def free(self, op: TFreeOp) -> None:
        pipe, ring = self._end(op)
        tensors = isinstance(op.entry.type, TensorViewType) if op.entry is not None else not pipe.buffers
        if pipe.by_global_memory and not tensors and self.machine.protocol == "a2a3":
            # The pop that loaded the tile has given its slot back.
            return
        with self._taking_part(ring):
            self.emitter.append(flow.ReleaseOp(ring.channel))


def _size(op: Operation, element: Attribute) -> int:
    size = element_bytes(element)
    if size is None:
        raise refusal(op, f"uses elements of type {element}, whose size is unknown; use floats or integers")
    return size


def is_shared(pipe: InitializePipeOp) -> bool:
    """Return True if the entries of a pipe are split between vector cores."""
    return pipe.nosplit is None or not pipe.nosplit.value.data
