"""Fills and copies of whole arrays in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, i8, i16
from xdsl.ir import Block, Region, SSAValue

from ..csl import syntax
from ..dialects import dsd
from ..operations import dsd_table
from . import emit, types
from .addresses import array_at, indexed, moved
from .evaluator import Evaluator
from .scalars import bits as bits_of
from .types import Type
from .values import Address, Value, is_ssa


def _whole(ev: Evaluator, where: Address, type: types.Array) -> tuple[SSAValue, Type, dsd_table.DsdOperation]:
    """Return a descriptor of the whole words of an array, and the operation that moves them."""
    as_int: Type = types.I16 if types.alignment(type) < 4 else types.I32
    base, offset = array_at(ev, where, as_int, types.size(as_int))
    descriptor = ev.code.value(dsd.Mem1dOp(base, types.size(type) // types.size(as_int), offset=offset))
    return descriptor, as_int, dsd_table.OPERATIONS["mov16" if as_int is types.I16 else "mov32"]


def _in_words(where: Address, type: types.Array) -> bool:
    """Return True if an array is known to begin at a word, as buffers do."""
    if types.alignment(type) > 1:
        return True
    return where.buffer is not None and not is_ssa(where.offset) and where.offset * where.unit % 2 == 0


def _load_byte(ev: Evaluator, where: Address, index: Any, node: syntax.Node) -> Value:
    ev.code.at(ev.source, node.start)
    array, indices = indexed(ev, moved(ev, where, index, 1), types.U8)
    return Value(types.U8, ev.code.value(memref.LoadOp.create(operands=[array, *indices], result_types=[i8])))


def _store_byte(ev: Evaluator, where: Address, index: Any, byte: Value, node: syntax.Node) -> None:
    where = moved(ev, where, index, 1)
    ev.code.at(ev.source, node.start)
    word = ev.ssa(byte, node)
    array, indices = indexed(ev, where, types.U8)
    ev.code(memref.StoreOp.create(operands=[word, array, *indices]))


def _each_byte(ev: Evaluator, count: int, move: Callable[[SSAValue], None]) -> None:
    """Emit a loop over the bytes of an array, for their indices."""
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
    """Emit `array = @constants(...)` for scalars of up to 32 bits."""
    pattern = bits_of(emit.stored(type.element), value.data)
    size = types.size(type)
    if types.alignment(type) == 1:
        byte = Value(types.U8, pattern)
        if not _in_words(where, type):
            _each_byte(ev, size, lambda index: _store_byte(ev, where, index, byte, node))
            return
        if size % 2:
            _store_byte(ev, where, size - 1, byte, node)
        pattern |= pattern << 8
    if size > 1:
        destination, element, row = _whole(ev, where, type)
        ev.code(dsd.OPERATIONS[row.name](destination, [ev.code.constant(element, pattern)]))


def copy_array(ev: Evaluator, where: Address, source: Address, type: types.Array, node: syntax.Node) -> None:
    """Emit the copy of a whole array."""
    size = types.size(type)

    def copy(index: Any) -> None:
        _store_byte(ev, where, index, _load_byte(ev, source, index, node), node)

    if not (_in_words(where, type) and _in_words(source, type)):
        _each_byte(ev, size, copy)
        return
    if types.alignment(type) == 1 and size % 2:
        copy(size - 1)
    if size > 1:
        destination, _, row = _whole(ev, where, type)
        origin, _, _ = _whole(ev, source, type)
        ev.code(dsd.OPERATIONS[row.name](destination, [origin]))
