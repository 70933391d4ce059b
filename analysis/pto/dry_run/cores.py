"""Cores of a dry run: each executes its kernel operation by operation and adds steps to the trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region

from ....diagnostics.locations import location_of
from ....dialects.pto.attributes import KernelKind
from ....dialects.pto.kernels import (
    GetBlockIdxOp,
    GetBlockNumOp,
    GetSubBlockIdxOp,
    GetSubBlockNumOp,
    SectionCubeOp,
    SectionVectorOp,
    argument_name,
    kernel_kind,
)
from ....dialects.pto.tiles import TileOperation
from ....dialects.pto.types import PtrType
from ..schedules import folded
from .communication import Communication
from .core_flags import CoreFlagOperations
from .core_state import Undecided, Waiting
from .memory_operations import MemoryOperations
from .ordering import BUFFERS, FLAGS, OF_CORES, OF_PIPES, WITHOUT_EFFECT, OrderingOperations
from .pipe_operations import PipeOperations
from .values import Pointer, Tile, View


class CoreRun(MemoryOperations, PipeOperations, OrderingOperations, Communication, CoreFlagOperations):
    """One core at its program."""

    # -----------------------------------------------------------------------------------------
    # Control
    # -----------------------------------------------------------------------------------------

    def run(self, arguments: Mapping[str, Any]) -> Waiting:
        """Execute the kernels that are launched, one after the other."""
        for function in self.program.launched:
            given: list[Any] = []
            for argument in function.body.blocks[0].args:
                value = arguments.get(argument_name(argument))
                # One name may be a pointer of one kernel and a number of another, which a run refuses.
                given.append(value if isinstance(value, Pointer) == isinstance(argument.type, PtrType) else None)
            yield from self.function(function, given)
        self._check_flags()

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
            self.memory.op = op
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
            self._count_iteration()
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
        while True:
            self._count_iteration()
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
        if op.name in FLAGS:
            self._flag(op)
            return
        if op.name in BUFFERS:
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
            # A value of its own: its valid shape may be changed.
            value = replace(value) if isinstance(value, Tile) else value
        elif op.name.startswith("arith.") and all(isinstance(number, int) for number in numbers):
            value = folded(op, numbers)  # pyright: ignore[reportArgumentType]
        elif op.name.startswith(("arith.cmpf", "arith.mulf", "arith.addf")):
            value = None
        for result in op.results:
            self.values[result] = value

    def _unknown(self, op: Operation) -> None:
        """Note that an operation of which nothing is known may write whatever it is given, or order what it likes."""
        if op.name.startswith(OF_CORES):
            self.trace.orders_cores = True
        if op.name in OF_PIPES:
            self.trace.unknown_order.add(self.core)
        if op.name.startswith(WITHOUT_EFFECT):
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
                self.trace.asks_lane |= self.kind is KernelKind.VECTOR and bool(op.results[0].uses)
            case _:
                value = self.program.lanes
        self.values[op.results[0]] = value

    HANDLERS: ClassVar[Mapping[type[Operation], Callable[[Any, Any], None]]] = {
        **MemoryOperations.HANDLERS,
        **PipeOperations.HANDLERS,
        **OrderingOperations.HANDLERS,
        **Communication.HANDLERS,
        **CoreFlagOperations.HANDLERS,
        arith.ConstantOp: _constant,
        GetBlockIdxOp: _index,
        GetBlockNumOp: _index,
        GetSubBlockIdxOp: _index,
        GetSubBlockNumOp: _index,
    }

    WAITING: ClassVar[Mapping[type[Operation], Callable[[Any, Any], Waiting]]] = {
        **PipeOperations.WAITING,
        **OrderingOperations.WAITING,
        **Communication.WAITING,
        **CoreFlagOperations.WAITING,
        scf.ForOp: _for,
        scf.IfOp: _if,
        scf.WhileOp: _while,
        CallOp: _call,
        SectionCubeOp: _section,
        SectionVectorOp: _section,
    }
