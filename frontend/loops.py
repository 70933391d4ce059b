"""The rules of loops: at compile time, over lanes together, and emitted."""

from __future__ import annotations

from collections.abc import Callable as Function
from typing import Any, NoReturn

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ..csl import syntax
from ..dialects import wse
from . import comptime_known, control, emit, recursion, types
from .blocks import check_label, guarded, has_left, unless_left
from .branches import body
from .errors import Serial
from .evaluator import Evaluator, split_lanes
from .frames import Break, Continue, Target, flag
from .leaves import zero
from .operators import binary
from .places import Memory, Temporary, index_word
from .registry import statement
from .scalars import column
from .types import Type
from .values import VOID, Lanes, Local, RangeData, Split, Value, boolean, element_of, is_ssa


def _mine(jump: Break | Continue, label: str | None) -> bool:
    return jump.label is None or jump.label == label


def _candidates(ev: Evaluator, node: syntax.Node, extra: list[Local]) -> list[Local]:
    """Return the variables of this function that a loop changes at run time."""
    names = ev.session.analyses.assigned(node)
    found: list[Local] = []
    for name in sorted(names):
        local = ev.frame.find(name)
        if local is not None and local.mutable and not local.comptime and local.memory is None:
            found.append(local)
    jumps = ev.session.analyses.jumps(node)
    if syntax.Return in jumps and ev.frame.returned is not None:
        found.append(ev.frame.returned)
        if ev.frame.result is not None:
            result = ev.frame.result
            if result.value is None:
                result.value = Value(result.type, zero(result.type))
            found.append(result)
        found += [local for loop in recursion.loops(ev) for local in loop.carried()]
    if syntax.Break in jumps or syntax.Continue in jumps:
        labels = ev.session.analyses.labels_left(node)
        for target in ev.frame.targets:
            if target is not ev.frame.targets[-1] and target.label not in labels:
                # A jump without a label stays within the innermost loop.
                continue
            if target.broken not in extra:
                found.append(target.broken)
            result = target.result
            if result is not None:
                if result.value is None and result.type is not types.VOID:
                    result.value = Value(result.type, zero(result.type))
                found.append(result)
            if target.continued is not None and target is not ev.frame.targets[-1]:
                found.append(target.continued)
    return [*found, *extra]


@statement(syntax.While)
def _while(ev: Evaluator, node: syntax.While) -> None:
    check_label(ev, node)
    if ev.builder is None:
        _while_known(ev, node)
        return

    def one() -> None:
        with ev.scope():
            body(ev, node.body)

    def advance() -> None:
        if node.update is not None:
            ev.execute(node.update)

    def condition() -> Value:
        value = _condition(ev, node)
        return value if not ev.session.analyses.jumps(node.condition) else _unless_it_left(ev, value, node)

    _emit_while(ev, node, [], condition, one, advance)


def _unless_it_left(ev: Evaluator, condition: Value, node: syntax.While) -> Value:
    """Return the condition of a loop, and false where a jump in it has been taken."""
    left = has_left(ev)
    if left is False:
        return condition
    return boolean(False) if left is True else control.branch(ev, left, lambda: boolean(False), lambda: condition, node)


def _emit_while(
    ev: Evaluator,
    node: syntax.While | syntax.For,
    counters: list[Local],
    condition: Function[[], Value],
    one: Function[[], None],
    advance: Function[[], None],
) -> None:
    """Emit a loop: `one` iteration and then `advance` as long as `condition` holds and nothing has left the loop."""
    target = Target(node.label, True, flag("broken"), flag("continued"))
    continued = target.continued
    assert continued is not None
    ev.live += [target.broken, continued]
    ev.frame.targets.append(target)

    def holds() -> Value:
        left = has_left(ev)
        if left is True:
            return boolean(False)
        return condition() if left is False else control.branch(ev, left, lambda: boolean(False), condition, node)

    def whole() -> None:
        # The condition has just seen that nothing has left.
        for local in ev.frame.flags():
            local.value = boolean(False)
        one()
        continued.value = boolean(False)
        left = has_left(ev)
        if left is False:
            advance()
        elif left is not True:
            guarded(ev, left, advance, node)

    try:
        mine = [*counters, target.broken] if ev.session.analyses.jumps(node) else counters
        control.loop(ev, _candidates(ev, node, mine), holds, whole, node)
    finally:
        ev.frame.targets.pop()


def _condition(ev: Evaluator, node: syntax.While) -> Value:
    value = ev.expr(node.condition)
    ev.truth(value, node.condition)
    return value


def _while_known(ev: Evaluator, node: syntax.While) -> None:
    if ev.in_layout and _while_together(ev, node):
        return
    with ev.session.steps.loop(ev.source, node):
        _while_one_by_one(ev, node)


def _while_one_by_one(ev: Evaluator, node: syntax.While) -> None:
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
    check_label(ev, node)
    iterable = ev.expr(node.iterable)
    unless_left(ev, lambda: _for_all(ev, node, iterable), node, iterable)


def _for_all(ev: Evaluator, node: syntax.For, iterable: Value) -> Value:
    if node.is_inline:
        _check_iterations(ev, node, iterable)
    if node.is_inline and ev.builder is not None:
        _for_inline(ev, node, iterable)
    elif isinstance(iterable.type, types.Range):
        _for_range(ev, node, iterable.type.element, iterable.data)
    elif isinstance(iterable.type, types.Array):
        _for_array(ev, node, iterable)
    else:
        _fail_iterable(ev, node, iterable.type)
    return VOID


def _fail_iterable(ev: Evaluator, node: syntax.For, type: Type) -> NoReturn:
    ev.fail(node.iterable, f"a loop runs over a @range or an array, not over '{type}'")


MAX_INLINED_ITERATIONS = 50
"""The limit of SDK 1.4 if the command line gives none (libraries reference, <simprint>); a later one is not known."""


def _check_iterations(ev: Evaluator, node: syntax.For, iterable: Value) -> None:
    """Raise CslError if an inline loop has more iterations than `--max-inlined-iterations` allows."""
    if ev.frame.module.is_library:
        return
    if isinstance(iterable.type, types.Range):
        count = len(numbers(ev, iterable.data, node.iterable))
    elif isinstance(iterable.type, types.Array):
        count = iterable.type.count
    else:
        _fail_iterable(ev, node, iterable.type)
    limit = ev.session.options.max_inlined_iterations
    if limit is not None and count > limit:
        ev.fail(
            node,
            f"exceeded the maximum of {limit} inlined iterations: this loop has {count}; give "
            f"--max-inlined-iterations={count}, or leave out 'inline'",
        )
    if limit is None and count > MAX_INLINED_ITERATIONS:
        ev.warn(
            node,
            f"this loop has {count} inlined iterations, and cslc of SDK 1.4 takes {MAX_INLINED_ITERATIONS} at most; "
            f"give --max-inlined-iterations={count}",
        )


def _for_inline(ev: Evaluator, node: syntax.For, iterable: Value) -> None:
    """Emit the iterations of an `inline for` one after the other; what they count and their position are known."""
    if isinstance(iterable.type, types.Range):
        comptime_known.warn(ev, node.iterable)
        values, counted = numbers(ev, iterable.data, node.iterable), iterable.type.element
        count = length(values)

        def element(position: int) -> Value:
            return Value(counted, values[position])
    elif isinstance(iterable.type, types.Array):
        where = ev.place(node.iterable)
        if not isinstance(where, Memory):
            where = Temporary(iterable)
        array, count = where, iterable.type.count

        def element(position: int) -> Value:
            return array.element(ev, position, node).load(ev, node)
    else:
        _fail_iterable(ev, node, iterable.type)
    target = Target(node.label, True, flag("broken"), flag("continued"))
    continued = target.continued
    assert continued is not None

    def from_iteration(first: int) -> None:
        for position in range(first, count):
            ev.step(node)
            with ev.scope():
                _bind(ev, node.element, element(position))
                _bind(ev, node.index, Value(types.U16, types.U16.wrap(position)))
                body(ev, node.body)
            continued.value = boolean(False)
            left = has_left(ev)
            if left is True:
                return
            if left is not False:
                if position + 1 < count:
                    guarded(ev, left, lambda following=position + 1: from_iteration(following), node)
                return

    ev.live += [target.broken, continued]
    ev.frame.targets.append(target)
    try:
        with ev.session.steps.loop(ev.source, node):
            from_iteration(0)
    finally:
        ev.frame.targets.pop()


def _bind(ev: Evaluator, name: syntax.Name | None, value: Value) -> None:
    if name is not None and name.name != "_":
        ev.declare(Local(name.name, value.type, value, mutable=False), name)


def numbers(ev: Evaluator, data: RangeData, node: syntax.Node) -> range:
    """Return a range known at compile time."""
    start, stop, step = (ev.data(value, node, "the range") for value in (data.start, data.stop, data.step))
    if step == 0:
        ev.fail(node, "a range with step 0 never ends")
    return range(start, stop, step)


def length(values: range) -> int:
    """Return how many numbers a range has; `len` takes none beyond 63 bits."""
    return max(0, (values.stop - values.start + values.step - (1 if values.step > 0 else -1)) // values.step)


def _for_range(ev: Evaluator, node: syntax.For, element: Type, data: RangeData) -> None:
    if ev.builder is not None:
        _for_range_emitted(ev, node, element, data)
        return
    values = numbers(ev, data, node.iterable)

    def bind(number: Any, position: Any) -> None:
        _bind(ev, node.element, Value(element, number))
        _bind(ev, node.index, Value(types.U16, ev.fitted(types.U16, position)))

    if ev.in_layout and not ev.session.analyses.jumps(node) - {syntax.Continue} and _together(ev, node, values, bind):
        return
    with ev.session.steps.loop(ev.source, node):
        for position, number in enumerate(values):
            if not _one_known(ev, node, Value(element, number), position):
                return


def _one_known(ev: Evaluator, node: syntax.For, element: Value, position: int) -> bool:
    """Return one iteration at compile time; False after `break`."""
    ev.step(node)
    try:
        with ev.scope():
            _bind(ev, node.element, element)
            _bind(ev, node.index, Value(types.U16, types.U16.wrap(position)))
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
    """Evaluate all iterations at once, those that part apart; False if one depends on another.

    `bind` declares the names of an iteration, given its number and its position.
    """
    outer, mark = ev.lanes, len(ev.effects)
    count = length(values)
    if count < MIN_TOGETHER or count * outer.count > MAX_TOGETHER:
        return False
    if not all(map(types.I64.holds, (values.start, values.start + values.step * count))):
        return False
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


MIN_TOGETHER = 4
"""Iterations from which evaluating them at once is worth its preparation."""

MAX_TOGETHER = 1 << 22
"""Iterations of nested loops that are evaluated at once: more than a wafer has PEs, and no burden for the memory."""


def _while_together(ev: Evaluator, node: syntax.While) -> bool:
    """Evaluate `while (i < n) : (i += 1)` of a layout like a loop over a range; False for another kind of loop."""
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
        or ev.session.analyses.jumps(node) - {syntax.Continue}
        or ev.session.analyses.assigned(node.body) & (named | {name})
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
    end = values.start + values.step * length(values)
    if isinstance(counter.type, types.Int) and not counter.type.holds(end):
        return False
    type = counter.type

    def bind(number: Any, position: Any) -> None:
        ev.declare(Local(name, type, Value(type, number), mutable=False), node)

    if not _together(ev, node, values, bind):
        return False
    counter.value = Value(type, end)
    return True


Inner = Function[[Value, Value], None]
"""What a loop does with the number it counts and how often it has run before."""


def _for_range_emitted(ev: Evaluator, node: syntax.For, element: Type, data: RangeData) -> None:
    def inner(number: Value, position: Value) -> None:
        _bind(ev, node.element, number)
        _bind(ev, node.index, position)
        body(ev, node.body)

    if not isinstance(element, types.Int):
        ev.fail(node.iterable, f"a loop at run time needs an integer type of known width, not '{element}'")
    ev.check_format(element, node.iterable)
    _emit_range(ev, node, element, data, inner)


def _emit_range(ev: Evaluator, node: syntax.For, element: types.Int, data: RangeData, inner: Inner) -> None:
    """Emit a loop over a range, in the plainest form its bounds and jumps allow."""
    jumps = ev.session.analyses.jumps(node)
    if all(isinstance(value.data, int) for value in (data.start, data.stop, data.step)):
        values = numbers(ev, data, node.iterable)
        if values and not jumps:
            _counted(ev, node, element, values, inner)
        if not values or not jumps:
            return
    elif not jumps and isinstance(data.step.data, int) and data.step.data > 0:
        _counted_to(ev, node, element, data, inner)
        return
    _stepped(ev, node, element, data, inner)


def _counted(ev: Evaluator, node: syntax.For, element: types.Int, values: range, inner: Inner) -> None:
    """Emit a loop over constant numbers."""
    builder = ev.code
    builder.at(ev.source, node.start)
    start, step, count = values.start, values.step, length(values)
    direct = step > 0 and start >= 0 and start + step * count <= types.I16.highest and element.bits <= 16
    counter = next(type for type in (types.I16, types.I32, types.I64) if count <= type.highest or type is types.I64)
    limits = (start, start + step * count, step) if direct else (0, min(count, counter.highest), 1)
    first, last, by = (builder.constant(types.I16 if direct else counter, number) for number in limits)

    def one(counted: SSAValue) -> None:
        if direct:
            value = builder.extend(counted, types.I16, element.bits)
            position = counted if node.index is None else _position(ev, counted, start, step)
        else:
            value = builder.extend(counted, counter, element.bits)
            if step != 1:
                value = emit.binary(builder, "*", element, value, builder.constant(element, step))
            if start != 0:
                value = emit.binary(builder, "+", element, value, builder.constant(element, start))
            position = builder.extend(counted, counter, 16)
        with ev.scope():
            inner(Value(element, value), Value(types.U16, position))

    control.counted(ev, _candidates(ev, node, []), (first, last, by), one, node)


def _position(ev: Evaluator, value: SSAValue, start: int, step: int) -> SSAValue:
    """Return how often a loop has run, from the number it counts."""
    if start != 0:
        value = emit.binary(ev.code, "-", types.I16, value, ev.code.constant(types.I16, start))
    if step != 1:
        value = emit.binary(ev.code, "/", types.I16, value, ev.code.constant(types.I16, step))
    return value


def _counted_to(ev: Evaluator, node: syntax.For, element: types.Int, data: RangeData, inner: Inner) -> None:
    """Emit a loop upwards between numbers known at run time, by a constant step."""
    builder = ev.code
    step: int = data.step.data
    # The loop compares signed numbers, and adds the step once more than it uses the sum: neither may overflow.
    if element.signed and 16 <= element.bits <= 64 and step == 1:
        wide = element
    elif element.carrier <= 32:
        wide = types.Int(2 * element.carrier, True)
    else:
        _counted_trips(ev, node, element, data, inner)
        return
    first, last, by = (
        builder.extend(ev.ssa(ev.coerce(value, element, node.iterable), node.iterable), element, wide.bits)
        for value in (data.start, data.stop, data.step)
    )

    def one(counted: SSAValue) -> None:
        position = counted
        if node.index is not None:
            position = emit.binary(builder, "-", wide, position, first)
            if step != 1:
                position = emit.binary(builder, "/", wide, position, by)
        value = builder.extend(counted, wide, element.bits)
        with ev.scope():
            inner(Value(element, value), Value(types.U16, builder.extend(position, wide, 16)))

    control.counted(ev, _candidates(ev, node, []), (first, last, by), one, node)


def _counted_trips(ev: Evaluator, node: syntax.For, element: types.Int, data: RangeData, inner: Inner) -> None:
    """Emit a loop over numbers for which there is no wider integer: it counts its trips, from 0."""
    builder = ev.code
    signed = types.Int(min(element.carrier, 64), True)
    # More trips than a signed number counts are not made in any time.
    most = builder.constant(element, signed.highest)
    trips = builder.extend(builder.value(arith.MinUIOp(_trips(ev, node, element, data), most)), element, signed.bits)
    start, step = (ev.ssa(ev.coerce(value, element, node.iterable), node) for value in (data.start, data.step))

    def one(counted: SSAValue) -> None:
        number = builder.extend(counted, signed, element.bits)
        value = emit.binary(builder, "+", element, start, emit.binary(builder, "*", element, number, step))
        with ev.scope():
            inner(Value(element, value), Value(types.U16, builder.extend(counted, signed, 16)))

    bounds = builder.constant(signed, 0), trips, builder.constant(signed, 1)
    control.counted(ev, _candidates(ev, node, []), bounds, one, node)


def _trips(ev: Evaluator, node: syntax.For, element: types.Int, data: RangeData) -> SSAValue:
    """Emit how many numbers a range has: the difference of its ends by the step, rounded up."""
    builder = ev.code
    builder.at(ev.source, node.iterable.start)
    # As unsigned numbers of as many bits as the machine has for the type, no difference of two of them overflows.
    unsigned = types.Int(element.carrier, False)
    low, high = (ev.ssa(ev.coerce(value, element, node.iterable), node) for value in (data.start, data.stop))
    step: Any = data.step.data
    if is_ssa(step):
        nothing = builder.constant(element, 0)
        moves = emit.binary(builder, "!=", element, step, nothing)
        builder(wse.AssertOp(moves, "a range with step 0 never ends"))
        if element.signed:
            up = emit.binary(builder, ">", element, step, nothing)
            low, high = (builder.value(arith.SelectOp(up, *ends)) for ends in ((low, high), (high, low)))
            step = builder.value(arith.SelectOp(up, step, emit.binary(builder, "-", unsigned, nothing, step)))
    else:
        low, high = (low, high) if step > 0 else (high, low)
        step = None if abs(step) == 1 else builder.constant(unsigned, abs(step))
    trips = emit.binary(builder, "-", unsigned, high, low)
    if step is not None:
        one = builder.constant(unsigned, 1)
        before = emit.binary(builder, "-", unsigned, trips, one)
        trips = emit.binary(builder, "+", unsigned, emit.binary(builder, "/", unsigned, before, step), one)
    some = emit.binary(builder, "<", element, low, high)
    return builder.value(arith.SelectOp(some, trips, builder.constant(unsigned, 0)))


def _stepped(ev: Evaluator, node: syntax.For, element: types.Int, data: RangeData, inner: Inner) -> None:
    """Emit a loop with an early exit, or whose step is known at run time only."""
    counter = Local("counter", element, ev.coerce(data.start, element, node.iterable), True, comptime=False)
    # The counter may be compared with the end only if it cannot wrap past it; else the trips are counted.
    trips = None if _reaches_its_end(element, data) else _trips(ev, node, element, data)
    wide = types.U16 if trips is None else types.Int(max(16, element.carrier), False)
    if trips is not None:
        trips = ev.code.extend(trips, types.Int(element.carrier, False), wide.bits)
    position = Local("position", wide, Value(wide, 0), True, comptime=False)
    ev.live += [counter, position]

    def within() -> Value:
        assert counter.value is not None and position.value is not None
        if trips is not None:
            return binary(ev, "<", position.value, Value(wide, trips), node)
        return binary(ev, "<" if data.step.data > 0 else ">", counter.value, data.stop, node)

    def one() -> None:
        assert counter.value is not None and position.value is not None
        index = position.value
        if node.index is not None and wide is not types.U16:
            index = Value(types.U16, ev.code.extend(ev.ssa(index, node), wide, 16))
        with ev.scope():
            inner(counter.value, index)

    def advance() -> None:
        assert counter.value is not None and position.value is not None
        step = Value(element, ev.fitted(element, data.step.data)) if isinstance(data.step.data, int) else data.step
        counter.value = ev.coerce(binary(ev, "+", counter.value, step, node), element, node)
        position.value = binary(ev, "+", position.value, Value(wide, 1), node)

    _emit_while(ev, node, [counter, position], within, one, advance)


def _reaches_its_end(element: types.Int, data: RangeData) -> bool:
    """Return True if a number that counts through a range, and once more, never wraps past the end."""
    start, stop, step = data.start.data, data.stop.data, data.step.data
    if not isinstance(step, int):
        return False
    if isinstance(start, int) and isinstance(stop, int):
        return element.holds(start + step * length(range(start, stop, step)))
    return abs(step) == 1


def _for_array(ev: Evaluator, node: syntax.For, iterable: Value) -> None:
    array = iterable.type
    assert isinstance(array, types.Array)
    if ev.builder is None:
        with ev.session.steps.loop(ev.source, node):
            for position, kept in enumerate(iterable.data):
                if not _one_known(ev, node, element_of(array, kept), position):
                    return
        return
    if types.is_comptime_only(array.element):
        ev.fail(node, f"a loop at run time cannot run over '{array}', whose elements exist at compile time only")
    where = ev.place(node.iterable)
    if not isinstance(where, Memory):
        where = Temporary(iterable)

    def inner(number: Value, position: Value) -> None:
        _bind(ev, node.element, where.element(ev, index_word(ev, number, node), node).load(ev, node))
        _bind(ev, node.index, position)
        body(ev, node.body)

    bounds = (Value(types.U16, number) for number in (0, array.count, 1))
    _emit_range(ev, node, types.U16, RangeData(*bounds), inner)
