"""Bodies of functions and tasks: scalar code is copied on its new values, all else becomes what `flow` has for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Block, Operation, Region
from xdsl.utils.hints import isa

from ...dialects import dsd, flow, wse
from ...dialects.scalar_types import SCALAR_DIALECTS
from .dsd_operations import DsdOperationLowering
from .emission import lowered, refusal

STRUCTURE = (scf.IfOp, scf.ForOp, scf.WhileOp, scf.YieldOp, scf.ConditionOp)


class BodyLowering(DsdOperationLowering):
    """Lowers the body of one function or task, operation by operation, in order."""

    def lower(self, body: Region) -> Region:
        new = self._region(body)
        # Extents and the like are now literals of streams; do not leave their constants to be computed.
        for constant in reversed(self.constants):
            if not any(result.uses for result in constant.results):
                constant.detach()
                constant.erase()
        return new

    def _region(self, region: Region) -> Region:
        if not region.blocks:
            return Region()
        if len(region.blocks) > 1:
            parent = region.parent
            assert parent is not None
            raise refusal(parent, f"{parent.name} has branches between blocks; use scf.if, scf.for and scf.while")
        old = region.block
        outer, self.block = self.block, Block(arg_types=[lowered(type) for type in old.arg_types])
        for argument, new in zip(old.args, self.block.args, strict=True):
            if isinstance(argument.type, MemRefType):
                self._refuse_array(region.parent)
            new.name_hint = argument.name_hint
            self.values[argument] = new
        for op in old.ops:
            self._operation(op)
        new_region = Region(self.block)
        self.block = outer
        return new_region

    def _operation(self, op: Operation) -> None:
        rule = self._rule_of(type(op))
        if rule is None:
            raise refusal(op, f"{op.name} has no counterpart in flow; use wse, dsd, arith, math and scf")
        rule(self, op)

    @staticmethod
    @lru_cache(maxsize=512)
    def _rule_of(kind: type[Operation]) -> Callable[[BodyLowering, Any], None] | None:
        """Return how operations of a class are lowered; None if they are not."""
        dialect = kind.name.partition(".")[0]
        if dialect in SCALAR_DIALECTS or issubclass(kind, STRUCTURE):
            return BodyLowering._copy
        for base, rule in (
            (wse.GetBufferOp | wse.ViewOp, BodyLowering._memory),
            (wse.AddressOfOp, BodyLowering._address_of),
            (memref.LoadOp, BodyLowering._load),
            (memref.StoreOp, BodyLowering._store),
            (memref.DimOp, BodyLowering._extent_of_array),
            (dsd.DsdOperation, BodyLowering._dsd_operation),
            (dsd.MemoryDescriptorOp, BodyLowering._memory_descriptor),
            (dsd.FifoOp, BodyLowering._fifo),
            (dsd.SetFifoLengthOp, BodyLowering._fifo_length),
            (dsd.FabricDescriptorOp, BodyLowering._fabric_descriptor),
            (dsd.DerivedDescriptorOp, BodyLowering._derived_descriptor),
            (scf.IndexSwitchOp, BodyLowering._switch),
        ):
            if issubclass(kind, base):
                return rule
        return {"wse": BodyLowering._state, "dsr": BodyLowering._register}.get(dialect)

    def _memory(self, op: wse.GetBufferOp | wse.ViewOp) -> None:
        self.arrays[op.result] = (
            op.buffer.string_value() if isinstance(op, wse.GetBufferOp) else self._value(op, op.address)
        )

    def _address_of(self, op: wse.AddressOfOp) -> None:
        self._emit(op, self._address(op.buffer.string_value()))

    def _load(self, op: memref.LoadOp) -> None:
        array, *indices = op.operands
        lowered = [self._value(op, index) for index in indices]
        self._emit(op, flow.LoadOp(self._array(op, array), lowered, op.res.type))

    def _store(self, op: memref.StoreOp) -> None:
        value, array, *indices = op.operands
        lowered = [self._value(op, index) for index in indices]
        self._emit(op, flow.StoreOp(self._value(op, value), self._array(op, array), lowered))

    def _state(self, op: Operation) -> None:
        """Lower what asks the PE for its state or changes it, calls included."""
        match op:
            case wse.AssertOp():
                value = None if op.value is None else self._value(op, op.value)
                self._emit(op, flow.AssertOp(self._value(op, op.condition), op.message.data, value))
            case wse.PrintOp():
                self._emit(op, flow.PrintOp(op.format.data, [self._value(op, value) for value in op.arguments]))
            case wse.DirectiveOp():
                root, count = self._value(op, op.root), self._value(op, op.count)
                self._emit(op, flow.DirectiveOp(op.directive.data, op.axis.data, root, count))
            case wse.SetExceptionMaskOp():
                self._emit(op, flow.SetExceptionMaskOp(self._value(op, op.mask)))
            case wse.SetClockOp():
                self._emit(op, flow.SetClockOp(op.action.data))
            case wse.TimestampOp():
                self._emit(op, flow.TimestampOp())
            case wse.RemfOp():
                self._emit(op, flow.RemfOp(self._value(op, op.lhs), self._value(op, op.rhs)))
            case wse.Cb16Op():
                arguments = [self._value(op, argument) for argument in op.arguments]
                self._emit(op, flow.Cb16Op(op.function.data, arguments, op.result.type))
            case wse.GetParamOp():
                self._emit(op, flow.GetParamOp(op.param.string_value(), op.result.type))
            case wse.CoordinateOp():
                self._emit(op, flow.CoordinateOp(op.axis.data.value))
            case wse.ExtentOp():
                self._emit(op, flow.ExtentOp(op.axis.data.value))
            case wse.ActivateOp():
                self._emit(op, flow.ActivateOp(op.task.string_value()))
            case wse.BlockOp():
                self._emit(op, flow.BlockOp(self._unblocked(op, op.symbol.string_value())))
            case wse.UnblockOp():
                self._emit(op, flow.UnblockOp(self._unblocked(op, op.symbol.string_value())))
            case wse.BlockMicrothreadOp():
                self._emit(op, flow.BlockMicrothreadOp(self._value(op, op.number)))
            case wse.UnblockMicrothreadOp():
                self._emit(op, flow.UnblockMicrothreadOp(self._value(op, op.number)))
            case wse.CallOp():
                arguments = [self._value(op, argument) for argument in op.arguments]
                types = [lowered(type) for type in op.res.types]
                self._emit(op, flow.CallOp(op.callee.string_value(), arguments, types))
            case wse.ReturnOp():
                self._emit(op, flow.ReturnOp([self._value(op, argument) for argument in op.arguments]))
            case _:
                raise refusal(op, f"{op.name} has no counterpart in flow; use wse, dsd, arith, math and scf")

    def _copy(self, op: Operation) -> None:
        """Copy scalar code and its structure, on the new values."""
        operands = [self._value(op, operand) for operand in op.operands]
        if op.regions and not isinstance(op, scf.IfOp):
            # An earlier trip of the loop may have been there before.
            self.registers.forget_loads_in(op)
        before = self.registers.holders
        regions: list[Region] = []
        for region in op.regions:
            self.registers.holders = dict(before)
            regions.append(self._region(region))
        self.registers.holders = before
        if op.regions:
            self.registers.forget_loads_in(op)
        new = type(op).create(
            operands=operands,
            result_types=[lowered(type) for type in op.result_types],
            properties=op.properties,
            attributes=op.attributes,
            regions=regions,
        )
        if any(isinstance(result.type, MemRefType) for result in new.results):
            self._refuse_array(op)
        self._emit(op, new)

    def _switch(self, op: scf.IndexSwitchOp) -> None:
        """Lower a switch to a chain of branches, the cases in order and the default last."""
        index = self._value(op, op.arg)
        cases = list(zip(cast("DenseArrayBase[IntegerType]", op.cases).get_values(), op.case_regions, strict=True))
        before = self.registers.holders
        types = [lowered(type) for type in op.result_types]

        def arm(region: Region) -> Region:
            self.registers.holders = dict(before)
            return self._region(region)

        def chain(position: int) -> scf.IfOp:
            number, region = cases[position]
            constant = self._make(op, arith.ConstantOp(IntegerAttr(number, IndexType())))
            chosen = self._make(op, arith.CmpiOp(index, constant, "eq"))
            taken = arm(region)
            outer, self.block = self.block, Block()
            if position + 1 < len(cases):
                inner = chain(position + 1)
                self._append(op, inner)
                self._append(op, scf.YieldOp(*inner.results))
                other = Region(self.block)
                self.block = outer
            else:
                self.block = outer
                other = arm(op.default_region)
            return scf.IfOp(chosen, types, taken, other)

        if not cases:
            raise refusal(op, "scf.index_switch has no case; use the body of its default instead")
        new = chain(0)
        self.registers.holders = before
        self.registers.forget_loads_in(op)
        self._emit(op, new)

    def _extent_of_array(self, op: memref.DimOp) -> None:
        dimension = dsd.constant_value(op.index)
        type = op.source.type
        if dimension is None or not isa(type, MemRefType) or not 0 <= dimension < type.get_num_dims():
            raise refusal(op, "memref.dim names no dimension known at compile time; give it a constant index")
        self._emit(op, arith.ConstantOp(IntegerAttr(type.get_shape()[dimension], IndexType())))
