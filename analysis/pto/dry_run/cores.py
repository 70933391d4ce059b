"""Cores of a dry run: each executes its kernel operation by operation and adds steps to the trace."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ....diagnostics.locations import location_of
from ....dialects.pto.attributes import AddressSpace, AtomicType, HardwarePipe, HardwarePipeAttr, KernelKind
from ....dialects.pto.buffers import ImportReservedBufferOp, ReserveBufferOp, reservation_of
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
    number,
)
from ....dialects.pto.kernels import (
    BarrierOp,
    GetBlockIdxOp,
    GetBlockNumOp,
    GetSubBlockIdxOp,
    GetSubBlockNumOp,
    SectionCubeOp,
    SectionVectorOp,
    SyncAllOp,
    core_of,
    kernel_kind,
)
from ....dialects.pto.memory import (
    AddPtrOp,
    AllocTileOp,
    DeclareGlobalOp,
    DeclareTileOp,
    LoadScalarOp,
    MakeTensorViewOp,
    PartitionViewOp,
    SetValidShapeOp,
    StoreScalarOp,
    SubViewOp,
    TReshapeOp,
)
from ....dialects.pto.tiles import TableOperation, TCvtOp, TileOperation, TLoadOp, TPrintOp, TStoreOp, is_product
from ....dialects.pto.types import DYNAMIC, PtrType, TensorViewType, TileBufType, element_bytes
from ....operations import pipe_protocol
from ..schedules import folded
from .channels import Channel, Entry
from .contents import Contents
from .program import Program, Ring
from .trace import Access, Core, Kind, Problem, Step, Trace
from .values import Pointer, Tile, View, whole_boxes
from .values import Region as Bytes

Waiting: TypeAlias = Generator[None, None, Any]
"""A part of a program: yields whenever it has to wait."""

MAX_ITERATIONS = 1 << 20


class Undecided(Exception):
    """Raised where the control flow depends on what a dry run does not know."""


class TooLong(Exception):
    """Raised when the trace has its maximal length."""


class CoreRun:
    """One core at its program."""

    def __init__(
        self,
        program: Program,
        trace: Trace,
        core: int,
        blocks: int,
        channels: Mapping[str, Channel],
        barrier: Barrier,
        arrays: Mapping[str, Any],
        max_steps: int,
    ) -> None:
        self.program = program
        self.trace = trace
        self.core = core
        self.place: Core = trace.cores[core]
        self.kind = KernelKind.CUBE if self.place.column == 0 else KernelKind.VECTOR
        self.lane = max(0, self.place.column - 1)
        self.blocks = blocks
        self.channels = channels
        self.barrier = barrier
        self.arrays = arrays
        self.max_steps = max_steps
        self.memory = Contents(trace, core)
        self.values: dict[SSAValue, Any] = {}
        self.opened: dict[str, InitializePipeOp] = {}
        self.flags: dict[tuple[str, str, str], list[int]] = {}
        self.freed: dict[str, int] = {}
        """The step that freed a buffer last, by its number."""
        self.held: dict[str, deque[Access]] = {}
        """The popped entries of each ring that are not freed: what a free gives up."""

    # -----------------------------------------------------------------------------------------
    # Control
    # -----------------------------------------------------------------------------------------

    def run(self, arguments: Mapping[str, Any]) -> Waiting:
        """Execute the kernels that are launched, one after the other."""
        for function in self.program.launched:
            given: list[Any] = []
            for argument in function.body.blocks[0].args:
                value = arguments.get(argument.name_hint or f"arg{argument.index}")
                # One name may be a pointer of one kernel and a number of another, which a run refuses.
                given.append(value if isinstance(value, Pointer) == isinstance(argument.type, PtrType) else None)
            yield from self.function(function, given)

    def function(self, function: FuncOp, arguments: Sequence[Any]) -> Waiting:
        """Execute a function; raises Undecided for one of several blocks."""
        kind = kernel_kind(function)
        if kind is not None and kind is not self.kind:
            return ()
        if len(function.body.blocks) != 1:
            raise Undecided("a function of several blocks")
        block = function.body.blocks[0]
        outside = self.values
        self.values = dict(zip(block.args, arguments, strict=True))
        before = set(self.opened)
        found = yield from self.block(block)
        for name in [name for name in self.opened if name not in before]:
            yield from self._drain(name)
            del self.opened[name]
        self.values = outside
        return found

    def block(self, block: Block) -> Waiting:
        """Execute a block; return the operands of its terminator."""
        for op in block.ops:
            handler = self.HANDLERS.get(type(op))
            if handler is not None:
                handler(self, op)
                continue
            waiting = self.WAITING.get(type(op))
            if waiting is not None:
                yield from waiting(self, op)
            elif isinstance(op, scf.YieldOp | scf.ConditionOp | ReturnOp):
                return [self.values.get(operand) for operand in op.operands]
            else:
                self._other(op)
        return ()

    def _region(self, region: Region) -> Waiting:
        if not region.blocks:
            return ()
        if len(region.blocks) > 1:
            raise Undecided("a region of several blocks")
        found = yield from self.block(region.blocks[0])
        return found

    def _section(self, op: SectionCubeOp | SectionVectorOp) -> Waiting:
        kind = KernelKind.CUBE if isinstance(op, SectionCubeOp) else KernelKind.VECTOR
        if kind is self.kind:
            yield from self._region(op.body)

    def _for(self, op: scf.ForOp) -> Waiting:
        lower, upper, step = (self.values.get(value) for value in (op.lb, op.ub, op.step))
        if lower is None or upper is None or step is None or step < 1:
            raise Undecided(f"the loop at {location_of(op)}")
        body = op.body.blocks[0]
        carried = [self.values.get(value) for value in op.iter_args]
        for turn in range(lower, upper, step):
            self.values[body.args[0]] = turn
            for argument, value in zip(body.args[1:], carried, strict=True):
                self.values[argument] = value
            carried = yield from self.block(body)
        for result, value in zip(op.results, carried, strict=True):
            self.values[result] = value

    def _if(self, op: scf.IfOp) -> Waiting:
        condition = self.values.get(op.cond)
        if condition is None:
            raise Undecided(f"the branch at {location_of(op)}")
        found = yield from self._region(op.true_region if condition else op.false_region)
        for result, value in zip(op.results, found, strict=True):
            self.values[result] = value

    def _while(self, op: scf.WhileOp) -> Waiting:
        before, after = op.before_region.blocks[0], op.after_region.blocks[0]
        carried = [self.values.get(value) for value in op.arguments]
        for _ in range(MAX_ITERATIONS):
            for argument, value in zip(before.args, carried, strict=True):
                self.values[argument] = value
            condition, *passed = yield from self.block(before)
            if condition is None:
                raise Undecided(f"the loop at {location_of(op)}")
            if not condition:
                for result, value in zip(op.results, passed, strict=True):
                    self.values[result] = value
                return
            for argument, value in zip(after.args, passed, strict=True):
                self.values[argument] = value
            carried = yield from self.block(after)
        raise TooLong

    def _call(self, op: CallOp) -> Waiting:
        function = self.program.functions.get(op.callee.root_reference.data)
        if function is None:
            raise Undecided(f"the call at {location_of(op)}")
        found = yield from self.function(function, [self.values.get(operand) for operand in op.operands])
        for result, value in zip(op.results, found or [None] * len(op.results), strict=True):
            self.values[result] = value

    # -----------------------------------------------------------------------------------------
    # Numbers
    # -----------------------------------------------------------------------------------------

    def _constant(self, op: arith.ConstantOp) -> None:
        value = op.value
        self.values[op.result] = value.value.data if isinstance(value, IntegerAttr | FloatAttr) else None

    def _other(self, op: Operation) -> None:
        """Execute an operation without a handler: a computation on numbers, or something unknown."""
        if isinstance(op, TileOperation):
            self._tile_operation(op)
            return
        if op.name in _FLAGS:
            self._flag(op)
            return
        if op.name in _BUFFERS:
            self._shared_buffer(op)
            return
        if op.name.startswith("pto."):
            self._unknown(op)
            return
        if not op.results:
            return
        numbers = [self.values.get(operand) for operand in op.operands]
        value: Any = None
        if isinstance(op, arith.SelectOp):
            value = None if numbers[0] is None else numbers[1] if numbers[0] else numbers[2]
        elif op.name.startswith("arith.") and all(isinstance(number, int) for number in numbers):
            value = folded(op, numbers)  # pyright: ignore[reportArgumentType]
        elif op.name.startswith(("arith.cmpf", "arith.mulf", "arith.addf")):
            value = None
        for result in op.results:
            self.values[result] = value

    def _unknown(self, op: Operation) -> None:
        """Note that an operation of which nothing is known may write whatever it is given, or order what it likes."""
        if op.name.startswith(_OF_CORES):
            self.trace.orders_cores = True
        if op.name in _OF_PIPES:
            self.trace.unknown_order.add(self.core)
        if op.name.startswith(_WITHOUT_EFFECT):
            return
        for operand in op.operands:
            value = self.values.get(operand)
            if isinstance(value, Tile):
                self.memory.write(value, None)
            elif isinstance(value, View | Pointer):
                self.barrier.written.add(value.array)
            if not isinstance(value, Tile) and not isinstance(operand.type, IntegerType | IndexType | AnyFloat):
                self.memory.lose()
        for result in op.results:
            self.values[result] = None

    def _index(self, op: Operation) -> None:
        match op:
            case GetBlockIdxOp():
                value = self.place.block
            case GetBlockNumOp():
                value = self.blocks
            case GetSubBlockIdxOp():
                value = self.lane
            case _:
                value = self.program.lanes
        self.values[op.results[0]] = value

    # -----------------------------------------------------------------------------------------
    # Global memory
    # -----------------------------------------------------------------------------------------

    def _add_pointer(self, op: AddPtrOp) -> None:
        pointer, offset = self.values.get(op.ptr), self.values.get(op.offset)
        assert isinstance(op.ptr.type, PtrType)
        size = element_bytes(op.ptr.type.element_type)
        if isinstance(pointer, Pointer):
            known = pointer.offset is not None and offset is not None and size is not None
            moved = pointer.offset + offset * size if known else None  # type: ignore[operator]
            self.values[op.result] = Pointer(pointer.array, moved)

    def _tensor(self, op: MakeTensorViewOp) -> None:
        pointer = self.values.get(op.ptr)
        assert isinstance(op.result.type, TensorViewType)
        size = element_bytes(op.result.type.element_type)
        if isinstance(pointer, Pointer) and size is not None:
            extents, strides = (tuple(self.values.get(value) for value in each) for each in (op.shape, op.strides))
            self.values[op.result] = View(pointer.array, pointer.offset, extents, strides, size)

    def _partition(self, op: PartitionViewOp) -> None:
        whole = self.values.get(op.source)
        if not isinstance(whole, View):
            return
        offsets, sizes = ([self.values.get(value) for value in each] for each in (op.offsets, op.sizes))
        # A function for both kinds of cores may name parts that only the other kind uses.
        is_used = any(core_of(use.operation) in (None, self.kind) for use in op.result.uses)
        for place, (offset, size, limit) in enumerate(zip(offsets, sizes, whole.extents, strict=False)):
            if offset is None or size is None or limit is None or not is_used:
                continue
            if offset < 0 or size < 0 or offset + size > limit:
                self.trace.report(
                    Problem(
                        "outside-tensor",
                        op,
                        f"{self.place} views {size} elements from {offset} on of dimension {place} of '{whole.array}', "
                        f"which has {limit} there; correct offsets or sizes",
                    )
                )
        self.values[op.result] = whole.part(offsets, sizes)

    def _load_scalar(self, op: LoadScalarOp) -> None:
        pointer, offset = self.values.get(op.ptr), self.values.get(op.offset)
        self.values[op.value] = None
        region = self._element(op.ptr, pointer, offset)
        if not isinstance(pointer, Pointer):
            return
        self._step(op, "scalar", HardwarePipe.S, (Access(pointer.array, region, False),))
        array = self.arrays.get(pointer.array)
        if region is None or array is None or pointer.array in self.trace_written():
            return
        data = array.reshape(-1).view(np.uint8)[region.start : region.start + region.size]
        if len(data) == region.size and array.dtype.kind in "iu" and array.dtype.itemsize == region.size:
            self.values[op.value] = int(data.view(array.dtype)[0])

    def trace_written(self) -> set[str]:
        """Return the arrays that some step has written."""
        return self.barrier.written

    def _store_scalar(self, op: StoreScalarOp) -> None:
        pointer, offset = self.values.get(op.ptr), self.values.get(op.offset)
        if isinstance(pointer, Pointer):
            region = self._element(op.ptr, pointer, offset)
            value = self.values.get(op.value)
            contents = None if value is None else ("number", value)
            self._step(op, "scalar", HardwarePipe.S, (Access(pointer.array, region, True, contents),))

    def _element(self, value: SSAValue, pointer: Any, offset: int | None) -> Bytes | None:
        assert isinstance(value.type, PtrType)
        size = element_bytes(value.type.element_type)
        if not isinstance(pointer, Pointer) or pointer.offset is None or offset is None or size is None:
            return None
        return Bytes(pointer.offset + offset * size, (), size)

    # -----------------------------------------------------------------------------------------
    # Tiles
    # -----------------------------------------------------------------------------------------

    def _allocate(self, op: AllocTileOp) -> None:
        kind = op.result.type
        assert isinstance(kind, TileBufType)
        address = None if op.addr is None else self.values.get(op.addr)
        valid = [
            stated if stated != DYNAMIC else None if given is None else self.values.get(given)
            for stated, given in zip(kind.valid_shape, (op.valid_row, op.valid_col), strict=True)
        ]
        for place, given in enumerate((op.valid_row, op.valid_col)):
            if given is None and kind.valid_shape[place] == DYNAMIC:
                valid[place] = kind.shape[place]
        self.values[op.result] = Tile.of(kind, address, (valid[0], valid[1]))

    def _declare(self, op: DeclareTileOp | DeclareGlobalOp) -> None:
        kind = op.results[0].type
        if isinstance(kind, TileBufType):
            valid = (whole if extent == DYNAMIC else extent
                     for extent, whole in zip(kind.valid_shape, kind.shape, strict=True))  # fmt: skip
            self.values[op.results[0]] = Tile.of(kind, None, (*valid,))  # type: ignore[arg-type]
        else:
            self.values[op.results[0]] = None

    def _set_valid(self, op: SetValidShapeOp) -> None:
        tile = self.values.get(op.source)
        if isinstance(tile, Tile):
            tile.valid = (self.values.get(op.valid_row), self.values.get(op.valid_col))

    def _subview(self, op: SubViewOp) -> None:
        whole, kind = self.values.get(op.source), op.result.type
        assert isinstance(kind, TileBufType)
        if not isinstance(whole, Tile):
            return
        offsets = [self.values.get(offset) for offset in op.offsets]
        address = whole.address
        for offset, stride in zip(offsets, whole.strides, strict=True):
            address = None if address is None or offset is None else address + offset * stride * whole.size
        valid = [
            stated if stated != DYNAMIC else size if given is None else self.values.get(given)
            for stated, given, size in zip(kind.valid_shape, (op.valid_row, op.valid_col), op.extents, strict=True)
        ]
        found = Tile(kind, address, (valid[0], valid[1]), whole.strides, whole.entry, whole.rows)
        self.values[op.result] = found

    def _reshape(self, op: TReshapeOp) -> None:
        before, kind = self.values.get(op.src), op.result.type
        assert isinstance(kind, TileBufType)
        if isinstance(before, Tile):
            valid = tuple(whole if extent == DYNAMIC else extent
                          for extent, whole in zip(kind.valid_shape, kind.shape, strict=True))  # fmt: skip
            found = Tile.of(kind, before.address, (valid[0], valid[1]))
            found.entry = before.entry
            self.values[op.result] = found

    def _tile_operation(self, op: TileOperation) -> None:
        """Execute an operation that reads tiles, or a part of a tensor, and writes one."""
        destination = op.destination
        scratch = op.tmp if isinstance(op, TCvtOp) else op.scratch if isinstance(op, TableOperation) else None
        accesses: list[Access] = []
        contents: list[object] = [op.name]
        written = False
        for operand in op.operands:
            value = self.values.get(operand)
            if operand is destination and not written:
                written = True
                if not (isinstance(op, TableOperation) and operand in op.inputs):
                    continue
            if operand is scratch or (operand in op.operands[1:] and _GROUPS in (*op.properties, *op.attributes)):
                continue
            if isinstance(value, Tile):
                accesses.append(Access(self.memory.name(value), value.region(), False))
                contents.append(self.memory.read(op, value))
            elif isinstance(value, View):
                region = value.region()
                accesses.append(Access(value.array, region, False))
                contents.append(None if region is None else (value.array, region))
            elif value is None and isinstance(operand, BlockArgument) and isinstance(operand.owner.parent_op(), FuncOp):
                contents.append(operand)  # All cores have the same.
            else:
                contents.append(value)
        result, known = self.values.get(destination), None not in contents
        modes = (str(op.properties[key]) for key in sorted(op.properties) if "egment" not in key)
        signature = hash((*contents, *modes))
        kind, pipe = _kind_of(op, result, [self.values.get(operand) for operand in op.operands])
        extents, size = self._extents(op, result)
        if isinstance(result, Tile):
            accesses.append(Access(self.memory.name(result), result.region(), True))
            self._check_shapes(op, result)
            self._step(op, kind, pipe, tuple(accesses), extents=extents, size=size)
            self.memory.write(result, signature if known else None)
            self._note_pitch(op, result)
        elif isinstance(result, View):
            atomic = isinstance(op, TStoreOp) and op.atomicType is not None and op.atomicType.data is AtomicType.ADD
            stored = Access(result.array, self._stored(op, result), True, signature if known else None, atomic)
            self.barrier.written.add(result.array)
            self._step(op, kind, pipe, (*accesses, stored), extents=extents, size=size)
        elif isinstance(destination.type, TileBufType):
            self.memory.lose()

    def _stored(self, op: TileOperation, view: View) -> Bytes | None:
        """Return the bytes of a view that a store writes: no more than the tile has."""
        source = self.values.get(op.operands[0])
        if isinstance(source, Tile) and len(view.extents) == 2:
            valid = tuple(
                None if extent is None or room is None else min(extent, room)
                for extent, room in zip(view.extents, source.valid, strict=True)
            )
            return View(view.array, view.offset, valid, view.strides, view.size).region()
        return view.region()

    def _check_shapes(self, op: TileOperation, tile: Tile) -> None:
        """Report a load of more than the tile holds, and sources with fewer valid elements than the result."""
        if isinstance(op, TableOperation) and op.table_row().shape == "elementwise":
            self._check_sources(op, tile)
            return
        view = self.values.get(op.operands[0])
        if not isinstance(op, TLoadOp) or not isinstance(view, View) or len(view.extents) != 2:
            return
        extents = [extent for extent in (*view.extents, *tile.valid) if extent is not None]
        if len(extents) == 4 and extents[0] * extents[1] == extents[2] * extents[3]:
            return  # The same elements in another shape.
        for what, have, room in zip(("rows", "columns"), view.extents, tile.valid, strict=True):
            if have is not None and room is not None and have > room > 0:
                self.trace.report(
                    Problem(
                        "narrow-tile",
                        op,
                        f"the view has {have} {what}, and the tile {room} valid ones, so {have - room} are not loaded; "
                        "make the view and the tile agree",
                    )
                )

    def _check_sources(self, op: TableOperation, result: Tile) -> None:
        for kind, operand in zip(op.table_row().operands, op.sources, strict=True):
            source = self.values.get(operand)
            if kind != "tile" or not isinstance(source, Tile):
                continue
            for what, have, wanted in zip(("rows", "columns"), source.valid, result.valid, strict=True):
                if have is not None and wanted is not None and 0 < have < wanted:
                    self.trace.report(
                        Problem(
                            "narrow-tile",
                            op,
                            f"the result has {wanted} valid {what}, and a source {have}, so {wanted - have} of the "
                            "source are read that are not valid; make the valid shapes agree",
                            may=True,
                        )
                    )

    def _note_pitch(self, op: TileOperation, result: Tile) -> None:
        """Note the rows with which a product is in the accumulator: those of the left tile, in whole boxes."""
        if not op.name.startswith("pto.tmatmul"):
            return
        operands = [self.values.get(operand) for operand in op.operands]
        left = next((tile for tile in operands if isinstance(tile, Tile) and tile.space is AddressSpace.LEFT), None)
        if left is not None and left.valid[0]:
            self.memory.set_pitch(result, whole_boxes(left.valid[0]))

    def _extents(self, op: Operation, result: Any) -> tuple[tuple[int, ...], int]:
        values = [self.values.get(operand) for operand in op.operands]
        tiles = [value for value in values if isinstance(value, Tile)]
        if op.name.startswith("pto.tmatmul"):
            left = next((tile for tile in tiles if tile.space is AddressSpace.LEFT), None)
            right = next((tile for tile in tiles if tile.space is AddressSpace.RIGHT), None)
            if left is not None and right is not None:
                return tuple(n or 0 for n in (*left.valid, right.valid[1])), left.size
        # An extract or insert only moves the part; other operations work on the widest of their tiles.
        chosen = min if op.name.startswith(("pto.textract", "pto.tinsert")) else max
        tile = chosen(tiles, key=lambda tile: (tile.valid[0] or 0) * (tile.valid[1] or 0), default=None)
        return ((), 4) if tile is None else (tuple(n or 0 for n in tile.valid), tile.size)

    def _print(self, op: TPrintOp) -> None:
        value = self.values.get(op.src)
        if isinstance(value, Tile):
            self.memory.read(op, value)

    # -----------------------------------------------------------------------------------------
    # Pipes between cores
    # -----------------------------------------------------------------------------------------

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
        contents = None if tile is None or end is None else self.memory.read(op, tile)
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
            self.memory.write(tile, hash((ring.name, self.place.block, position, *part)))

    def _check_entry(self, op: TPopOp | TPopSignalOp, ring: Ring, entry: Entry, tile: Tile) -> None:
        """Report an entry whose valid columns, or whose rows together, are not those that are popped."""
        shapes = [shape for shape in entry.shapes if len(shape) == 2 and 0 not in shape]
        if not shapes or 0 in tile.valid or any(use.pipe.acc_push_epilogue is not None for use in ring.uses):
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

    # -----------------------------------------------------------------------------------------
    # Barriers and flags
    # -----------------------------------------------------------------------------------------

    def _barrier(self, op: BarrierOp) -> None:
        self._step(op, "barrier", op.pipe.data, joins=(op.pipe.data,))

    def _sync_all(self, op: SyncAllOp) -> Waiting:
        mine = self._step(op, "barrier", HardwarePipe.ALL, joins=(HardwarePipe.ALL,))
        round = self.barrier.arrive(self.core, mine)
        while not self.barrier.is_complete(round):
            yield
        self._step(op, "barrier", HardwarePipe.ALL, (), self.barrier.arrivals(round), joins=(HardwarePipe.ALL,))

    def _shared_buffer(self, op: Operation) -> None:
        """Order a pipe behind the one that freed a buffer last, or note that it frees it."""
        pipe = _pipe_of(op.properties.get("op_type") or op.attributes.get("op_type"))
        if pipe is None:
            return
        self.trace.explicit.add(self.core)
        number = str(op.properties.get("buf_id") or op.attributes.get("buf_id"))
        if op.name == _FREE:
            self.freed[number] = self._step(op, "set", pipe)
        else:
            last = self.freed.get(number)
            self._step(op, "wait", pipe, (), () if last is None else (last,))

    def _flag(self, op: Operation) -> None:
        names = _FLAGS[op.name]
        source, target = (_pipe_of(op.properties.get(name) or op.attributes.get(name)) for name in names)
        event = op.properties.get("event_id") or op.attributes.get("event_id")
        if source is None or target is None:
            return
        self.trace.explicit.add(self.core)
        key = source.value, target.value, str(event)
        if op.name in _SETS:
            index = self._step(op, "set", source, joins=(target,))
            self.flags.setdefault(key, []).append(index)
            return
        raised = self.flags.get(key)
        if not raised:
            self.trace.report(
                Problem(
                    "unset-flag",
                    op,
                    f"{self.place.name} waits for a flag of {key[0]} to {key[1]} ({event}) that nothing has set, so it "
                    "waits forever; set it before",
                )
            )
            return
        self._step(op, "wait", target, (), (raised.pop(0),), joins=(source,))

    # -----------------------------------------------------------------------------------------

    def _step(
        self,
        op: Operation,
        kind: Kind,
        pipe: HardwarePipe,
        accesses: tuple[Access, ...] = (),
        after: tuple[int, ...] = (),
        extents: tuple[int, ...] = (),
        size: int = 4,
        channel: str = "",
        number: int = 0,
        joins: tuple[HardwarePipe, ...] = (),
    ) -> int:
        steps = self.trace.steps
        if len(steps) >= self.max_steps:
            raise TooLong
        for access in accesses:
            self._check_array(op, access)
        steps.append(Step(self.core, op, kind, pipe, accesses, after, extents, size, channel, number, joins))
        return len(steps) - 1

    def _check_array(self, op: Operation, access: Access) -> None:
        """Report an access beyond an array whose size is known."""
        array, region = self.arrays.get(access.memory), access.region
        if array is None or region is None or region.is_empty or (region.low >= 0 and region.high <= array.nbytes):
            return
        self.trace.report(
            Problem(
                "outside-tensor",
                op,
                f"{self.place} {'stores' if access.writes else 'loads'} bytes {region.low} to {region.high - 1} of "
                f"'{access.memory}', which has {array.nbytes}; check offsets, shape and strides, or pass a larger "
                "array",
            )
        )

    def _reserve(self, op: ReserveBufferOp | ImportReservedBufferOp) -> None:
        reserved = reservation_of(op.addr)
        base = None if reserved is None else reserved.base
        self.values[op.addr] = None if base is None else number(base)

    HANDLERS: ClassVar[Mapping[type[Operation], Callable[[Any, Any], None]]] = {
        arith.ConstantOp: _constant,
        GetBlockIdxOp: _index,
        GetBlockNumOp: _index,
        GetSubBlockIdxOp: _index,
        GetSubBlockNumOp: _index,
        AddPtrOp: _add_pointer,
        MakeTensorViewOp: _tensor,
        PartitionViewOp: _partition,
        LoadScalarOp: _load_scalar,
        StoreScalarOp: _store_scalar,
        AllocTileOp: _allocate,
        DeclareTileOp: _declare,
        DeclareGlobalOp: _declare,
        SetValidShapeOp: _set_valid,
        SubViewOp: _subview,
        TReshapeOp: _reshape,
        TPrintOp: _print,
        TFreeOp: _free,
        BarrierOp: _barrier,
        InitializeL2LPipeOp: _open,
        InitializeL2G2LPipeOp: _open,
        ReserveBufferOp: _reserve,
        ImportReservedBufferOp: _reserve,
    }

    WAITING: ClassVar[Mapping[type[Operation], Callable[[Any, Any], Waiting]]] = {
        scf.ForOp: _for,
        scf.IfOp: _if,
        scf.WhileOp: _while,
        CallOp: _call,
        SectionCubeOp: _section,
        SectionVectorOp: _section,
        TPushOp: _push,
        TPushSignalOp: _push,
        TPopOp: _pop,
        TPopSignalOp: _pop,
        TAllocOp: _alloc,
        SyncAllOp: _sync_all,
    }


class Barrier:
    """The barrier of the cores of a program, and the arrays that have been written."""

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self.rounds: list[dict[int, int]] = []
        self.taken: dict[int, int] = {}
        self.written: set[str] = set()

    def arrive(self, core: int, step: int) -> int:
        """Note that a core has come to its next barrier; return which one that is."""
        number = self.taken.get(core, 0)
        self.taken[core] = number + 1
        if len(self.rounds) <= number:
            self.rounds.append({})
        self.rounds[number][core] = step
        return number

    def is_complete(self, number: int) -> bool:
        """Return True if all cores have come to a barrier."""
        return len(self.rounds[number]) == self.cores

    def arrivals(self, number: int) -> tuple[int, ...]:
        """Return the steps of all cores at a barrier."""
        return tuple(self.rounds[number].values())


_GROUPS = "grpAxis"
"""The attribute of operations on groups of scales, whose further operands are for intermediate results."""

_OF_CORES = ("pto.sync.", "pto.comm.", "pto.set_cross", "pto.wait_cross", "pto.set_intra", "pto.wait_intra")
"""Names, or beginnings, of operations that order cores."""

_OF_PIPES = frozenset(
    f"pto.{name}"
    for name in (
        "set_flag_dyn", "wait_flag_dyn", "barrier_sync", "get_buf_dyn", "rls_buf_dyn", "tsync",
    )
)  # fmt: skip
"""Operations that order the pipes of a core in other ways than flags."""

_WITHOUT_EFFECT = ("pto.set_ffts", "pto.set_quant", "pto.cmo.", "pto.fence.", "pto.dsb", "pto.dcci", "pto.mem_bar")
"""Names, or beginnings, of operations that write nothing."""

_SETS = ("pto.set_flag", "pto.record_event")
_FLAGS = {
    **dict.fromkeys(("pto.set_flag", "pto.wait_flag"), ("src_pipe", "dst_pipe")),
    **dict.fromkeys(("pto.record_event", "pto.wait_event"), ("src_op", "dst_op")),
}
"""The attributes of flags and events with the pipes, or kinds of operations, that they are between."""

_FREE = "pto.rls_buf"
_BUFFERS = ("pto.get_buf", _FREE)

_PIPES = {
    "TLOAD": HardwarePipe.MTE2,
    "TSTORE_VEC": HardwarePipe.MTE3,
    "TSTORE_ACC": HardwarePipe.FIX,
    "TMOV_M2L": HardwarePipe.MTE1,
    "TMOV_M2B": HardwarePipe.MTE1,
    "TMOV_M2S": HardwarePipe.FIX,
    "TMOV_M2V": HardwarePipe.V,
    "TMOV_V2M": HardwarePipe.FIX,
    "TMATMUL": HardwarePipe.M,
    "TVEC": HardwarePipe.V,
    "TVECWAIT_EVENT": HardwarePipe.V,
}
"""The pipe of each kind of operation (`mapSyncOpTypeToPipe` of PTOAS)."""


def _pipe_of(attribute: Attribute | None) -> HardwarePipe | None:
    """Return the pipe that an attribute names, or that of the kind of operation; None for anything else."""
    if isinstance(attribute, HardwarePipeAttr):
        return attribute.data
    named: object = getattr(attribute, "data", None)
    name = str(getattr(named, "value", named))
    return _PIPES.get(name) or next((pipe for pipe in HardwarePipe if pipe.value == name), None)


def _kind_of(op: TileOperation, result: Any, operands: Sequence[Any]) -> tuple[Kind, HardwarePipe]:
    """Return the kind of an operation on tiles, and the pipe of the core that performs it."""
    if isinstance(op, TLoadOp):
        return "load", HardwarePipe.MTE2
    source = next((value for value in operands if isinstance(value, Tile)), None)
    if isinstance(op, TStoreOp):
        of_acc = source is not None and source.space is AddressSpace.ACC
        return "store", HardwarePipe.FIX if of_acc else HardwarePipe.MTE3
    if is_product(op):
        return "product", HardwarePipe.M
    if isinstance(result, Tile) and source is not None and (result.space is not source.space):
        if source.space is AddressSpace.ACC:
            return "move", HardwarePipe.FIX
        return "move", HardwarePipe.MTE1 if source.space is AddressSpace.MAT else HardwarePipe.MTE3
    return "compute", HardwarePipe.V
