"""Runs integer code of `flow` for one PE as its operations are in IR: memory, cycles and steps.

It shares nothing with the assembler or the executors. A value is folded, and costs nothing, if all its operands are
numbers that are known at compile time (docs/costs.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from loomir.dialects import flow
from loomir.dialects.scalar_types import dense_values
from loomir.targets import wse3

COMPARISONS = {
    "eq": lambda a, b, n: a == b, "ne": lambda a, b, n: a != b, "slt": lambda a, b, n: a < b,
    "sle": lambda a, b, n: a <= b, "ugt": lambda a, b, n: a % 2**n > b % 2**n,
}  # fmt: skip
BINARY = {
    "arith.addi": lambda a, b, n: a + b, "arith.subi": lambda a, b, n: a - b, "arith.muli": lambda a, b, n: a * b,
    "arith.andi": lambda a, b, n: a & b, "arith.xori": lambda a, b, n: a ^ b, "arith.maxsi": lambda a, b, n: max(a, b),
    "arith.shrui": lambda a, b, n: (a % 2**n) >> min(b % 2**n, n),
}  # fmt: skip


def width(type: Attribute) -> int:
    return 64 if isinstance(type, IndexType) else type.width.data  # pyright: ignore[reportAttributeAccessIssue]


def wrapped(value: int, bits: int) -> int:
    return value % 2 if bits == 1 else (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


class Interpreter:
    """One PE of a class; `buffers` are its arrays by name, `clock` and `steps` what it has counted."""

    def __init__(self, units: flow.UnitsOp, x: int):
        self.functions: dict[str, flow.FuncOp] = {}
        self.buffers: dict[str, list[int]] = {}
        self.params: dict[str, int] = {}
        self.x = x
        self.clock = self.steps = 0
        for op in units.body.block.ops:
            if isinstance(op, flow.FuncOp):
                self.functions[op.sym_name.data] = op
            elif isinstance(op, flow.BufferOp):
                assert op.initial is not None
                self.buffers[op.sym_name.data] = dense_values(op.initial).tolist()
            elif isinstance(op, flow.ParamOp):
                self.params[op.sym_name.data] = dense_values(op.values).ravel().tolist()[x]

    def launch(self, name: str, arguments: Sequence[int]) -> None:
        """Run a function as a task."""
        self.clock += wse3.TIMING.task_start
        # The task first reads what is constant for its PE, also for the functions that it may call.
        for reached in self.reached(name):
            values = [op for op in reached.walk() if isinstance(op, (flow.CoordinateOp, flow.GetParamOp))]
            self.clock += len(values) * wse3.TIMING.instruction
        self.steps += 1
        self.call(name, arguments)

    def reached(self, name: str) -> list[flow.FuncOp]:
        """Return a function and those that it may call, each once."""
        found = {name: self.functions[name]}
        for function in (open := [self.functions[name]]):
            for op in function.walk():
                if isinstance(op, flow.CallOp) and op.callee.string_value() not in found:
                    found[op.callee.string_value()] = self.functions[op.callee.string_value()]
                    open.append(found[op.callee.string_value()])
        return list(found.values())

    def call(self, name: str, arguments: Sequence[int]) -> list[int]:
        return _Frame(self).region(self.functions[name].body, arguments)


class _Frame:
    """An activation of a function: its values, and which of them are folded."""

    def __init__(self, pe: Interpreter):
        self.pe = pe
        self.values: dict[SSAValue, int] = {}
        self.folded: set[SSAValue] = set()

    def region(self, region: Region, arguments: Sequence[int]) -> list[int]:
        """Run the one block of a region; return the operands of its terminator."""
        block: Block = region.block
        self.values.update(zip(block.args, arguments, strict=True))
        for op in block.ops:
            self.operation(op)
        assert block.last_op is not None
        return [self.values[operand] for operand in block.last_op.operands]

    def operation(self, op: Operation) -> None:
        pe, timing = self.pe, wse3.TIMING
        given = [self.values[operand] for operand in op.operands]
        found: Sequence[int] = ()
        match op:
            case arith.ConstantOp(value=IntegerAttr() as value):
                found = [wrapped(value.value.data, width(op.result.type))]
                self.folded.add(op.result)
            case scf.YieldOp() | scf.ConditionOp() | flow.ReturnOp():
                pass
            case flow.CoordinateOp():
                found = [pe.x]
            case flow.GetParamOp():
                found = [pe.params[op.param.string_value()]]
            case flow.LoadOp() | flow.StoreOp():
                assert op.buffer is not None
                buffer = pe.buffers[op.buffer.string_value()]
                known = all(index in self.folded for index in op.indices)
                if not (isinstance(op, flow.LoadOp) and known and not op.result.uses):
                    pe.clock += timing.access_16 if known else timing.indexed_access_16
                if isinstance(op, flow.LoadOp):
                    found = [buffer[given[-1]]]
                else:
                    buffer[given[-1]] = given[0]
            case flow.CallOp():
                pe.clock += timing.call
                found = pe.call(op.callee.string_value(), given)
            case scf.IfOp():
                pe.clock += timing.branch_not_taken if given[0] else timing.branch_taken
                region = op.true_region if given[0] else op.false_region
                found = self.region(region, ()) if region.blocks else ()
            case scf.ForOp():
                found = self.count(op, given)
            case scf.WhileOp():
                found = self.loop(op, given)
            case _:
                found = [self.scalar(op, given)]
        self.values.update(zip(op.results, found, strict=True))

    def scalar(self, op: Operation, given: list[int]) -> int:
        bits = width(op.results[0].type)
        if all(operand in self.folded for operand in op.operands):
            self.folded.add(op.results[0])
        else:
            self.pe.clock += wse3.TIMING.instruction
        match op:
            case arith.SelectOp():
                return given[1] if given[0] else given[2]
            case arith.CmpiOp():
                name = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
                return int(COMPARISONS[name](given[0], given[1], width(op.lhs.type)))
            case arith.IndexCastOp():
                return wrapped(given[0], bits)
            case _:
                return wrapped(BINARY[op.name](given[0], given[1], bits), bits)

    def count(self, op: scf.ForOp, given: list[int]) -> list[int]:
        low, high, step, *carried = given
        timing = wse3.TIMING
        while True:
            self.pe.clock += timing.instruction  # the test
            if low >= high:
                self.pe.clock += timing.branch_not_taken
                return carried
            self.pe.steps += 1
            carried = self.region(op.body, [low, *carried])
            low += step
            self.pe.clock += timing.loop + timing.instruction

    def loop(self, op: scf.WhileOp, given: list[int]) -> list[int]:
        while True:
            more, *passed = self.region(op.before_region, given)
            if not more:
                self.pe.clock += wse3.TIMING.branch_not_taken
                return passed
            self.pe.steps += 1
            self.pe.clock += wse3.TIMING.loop
            given = self.region(op.after_region, passed)
