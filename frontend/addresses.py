"""Addresses in the memory of a PE: arithmetic on them, and their words and arrays in IR."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import Any, NoReturn, Protocol

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType
from xdsl.ir import SSAValue

from ..csl import syntax
from ..dialects import wse
from . import types
from .emit import Builder, array, binary, scalar, stored
from .types import Type
from .values import Address, Buffer, Callable, Column, is_ssa


class Program(Protocol):
    """The program of PEs, as far as addresses concern it."""

    def parameter(self, builder: Builder, type: Type, data: Column) -> SSAValue: ...

    def function_number(self, function: Callable) -> int: ...


class Emission(Protocol):
    """The evaluator, as far as it emits code."""

    @property
    def code(self) -> Builder: ...

    @property
    def pe(self) -> Program | None: ...

    def fail(self, node: syntax.Node, message: str) -> NoReturn: ...


@dataclass
class HeldAddress(Address):
    """What a pointer holds while a function is evaluated at compile time: the variable itself."""

    place: Any = None
    """The `places.Held` or `places.Overlay`."""

    def is_known(self) -> bool:
        return True


def array_at(ev: Emission, where: Address, element: Type, unit: int) -> tuple[SSAValue, Any]:
    """Return the memory at an address as a memref of elements `unit` bytes wide, and the index of the address."""
    builder = ev.code
    buffer = where.buffer
    offset = in_units(ev, where, unit)
    if buffer is not None and offset is not None and scalar(stored(buffer.element)) == scalar(element):
        shape = (buffer.count,) if buffer.count else ()
        if (not shape and offset == 0) or shape:
            type = array(scalar(element), shape)
            return builder.once((buffer.symbol, type), lambda: wse.GetBufferOp(buffer.symbol, type)), offset
    if offset is not None and buffer is not None and is_ssa(offset):
        base: SSAValue = _address_of(ev, buffer)
    elif offset is not None and buffer is None:
        base = base_address(ev, where)
    else:
        base, offset = byte_address(ev, where), 0
    type = array(scalar(element), (DYNAMIC_INDEX,))
    return builder.once((base, type), lambda: wse.ViewOp(base, type)), offset


def array_from(ev: Emission, where: Address, element: Type, unit: int) -> SSAValue:
    """Return the memory from an address on as a memref of elements `unit` bytes wide."""
    base, offset = array_at(ev, where, element, unit)
    if not is_ssa(offset) and offset == 0:
        return base
    address = byte_address(ev, where)
    type = array(scalar(element), (DYNAMIC_INDEX,))
    return ev.code.once((address, type), lambda: wse.ViewOp(address, type))


def _address_of(ev: Emission, buffer: Buffer) -> SSAValue:
    return ev.code.once(("address", buffer.symbol), lambda: wse.AddressOfOp(buffer.symbol))


def in_units(ev: Emission, where: Address, unit: int) -> Any:
    """Return the offset of an address counted in units of so many bytes; None if it is not a whole number of them."""
    if where.unit == unit:
        return where.offset
    if is_ssa(where.offset):
        return None if where.unit % unit else scaled(ev, where.offset, where.unit // unit)
    total = where.offset * where.unit
    return total // unit if total % unit == 0 else None


def base_address(ev: Emission, where: Address) -> SSAValue:
    """Return the byte address an address without a buffer starts from."""
    base = where.base
    if is_ssa(base):
        return base
    if isinstance(base, Column):
        assert ev.pe is not None
        return ev.pe.parameter(ev.code, types.U16, base)
    return ev.code.constant(types.U16, base)


def byte_address(ev: Emission, where: Address) -> SSAValue:
    """Return an address in bytes, i16."""
    builder = ev.code
    word = base_address(ev, where) if where.buffer is None else _address_of(ev, where.buffer)
    offset = where.offset
    if not is_ssa(offset):
        if offset == 0:
            return word
        return binary(builder, "+", types.U16, word, builder.constant(types.U16, offset * where.unit))
    if where.unit != 1:
        offset = binary(builder, "*", types.U16, offset, builder.constant(types.U16, where.unit))
    return binary(builder, "+", types.U16, word, offset)


def pointer_word(ev: Emission, where: Any, node: syntax.Node) -> SSAValue:
    """Return a pointer's data as one word."""
    if isinstance(where, HeldAddress):
        ev.fail(node, "this points to a variable that exists at compile time only")
    if isinstance(where, Callable):
        assert ev.pe is not None
        return ev.code.constant(types.U16, ev.pe.function_number(where))
    return byte_address(ev, where)


def word_of(ev: Emission, part: Any, node: syntax.Node) -> SSAValue:
    """Return a part of a descriptor as an i16."""
    if is_ssa(part):
        return part
    if isinstance(part, Address):
        return byte_address(ev, part)
    if isinstance(part, Column):
        assert ev.pe is not None
        return ev.pe.parameter(ev.code, types.I16, part)
    return ev.code.constant(types.I16, part)


def moved(ev: Emission, where: Address, index: Any, width: int) -> Address:
    """Return an address moved by `index` elements of `width` bytes; `index` is known or an i16."""
    step = width if is_ssa(index) else index * width
    if step == 0:
        return where if width == 0 or is_ssa(where.offset) else _counted(where, where.offset * where.unit, width)
    if is_ssa(where.offset):
        unit = gcd(where.unit, step)
        offset = scaled(ev, where.offset, where.unit // unit)
    elif not is_ssa(index):
        return _counted(where, where.offset * where.unit + step, width)
    else:
        unit = gcd(where.offset * where.unit, step)
        offset = where.offset * where.unit // unit
    further = scaled(ev, index, step // unit) if is_ssa(index) else step // unit
    return replace(where, offset=plus(ev, offset, further), unit=unit)


def _counted(where: Address, total: int, width: int) -> Address:
    """Return an address `total` bytes from its start, in units of `width` bytes if that is possible."""
    unit = gcd(total, width)
    return replace(where, offset=total // unit, unit=unit)


def scaled(ev: Emission, index: Any, factor: int) -> Any:
    """Return `index * factor`, `index` a constant or an i16."""
    if not is_ssa(index):
        return index * factor
    if factor == 1:
        return index
    return binary(ev.code, "*", types.I16, index, ev.code.constant(types.I16, factor))


def plus(ev: Emission, left: Any, right: Any) -> Any:
    """Return the sum of two numbers, each known or an i16."""
    if not is_ssa(left) and not is_ssa(right):
        return left + right
    if not is_ssa(left):
        left, right = right, left
    if not is_ssa(right):
        if right == 0:
            return left
        right = ev.code.constant(types.I16, right)
    return binary(ev.code, "+", types.I16, left, right)


def linear(ev: Emission, array: types.Array, indices: list[Any], nodes: list[syntax.Expression]) -> Any:
    """Return the position of an element in row-major order (DSD-027)."""
    result: Any = 0
    for extent, index, node in zip(array.dims, indices, nodes, strict=True):
        if not is_ssa(index) and not 0 <= index < extent:
            ev.fail(node, f"index {index} is outside the array, which has {extent} here (indices 0 to {extent - 1})")
        result = plus(ev, scaled(ev, result, extent), index)
    return result


def indexed(ev: Emission, where: Address, type: Type) -> tuple[SSAValue, list[SSAValue]]:
    """Return a memref with elements of a type, and the indices of an address in it."""
    builder = ev.code
    array, offset = array_at(ev, where, stored(type), types.size(stored(type)))
    if not array.type.get_shape():  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return array, []
    if is_ssa(offset):
        return array, [builder.index(offset)]
    return array, [builder.raw_constant(IndexType(), offset)]
