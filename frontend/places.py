"""Places: what can be left of an assignment or behind `&`, in memory or at compile time."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from functools import partial
from typing import Any

from xdsl.dialects import arith, memref
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from ..csl import syntax
from . import emit, packing, types
from .addresses import HeldAddress, indexed, moved, word_of
from .arrays import copy_array, fill_array
from .asking import key_of
from .checking import opaque
from .conversion import extend
from .descriptors import FifoDescriptor
from .emit import has_one_register, scalar, stored
from .errors import Serial, UnknownDescriptor
from .evaluator import Evaluator, Place
from .modules import Global
from .types import Type
from .values import (
    Address,
    Callable,
    Column,
    Local,
    Value,
    element_data,
    element_of,
    is_by_content,
    is_elements,
    is_ssa,
    known,
)

_MOST_LOOKED_AT = 64
"""Operations behind a load in which a store of what it loaded is looked for."""


def _last_loads(ev: Evaluator) -> Collection[Operation]:
    """Return the last loads of the code being emitted, behind which nothing is stored."""
    found: set[Operation] = set()
    op = ev.code.block.last_op
    for _ in range(_MOST_LOOKED_AT):
        if op is None:
            break
        if isinstance(op, memref.LoadOp):
            found.add(op)
        elif not is_side_effect_free(op):
            break
        op = op.prev_op
    return found


def _constant(ev: Evaluator, value: Value, node: syntax.Node) -> Address:
    """Return the memory of a constant."""
    pe = ev.program
    return pe.constant(ev, value, node) if is_by_content(value) else pe.own_constant(ev, value, node)


class Temporary(Place):
    """A value without memory or a name."""

    def __init__(self, value: Value) -> None:
        self.value = value
        self.type = value.type

    def load(self, ev: Evaluator, node: syntax.Node) -> Value:
        return self.value

    def asked(self) -> Hashable:
        return "temporary", key_of(self.value)

    def function(self) -> Callable | None:
        data = self.value.data
        return data if isinstance(data, Callable) else None

    def element(self, ev: Evaluator, index: Any, node: syntax.Node) -> Place:
        assert isinstance(self.type, types.Array)
        if is_ssa(index):
            return self._in_memory(ev, node).element(ev, index, node)
        return Temporary(element_of(self.type, self.value.data[index]))

    def field(self, ev: Evaluator, position: int, node: syntax.Node) -> Place:
        if isinstance(self.type, types.Union):
            return Temporary(packing.variant(ev, self.value, position, node))
        return Temporary(self.value.data[position])

    def address(self, ev: Evaluator, node: syntax.Node) -> Address:
        if isinstance(self.type, types.Array) and ev.pe is not None:
            return self._in_memory(ev, node).where
        return super().address(ev, node)

    def _in_memory(self, ev: Evaluator, node: syntax.Node) -> Memory:
        assert ev.pe is not None
        if types.is_comptime_only(self.type):
            ev.fail(
                node, f"elements of a '{self.type}' exist at compile time only; the index must be known at compile time"
            )
        if not known(self.value):
            place = Memory(ev.pe.spill(ev, self.type, node), self.type, const=False)
            place.store(ev, self.value, node)
            return place
        return Memory(_constant(ev, self.value, node), self.type, const=True)


class Held(Place):
    """A variable, constant or part of one whose value is kept here rather than in the PE's memory."""

    def __init__(self, holder: Local | Global, type: Type, path: tuple[int, ...] = ()) -> None:
        self.holder = holder
        self.type = type
        self.path = path

    def asked(self) -> Hashable:
        assert isinstance(self.holder, Global) and not self.path, "questions are about whole globals"
        return "held", self.type, key_of(self.holder), key_of(self.holder.value)

    def _value(self) -> Value:
        value = self.holder.value
        assert value is not None
        for step in self.path:
            if isinstance(value.type, types.Array):
                value = element_of(value.type, value.data[step])
            else:
                value = value.data[step]
        return value

    def load(self, ev: Evaluator, node: syntax.Node) -> Value:
        if ev.is_checking and isinstance(self.holder, Local) and not self.path and ev.builder is not None:
            hidden = opaque(ev, self.holder)
            if hidden is not None:
                return hidden
        value = self._value()
        if ev.builder is None and is_ssa(value.data):
            ev.fail(node, f"'{self._name}' is not known at compile time")
        if is_elements(value.data) and not self.is_const:
            # Arrays are values: what changes the variable later must not change this.
            return Value(value.type, list(value.data))
        return value

    def store(self, ev: Evaluator, value: Value, node: syntax.Node) -> None:
        if self.is_const:
            # An extern constant is held by the exported one, which may have another name.
            name = node.name if isinstance(node, syntax.Name) else self._name
            ev.fail(node, f"'{name}' is constant; declare it with 'var' to assign to it")
        holder = self.holder
        depth = holder.depth if isinstance(holder, Local) else 0
        if depth != ev.lanes.depth and ev.in_layout:
            raise Serial
        if isinstance(holder, Local):
            if not holder.comptime and ev.builder is None:
                ev.fail(node, f"'{holder.name}' changes at run time only; make it a 'comptime var'")
            if holder.comptime and not known(value):
                ev.fail(node, f"'{holder.name}' is comptime, but what is assigned to it is not known at compile time")
            if holder.comptime and ev.branches > holder.branches:
                ev.fail(
                    node, f"'{holder.name}' changes at compile time, but it is not known then whether this is reached"
                )
        holder.value = self._replaced(holder.value, self.path, value, own=holder.owns)
        holder.owns = bool(self.path)

    def _replaced(self, whole: Value | None, path: tuple[int, ...], part: Value, *, own: bool) -> Value:
        """Return `whole` with a part replaced; an array that nothing else has is changed in place."""
        if not path:
            return part
        assert whole is not None
        step, *rest = path
        type = whole.type
        if isinstance(type, types.Array):
            changed = self._replaced(element_of(type, whole.data[step]), tuple(rest), part, own=False)
            if not own:
                whole = Value(type, list(whole.data))
            whole.data[step] = element_data(type, changed)
            return whole
        members = list(whole.data)
        members[step] = self._replaced(members[step], tuple(rest), part, own=False)
        return Value(whole.type, tuple(members))

    def element(self, ev: Evaluator, index: Any, node: syntax.Node) -> Place:
        assert isinstance(self.type, types.Array)
        if is_ssa(index):
            return Temporary(self.load(ev, node)).element(ev, index, node)
        return Held(self.holder, self.type.element, (*self.path, index))

    def field(self, ev: Evaluator, position: int, node: syntax.Node) -> Place:
        assert isinstance(self.type, types.Record)
        if isinstance(self.type, types.Union) or self.type.layout == "packed":
            return Part(self, position)
        return Held(self.holder, self._value().data[position].type, (*self.path, position))

    def address(self, ev: Evaluator, node: syntax.Node) -> Address:
        if ev.builder is None and (not self.is_const or ev.pe is None or types.is_comptime_only(self.type)):
            return HeldAddress(None, place=self)
        if not self.is_const or ev.pe is None or types.is_comptime_only(self.type):
            ev.fail(node, f"'{self._name}' exists at compile time only; it has no address")
        if isinstance(self.holder, Global) and not self.path:
            return ev.pe.constant_of(ev, self.holder, node)
        return _constant(ev, self._value(), node)

    def beginning(self) -> tuple[Held, int]:
        """Return the whole variable and the byte of it that this begins at; this itself if its bytes are not known."""
        value = self.holder.value
        assert value is not None
        if types.is_comptime_only(value.type):
            return self, 0
        type, offset = value.type, 0
        for step in self.path:
            if isinstance(type, types.Array):
                type, offset = type.element, offset + step * types.size(type.element)
            else:
                assert isinstance(type, types.Record)
                type, offset = type.types[step], offset + types.layout(type)[0][step]
        return Held(self.holder, value.type), offset

    @property
    def _name(self) -> str:
        return self.holder.name if isinstance(self.holder, Local) else self.holder.node.name

    @property
    def is_const(self) -> bool:
        if isinstance(self.holder, Local):
            return not self.holder.mutable
        node = self.holder.node
        return not (isinstance(node, syntax.Variable) and node.kind == "var")


class Overlay(Place):
    """Bytes of what is known at compile time, from byte `offset` of `whole` on, as a value of a type."""

    def __init__(self, whole: Place, offset: int, type: Type) -> None:
        self.whole = whole
        self.offset = offset
        self.type = type

    @property
    def is_const(self) -> bool:
        return self.whole.is_const

    def load(self, ev: Evaluator, node: syntax.Node) -> Value:
        _, part, offset = self._part(ev, node)
        if offset == 0 and part.type == self.type:
            return part
        if isinstance(part.type, types.Array) and part.type.element == self.type and part.type.count == 1:
            return Value(self.type, part.data[0])
        return packing.read_bytes(ev, part, offset, self.type, node)

    def store(self, ev: Evaluator, value: Value, node: syntax.Node) -> None:
        elements, part, offset = self._part(ev, node)
        changed = packing.with_bytes(ev, part, offset, value, node)
        if elements is None:
            self.whole.store(ev, changed, node)
            return
        assert isinstance(changed.type, types.Array)
        for index, item in zip(elements, changed.data, strict=True):
            self.whole.element(ev, index, node).store(ev, Value(changed.type.element, item), node)

    def _part(self, ev: Evaluator, node: syntax.Node) -> tuple[range | None, Value, int]:
        """Return the array elements that contain the bytes, their value, and the offset in it; None if not an array."""
        whole = self.whole.type
        for type in (whole, self.type):
            if types.is_comptime_only(type) or isinstance(type, types.Descriptor):
                ev.fail(node, f"a '{type}' has no bytes that a pointer of another type can access")
        size, end = types.size(whole), self.offset + types.size(self.type)
        if self.offset < 0 or end > size:
            ev.fail(node, f"this accesses bytes {self.offset} to {end - 1} of a variable of {size} bytes")
        value = self.whole.load(ev, node)
        if not isinstance(whole, types.Array) or end == self.offset:
            return None, value, self.offset
        step = types.size(whole.element)
        elements = range(self.offset // step, -(-end // step))
        part = types.Array((len(elements),), whole.element)
        return elements, Value(part, value.data[elements.start : elements.stop]), self.offset - elements.start * step

    def element(self, ev: Evaluator, index: Any, node: syntax.Node) -> Place:
        element = self.type.element if isinstance(self.type, types.Array) else self.type
        if is_ssa(index):
            ev.fail(
                node,
                "this points to a variable that exists at compile time only; the index must be known at compile time",
            )
        return Overlay(self.whole, self.offset + index * types.size(element), element)

    def field(self, ev: Evaluator, position: int, node: syntax.Node) -> Place:
        assert isinstance(self.type, types.Record)
        if self.type.layout == "packed":
            return Part(self, position)
        return Overlay(self.whole, self.offset + types.layout(self.type)[0][position], self.type.types[position])

    def address(self, ev: Evaluator, node: syntax.Node) -> Address:
        return HeldAddress(None, place=self)


class Memory(Place):
    """A variable in the PE's memory."""

    def __init__(self, where: Address, type: Type, const: bool) -> None:
        self.where = where
        self.type = type
        self.const = const

    @property
    def is_const(self) -> bool:
        return self.const

    def address(self, ev: Evaluator, node: syntax.Node) -> Address:
        return self.where

    def element(self, ev: Evaluator, index: Any, node: syntax.Node) -> Memory:
        element = self.type.element if isinstance(self.type, types.Array) else self.type
        return Memory(moved(ev, self.where, index, types.size(element)), element, self.const)

    def field(self, ev: Evaluator, position: int, node: syntax.Node) -> Place:
        assert isinstance(self.type, types.Record)
        if self.type.layout == "packed":
            return Bits(self, types.offsets(self.type)[position], self.type.types[position])
        offsets, _ = types.layout(self.type)
        return Memory(moved(ev, self.where, offsets[position], 1), self.type.types[position], self.const)

    def load(self, ev: Evaluator, node: syntax.Node) -> Value:
        if ev.builder is None:
            value = None if ev.pe is None else ev.pe.constant_at(self.where)
            if value is None:
                name = ev.source.text[node.start : node.end].strip()
                if isinstance(self.type, types.Array):
                    remedy = f"write &{name} for its address, or declare it 'const'"
                else:
                    remedy = "declare it 'const', or compute this at run time"
                ev.fail(node, f"'{name}' is memory of the PE, which cannot be read at compile time; {remedy}")
            return Overlay(Temporary(value), self.where.offset * self.where.unit, self.type).load(ev, node)
        ev.check_format(self.type, node)
        ev.code.at(ev.source, node.start)
        if has_one_register(self.type):
            return Value(self.type, self._load_scalar(ev))
        match self.type:
            case types.Union() | types.Struct(layout="packed"):
                return packing.from_words(ev, self.type, self.words(ev, range(types.words_used(self.type)), node), node)
            case types.Struct():
                members = (self.field(ev, n, node).load(ev, node) for n in range(len(self.type.types)))
                return Value(self.type, tuple(members))
            case types.Array():
                return Value(self.type, [self.element(ev, n, node).load(ev, node).data for n in range(self.type.count)])
            case types.Descriptor():
                assert ev.pe is not None
                return Value(self.type, self._load_descriptor(ev, node))
            case _:
                ev.fail(node, f"a '{self.type}' cannot be read at run time")

    def words(self, ev: Evaluator, numbers: range, node: syntax.Node) -> list[Value]:
        """Load some of the 16-bit words here; of what is at an odd byte, byte by byte."""
        if types.alignment(self.type) > 1:
            places = (Memory(moved(ev, self.where, number, 2), types.U16, True) for number in numbers)
            return [Value(types.U16, place._load_scalar(ev)) for place in places]
        return [
            packing.word_of_bytes(
                ev, [Value(types.U8, place._load_scalar(ev)) for place in self._bytes(ev, number)], node
            )
            for number in numbers
        ]

    def store_words(self, ev: Evaluator, words: list[Value], first: int, node: syntax.Node) -> None:
        """Store words here, from word `first` on."""
        for number, word in enumerate(words, start=first):
            if types.alignment(self.type) > 1:
                Memory(moved(ev, self.where, number, 2), types.U16, False)._store_scalar(ev, ev.ssa(word, node))
                continue
            places = self._bytes(ev, number)
            for place, byte in zip(places, packing.bytes_of_word(ev, word, len(places), node), strict=True):
                place._store_scalar(ev, ev.ssa(byte, node))

    def _bytes(self, ev: Evaluator, number: int) -> list[Memory]:
        """Return the bytes of a word here: one, if what is here ends in its middle."""
        numbers = range(2 * number, min(2 * number + 2, types.size(self.type)))
        return [Memory(moved(ev, self.where, byte, 1), types.U8, False) for byte in numbers]

    def _load_descriptor(self, ev: Evaluator, node: syntax.Node) -> Any:
        assert ev.pe is not None
        template = ev.pe.descriptor_at(self.where)
        if template is None:
            message = "it is not known which DSD this variable holds; give it an initial value"
            raise UnknownDescriptor(ev.error(node, message).diagnostics)
        if isinstance(template, FifoDescriptor):
            ev.fail(node, "which FIFO this is must be known at compile time (DSD-122); declare the variable 'const'")
        parts: list[Any] = []
        for position, part in enumerate(template.parts()):
            word = Memory(moved(ev, self.where, position, 2), types.U16, True)._load_scalar(ev)
            parts.append(Address(None, 0, 1, word) if isinstance(part, Address) else word)
        return template.with_parts(parts)

    def _load_scalar(self, ev: Evaluator) -> SSAValue:
        if types.size(self.type) > 4:
            words = [Memory(where, types.U32, True)._load_scalar(ev) for where in self._long_words(ev)]
            type = self._integer()
            whole = emit.joined(ev.code, words, type)
            return whole if type.carrier == 8 * types.size(type) else emit.wrapped(ev.code, type, whole)
        array, indices = indexed(ev, self.where, self.type)
        in_memory = stored(self.type)
        word = ev.code.value(memref.LoadOp.create(operands=[array, *indices], result_types=[scalar(in_memory)]))
        if self.type is types.BOOL:
            return ev.code.value(arith.CmpiOp(word, ev.code.constant(types.U8, 0), "ne"))
        return word

    def _integer(self) -> types.Int:
        """Return the type of an integer of more than 32 bits here, or of the members of an enum."""
        type = self.type.underlying if isinstance(self.type, types.Enum) else self.type
        assert isinstance(type, types.Int)
        return type

    def _long_words(self, ev: Evaluator) -> list[Address]:
        """Return where the words of 32 bits are that an integer of more bits is kept in, the low one first."""
        return [moved(ev, self.where, number, 4) for number in range(types.size(self.type) // 4)]

    def store(self, ev: Evaluator, value: Value, node: syntax.Node) -> None:
        if self.const:
            ev.fail(node, "this is constant, or reached by a pointer to constant memory; it cannot be assigned to")
        if ev.builder is None:
            ev.fail(node, "this is memory of the PE, which cannot be written at compile time")
        ev.code.at(ev.source, node.start)
        if has_one_register(self.type):
            self._store_scalar(ev, ev.ssa(value, node))
            return
        match self.type:
            case types.Union() | types.Struct(layout="packed"):
                self.store_words(ev, packing.to_words(ev, value, node), 0, node)
            case types.Struct():
                for n, member in enumerate(value.data):
                    self.field(ev, n, node).store(ev, member, node)
            case types.Array():
                self._store_array(ev, value, node)
            case types.Descriptor():
                self._store_descriptor(ev, value, node)
            case _:
                ev.fail(node, f"a '{self.type}' cannot be stored at run time")

    def _store_array(self, ev: Evaluator, value: Value, node: syntax.Node) -> None:

        assert isinstance(self.type, types.Array)
        data = value.data
        if not known(value) or len(data) <= 2:
            for n, item in enumerate(data):
                self.element(ev, n, node).store(ev, Value(self.type.element, item), node)
        elif (
            has_one_register(self.type.element)
            and types.size(self.type.element) <= 4
            and all(item == data[0] and not isinstance(item, Column | Address) for item in data)
        ):
            fill_array(ev, self.where, self.type, Value(self.type.element, data[0]), node)
        else:
            assert ev.pe is not None
            copy_array(ev, self.where, _constant(ev, value, node), self.type, node)

    def _store_descriptor(self, ev: Evaluator, value: Value, node: syntax.Node) -> None:
        assert ev.pe is not None
        template = ev.pe.descriptor_at(self.where)
        data = value.data
        if template is None:
            if self.where.buffer is not None:
                data = ev.pe.as_held(self.where.buffer.symbol, data)
            ev.pe.set_descriptor_at(self.where, data)
        else:
            data = ev.pe.held_like(self.where, template, data)
            if not template.like(data):
                ev.fail(
                    node,
                    "this DSD differs from those this variable has held in what cannot change at run time "
                    "(its kind, options or number of dimensions); use another variable",
                )
        kept = _last_loads(ev)
        for position, part in enumerate(data.parts()):
            word = word_of(ev, part, node)
            place = Memory(moved(ev, self.where, position, 2), types.U16, False)
            if not place._is_what(ev, word, kept):
                place._store_scalar(ev, word)

    def _is_what(self, ev: Evaluator, word: SSAValue, loads: Collection[Operation]) -> bool:
        """Return True if a word was loaded from here by one of `loads`, so that it need not be stored."""
        load = word.owner
        if load not in loads or not isinstance(load, memref.LoadOp):
            return False
        array, indices = indexed(ev, self.where, self.type)
        return load.memref is array and list(load.indices) == indices

    def _store_scalar(self, ev: Evaluator, word: SSAValue) -> None:
        if types.size(self.type) > 4:
            for where, part in zip(self._long_words(ev), emit.words_of(ev.code, word, self._integer()), strict=False):
                Memory(where, types.U32, False)._store_scalar(ev, part)
            return
        if self.type is types.BOOL:
            word = ev.code.value(arith.ExtUIOp(word, scalar(types.U8)))  # pyright: ignore[reportArgumentType]
        array, indices = indexed(ev, self.where, self.type)
        ev.code(memref.StoreOp.create(operands=[word, array, *indices]))


class Bits(Place):
    """A field of what is packed in memory: some of its bits. `whole` is all of it."""

    def __init__(self, whole: Memory, first: int, type: Type) -> None:
        self.whole = whole
        self.first = first
        self.type = type

    @property
    def is_const(self) -> bool:
        return self.whole.is_const

    def field(self, ev: Evaluator, position: int, node: syntax.Node) -> Place:
        assert isinstance(self.type, types.Record)
        return Bits(self.whole, self.first + types.offsets(self.type)[position], self.type.types[position])

    def _numbers(self) -> range:
        """Return the words of the whole these bits are in."""
        width = types.bit_width(self.type) or 0
        return range(self.first // 16, (self.first + max(width, 1) - 1) // 16 + 1)

    def load(self, ev: Evaluator, node: syntax.Node) -> Value:
        if ev.builder is None:
            return self.whole.load(ev, node)
        ev.code.at(ev.source, node.start)
        words = self.whole.words(ev, self._numbers(), node)
        return packing.get(ev, words, self.first % 16, self.type, node, packed=True)

    def store(self, ev: Evaluator, value: Value, node: syntax.Node) -> None:
        if self.is_const or ev.builder is None:
            self.whole.store(ev, value, node)
        numbers = self._numbers()
        words = partial(self.whole.words, ev, numbers, node)
        new = packing.replaced(ev, words, len(numbers), self.first % 16, value, node)
        self.whole.store_words(ev, new, numbers.start, node)

    def address(self, ev: Evaluator, node: syntax.Node) -> Address:
        ev.fail(node, "a field of a packed struct or union has no address; copy it to a variable")


class Part(Place):
    """A part of a value that has no place of its own: a field of something packed, a variant, and what is in these."""

    def __init__(self, whole: Place, position: int) -> None:
        self.whole = whole
        self.position = position
        type = whole.type
        assert isinstance(type, types.Array | types.Record)
        self.type = type.element if isinstance(type, types.Array) else type.types[position]

    @property
    def is_const(self) -> bool:
        return self.whole.is_const

    def load(self, ev: Evaluator, node: syntax.Node) -> Value:
        whole = self.whole.load(ev, node)
        if isinstance(whole.type, types.Union):
            return packing.variant(ev, whole, self.position, node)
        part = whole.data[self.position]
        return Value(self.type, part) if isinstance(whole.type, types.Array) else part

    def store(self, ev: Evaluator, value: Value, node: syntax.Node) -> None:
        whole = self.whole.load(ev, node)
        if isinstance(whole.type, types.Union):
            packing.check_active(ev, whole, self.position, node)
            self.whole.store(ev, packing.union(ev, whole.type, self.position, value, node), node)
            return
        parts = list(whole.data)
        parts[self.position] = value.data if isinstance(whole.type, types.Array) else value
        self.whole.store(ev, Value(whole.type, parts if isinstance(whole.type, types.Array) else tuple(parts)), node)

    def field(self, ev: Evaluator, position: int, node: syntax.Node) -> Place:
        return Part(self, position)

    def element(self, ev: Evaluator, index: Any, node: syntax.Node) -> Place:
        if is_ssa(index):
            return Temporary(self.load(ev, node)).element(ev, index, node)
        return Part(self, index)

    def address(self, ev: Evaluator, node: syntax.Node) -> Address:
        ev.fail(node, "this is part of a packed struct or of a union and has no address; copy it to a variable")


def index_word(ev: Evaluator, value: Value, node: syntax.Node, what: str = "an index") -> Any:
    """Return an index, or another integer that the error calls `what`: known, or an i16 at run time."""
    if isinstance(value.type, types.Enum):
        ev.fail(node, f"{what} is an integer; convert the enum with @get_int")
    if not types.is_integer(value.type):
        advice = "; convert it with @as" if types.is_float(value.type) else ""
        ev.fail(node, f"{what} is an integer, not '{value.type}'{advice}")
    if is_ssa(value.data):
        assert isinstance(value.type, types.Int)
        return extend(ev, value.data, value.type, 16)
    if isinstance(value.data, Column) and ev.builder is not None:
        word = Value(types.I16, ev.fitted(types.I16, value.data))
        return ev.ssa(word, node)
    return ev.data(value, node, what)
