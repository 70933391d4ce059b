"""Run-time control flow: branches and loops of `scf`, with the variables that change in them as their values."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from xdsl.dialects import arith, scf
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue

from ..csl import syntax
from ..csl.errors import CslError
from . import recovery, types
from .addresses import byte_address
from .conversion import common_type
from .descriptors import DESCRIPTORS, FABRIC, alternatives_of, as_choice, united
from .emit import Builder, has_one_register, scalar
from .evaluator import Evaluator
from .leaves import Leaf, leaves, rebuild, zero
from .types import Type
from .values import Address, Local, Value, is_members, is_ssa


class _Chosen(Exception):
    """A fabric DSD becomes another in a loop: the loop is emitted again with a choice of both."""

    def __init__(self, local: Local, other: Value) -> None:
        super().__init__()
        self.local = local
        self.other = other


class _Given(Exception):
    """A variable of no known type is given its first value in a loop: the loop is emitted again with that type."""

    def __init__(self, local: Local, value: Value) -> None:
        super().__init__()
        self.local = local
        self.value = value


class _General(Exception):
    """A pointer of a loop leaves the buffer it was in: the loop is emitted again with plain addresses."""

    def __init__(self, leaf: tuple[int, int]) -> None:
        super().__init__()
        self.leaf = leaf


def _same_buffer(one: Any, other: Any) -> bool:
    return (
        isinstance(one, Address)
        and isinstance(other, Address)
        and one.unit == other.unit
        and one.buffer == other.buffer
        and (one.base is other.base or (not is_ssa(one.base) and one.base == other.base))
    )


def _materialize(ev: Evaluator, leaf: Leaf, node: syntax.Node) -> SSAValue:
    """Return a leaf as an SSA value; an address as its word."""
    if isinstance(leaf.data, Address):
        return byte_address(ev, leaf.data)
    if has_one_register(leaf.type):
        return ev.ssa(Value(leaf.type, leaf.data), node)
    ev.fail(
        node, f"a value of type '{leaf.type}' depends on what is known at run time only, but exists at compile time"
    )


def register_type(leaf: Leaf) -> Attribute:
    """Return the type of the SSA value that a leaf is at run time."""
    return scalar(types.U16 if isinstance(leaf.data, Address) else leaf.type)


def registers(ev: Evaluator, value: Value, node: syntax.Node) -> list[SSAValue]:
    """Return the leaves of a value as SSA values."""
    return [_materialize(ev, leaf, node) for leaf in leaves(value)]


def _aligned(one: Value | None, other: Value | None) -> tuple[Value, Value]:
    """Align both sides' values of a variable; a side without one takes zeros, or the other's where there are none."""
    if one is None or other is None:
        given = one or other
        assert given is not None
        if types.is_comptime_only(given.type):
            return given, given
    if one is None:
        assert other is not None
        return _unset(other), other
    if other is None:
        return one, _unset(one)
    return one, other


def _unset(value: Value) -> Value:
    """Return what stands for a variable where it has no value yet: like `value`, without what is computed for that."""
    return rebuild(value, [_nothing(leaf) for leaf in leaves(value)])


def _nothing(leaf: Leaf) -> Any:
    address = leaf.data
    if not isinstance(address, Address):
        return zero(leaf.type)
    if is_ssa(address.base):
        return Address(None, 0, 1, 0)
    return replace(address, offset=0) if is_ssa(address.offset) else address


_Start = dict[int, tuple[Local, Value | None]]
"""The live variables and what they hold, by identity."""


@dataclass
class _Side:
    """One side of a branch: its code, its value, and what the variables hold after it that it has changed."""

    block: Block
    value: Value
    changed: dict[int, Value | None]
    has_left: bool
    """True if it certainly ended in a jump, so that its value does not matter."""


@dataclass
class _Merge:
    """What two sides made of a variable, or of the value of the branch if there is no `local`."""

    local: Local | None
    one: Value
    other: Value


def branch(
    ev: Evaluator,
    condition: SSAValue,
    then: Function[[], Value],
    otherwise: Function[[], Value],
    node: syntax.Node,
) -> Value:
    """Emit `if`: both sides are evaluated, and what they made of each variable and of the value is merged."""
    builder = ev.code
    start: _Start = {id(local): (local, local.value) for local in ev.live}
    try:
        first = _side(ev, then, start)
    except CslError as error:
        _give_back(start)
        raise recovery.also(ev, error, lambda: _side(ev, otherwise, start)) from None
    second = _side(ev, otherwise, start)
    merges = [_with_one_type(ev, merge, first, second, node) for merge in _changed_variables(ev, first, second, start)]
    result = _value_of(ev, first, second, node)
    if isinstance(result, _Merge):
        merges.append(result)
    outputs: list[tuple[SSAValue, SSAValue]] = []
    merged = [_merged_leaves(ev, condition, merge, first.block, second.block, outputs, node) for merge in merges]
    _yield(builder, first.block, [one for one, _ in outputs])
    _yield(builder, second.block, [other for _, other in outputs])
    builder.at(ev.source, node.start)
    has_else = second.block.first_op is not second.block.last_op or outputs
    regions = Region(first.block), Region(second.block) if has_else else Region()
    op = builder(scf.IfOp.create(operands=[condition], result_types=[one.type for one, _ in outputs], regions=regions))
    for merge, leaves_of_it in zip(merges, merged, strict=True):
        value = rebuild(merge.one, [_result(item, op.results) for item in leaves_of_it])
        if merge.local is None:
            result = value
        else:
            merge.local.value = value
    assert isinstance(result, Value)
    return result


def _side(ev: Evaluator, run: Function[[], Value], start: _Start) -> _Side:
    """Evaluate one side of a branch; the variables are then as before it again."""
    builder, block = ev.code, Block()
    builder.enter(block)
    ev.branches += 1
    try:
        value = run()
    finally:
        ev.branches -= 1
        builder.leave()
    changed = {key: local.value for key, (local, before) in start.items() if local.value is not before}
    _give_back(start)
    return _Side(block, value, changed, _has_left(ev, changed))


def _give_back(start: _Start) -> None:
    """Let the variables hold what they held before a branch."""
    for local, before in start.values():
        local.value = before


def _changed_variables(ev: Evaluator, first: _Side, second: _Side, start: _Start) -> list[_Merge]:
    """Return the variables that a side has changed, with what each side made of them."""
    merges: list[_Merge] = []
    for key in dict.fromkeys([*first.changed, *second.changed]):
        local, before = start[key]
        one, other = first.changed.get(key, before), second.changed.get(key, before)
        if one is not None or other is not None:
            merges.append(_Merge(local, *_joined(ev, *_aligned(one, other))))
    return merges


def _with_one_type(ev: Evaluator, merge: _Merge, first: _Side, second: _Side, node: syntax.Node) -> _Merge:
    """Return the values of two breaks as their common type (Syntax, Blocks), each converted where it is computed."""
    one, other = merge.one.type, merge.other.type
    if one == other or not (types.is_numeric(one) and types.is_numeric(other)):
        return merge
    type = common_type(ev, merge.one, merge.other, node)
    assert type is not None
    sides = ((merge.one, first), (merge.other, second))
    return _Merge(merge.local, *(_converted(ev, value, side.block, type, node) for value, side in sides))


def _value_of(ev: Evaluator, first: _Side, second: _Side, node: syntax.Node) -> Value | _Merge:
    """Return the value of a branch, where it need not be merged: one side never gives one, or there is none."""
    one, other = first.value, second.value
    if one.type is types.UNDEFINED or first.has_left:
        return _Merge(None, _unset(other), other) if _is_computed_in(second.block, other) else other
    if other.type is types.UNDEFINED or second.has_left:
        return _Merge(None, one, _unset(one)) if _is_computed_in(first.block, one) else one
    if one.type is types.VOID or other.type is types.VOID:
        return Value(types.VOID, None)
    if one.type != other.type:
        type = common_type(ev, one, other, node)
        if type is not None:
            one, other = (_converted(ev, side.value, side.block, type, node) for side in (first, second))
    return _Merge(None, *_joined(ev, one, other))


def _is_computed_in(block: Block, value: Value) -> bool:
    """Return True if the code of a block computes a part of a value, which is not known behind it then."""
    parts: list[Any] = []
    for leaf in leaves(value):
        parts += (leaf.data.base, leaf.data.offset) if isinstance(leaf.data, Address) else (leaf.data,)
    return any(isinstance(part, OpResult) and part.op.parent is block for part in parts)


def _converted(ev: Evaluator, value: Value, block: Block, type: Type, node: syntax.Node) -> Value:
    """Return a value of a side of a branch as another type, which is computed on that side."""
    ev.code.enter(block)
    try:
        return ev.coerce(value, type, node)
    finally:
        ev.code.leave()


def _merged_leaves(
    ev: Evaluator,
    condition: SSAValue,
    merge: _Merge,
    first: Block,
    second: Block,
    outputs: list[tuple[SSAValue, SSAValue]],
    node: syntax.Node,
) -> list[Any]:
    """Return the data of each leaf after a branch; what differs is added to the results of `if`."""
    one, other = leaves(merge.one), leaves(merge.other)
    if len(one) != len(other) or not _are_alike(merge.one, merge.other):
        ev.fail(node, "the branches make DSDs that differ in what cannot change at run time")
    pairs = zip(one, other, strict=True)
    return [_merged(ev, condition, a, b, first, second, outputs, node) for a, b in pairs]


def _joined(ev: Evaluator, one: Value, other: Value) -> tuple[Value, Value]:
    """Return two values, of which the fabric DSDs that differ are now choices of both."""
    if is_members(one.data) and is_members(other.data) and len(one.data) == len(other.data):
        pairs = [_joined(ev, *members) for members in zip(one.data, other.data, strict=True)]
        return Value(one.type, tuple(first for first, _ in pairs)), Value(other.type, tuple(last for _, last in pairs))
    if isinstance(one.data, FABRIC) and isinstance(other.data, FABRIC) and one.type == other.type:
        return _chosen_from(ev, one, other), _chosen_from(ev, other, one)
    return one, other


def _chosen_from(ev: Evaluator, value: Value, other: Value) -> Value:
    """Return a fabric DSD as a choice of what it and another may be; as it is, if the other is like it."""
    if value.data.like(other.data):
        return value
    assert ev.pe is not None
    number = ev.pe.choice_number
    both = united(alternatives_of(value.data, number), alternatives_of(other.data, number))
    return Value(value.type, as_choice(value.data, both, number))


def _are_alike(one: Value, other: Value) -> bool:
    """Return True if all DSDs of two values are the same in what cannot change at run time."""
    if is_members(one.data) and is_members(other.data):
        return all(_are_alike(*members) for members in zip(one.data, other.data, strict=True))
    return not isinstance(one.data, DESCRIPTORS) or one.data.like(other.data)


def _yield(builder: Builder, block: Block, values: Sequence[SSAValue]) -> None:
    builder.enter(block)
    builder(scf.YieldOp.create(operands=values))
    builder.leave()


def _has_left(ev: Evaluator, changed: dict[int, Value | None]) -> bool:
    """Return True if a side has certainly set one of the flags that record a jump."""
    values = (changed.get(id(flag)) for flag in ev.frame.flags())
    return any(value is not None and value.data is True for value in values)


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
    builder = ev.code
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
    return ev.code.value(arith.XOrIOp(condition, ev.code.constant(types.BOOL, True)))


@dataclass
class _Found:
    """Variables of a loop that need another representation or type than before it, found while the loop is emitted."""

    general: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    """The leaves that are pointers and leave their buffers: the number of the variable, and that of the leaf."""
    given: set[int] = field(default_factory=set[int])
    """The identities of those that get their first value in the loop, and with it their type."""


class _Carried:
    """The variables a loop carries from one iteration to the next, as SSA values."""

    def __init__(self, ev: Evaluator, candidates: list[Local], found: _Found, node: syntax.Node) -> None:
        self.ev = ev
        self.node = node
        self.candidates = candidates
        self.general = found.general
        general = found.general
        self.slots: list[tuple[int, int, Leaf]] = []
        """The number of the variable, the number of the leaf in it, and the leaf before the loop."""
        self.constant: list[int] = []
        """The numbers of the variables that exist at compile time only: all breaks give them the same value."""
        for number, local in enumerate(candidates):
            if local.value is None:
                if local.type is types.VOID or isinstance(local.type, types.Descriptor):
                    # What it holds is known when the loop has given it a value.
                    continue
                local.value = Value(local.type, zero(local.type))
            if id(local) in found.given and types.is_comptime_only(local.value.type):
                self.constant.append(number)
                continue
            self.slots += [(number, position, leaf) for position, leaf in enumerate(leaves(local.value))]
        self.shapes = [local.value for local in candidates]
        self.initial = [self._one(leaf, (n, k) in general) for n, k, leaf in self.slots]
        self.kinds = [value.type for value in self.initial]

    def _one(self, leaf: Leaf, general: bool) -> SSAValue:
        if isinstance(leaf.data, Address) and not general:
            return _materialize(self.ev, Leaf(types.I16, leaf.data.offset), self.node)
        return _materialize(self.ev, leaf, self.node)

    def put(self, values: Sequence[SSAValue]) -> None:
        """Give the variables the values of a block's arguments or of the loop's results."""
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
        """Return what the variables hold now. Raises _General if a pointer has left its buffer, _Given if a variable
        without a value before the loop has one."""
        for local, before in zip(self.candidates, self.shapes, strict=True):
            if before is None and local.value is not None and local.value.type is not types.VOID:
                raise _Given(local, local.value)
        for number in self.constant:
            value, shape = self.candidates[number].value, self.shapes[number]
            assert value is not None and shape is not None
            for now, before in zip(leaves(value), leaves(shape), strict=True):
                if not now.same(before):
                    _materialize(self.ev, now, self.node)
        values: list[SSAValue] = []
        for number, position, leaf in self.slots:
            value, shape = self.candidates[number].value, self.shapes[number]
            assert value is not None and shape is not None
            value = self._like(number, value, shape)
            now = leaves(value)[position]
            general = (number, position) in self.general
            if isinstance(leaf.data, Address) and not general and not _same_buffer(leaf.data, now.data):
                raise _General((number, position))
            values.append(self._one(now, general))
        return values

    def _like(self, number: int, value: Value, shape: Value) -> Value:
        """Return what a variable holds with its DSDs as before the loop in what cannot change at run time."""
        one, other = _joined(self.ev, shape, value)
        if not _are_alike(shape, one):
            raise _Chosen(self.candidates[number], other)
        if not _are_alike(shape, other):
            self.ev.fail(self.node, "this loop changes a DSD in what cannot change at run time")
        return other


def _emitted(ev: Evaluator, emit_loop: Function[[_Found], None]) -> None:
    """Emit a loop, again for each pointer that turns out to leave its buffer in it, each DSD that is another, and each
    variable that gets its first value in it."""
    found = _Found()
    while True:
        before = [(local, local.value) for local in ev.live]
        try:
            emit_loop(found)
            return
        except (_General, _Chosen, _Given) as problem:
            for local, value in before:
                local.value = value
            if isinstance(problem, _General):
                found.general.add(problem.leaf)
            elif isinstance(problem, _Given):
                only_known = types.is_comptime_only(problem.value.type)
                problem.local.value = problem.value if only_known else _unset(problem.value)
                found.given.add(id(problem.local))
            else:
                assert problem.local.value is not None
                problem.local.value, _ = _joined(ev, problem.local.value, problem.other)


@contextmanager
def _inside(ev: Evaluator, block: Block) -> Generator[None]:
    """Emit the code inside to a block that may run any number of times."""
    ev.branches += 1
    ev.code.enter(block)
    try:
        yield
    finally:
        ev.code.leave()
        ev.branches -= 1


def loop(
    ev: Evaluator,
    candidates: list[Local],
    condition: Function[[], Value],
    body: Function[[], None],
    node: syntax.Node,
) -> None:
    """Emit a loop. `candidates` are the variables that may change in it; `body` ends with the update."""
    builder = ev.code

    def once(found: _Found) -> None:
        carried = _Carried(ev, candidates, found, node)
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
    """Emit a loop over a range that nothing jumps out of; `body` gets the number it counts."""
    builder = ev.code

    def once(found: _Found) -> None:
        carried = _Carried(ev, candidates, found, node)
        block = Block(arg_types=[bounds[0].type, *carried.kinds])
        with _inside(ev, block):
            carried.put(block.args[1:])
            body(block.args[0])
            builder.at(ev.source, node.start)
            builder(scf.YieldOp(*carried.take()))
        builder.at(ev.source, node.start)
        carried.put(builder(scf.ForOp(*bounds, carried.initial, Region(block))).results)

    _emitted(ev, once)
