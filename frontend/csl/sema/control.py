"""Run-time control flow: branches and loops of `scf`, with the variables that change in them as their values."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.ir import Attribute, Block, Region, SSAValue

from .. import syntax
from . import types
from .core import Evaluator
from .emit import has_one_register, scalar
from .places import word_address
from .types import Type
from .values import Address, Local, Value, Words


class _General(Exception):
    """A pointer of a loop leaves the buffer it was in: the loop is emitted again with plain addresses."""

    def __init__(self, leaf: tuple[int, int]) -> None:
        super().__init__()
        self.leaf = leaf


@dataclass
class Leaf:
    """One SSA value's worth of a value: a scalar, or the run-time part of an address."""

    type: Type
    data: Any

    def same(self, other: Leaf) -> bool:
        if isinstance(self.data, SSAValue) or isinstance(other.data, SSAValue):
            return self.data is other.data
        if isinstance(self.data, float) and isinstance(other.data, float):
            return repr(self.data) == repr(other.data)
        return type(self.data) is type(other.data) and self.data == other.data


def leaves(value: Value) -> list[Leaf]:
    """What a value is made of at run time."""
    data = value.data
    if isinstance(data, tuple):
        return [leaf for member in data for leaf in leaves(member)]
    if isinstance(value.type, types.Array):
        return [Leaf(value.type.element, item) for item in data]
    if isinstance(value.type, types.Descriptor) and data is not None:
        return [Leaf(types.U16, part) for part in data.parts()]
    return [Leaf(value.type, data)]


def rebuild(value: Value, data: list[Any]) -> Value:
    """A value like `value` made of other leaves' data; takes them off the front of the list."""
    if isinstance(value.data, tuple):
        return Value(value.type, tuple(rebuild(member, data) for member in value.data))
    if isinstance(value.type, types.Array):
        return Value(value.type, [data.pop(0) for _ in value.data])
    if isinstance(value.type, types.Descriptor) and value.data is not None:
        count = len(value.data.parts())
        parts = [data.pop(0) for _ in range(count)]
        return Value(value.type, value.data.with_parts(parts))
    return Value(value.type, data.pop(0))


def _same_buffer(one: Any, other: Any) -> bool:
    return (
        isinstance(one, Address)
        and isinstance(other, Address)
        and one.unit == other.unit
        and one.buffer == other.buffer
        and (one.base is other.base or (not isinstance(one.base, SSAValue) and one.base == other.base))
    )


def _materialize(ev: Evaluator, leaf: Leaf, node: syntax.Node) -> SSAValue:
    """A leaf as an SSA value; an address as its word."""
    if isinstance(leaf.data, Address):
        return word_address(ev, leaf.data)
    if has_one_register(leaf.type):
        return ev.ssa(Value(leaf.type, leaf.data), node)
    ev.fail(
        node, f"a value of type '{leaf.type}' depends on what is known at run time only, but exists at compile time"
    )


def _attribute(leaf: Leaf) -> Attribute:
    return scalar(types.U16 if isinstance(leaf.data, Address) else leaf.type)


def zero(type: Type) -> Any:
    """The data of a variable that has not been given a value."""
    match type:
        case types.Pointer():
            return Address(None, 0, 1, 0)
        case types.Float() | types.COMPTIME_FLOAT:
            return 0.0
        case types.BOOL:
            return False
        case types.Array():
            return [zero(type.element)] * type.count
        case types.Union():
            return Words([Value(types.U16, 0)] * types.words_used(type))
        case types.Struct():
            return tuple(Value(member, zero(member)) for member in type.types)
        case _:
            return 0


def _aligned(ev: Evaluator, one: Value | None, other: Value | None) -> tuple[Value, Value]:
    """Both sides' values of a variable; a side that has none takes zeros."""
    if one is None:
        assert other is not None
        return rebuild(other, [_nothing(leaf) for leaf in leaves(other)]), other
    if other is None:
        return one, rebuild(one, [_nothing(leaf) for leaf in leaves(one)])
    return one, other


def _nothing(leaf: Leaf) -> Any:
    return leaf.data if isinstance(leaf.data, Address) else zero(leaf.type)


def branch(
    ev: Evaluator,
    condition: SSAValue,
    then: Function[[], Value],
    otherwise: Function[[], Value],
    node: syntax.Node,
) -> Value:
    """Emits `if`: both sides are evaluated, and what they made of each variable and of the value is merged."""
    builder = ev.builder
    assert builder is not None
    start: dict[int, tuple[Local, Value | None]] = {id(local): (local, local.value) for local in ev.live}

    def side(run: Function[[], Value]) -> tuple[Block, Value, dict[int, Value | None]]:
        block = Block()
        builder.enter(block)
        ev.branches += 1
        try:
            value = run()
        finally:
            ev.branches -= 1
            builder.leave()
        after = {key: local.value for key, (local, before) in start.items() if local.value is not before}
        for local, before in start.values():
            local.value = before
        return block, value, after

    first, one, changed_one = side(then)
    second, other, changed_other = side(otherwise)
    merges: list[tuple[Local | None, Value, Value]] = []
    for key in dict.fromkeys([*changed_one, *changed_other]):
        local, before = start[key]
        a, b = changed_one.get(key, before), changed_other.get(key, before)
        if a is None and b is None:
            continue
        merges.append((local, *_aligned(ev, a, b)))
    left = _has_left(ev, changed_one, start), _has_left(ev, changed_other, start)
    if one.type is types.UNDEFINED or left[0]:
        result: Value | None = other
    elif other.type is types.UNDEFINED or left[1]:
        result = one
    elif one.type is types.VOID or other.type is types.VOID:
        result = Value(types.VOID, None)
    else:
        if one.type != other.type:
            from .conversion import peer

            one, other = peer(ev, one, other, node)
        result = None
        merges.append((None, one, other))

    outputs: list[tuple[SSAValue, SSAValue]] = []
    plans: list[tuple[Local | None, Value, list[Any]]] = []
    for local, a, b in merges:
        datas: list[Any] = []
        shape = a
        la, lb = leaves(a), leaves(b)
        if len(la) != len(lb) or (isinstance(a.type, types.Descriptor) and not a.data.like(b.data)):
            ev.fail(node, "the branches make descriptors that differ in what cannot change at run time")
        for x, y in zip(la, lb, strict=True):
            datas.append(_merged(ev, condition, x, y, first, second, outputs, node))
        plans.append((local, shape, datas))
    builder.enter(first)
    builder(scf.YieldOp(*[a for a, _ in outputs]))
    builder.leave()
    builder.enter(second)
    builder(scf.YieldOp(*[b for _, b in outputs]))
    builder.leave()
    builder.at(ev.source, node.start)
    has_else = len(list(second.ops)) > 1 or outputs
    op = scf.IfOp(condition, [a.type for a, _ in outputs], Region(first), Region(second) if has_else else Region())
    builder(op)
    for local, shape, datas in plans:
        value = rebuild(shape, [_result(item, op.results) for item in datas])
        if local is None:
            result = value
        else:
            local.value = value
    assert result is not None
    return result


def _has_left(ev: Evaluator, changed: dict[int, Value | None], start: dict[int, tuple[Local, Value | None]]) -> bool:
    """Whether a side certainly ended in a jump, so that its value does not matter."""
    return any(
        id(flag) in changed and (value := changed[id(flag)]) is not None and value.data is True
        for flag in ev.frame.flags()
    )


@dataclass
class _Output:
    """A result of an operation to be, and how the merged datum is made of it."""

    position: int
    address: Address | None = None


def _result(item: Any, results: Any) -> Any:
    if not isinstance(item, _Output):
        return item
    value = results[item.position]
    if item.address is None:
        return value
    if item.address.buffer is None and item.address.unit == 0:
        return Address(None, 0, 1, value)
    return replace(item.address, offset=value)


def _merged(
    ev: Evaluator,
    condition: SSAValue,
    one: Leaf,
    other: Leaf,
    first: Block,
    second: Block,
    outputs: list[tuple[SSAValue, SSAValue]],
    node: syntax.Node,
) -> Any:
    builder = ev.builder
    assert builder is not None
    if one.same(other) or (isinstance(one.data, Address) and one.data == other.data):
        return one.data
    if one.type is types.BOOL and one.data is True and other.data is False:
        return condition
    address: Address | None = None
    if isinstance(one.data, Address):
        if _same_buffer(one.data, other.data):
            address = one.data
            one, other = Leaf(types.I16, one.data.offset), Leaf(types.I16, other.data.offset)
        else:
            address = Address(None, 0, 0, 0)
    pair: list[SSAValue] = []
    for leaf, block in ((one, first), (other, second)):
        builder.enter(block)
        pair.append(_materialize(ev, leaf, node))
        builder.leave()
    outputs.append((pair[0], pair[1]))
    return _Output(len(outputs) - 1, address)


def negated(ev: Evaluator, condition: SSAValue) -> SSAValue:
    assert ev.builder is not None
    return ev.builder.value(arith.XOrIOp(condition, ev.builder.constant(types.BOOL, True)))


class _Carried:
    """The variables a loop carries from one iteration to the next, as SSA values."""

    def __init__(
        self, ev: Evaluator, candidates: list[Local], general: set[tuple[int, int]], node: syntax.Node
    ) -> None:
        self.ev = ev
        self.node = node
        self.candidates = candidates
        self.general = general
        self.slots: list[tuple[int, int, Leaf]] = []
        """The number of the variable, the number of the leaf in it, and the leaf before the loop."""
        for number, local in enumerate(candidates):
            if local.value is None:
                if isinstance(local.type, types.Descriptor):
                    continue
                local.value = Value(local.type, zero(local.type))
            self.slots += [(number, position, leaf) for position, leaf in enumerate(leaves(local.value))]
        self.shapes = [local.value for local in candidates]
        self.initial = [self._one(leaf, (n, k) in general) for n, k, leaf in self.slots]
        self.kinds = [value.type for value in self.initial]

    def _one(self, leaf: Leaf, general: bool) -> SSAValue:
        if isinstance(leaf.data, Address) and not general:
            return _materialize(self.ev, Leaf(types.I16, leaf.data.offset), self.node)
        return _materialize(self.ev, leaf, self.node)

    def put(self, values: Sequence[SSAValue]) -> None:
        """Gives the variables the values of a block's arguments or of the loop's results."""
        data: dict[int, list[Any]] = {}
        for (number, position, leaf), value in zip(self.slots, values, strict=True):
            restored: Any = value
            if isinstance(leaf.data, Address):
                general = (number, position) in self.general
                restored = Address(None, 0, 1, value) if general else replace(leaf.data, offset=value)
            data.setdefault(number, []).append(restored)
        for number, items in data.items():
            shape = self.shapes[number]
            assert shape is not None
            self.candidates[number].value = rebuild(shape, items)

    def take(self) -> list[SSAValue]:
        """What the variables hold now. Raises _General if a pointer has left its buffer."""
        values: list[SSAValue] = []
        for number, position, leaf in self.slots:
            value, shape = self.candidates[number].value, self.shapes[number]
            assert value is not None and shape is not None
            if isinstance(value.type, types.Descriptor) and not shape.data.like(value.data):
                self.ev.fail(self.node, "a descriptor changes in this loop in what cannot change at run time")
            now = leaves(value)[position]
            general = (number, position) in self.general
            if isinstance(leaf.data, Address) and not general and not _same_buffer(leaf.data, now.data):
                raise _General((number, position))
            values.append(self._one(now, general))
        return values


def _emitted(ev: Evaluator, emit_loop: Function[[set[tuple[int, int]]], None]) -> None:
    """Emits a loop, again for each pointer that turns out to leave its buffer in it."""
    general: set[tuple[int, int]] = set()
    while True:
        before = [(local, local.value) for local in ev.live]
        try:
            emit_loop(general)
            return
        except _General as problem:
            for local, value in before:
                local.value = value
            general.add(problem.leaf)


@contextmanager
def _inside(ev: Evaluator, block: Block) -> Iterator[None]:
    """Code emitted inside goes to a block that may run any number of times."""
    assert ev.builder is not None
    ev.branches += 1
    ev.builder.enter(block)
    try:
        yield
    finally:
        ev.builder.leave()
        ev.branches -= 1


def loop(
    ev: Evaluator,
    candidates: list[Local],
    condition: Function[[], Value],
    body: Function[[], None],
    node: syntax.Node,
) -> None:
    """Emits a loop. `candidates` are the variables that may change in it; `body` ends with the update."""
    builder = ev.builder
    assert builder is not None

    def once(general: set[tuple[int, int]]) -> None:
        carried = _Carried(ev, candidates, general, node)
        head, tail = Block(arg_types=carried.kinds), Block(arg_types=carried.kinds)
        with _inside(ev, head):
            carried.put(head.args)
            go_on = ev.ssa(condition(), node)
            builder(scf.ConditionOp(go_on, *carried.take()))
        with _inside(ev, tail):
            carried.put(tail.args)
            body()
            builder.at(ev.source, node.start)
            builder(scf.YieldOp(*carried.take()))
        builder.at(ev.source, node.start)
        carried.put(builder(scf.WhileOp(carried.initial, carried.kinds, Region(head), Region(tail))).results)

    _emitted(ev, once)


def counted(
    ev: Evaluator,
    candidates: list[Local],
    bounds: tuple[SSAValue, SSAValue, SSAValue],
    body: Function[[SSAValue], None],
    node: syntax.Node,
) -> None:
    """Emits a loop over a range that nothing jumps out of; `body` gets the number it counts."""
    builder = ev.builder
    assert builder is not None

    def once(general: set[tuple[int, int]]) -> None:
        carried = _Carried(ev, candidates, general, node)
        block = Block(arg_types=[bounds[0].type, *carried.kinds])
        with _inside(ev, block):
            carried.put(block.args[1:])
            body(block.args[0])
            builder.at(ev.source, node.start)
            builder(scf.YieldOp(*carried.take()))
        builder.at(ev.source, node.start)
        carried.put(builder(scf.ForOp(*bounds, carried.initial, Region(block))).results)

    _emitted(ev, once)
