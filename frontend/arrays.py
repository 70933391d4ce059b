"""Fills and copies of whole arrays in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i16
from xdsl.ir import Block, Region, SSAValue

from ..csl import syntax
from ..dialects import dsd
from ..operations import dsd_table
from . import emit, types
from .core import Evaluator
from .dsd_operands import view
from .places import Memory, moved
from .types import Type
from .values import Address, Value, is_ssa


def _whole(ev: Evaluator, where: Address, type: types.Array) -> tuple[SSAValue, Type, dsd_table.DsdOperation]:
    """A descriptor of the whole words of an array, and the operation that moves them."""
    as_int: Type = types.I16 if types.alignment(type) < 4 else types.I32
    base, offset = view(ev, where, as_int)
    descriptor = ev.code.value(dsd.Mem1dOp(base, types.size(type) // types.size(as_int), offset=offset))
    return descriptor, as_int, dsd_table.OPERATIONS["mov16" if as_int is types.I16 else "mov32"]


def _in_words(where: Address, type: types.Array) -> bool:
    """Whether an array is known to begin at a word, as buffers do."""
    if types.alignment(type) > 1:
        return True
    return where.buffer is not None and not is_ssa(where.offset) and where.offset * where.unit % 2 == 0


def _byte(ev: Evaluator, where: Address, index: Any) -> Memory:
    return Memory(moved(ev, where, index, 1), types.U8, const=False)


def _each_byte(ev: Evaluator, count: int, move: Callable[[SSAValue], None]) -> None:
    """Emits a loop over the bytes of an array, for their indices."""
    builder = ev.code
    bounds = [builder.raw_constant(IndexType(), number) for number in (0, count, 1)]
    block = Block(arg_types=[IndexType()])
    builder.enter(block)
    move(builder.value(arith.IndexCastOp(block.args[0], i16)))
    builder(scf.YieldOp())
    builder.leave()
    lower, upper, step = bounds
    builder(scf.ForOp(lower, upper, step, [], Region(block)))


def fill_array(ev: Evaluator, where: Address, type: types.Array, value: Value, node: syntax.Node) -> None:
    """Emits `array = @constants(...)` for scalars of up to 32 bits."""
    from .scalars import bits as bits_of

    pattern = bits_of(emit.stored(type.element), value.data)
    size = types.size(type)
    if types.alignment(type) == 1:
        byte = Value(types.U8, pattern)
        if not _in_words(where, type):
            _each_byte(ev, size, lambda index: _byte(ev, where, index).store(ev, byte, node))
            return
        if size % 2:
            _byte(ev, where, size - 1).store(ev, byte, node)
        pattern |= pattern << 8
    if size > 1:
        destination, element, row = _whole(ev, where, type)
        ev.code(dsd.OPERATIONS[row.name](destination, [ev.code.constant(element, pattern)]))


def copy_array(ev: Evaluator, where: Address, source: Address, type: types.Array, node: syntax.Node) -> None:
    """Emits the copy of a whole array."""
    size = types.size(type)

    def copy(index: Any) -> None:
        _byte(ev, where, index).store(ev, _byte(ev, source, index).load(ev, node), node)

    if not (_in_words(where, type) and _in_words(source, type)):
        _each_byte(ev, size, copy)
        return
    if types.alignment(type) == 1 and size % 2:
        copy(size - 1)
    if size > 1:
        destination, _, row = _whole(ev, where, type)
        origin, _, _ = _whole(ev, source, type)
        ev.code(dsd.OPERATIONS[row.name](destination, [origin]))
