"""The rules of statements and jumps."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import SSAValue

from .. import syntax
from . import control, emit, types
from .conversion import coerce
from .core import Evaluator, Serial, expression, split_lanes, statement
from .expressions import assign, binary, body, place
from .frames import Break, Continue, Return, Target, flag
from .places import Memory, Temporary
from .scalars import column
from .types import Type
from .values import NOTHING, VOID, Lanes, Local, RangeData, Split, Value, boolean, known

# Blocks


def run(ev: Evaluator, statements: Sequence[syntax.Node], then: Function[[], None] | None = None) -> None:
    """Carries out statements in order, and `then`; after a jump that may have been taken, only if it has not."""
    for position, node in enumerate(statements):
        ev.step(node)
        ev.execute(node)
        if ev.builder is None:
            continue
        left = has_left(ev)
        if left is True:
            return
        if left is not False:
            rest = statements[position + 1 :]
            if rest or then is not None:
                _guarded(ev, left, lambda rest=rest: run(ev, rest, then), node)
            return
    if then is not None:
        then()


def has_left(ev: Evaluator) -> bool | SSAValue:
    """Whether control has left the code being emitted: known, or an SSA value."""
    result: bool | SSAValue = False
    for local in ev.frame.flags():
        assert local.value is not None
        state = local.value.data
        if state is True:
            return True
        if isinstance(state, SSAValue):
            assert ev.builder is not None
            result = ev.builder.value(arith.OrIOp(result, state)) if isinstance(result, SSAValue) else state
    return result


def _guarded(ev: Evaluator, left: SSAValue, rest: Function[[], None], node: syntax.Node) -> None:
    def go_on() -> Value:
        rest()
        return VOID

    control.branch(ev, left, lambda: VOID, go_on, node)


@expression(syntax.Block)
def _block(ev: Evaluator, node: syntax.Block, want: Type | None) -> Value:
    if not node.statements:
        return VOID
    if node.label is None:
        with ev.scope():
            run(ev, node.statements)
        return VOID
    if ev.builder is None:
        try:
            with ev.scope():
                run(ev, node.statements)
        except Break as jump:
            if jump.label != node.label:
                raise
            return jump.value
        return VOID
    target = Target(node.label, False, flag("left"))
    target.result = Local("result", want or types.VOID, None, mutable=True, comptime=False)
    target.wanted = want
    ev.live += [target.broken, target.result]
    ev.frame.targets.append(target)
    try:
        with ev.scope():
            run(ev, node.statements)
    finally:
        ev.frame.targets.pop()
    return target.result.value or VOID


# Declarations and assignments


@statement(syntax.Variable)
def _variable(ev: Evaluator, node: syntax.Variable) -> None:
    type = None if node.type is None else ev.type_of(node.type)
    if node.is_comptime:
        with ev.at_compile_time():
            value = None if node.value is None else ev.expr(node.value, type)
        if value is not None and not known(value):
            ev.fail(node, f"'{node.name}' is comptime, but its value is not known at compile time")
    else:
        value = None if node.value is None else ev.expr(node.value, type)
    if value is None and type is None:
        ev.fail(node, f"'{node.name}' has neither type nor value; give it one of them")
    if value is None and node.kind == "const":
        ev.fail(node, f"constant '{node.name}' has no value; give it one")
    if value is not None and type is not None:
        value = coerce(ev, value, type, node.value or node)
    if type is None or (type is types.COMPTIME_STRUCT and value is not None and node.kind == "const"):
        assert value is not None
        type = value.type
    if type is types.UNDEFINED:
        return
    if any(node.name in scope for scope in ev.frame.scopes[-1:]):
        ev.fail(node, f"'{node.name}' is declared twice in this block; rename one")
    mutable = node.kind == "var"
    comptime = node.is_comptime or ev.builder is None or types.is_comptime_only(type)
    if value is None and ev.builder is None:
        value = Value(type, control.zero(type))
    local = Local(node.name, type, value, mutable, comptime=comptime or not mutable)
    if not comptime and ev.builder is not None and _needs_memory(ev, node, local):
        assert ev.pe is not None
        local.memory = ev.pe.local_memory(ev, node, type)
        local.value = None
        if value is not None:
            Memory(local.memory, type, const=False).store(ev, value, node)
        local.comptime = True
    elif not comptime and value is not None and mutable:
        # From here on it changes at run time, whatever it starts with.
        local.value = value
    ev.declare(local, node)


def _needs_memory(ev: Evaluator, node: syntax.Variable, local: Local) -> bool:
    if isinstance(local.type, types.Array):
        return local.mutable or (local.value is not None and not known(local.value) and node.name in ev.frame.in_memory)
    if node.name not in ev.frame.in_memory or isinstance(local.type, types.Function):
        return False
    return local.mutable or (local.value is not None and not known(local.value))


@statement(syntax.Assign)
def _assign(ev: Evaluator, node: syntax.Assign) -> None:
    if isinstance(node.target, syntax.Name) and node.target.name == "_" and node.operator == "=":
        ev.expr(node.value)
        return
    if node.operator == "=":
        where = place(ev, node.target)
        value = ev.expr(node.value, where.type)
        if isinstance(where, Temporary):
            where.store(ev, value, node.target)
        if isinstance(where, Memory):
            where.store(ev, coerce(ev, value, where.type, node.value), node.target)
        else:
            assign(ev, node.target, value, node.value)
        return
    where = place(ev, node.target)
    old = where.load(ev, node.target)
    value = binary(ev, node.operator[:-1], old, ev.expr(node.value, old.type), node)
    where.store(ev, coerce(ev, value, where.type, node), node.target)


# Jumps


@expression(syntax.Return)
def _return(ev: Evaluator, node: syntax.Return, want: Type | None) -> Value:
    frame = ev.frame
    if frame.function is None:
        ev.fail(node, "'return' is not in a function")
    value = VOID if node.value is None else ev.expr(node.value, frame.result_type)
    if frame.result_type is not None:
        if node.value is None and frame.result_type is not types.VOID:
            ev.fail(node, f"'{frame.function.name}' returns '{frame.result_type}'; give a value")
        value = coerce(ev, value, frame.result_type, node.value or node)
    if ev.builder is None or frame.returned is None:
        raise Return(value)
    if frame.result is not None:
        frame.result.value = value
        frame.result.type = value.type
    frame.returned.value = boolean(True)
    return NOTHING


def _target(ev: Evaluator, label: str | None, node: syntax.Node, *, loop: bool) -> Target:
    for target in reversed(ev.frame.targets):
        if (label is None and target.is_loop) or (label is not None and target.label == label):
            if loop and not target.is_loop:
                break
            return target
    what = "a loop" if label is None else f"anything labelled '{label}'"
    ev.fail(node, f"this is not in {what}")


@expression(syntax.Break)
def _break(ev: Evaluator, node: syntax.Break, want: Type | None) -> Value:
    if ev.builder is None:
        raise Break(node.label, VOID if node.value is None else ev.expr(node.value))
    target = _target(ev, node.label, node, loop=False)
    value = VOID if node.value is None else ev.expr(node.value, target.wanted)
    if target.wanted is not None and node.value is not None and not types.is_comptime_only(target.wanted):
        value = coerce(ev, value, target.wanted, node.value)
    if target.result is not None and node.value is not None:
        target.result.value = value
    target.broken.value = boolean(True)
    return NOTHING


@expression(syntax.Continue)
def _continue(ev: Evaluator, node: syntax.Continue, want: Type | None) -> Value:
    if ev.builder is None:
        raise Continue(node.label)
    target = _target(ev, node.label, node, loop=True)
    assert target.continued is not None
    target.continued.value = boolean(True)
    return NOTHING


# Loops


def _mine(jump: Break | Continue, label: str | None) -> bool:
    return jump.label is None or jump.label == label


def _assigned(ev: Evaluator, node: syntax.Node) -> frozenset[str]:
    """Names that are assigned to somewhere in a loop."""
    facts = ev.session.syntax_facts
    key = ("assigned", id(node))
    if key not in facts:  # pyright: ignore
        names: set[str] = set()
        for inner in syntax.walk(node):
            if isinstance(inner, syntax.Assign):
                root: syntax.Node = inner.target
                while isinstance(root, syntax.Index | syntax.Field) or (
                    isinstance(root, syntax.Builtin) and root.name == "field" and root.arguments
                ):
                    root = root.arguments[0] if isinstance(root, syntax.Builtin) else root.base
                if isinstance(root, syntax.Name):
                    names.add(root.name)
        facts[key] = frozenset(names)  # pyright: ignore[reportArgumentType]
    return facts[key]  # pyright: ignore


def _jumps(ev: Evaluator, node: syntax.Node) -> frozenset[type[syntax.Node]]:
    """The kinds of jumps in a loop."""
    facts = ev.session.syntax_facts
    key = ("jumps", id(node))
    if key not in facts:  # pyright: ignore
        kinds = (syntax.Return, syntax.Break, syntax.Continue)
        facts[key] = frozenset(type(inner) for inner in syntax.walk(node) if isinstance(inner, kinds))  # pyright: ignore
    return facts[key]  # pyright: ignore


def _candidates(ev: Evaluator, node: syntax.Node, extra: list[Local]) -> list[Local]:
    """The variables of this function that a loop changes at run time."""
    names = _assigned(ev, node)
    found: list[Local] = []
    for name in sorted(names):
        local = ev.frame.find(name)
        if local is not None and local.mutable and not local.comptime and local.memory is None:
            found.append(local)
    jumps = _jumps(ev, node)
    if syntax.Return in jumps and ev.frame.returned is not None:
        found.append(ev.frame.returned)
        if ev.frame.result is not None:
            result = ev.frame.result
            if result.value is None:
                result.value = Value(result.type, control.zero(result.type))
            found.append(result)
    if syntax.Break in jumps or syntax.Continue in jumps:
        for target in ev.frame.targets:
            if target.broken not in extra:
                found.append(target.broken)
            result = target.result
            if result is not None and (result.value is not None or result.type is not types.VOID):
                if result.value is None:
                    result.value = Value(result.type, control.zero(result.type))
                found.append(result)
            if target.continued is not None and target is not ev.frame.targets[-1]:
                found.append(target.continued)
    return [*found, *extra]


@statement(syntax.While)
def _while(ev: Evaluator, node: syntax.While) -> None:
    if ev.builder is None:
        _while_known(ev, node)
        return
    with_break = bool(_jumps(ev, node) & {syntax.Break, syntax.Return, syntax.Continue})
    target = Target(node.label, True, flag("broken"), flag("continued"))
    assert target.continued is not None
    ev.live += [target.broken, target.continued]
    ev.frame.targets.append(target)

    def condition() -> Value:
        left = has_left(ev) if with_break else False
        if left is True:
            return boolean(False)
        if left is False:
            return _condition(ev, node)
        return control.branch(ev, left, lambda: boolean(False), lambda: _condition(ev, node), node)

    def one() -> None:
        with ev.scope():
            body(ev, node.body)
        assert target.continued is not None
        target.continued.value = boolean(False)
        if node.update is not None:
            left = has_left(ev)
            if left is False:
                ev.execute(node.update)
            elif left is not True:
                update = node.update
                _guarded(ev, left, lambda: ev.execute(update), node)

    try:
        candidates = _candidates(ev, node, [target.broken] if with_break else [])
        control.loop(ev, candidates, condition, one, node)
    finally:
        ev.frame.targets.pop()


def _condition(ev: Evaluator, node: syntax.While) -> Value:
    value = ev.expr(node.condition)
    ev.truth(value, node.condition)
    return value


def _while_known(ev: Evaluator, node: syntax.While) -> None:
    if ev.in_layout and _while_together(ev, node):
        return
    while True:
        ev.step(node)
        condition = ev.truth(ev.expr(node.condition), node.condition)
        if not condition:
            return
        try:
            with ev.scope():
                body(ev, node.body)
        except Break as jump:
            if not _mine(jump, node.label):
                raise
            return
        except Continue as jump:
            if not _mine(jump, node.label):
                raise
        if node.update is not None:
            ev.execute(node.update)


@statement(syntax.For)
def _for(ev: Evaluator, node: syntax.For) -> None:
    iterable = ev.expr(node.iterable)
    if isinstance(iterable.type, types.Range):
        _for_range(ev, node, iterable.type.element, iterable.data)
    elif isinstance(iterable.type, types.Array):
        _for_array(ev, node, iterable)
    else:
        ev.fail(node.iterable, f"a loop runs over a @range or an array, not over '{iterable.type}'")


def _bind(ev: Evaluator, name: syntax.Name | None, value: Value) -> None:
    if name is not None and name.name != "_":
        ev.declare(Local(name.name, value.type, value, mutable=False), name)


def numbers(ev: Evaluator, data: RangeData, node: syntax.Node) -> range:
    """A range known at compile time."""
    start, stop, step = (ev.data(value, node, "the range") for value in (data.start, data.stop, data.step))
    if step == 0:
        ev.fail(node, "a range with step 0 never ends")
    return range(start, stop, step)


def _for_range(ev: Evaluator, node: syntax.For, element: Type, data: RangeData) -> None:
    if ev.builder is not None:
        _for_range_emitted(ev, node, element, data)
        return
    values = numbers(ev, data, node.iterable)

    def bind(number: Any, position: Any) -> None:
        _bind(ev, node.element, Value(element, number))
        _bind(ev, node.index, Value(types.U16, position))

    if (
        ev.in_layout
        and len(values) >= FEWEST_TOGETHER
        and not _jumps(ev, node) - {syntax.Continue}
        and _together(ev, node, values, bind)
    ):
        return
    for position, number in enumerate(values):
        if not _one_known(ev, node, Value(element, number), position):
            return


def _one_known(ev: Evaluator, node: syntax.For, element: Value, position: int) -> bool:
    """One iteration at compile time; False after `break`."""
    ev.step(node)
    try:
        with ev.scope():
            _bind(ev, node.element, element)
            _bind(ev, node.index, Value(types.U16, position))
            body(ev, node.body)
    except Break as jump:
        if not _mine(jump, node.label):
            raise
        return False
    except Continue as jump:
        if not _mine(jump, node.label):
            raise
    return True


def _together(ev: Evaluator, node: syntax.For | syntax.While, values: range, bind: Function[[Any, Any], None]) -> bool:
    """Evaluates all iterations at once, those that part apart; False if one depends on another.

    `bind` declares the names of an iteration, given its number and its position.
    """
    outer, mark = ev.lanes, len(ev.effects)
    count = len(values)
    lanes = Lanes(outer.count * count, outer, np.repeat(np.arange(outer.count), count))
    array = np.tile(np.arange(values.start, values.stop, values.step, dtype=np.int64), outer.count)
    positions = np.tile(np.arange(count, dtype=np.int64), outer.count)
    start = column(lanes, array), column(lanes, positions)
    pending = [lanes]
    try:
        while pending:
            ev.lanes = pending.pop()
            before = len(ev.effects)
            ev.step(node)
            try:
                with ev.scope():
                    bind(*start)
                    body(ev, node.body)
            except Continue as jump:
                if not _mine(jump, node.label):
                    raise
            except Split as split:
                del ev.effects[before:]
                pending += reversed(split_lanes(ev.lanes, split.column))
    except Serial:
        del ev.effects[mark:]
        if outer.depth > 0:
            raise
        return False
    finally:
        ev.lanes = outer
    return True


FEWEST_TOGETHER = 4
"""Iterations from which evaluating them at once is worth its preparation."""


def _while_together(ev: Evaluator, node: syntax.While) -> bool:
    """Evaluates `while (i < n) : (i += 1)` of a layout like a loop over a range; False for another kind of loop."""
    condition, update = node.condition, node.update
    if not (
        isinstance(condition, syntax.Binary)
        and condition.operator in ("<", "<=")
        and isinstance(condition.left, syntax.Name)
        and isinstance(update, syntax.Assign)
        and update.operator == "+="
        and isinstance(update.target, syntax.Name)
        and update.target.name == condition.left.name
    ):
        return False
    name = condition.left.name
    counter = ev.frame.find(name)
    kinds = (syntax.Call, syntax.Builtin)
    named = {inner.name for inner in syntax.walk(condition.right) if isinstance(inner, syntax.Name)}
    if (
        counter is None
        or counter.value is None
        or not types.is_integer(counter.type)
        or counter.depth != ev.lanes.depth
        or _jumps(ev, node) - {syntax.Continue}
        or _assigned(ev, node.body) & (named | {name})
        or name in named
        or any(isinstance(inner, kinds) for part in (condition.right, update.value) for inner in syntax.walk(part))
    ):
        return False
    stop, step = ev.expr(condition.right), ev.expr(update.value)
    if not types.is_integer(stop.type) or not types.is_integer(step.type):
        return False
    first, last, by = (ev.data(value, node) for value in (counter.value, stop, step))
    if by < 1:
        return False
    values = range(first, last + (condition.operator == "<="), by)
    end = values.start + values.step * len(values)
    if len(values) < FEWEST_TOGETHER or (isinstance(counter.type, types.Int) and not counter.type.holds(end)):
        return False
    type = counter.type

    def bind(number: Any, position: Any) -> None:
        ev.declare(Local(name, type, Value(type, number), mutable=False), node)

    if not _together(ev, node, values, bind):
        return False
    counter.value = Value(type, end)
    return True


def _for_range_emitted(ev: Evaluator, node: syntax.For, element: Type, data: RangeData) -> None:
    if not isinstance(element, types.Int):
        ev.fail(node.iterable, f"a loop at run time counts in an integer type of known width, not in '{element}'")
    jumps = _jumps(ev, node)
    bounds_known = all(not isinstance(value.data, SSAValue) for value in (data.start, data.stop, data.step))
    if bounds_known:
        values = numbers(ev, data, node.iterable)
        if not values:
            return
        start, step, count = values.start, values.step, len(values)
        if not jumps:
            _counted(ev, node, element, start, step, count)
            return
    elif not jumps and not isinstance(data.step.data, SSAValue) and ev.data(data.step, node) > 0:
        _counted_to(ev, node, element, data)
        return
    _stepped(ev, node, element, data)


def _counted(ev: Evaluator, node: syntax.For, element: types.Int, start: int, step: int, count: int) -> None:
    """A loop of a known number of iterations."""
    builder = ev.builder
    assert builder is not None
    builder.at(ev.source, node.start)
    simple = step > 0 and start >= 0 and start + step * count <= 32767 and element.bits <= 16
    counter = types.I16 if count <= 32767 else types.I32
    if simple:
        bounds = tuple(builder.constant(types.I16, number) for number in (start, start + step * count, step))
    else:
        bounds = tuple(builder.constant(counter, number) for number in (0, count, 1))

    def one(position: SSAValue) -> None:
        if simple:
            value = builder.extend(position, types.I16, element.bits)
            index = _position(ev, position, start, step)
        else:
            value = builder.extend(position, counter, element.bits)
            if step != 1:
                value = emit.binary(builder, "*", element, value, builder.constant(element, step))
            if start != 0:
                value = emit.binary(builder, "+", element, value, builder.constant(element, start))
            index = builder.extend(position, counter, 16)
        with ev.scope():
            _bind(ev, node.element, Value(element, value))
            _bind(ev, node.index, Value(types.U16, index))
            body(ev, node.body)

    control.counted(ev, _candidates(ev, node, []), bounds, one, node)  # pyright: ignore[reportArgumentType]


def _position(ev: Evaluator, value: SSAValue, start: int, step: int) -> SSAValue:
    """How often a loop has run, from the number it counts."""
    assert ev.builder is not None
    if start == 0 and step == 1:
        return value
    if start != 0:
        value = emit.binary(ev.builder, "-", types.I16, value, ev.builder.constant(types.I16, start))
    if step != 1:
        value = emit.binary(ev.builder, "/", types.I16, value, ev.builder.constant(types.I16, step))
    return value


def _counted_to(ev: Evaluator, node: syntax.For, element: types.Int, data: RangeData) -> None:
    """A loop up to a number known at run time."""
    builder = ev.builder
    assert builder is not None
    # Unsigned numbers count in more bits, for the loop compares signed ones.
    wide = (
        element
        if element.signed and element.bits >= 16
        else (types.I16 if element.bits < 16 else types.Int(element.bits * 2, True))
    )
    bounds = [
        builder.extend(ev.ssa(coerce(ev, value, element, node.iterable), node.iterable), element, wide.bits)
        for value in (data.start, data.stop, data.step)
    ]

    def one(position: SSAValue) -> None:
        value = builder.extend(position, wide, element.bits)
        with ev.scope():
            _bind(ev, node.element, Value(element, value))
            if node.index is not None:
                offset = emit.binary(builder, "-", wide, position, bounds[0])
                offset = emit.binary(builder, "/", wide, offset, bounds[2])
                _bind(ev, node.index, Value(types.U16, builder.extend(offset, wide, 16)))
            body(ev, node.body)

    control.counted(ev, _candidates(ev, node, []), (bounds[0], bounds[1], bounds[2]), one, node)


def _stepped(ev: Evaluator, node: syntax.For, element: types.Int, data: RangeData) -> None:
    """A loop that something jumps out of, or whose step is known at run time only."""
    counter = Local("counter", element, coerce(ev, data.start, element, node.iterable), True, comptime=False)
    position = Local("position", types.U16, Value(types.U16, 0), True, comptime=False)
    target = Target(node.label, True, flag("broken"), flag("continued"))
    assert target.continued is not None
    ev.live += [counter, position, target.broken, target.continued]
    ev.frame.targets.append(target)

    def within() -> Value:
        assert counter.value is not None
        if isinstance(data.step.data, SSAValue):
            up = binary(ev, ">", data.step, Value(data.step.type, 0), node)
            first = binary(ev, "<", counter.value, data.stop, node)
            second = binary(ev, ">", counter.value, data.stop, node)
            assert ev.builder is not None
            chosen = arith.SelectOp(ev.ssa(up, node), ev.ssa(first, node), ev.ssa(second, node))
            return boolean(ev.builder.value(chosen))
        symbol = "<" if ev.data(data.step, node) > 0 else ">"
        return binary(ev, symbol, counter.value, data.stop, node)

    def condition() -> Value:
        left = has_left(ev)
        if left is True:
            return boolean(False)
        if left is False:
            return within()
        return control.branch(ev, left, lambda: boolean(False), within, node)

    def one() -> None:
        assert counter.value is not None and position.value is not None and target.continued is not None
        with ev.scope():
            _bind(ev, node.element, counter.value)
            _bind(ev, node.index, position.value)
            body(ev, node.body)
        target.continued.value = boolean(False)
        counter.value = coerce(ev, binary(ev, "+", counter.value, data.step, node), element, node)
        position.value = binary(ev, "+", position.value, Value(types.U16, 1), node)

    try:
        control.loop(ev, _candidates(ev, node, [counter, position, target.broken]), condition, one, node)
    finally:
        ev.frame.targets.pop()


def _for_array(ev: Evaluator, node: syntax.For, iterable: Value) -> None:
    array = iterable.type
    assert isinstance(array, types.Array)
    if ev.builder is None:
        whole = Lanes(1)
        del whole
        for position, item in enumerate(iterable.data):
            if not _one_known(ev, node, Value(array.element, item), position):
                return
        return
    if types.is_comptime_only(array.element):
        ev.fail(node, f"a loop at run time cannot run over '{array}', whose elements exist at compile time only")
    if not array.count:
        return
    where = place(ev, node.iterable)
    if not isinstance(where, Memory):
        where = Temporary(iterable)

    def inner(number: Value) -> None:
        element = where.element(ev, number.data, node).load(ev, node)
        _bind(ev, node.element, element)
        _bind(ev, node.index, number)
        body(ev, node.body)

    _over(ev, node, array.count, inner)


def _over(ev: Evaluator, node: syntax.For, count: int, inner: Function[[Value], None]) -> None:
    """A loop over positions, emitted."""
    builder = ev.builder
    assert builder is not None
    if not _jumps(ev, node):
        bounds = tuple(builder.constant(types.I16, number) for number in (0, count, 1))

        def one(position: SSAValue) -> None:
            with ev.scope():
                inner(Value(types.U16, position))

        control.counted(ev, _candidates(ev, node, []), bounds, one, node)  # pyright: ignore[reportArgumentType]
        return
    counter = Local("counter", types.U16, Value(types.U16, 0), True, comptime=False)
    target = Target(node.label, True, flag("broken"), flag("continued"))
    assert target.continued is not None
    ev.live += [counter, target.broken, target.continued]
    ev.frame.targets.append(target)

    def condition() -> Value:
        def within() -> Value:
            assert counter.value is not None
            return binary(ev, "<", counter.value, Value(types.U16, count), node)

        left = has_left(ev)
        if left is True:
            return boolean(False)
        return within() if left is False else control.branch(ev, left, lambda: boolean(False), within, node)

    def one_stepped() -> None:
        assert counter.value is not None and target.continued is not None
        with ev.scope():
            inner(counter.value)
        target.continued.value = boolean(False)
        counter.value = binary(ev, "+", counter.value, Value(types.U16, 1), node)

    try:
        control.loop(ev, _candidates(ev, node, [counter, target.broken]), condition, one_stepped, node)
    finally:
        ev.frame.targets.pop()
