"""Writes IR: constants, scalar operations, and the MLIR type of each CSL type."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    FileLineColLoc,
    Float16Type,
    Float32Type,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    i1,
    i16,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..csl.source import Source
from ..dialects import wse
from ..operations import integers
from . import types
from .scalars import bits as bits_of
from .types import Type

_FLOATS: dict[str, Attribute] = {"f16": Float16Type(), "bf16": BFloat16Type(), "f32": Float32Type()}


# Attributes are values that never change. To make one costs as much as to evaluate an expression, so one of each is
# made; the caches are bounded by what real programs have.


@lru_cache(maxsize=64)
def integer(bits: int) -> IntegerType:
    """Return the type of integers of so many bits."""
    return IntegerType(bits)


@lru_cache(maxsize=1024)
def array(element: Attribute, shape: tuple[int, ...]) -> MemRefType:
    """Return the type of memory with elements of an MLIR type."""
    return MemRefType(element, shape)


@lru_cache(maxsize=4096)
def _place(path: str, line: int, column: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr(path), IntAttr(line), IntAttr(column))


def place(source: Source, start: int) -> FileLineColLoc:
    """Return a place in a source, for an operation."""
    return _place(source.path, *source.line_and_column(start))


def scalar(type: Type) -> Attribute:
    """Return the type of an SSA value that holds a scalar."""
    match type:
        case types.Int():
            return integer(type.carrier)
        case types.Float(name=name):
            # IR has no type for cb16: its numbers are the integers with their bits.
            return i16 if type is types.CB16 else _FLOATS[name]
        case types.Enum(underlying=underlying):
            return integer(underlying.carrier)
        case types.BOOL:
            return i1
        case _:
            return i16


def stored(type: Type) -> Type:
    """Return the type a scalar has in memory: an integer of as many bits as its bytes have."""
    match type:
        case types.Int(bits=bits, signed=signed):
            whole = 8 * types.integer_size(bits)
            return type if whole == bits else types.Int(whole, signed)
        case types.Enum(underlying=underlying):
            return stored(underlying)
        case types.Float():
            return type
        case types.BOOL:
            return types.U8
        case _:
            return types.U16


def memref(element: Type, *extents: int) -> MemRefType:
    """Return the type of memory with elements of a scalar type."""
    return array(scalar(stored(element)), extents)


def in_ir(type: Type, number: Any) -> Any:
    """Return a known number as it is in IR: of a cb16 its bits, and otherwise the number."""
    return bits_of(type, number) if type is types.CB16 else number


def has_one_register(type: Type) -> bool:
    """Return True if a value is one SSA value."""
    return isinstance(type, types.Int | types.Float | types.Enum | types.Identifier | types.Pointer) or (
        type is types.BOOL
    )


class Builder:
    """Appends operations to a block, each at the place in the CSL text it stands for."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.location: FileLineColLoc | None = None
        self.is_placed = False
        """True while `location` stays as it is: inside a library's function, at the program's call of it."""
        self._known: dict[Any, dict[Block, SSAValue]] = {}
        """Results of operations without effects, by what they compute and the block that they are in."""
        self._blocks: list[Block] = [block]
        self._entered: list[Block] = []

    def at(self, source: Source, start: int) -> None:
        """Set the source location of the operations that follow."""
        if not self.is_placed:
            self.location = place(source, start)

    def __call__(self, op: Operation) -> Operation:
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)
        return op

    def value(self, op: Operation) -> SSAValue:
        """Append an operation with one result; return the result."""
        return self(op).results[0]

    def enter(self, block: Block) -> None:
        """Append to an inner block until `leave`."""
        self._blocks.append(block)
        self._entered.append(block)
        self.block = block

    def leave(self) -> None:
        self._blocks.pop()
        self.block = self._blocks[-1]

    def mark(self) -> tuple[int, int]:
        """Return the blocks around what is appended now, and those entered so far, to go back to."""
        return len(self._blocks), len(self._entered)

    def go_back(self, mark: tuple[int, int], block: Block, last: Operation | None) -> None:
        """Drop what has been appended since a mark, when `last` was the last operation of `block`."""
        depth, entered = mark
        del self._blocks[depth:]
        self.block = block
        dropped = [other for other in self._entered[entered:] if other.parent is None]
        del self._entered[entered:]
        for other in dropped:
            for op in other.ops:
                op.drop_all_references()
        while (op := block.last_op) is not last and op is not None:
            op.detach()
            op.drop_all_references()
        for key, found in self._known.items():
            self._known[key] = {
                each: value for each, value in found.items() if each in self._blocks and value.owner.parent is not None
            }

    def constant(self, type: Type, number: Any) -> SSAValue:
        """Return a number as an SSA value, one for all uses in a block and those inside it."""
        if isinstance(type, types.Float) and type is not types.CB16 and math.isnan(number):
            # Text has only one NaN of each format and sign.
            mlir, pattern = scalar(type), bits_of(type, number)
            word = self.raw_constant(integer(type.bits), pattern)
            return self.once(("nan", mlir, pattern), lambda: arith.BitcastOp(word, mlir))
        return self.raw_constant(scalar(type), in_ir(type, number))

    def raw_constant(self, mlir: Attribute, number: Any) -> SSAValue:
        return self.once((mlir, repr(number)), lambda: _constant(mlir, number))

    def once(self, key: Any, make: Callable[[], Operation]) -> SSAValue:
        """Return the result of an operation without effects, one for all uses in a block and those inside it."""
        known = self._known.setdefault(key, {})
        if known:
            for block in self._blocks:
                if block in known:
                    return known[block]
        result = known[self.block] = self.value(make())
        return result

    def index(self, value: SSAValue) -> SSAValue:
        return self.once(("index", value), lambda: arith.IndexCastOp(value, IndexType()))

    def extend(self, value: SSAValue, source: types.Int, bits: int) -> SSAValue:
        """Return an integer held by as many bits, its value kept if it gets more."""
        have, want = source.carrier, types.Int(bits, source.signed).carrier
        if have == want:
            return value
        target = integer(want)
        if have > want:
            return self.value(arith.TruncIOp(value, target))
        return self.value((arith.ExtSIOp if source.signed else arith.ExtUIOp)(value, target))


# `create` leaves out what the builders of xDSL ask of every operation they make.


def _constant(mlir: Attribute, number: Any) -> Operation:
    return arith.ConstantOp.create(result_types=[mlir], properties={"value": _number(mlir, number)})


def _number(mlir: Attribute, number: Any) -> Attribute:
    if isinstance(mlir, IntegerType):
        return _integer(integers.signed(int(number), mlir.bitwidth), cast(IntegerType, mlir))
    if isinstance(mlir, IndexType):
        return _integer(int(number), mlir)
    return FloatAttr(float(number), cast(AnyFloat, mlir))


@lru_cache(maxsize=1024)
def _integer(number: int, mlir: IntegerType | IndexType) -> Attribute:
    return IntegerAttr(number, mlir)


_INTEGER: dict[str, Sequence[type[Operation]]] = {
    "+": (arith.AddiOp, arith.AddiOp),
    "-": (arith.SubiOp, arith.SubiOp),
    "*": (arith.MuliOp, arith.MuliOp),
    "/": (arith.DivSIOp, arith.DivUIOp),
    "%": (arith.RemSIOp, arith.RemUIOp),
    "&": (arith.AndIOp, arith.AndIOp),
    "|": (arith.OrIOp, arith.OrIOp),
    "^": (arith.XOrIOp, arith.XOrIOp),
    "<<": (arith.ShLIOp, arith.ShLIOp),
    ">>": (arith.ShRSIOp, arith.ShRUIOp),
}
"""Operations on signed and on unsigned integers."""

_FLOAT: dict[str, type[Operation]] = {
    "+": arith.AddfOp, "-": arith.SubfOp, "*": arith.MulfOp, "/": arith.DivfOp, "%": wse.RemfOp
}  # fmt: skip

_COMPARE = {
    "==": ("eq", "eq"),
    "!=": ("ne", "ne"),
    "<": ("slt", "ult"),
    ">": ("sgt", "ugt"),
    "<=": ("sle", "ule"),
    ">=": ("sge", "uge"),
}
_COMPARE_FLOAT = {"==": "oeq", "!=": "une", "<": "olt", ">": "ogt", "<=": "ole", ">=": "oge"}


def binary(builder: Builder, symbol: str, type: Type, left: SSAValue, right: SSAValue) -> SSAValue:
    """Emit `left symbol right` for operands of one type."""
    if type is types.CB16:
        name = _COMPARE_FLOAT.get(symbol) or _FLOAT[symbol].name.partition(".")[2]
        return of_cb16(builder, name, [left, right], i1 if symbol in _COMPARE_FLOAT else i16)
    if isinstance(type, types.Float):
        if symbol in _COMPARE_FLOAT:
            return builder.value(arith.CmpfOp(left, right, _COMPARE_FLOAT[symbol]))
        return builder.value(_FLOAT[symbol].create(operands=[left, right], result_types=[left.type]))
    unsigned = not (isinstance(type, types.Int) and type.signed)
    if symbol in _COMPARE:
        predicate = {"predicate": _predicate(_COMPARE[symbol][unsigned])}
        return builder.value(arith.CmpiOp.create(operands=[left, right], result_types=[i1], properties=predicate))
    operation = _INTEGER[symbol][unsigned].create(operands=[left, right], result_types=[left.type])
    return wrapped(builder, type, builder.value(operation))


def of_cb16(builder: Builder, function: str, arguments: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """Emit an operation on numbers of format cb16, by the name of the one on floats, without its dialect."""
    return builder.value(wse.Cb16Op(function, arguments, result))


@lru_cache(maxsize=16)
def _predicate(name: str) -> Attribute:
    return IntegerAttr(arith.CMPI_COMPARISON_OPERATIONS.index(name), 64)


def wrapped(builder: Builder, type: Type, value: SSAValue) -> SSAValue:
    """Return the bits of an integer type, extended to what holds it at run time."""
    if not isinstance(type, types.Int) or not type.is_narrow:
        return value
    if not type.signed:
        return builder.value(arith.AndIOp(value, builder.constant(type, type.highest)))
    spare = builder.constant(type, type.carrier - type.bits)
    return builder.value(arith.ShRSIOp(builder.value(arith.ShLIOp(value, spare)), spare))


def joined(builder: Builder, words: Sequence[SSAValue], type: types.Int) -> SSAValue:
    """Return words of 32 bits, the low one first, as one integer: pairs of words, pairs of these, and so on."""
    parts, width = list(words), types.U32.bits
    while len(parts) > 1:
        half = builder.constant(types.Int(2 * width, False), width)
        width *= 2
        pairs: list[SSAValue] = []
        for low, high in zip_longest(parts[::2], parts[1::2]):
            part = builder.value(arith.ExtUIOp(low, integer(width)))
            if high is not None:
                raised = builder.value(arith.ShLIOp(builder.value(arith.ExtUIOp(high, integer(width))), half))
                part = builder.value(arith.OrIOp(part, raised))
            pairs.append(part)
        parts = pairs
    return builder.extend(parts[0], types.Int(width, False), type.carrier)


def words_of(builder: Builder, value: SSAValue, type: types.Int) -> Iterator[SSAValue]:
    """Yield the words of 32 bits of an integer of 64 bits or more, the low one first."""
    for start in range(0, type.carrier, types.U64.bits):
        part = value
        if start:
            part = builder.value(arith.ShRUIOp(value, builder.constant(type, start)))
        part = builder.extend(part, types.Int(type.carrier, False), types.U64.bits)
        yield builder.value(arith.TruncIOp(part, integer(types.U32.bits)))
        high = builder.value(arith.ShRUIOp(part, builder.constant(types.U64, types.U32.bits)))
        yield builder.value(arith.TruncIOp(high, integer(types.U32.bits)))
