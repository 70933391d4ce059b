"""Values as the bits they are: packed structs, and unions, whose variants are different readings of the same bits.

Bits are kept as words of 16 bits, the low one first, each a value of type u16, known or not. A word that points to a
buffer is a value of pointer type as long as nothing is emitted: its number is known only after memory is laid out.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from typing import Any

from ..csl import syntax
from . import emit, scalars, types
from .conversion import bitcast_scalar, cast, check_width
from .evaluator import Evaluator
from .types import Type
from .values import Address, Callable, Value, Words, is_known, is_ssa


def to_words(ev: Evaluator, value: Value, node: syntax.Node) -> list[Value]:
    """Return the words of a struct or union in the order of memory."""
    assert isinstance(value.type, types.Record)
    words = [_ZERO] * types.words_used(value.type)
    put(ev, words, 0, value, node, packed=value.type.layout == "packed")
    return words


def from_words(ev: Evaluator, type: Type, words: list[Value], node: syntax.Node) -> Value:
    """Return the value of a struct or union type that these words are."""
    return get(ev, words, 0, type, node, packed=isinstance(type, types.Record) and type.layout == "packed")


def bitcast(ev: Evaluator, value: Value, type: Type, node: syntax.Node) -> Value:
    """Return what `@bitcast(type, value)` is: the same bits as another type of the same width."""
    if isinstance(type, types.Record) or isinstance(value.type, types.Record):
        check_width(ev, value.type, type, node)
        return reinterpret(ev, value, type, node)
    return bitcast_scalar(ev, value, type, node)


def reinterpret(ev: Evaluator, value: Value, type: Type, node: syntax.Node) -> Value:
    """Reinterpret a value that a packed struct may contain as another such type of the same width."""
    words = [_ZERO] * (((types.bit_width(type) or 0) + 15) // 16)
    put(ev, words, 0, value, node, packed=True)
    return get(ev, words, 0, type, node, packed=True)


def union(ev: Evaluator, type: types.Union, position: int, value: Value, node: syntax.Node) -> Value:
    """Return a union with one of its variants given. One that exists at compile time only has no words but that."""
    if types.is_comptime_only(type):
        words = [value]
    else:
        words = [_ZERO] * types.words_used(type)
        put(ev, words, 0, value, node, packed=type.layout == "packed")
    data = Words(words)
    data.active = position
    return Value(type, data)


def variant(ev: Evaluator, value: Value, position: int, node: syntax.Node) -> Value:
    """Return a variant of a union. Raise CslError if another one is known to be active and the bits mean nothing."""
    type = value.type
    assert isinstance(type, types.Union) and type.names is not None
    check_active(ev, value, position, node)
    if types.is_comptime_only(type):
        if not value.data:
            ev.fail(node, f"this union has no value yet; assign it one, {{ .{type.names[position]} = ... }}")
        return value.data[0]
    return get(ev, list(value.data), 0, type.types[position], node, packed=type.layout == "packed")


def check_active(ev: Evaluator, value: Value, position: int, node: syntax.Node) -> None:
    """Check that only the active variant of a bare union is accessed (Types, Union types)."""
    active = getattr(value.data, "active", None)
    names = value.type.names if isinstance(value.type, types.Union) else None
    if names is not None and active not in (None, position) and not value.type.layout:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        ev.fail(
            node,
            f"'{names[active]}' is the active variant of this union, not '{names[position]}'; assign the whole union, "
            "or declare it 'extern' or 'packed' to see the bits of one variant as another",
        )


_ZERO = Value(types.U16, 0)


def put(ev: Evaluator, words: list[Value], at: int, value: Value, node: syntax.Node, *, packed: bool) -> None:
    """Put a value into words that are zero there, from bit `at` on."""
    packed = packed or _is_packed(value.type)
    match value.type:
        case types.Union():
            width = (types.bit_width(value.type) or 0) if packed else 8 * types.size(value.type)
            for number, word in enumerate(value.data):
                if not packed and at % 16 == 0 and width - 16 * number >= 16:
                    words[at // 16 + number] = word
                else:
                    _put_bits(ev, words, at + 16 * number, word, min(16, width - 16 * number), node)
        case types.Struct():
            for offset, member in zip(types.offsets(value.type), value.data, strict=True):
                put(ev, words, at + offset, member, node, packed=packed)
        case types.Array(element=element):
            for number, item in enumerate(value.data):
                put(ev, words, at + 8 * types.size(element) * number, Value(element, item), node, packed=packed)
        case _:
            if isinstance(value.data, Address | Callable):
                _put_pointer(ev, words, at, value, node)
            else:
                bits = _bits_of(ev, value, node, packed)
                width = types.bit_width(value.type) if packed else None
                _put_bits(ev, words, at, bits, width or 8 * types.size(value.type), node)


def _is_packed(type: Type) -> bool:
    return isinstance(type, types.Record) and type.layout == "packed"


def _put_pointer(ev: Evaluator, words: list[Value], at: int, value: Value, node: syntax.Node) -> None:
    if ev.builder is not None:
        _put_bits(ev, words, at, Value(types.U16, ev.ssa(value, node)), 16, node)
    elif at % 16 == 0:
        words[at // 16] = value
    else:
        ev.fail(node, "this address is not known at compile time; place the pointer at a multiple of 16 bits")


def _bits_of(ev: Evaluator, value: Value, node: syntax.Node, packed: bool) -> Value:
    """Return a scalar as an unsigned integer."""
    type = value.type
    if isinstance(type, types.Enum):
        type = type.underlying
        value = Value(type, value.data)
    if type is types.BOOL:
        return cast(ev, value, types.U16, node)
    if isinstance(type, types.Int | types.Float):
        if not packed and type != emit.stored(type):
            type = emit.stored(type)
            value = cast(ev, value, type, node)
        assert isinstance(type, types.Int | types.Float)
        return bitcast_scalar(ev, value, types.Int(type.bits, False), node)
    return Value(types.U16, value.data)


def _put_bits(ev: Evaluator, words: list[Value], at: int, bits: Value, width: int, node: syntax.Node) -> None:
    bits = _as_word(ev, bits, node)
    done = 0
    while done < width:
        number, shift = divmod(at + done, 16)
        # What is beyond this word falls off at its top.
        piece = cast(ev, _shifted(ev, ">>", bits, done, node), types.U16, node)
        words[number] = _or(ev, words[number], _shifted(ev, "<<", piece, shift, node), node)
        done += 16 - shift


def replaced(
    ev: Evaluator, words: Function[[], list[Value]], count: int, at: int, value: Value, node: syntax.Node
) -> list[Value]:
    """Return `count` words with the bits from `at` on replaced; they are only read if some bits stay."""
    new = [_ZERO] * count
    put(ev, new, at, value, node, packed=True)
    width = types.bit_width(value.type) or 0
    if width == 16 * count:
        return new
    taken = ((1 << width) - 1) << at
    kept = [Value(types.U16, types.U16.wrap(~(taken >> (types.U16.bits * number)))) for number in range(count)]
    old = [_apply(ev, "&", word, mask, node) for word, mask in zip(words(), kept, strict=True)]
    return [_or(ev, before, word, node) for before, word in zip(old, new, strict=True)]


def get(ev: Evaluator, words: list[Value], at: int, type: Type, node: syntax.Node, *, packed: bool) -> Value:
    """Return the value of a type that begins at bit `at`."""
    packed = packed or _is_packed(type)
    match type:
        case types.Union():
            width = (types.bit_width(type) or 0) if packed else 8 * types.size(type)
            if not packed and at % 16 == 0 and width % 16 == 0:
                first = at // 16
                return Value(type, Words(words[first : first + width // 16]))
            pieces = range(0, width, 16)
            return Value(type, Words(_bits(ev, words, at + p, min(16, width - p), node) for p in pieces))
        case types.Struct():
            members = zip(types.offsets(type), type.types, strict=True)
            return Value(type, tuple(get(ev, words, at + o, inner, node, packed=packed) for o, inner in members))
        case types.Array(element=element):
            step = 8 * types.size(element)
            items = (get(ev, words, at + step * n, element, node, packed=packed) for n in range(type.count))
            return Value(type, [item.data for item in items])
        case types.Pointer():
            word = words[at // 16]
            if at % 16 == 0 and isinstance(word.data, Address | Callable):
                return Value(type, word.data)
            return Value(type, Address(None, 0, 1, _bits(ev, words, at, 16, node).data))
        case _:
            return _scalar(ev, words, at, type, node, packed)


def _scalar(ev: Evaluator, words: list[Value], at: int, type: Type, node: syntax.Node, packed: bool) -> Value:
    if isinstance(type, types.Enum):
        return Value(type, _scalar(ev, words, at, type.underlying, node, packed).data)
    if type is types.BOOL:
        return cast(ev, _bits(ev, words, at, 1 if packed else 8, node), type, node)
    if isinstance(type, types.Int | types.Float):
        in_memory = type if packed else emit.stored(type)
        assert isinstance(in_memory, types.Int | types.Float)
        bits = cast(ev, _bits(ev, words, at, in_memory.bits, node), types.Int(in_memory.bits, False), node)
        return cast(ev, bitcast_scalar(ev, bits, in_memory, node), type, node)
    return Value(type, _bits(ev, words, at, 16, node).data)


def _bits(ev: Evaluator, words: list[Value], at: int, width: int, node: syntax.Node) -> Value:
    """Return `width` bits from `at` on as an unsigned integer of 16, 32, or a multiple of 64 bits."""
    work = types.U16 if width <= 16 else types.Int(types.Int(width, False).carrier, False)
    result: Value | None = None
    done = 0
    while done < width:
        number, shift = divmod(at + done, 16)
        piece = _shifted(ev, ">>", _as_word(ev, words[number], node), shift, node)
        if width - done < 16 - shift:
            piece = _apply(ev, "&", piece, Value(types.U16, (1 << (width - done)) - 1), node)
        piece = _shifted(ev, "<<", cast(ev, piece, work, node), done, node)
        result = piece if result is None else _or(ev, result, piece, node)
        done += 16 - shift
    return _ZERO if result is None else result


def read_bytes(ev: Evaluator, whole: Value, offset: int, type: Type, node: syntax.Node) -> Value:
    """Return the value of a type that the bytes of another value are, from byte `offset` on."""
    return get(ev, _image(ev, whole, node), 8 * offset, type, node, packed=False)


def with_bytes(ev: Evaluator, whole: Value, offset: int, value: Value, node: syntax.Node) -> Value:
    """Return a value with the bytes from `offset` on replaced by those of another value."""
    words = _image(ev, whole, node)
    for byte in range(offset, offset + types.size(value.type)):
        kept = Value(types.U16, 0xFF00 if byte % 2 == 0 else 0x00FF)
        words[byte // 2] = _apply(ev, "&", _as_word(ev, words[byte // 2], node), kept, node)
    put(ev, words, 8 * offset, value, node, packed=False)
    return get(ev, words, 0, whole.type, node, packed=False)


def _image(ev: Evaluator, value: Value, node: syntax.Node) -> list[Value]:
    """Return the words of memory that a value of any type takes."""
    words = [_ZERO] * ((types.size(value.type) + 1) // 2)
    put(ev, words, 0, value, node, packed=False)
    return words


def word_of_bytes(ev: Evaluator, parts: list[Value], node: syntax.Node) -> Value:
    """Return the word of one or two bytes, the low one first."""
    low, *high = [cast(ev, part, types.U16, node) for part in parts]
    return _or(ev, low, _shifted(ev, "<<", high[0], 8, node), node) if high else low


def bytes_of_word(ev: Evaluator, word: Value, count: int, node: syntax.Node) -> list[Value]:
    """Return the first one or two bytes of a word."""
    word = _as_word(ev, word, node)
    return [cast(ev, _shifted(ev, ">>", word, 8 * number, node), types.U8, node) for number in range(count)]


def _as_word(ev: Evaluator, word: Value, node: syntax.Node) -> Value:
    """Return a word as a number."""
    if not isinstance(word.data, Address | Callable):
        return word
    if ev.builder is None:
        ev.fail(node, "these are bits of an address, which are not known at compile time")
    return Value(types.U16, ev.ssa(word, node))


def _is_zero(value: Value) -> bool:
    data: Any = value.data
    return is_known(data) and not isinstance(data, Address | Callable) and data == 0


def _shifted(ev: Evaluator, symbol: str, value: Value, count: int, node: syntax.Node) -> Value:
    return value if count == 0 else _apply(ev, symbol, value, Value(value.type, count), node)


def _or(ev: Evaluator, left: Value, right: Value, node: syntax.Node) -> Value:
    if _is_zero(left):
        return right
    return left if _is_zero(right) else _apply(ev, "|", left, right, node)


def _apply(ev: Evaluator, symbol: str, left: Value, right: Value, node: syntax.Node) -> Value:
    """Return `left symbol right` of unsigned integers of one type."""
    if is_ssa(left.data) or is_ssa(right.data):
        one, other = ev.ssa(left, node), ev.ssa(right, node)
        ev.code.at(ev.source, node.start)
        return Value(left.type, emit.binary(ev.code, symbol, left.type, one, other))
    return Value(left.type, scalars.binary(ev.lanes, symbol, left.type, left.data, right.data))
