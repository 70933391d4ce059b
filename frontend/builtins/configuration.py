"""Builtins of the configuration of a PE: its registers, and the handlers of teardown phases."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from ...csl import syntax
from ...dialects import wse
from ...targets import Target
from ...targets.model import LEVELS
from ...targets.wavelets import FILTER_WORDS, SETTINGS
from .. import control, emit, types
from ..calls import call
from ..errors import Refused
from ..evaluator import Evaluator
from ..places import Memory
from ..registry import GUARD, Table, Where
from ..types import Type
from ..values import VOID, Address, Callable, Value, boolean, is_ssa
from .libraries import shared_module
from .type_facts import warn_program

TABLE = Table("Configuration of PEs")


def _register(ev: Evaluator, node: syntax.Builtin, address: Value, *, writes: bool) -> Memory:
    """Return the register at a word address, the first argument, as a variable; check its address and ranges."""
    argument, registers = node.arguments[0], ev.session.target.registers
    checks = not node.name.endswith("_unchecked")
    ranges = node.arguments[-1] if checks and len(node.arguments) == (2 if node.name == "get_config" else 3) else None
    allowed = [registers.addresses] if ranges is None else _ranges(ev, ranges)
    if is_ssa(address.data):
        _check_at_run_time(ev, node, address.data, allowed)
        base = emit.binary(ev.code, "*", types.U16, address.data, ev.code.constant(types.U16, 2))
        for each in allowed:
            _note(ev, each, writes=writes)
        return Memory(Address(None, 0, 1, base), types.U16, const=False)
    number = int(ev.data(address, argument, "the address of a register"))
    if checks:
        _check_address(ev, argument, number, allowed)
    _note(ev, range(number, number + 1), writes=writes)
    return Memory(Address(None, 0, 1, 2 * number), types.U16, const=False)


def _known_ranges(allowed: list[range]) -> str:
    return " and ".join(f"{each.start:#x} to {each[-1]:#x}" for each in allowed)


def _check_at_run_time(ev: Evaluator, node: syntax.Builtin, address: SSAValue, allowed: list[range]) -> None:
    """Emit a check of an address: behind that of the last register, or before the first, is other memory."""
    code, found = ev.code, None
    code.at(ev.source, node.start)
    for each in allowed:
        place = emit.binary(code, "-", types.U16, address, code.constant(types.U16, each.start))
        test = emit.binary(code, "<=", types.U16, place, code.constant(types.U16, len(each) - 1))
        found = test if found is None else emit.binary(code, "|", types.BOOL, found, test)
    assert found is not None
    message = f"{{u}} is not the address of a configuration register; use an address from {_known_ranges(allowed)}"
    code(wse.AssertOp(found, message, address))


def _check_address(ev: Evaluator, argument: syntax.Expression, number: int, allowed: list[range]) -> None:
    if not any(number in each for each in allowed):
        known = _known_ranges(allowed)
        ev.fail(argument, f"{number:#x} is not the address of a configuration register; use an address from {known}")


def _ranges(ev: Evaluator, node: syntax.Expression) -> list[range]:
    """Return the ranges of `.{first, last}`, or of a struct of such."""
    given = ev.comptime_expr(node)
    if not isinstance(given.type, types.Struct) or not given.data:
        ev.fail(node, "the ranges of an address are .{first, last}, or a struct of such")
    pairs = given.data if isinstance(given.data[0].type, types.Struct) else [given]
    found: list[range] = []
    for pair in pairs:
        if not isinstance(pair.type, types.Struct) or len(pair.data) != 2:
            ev.fail(node, "the ranges of an address are .{first, last}, or a struct of such")
        first, last = (int(ev.data(bound, node, "a bound of a range")) for bound in pair.data)
        if first > last:
            ev.fail(node, f"the range {first:#x} to {last:#x} is empty; its first address comes first")
        found.append(range(first, last + 1))
    return found


def _note(ev: Evaluator, addresses: range, *, writes: bool) -> None:
    """Note what code for run time asks for, or changes, that uses one of some registers."""
    session, target = ev.session, ev.session.target
    registers, colors = target.registers, range(target.routable_colors)
    session.asks_for_queues |= _meet(addresses, range(registers.queues, registers.queues + 6))
    session.asks_for_queues |= _meet(addresses, target.settings)
    main_thread = target.settings[SETTINGS.index("main_thread")]
    session.main_thread_changes |= writes and main_thread in addresses
    session.filters_change |= _meet(addresses, _filters(target))
    for first in (registers.colors, registers.switches, *registers.positions):
        session.changing_colors.update(color for color in colors if first + color in addresses)


def _meet(one: range, other: range) -> bool:
    return max(one.start, other.start) < min(one.stop, other.stop)


def _filters(target: Target) -> range:
    return range(target.registers.filters, target.registers.filters + FILTER_WORDS * target.filters)


def _before_the_start(ev: Evaluator, node: syntax.Builtin, address: Value) -> int:
    """Return the word address of a register that a comptime block reads or writes."""
    argument, target = node.arguments[0], ev.session.target
    if ev.initializes_global(node):
        ev.fail(node, f"@{node.name} belongs in a comptime block or in code for run time")
    number = int(ev.data(address, argument, "the address of a register"))
    registers = target.registers
    _check_address(ev, argument, number, [registers.addresses])
    for first in (registers.colors, registers.switches, *registers.positions):
        if number in range(first, first + target.routable_colors):
            instead = "@set_color_config or @set_local_color_config"
            ev.fail(argument, f"register {number:#x} is one of color {number - first}; use {instead} at compile time")
    if number in _filters(target):
        ev.fail(argument, f"register {number:#x} is one of a filter; give the color a '.filter' at compile time")
    runs = (range(registers.queues, registers.queues + 6), range(registers.clock, registers.clock + 4))
    if any(number in each for each in runs) or number - registers.teardown_pending in range(2):
        ev.fail(argument, f"register {number:#x} says what happens at run time; use it in code for run time")
    return number


def _get_before_the_start(ev: Evaluator, node: syntax.Builtin, address: Value) -> Value:
    number, program = _before_the_start(ev, node, address), ev.program
    value = program.configuration.get(number)
    if number == ev.session.target.settings[SETTINGS.index("main_thread")]:
        target = ev.session.target
        value = LEVELS.index(program.main_thread or target.main_thread_priority) - 1
    elif value is None and number in ev.session.target.settings:
        value = 0
    if value is None:
        ev.fail(node, f"register {number:#x} has no value yet; write one with @set_config before")
    return Value(types.U16, value)


def _set_before_the_start(ev: Evaluator, node: syntax.Builtin, address: Value) -> None:
    number, argument = _before_the_start(ev, node, address), node.arguments[1]
    value = int(ev.data(ev.coerce(ev.expr(argument), types.U16, argument), argument, "the value of a register"))
    settings = ev.session.target.settings
    if number not in settings:
        warn_program(ev, node, f"register {number:#x} is not simulated; what is written to it changes nothing")
    elif SETTINGS[number - settings.start] == "main_thread":
        ev.program.main_thread = LEVELS[1 + value % (len(LEVELS) - 1)]
        return
    elif SETTINGS[number - settings.start] != "control_mask":
        ev.session.asks_for_queues = True
    ev.program.configuration[number] = value


@TABLE.row("@get_config(address[, ranges])", "@get_config_unchecked(address)", where=Where.PE)
def _get_config(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    address = ev.coerce(ev.expr(node.arguments[0]), types.U16, node.arguments[0])
    if ev.builder is None:
        return _get_before_the_start(ev, node, address)
    return _register(ev, node, address, writes=False).load(ev, node)


@TABLE.row("@set_config(address, value[, ranges])", "@set_config_unchecked(address, value)", where=Where.PE)
def _set_config(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    address = ev.coerce(ev.expr(node.arguments[0]), types.U16, node.arguments[0])
    if ev.builder is None:
        _set_before_the_start(ev, node, address)
        return VOID
    register, argument = _register(ev, node, address, writes=True), node.arguments[1]
    register.store(ev, ev.coerce(ev.expr(argument), types.U16, argument), node)
    return VOID


@TABLE.row("@loom_changes(color)", where=Where.PE)
def _changes(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Note that the routes of a color are changed; of all, if it is known at run time only."""
    (argument,) = node.arguments
    color = ev.expr(argument)
    if is_ssa(color.data):
        ev.session.changing_colors.update(range(ev.session.target.routable_colors))
    else:
        ev.session.changing_colors.add(int(ev.data(color, argument, "a color")))
    return VOID


@TABLE.row("@loom_changes_all()", where=Where.PE)
def _changes_all(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Note that the routes of any color may be changed."""
    ev.session.changing_colors.update(range(ev.session.target.routable_colors))
    return VOID


@TABLE.row("@loom_names_color(address)", where=Where.PE)
def _names_color(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Refuse what is not the word address of a register of a color; note that the routes of that color are changed."""
    (argument,) = node.arguments
    address = ev.expr(argument)
    if not types.is_integer(address.type):
        message = f"a color, or the word address of one of its registers, is needed here, not a '{address.type}'"
        raise Refused(ev.error(node, f"<tile_config>: {message}").diagnostics)
    if is_ssa(address.data):
        return VOID
    number, target = int(ev.data(address, argument, "the address of a register")), ev.session.target
    for first in (target.registers.colors, target.registers.switches, *target.registers.positions):
        if number in range(first, first + target.routable_colors):
            ev.session.changing_colors.add(number - first)
            return VOID
    message = f"{number:#x} is not the word address of a register of a color; get_color_config_addr returns those"
    raise Refused(ev.error(node, f"<tile_config>: {message}").diagnostics)


@TABLE.row("@loom_filters_change()", where=Where.PE)
def _filters_change(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Note that filters are changed, or their counters read, while the program runs."""
    ev.session.filters_change = True
    return VOID


@TABLE.row("@loom_has_switches(color)", where=Where.PE)
def _has_switches(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Return False if it is known that routers have no switch for a color."""
    (argument,) = node.arguments
    color = ev.expr(argument)
    return boolean(is_ssa(color.data) or ev.data(color, argument, "a color") in ev.session.target.switch_colors)


# Teardown


def _handlers(ev: Evaluator) -> dict[int, tuple[Callable, Any]]:
    """Return the teardown handlers of the PE, by color, and where they are set."""
    return ev.program.state.setdefault("teardown_handlers", {})


def _handler(ev: Evaluator, node: syntax.Expression, kind: str) -> Callable:
    """Return a handler: a function without parameters and result."""
    value = ev.expr(node)
    if not isinstance(value.data, Callable) or value.data.is_task or value.data.node.parameters:
        ev.fail(node, f"{kind} is a function without parameters, not a value of type '{value.type}'")
    if isinstance(value.type, types.Function) and value.type.result is not types.VOID:
        ev.fail(node, f"{kind} returns 'void', not '{value.type.result}'")
    return value.data


@TABLE.row("@set_teardown_handler(function, color)", where=Where.COMPTIME)
def _set_teardown_handler(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    function, color = node.arguments
    handler, id = _handler(ev, function, "a teardown handler"), ev.expr(color)
    if id.type is not types.COLOR:
        ev.fail(color, f"a teardown handler belongs to a color, not to a value of type '{id.type}'")
    number, handlers = int(ev.data(id, color, "the color")), _handlers(ev)
    if number in handlers:
        note = ev.note(handlers[number][1], "first here")
        ev.fail(node, f"color {number} has two teardown handlers; leave one out", note)
    handlers[number] = handler, node
    ev.session.changing_colors.add(number)
    shared_module(ev, "tile_config/dispatcher")
    return VOID


def _empty_handlers(ev: Evaluator) -> dict[tuple[bool, int], tuple[Callable, Any]]:
    """Return the empty queue handlers of the PE, by direction (True for output) and id, and where they are set."""
    return ev.program.state.setdefault("empty_handlers", {})


@TABLE.row("@set_empty_queue_handler(function, queue)", where=Where.COMPTIME, on_wse2=GUARD)
def _set_empty_queue_handler(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    function, queue = node.arguments
    handler, id = _handler(ev, function, "an empty queue handler"), ev.expr(queue)
    if id.type not in (types.INPUT_QUEUE, types.OUTPUT_QUEUE):
        ev.fail(queue, f"an empty queue handler belongs to an input or output queue, not to a '{id.type}'")
    key, handlers = (id.type is types.OUTPUT_QUEUE, int(ev.data(id, queue, "the queue"))), _empty_handlers(ev)
    if key in handlers:
        what = f"{'output' if key[0] else 'input'} queue {key[1]}"
        ev.fail(node, f"{what} has two empty queue handlers; leave one out", ev.note(handlers[key][1], "first here"))
    handlers[key] = handler, node
    shared_module(ev, "tile_config/dispatcher")
    return VOID


@TABLE.row("@queue_flush(queue)", where=Where.RUN_TIME, on_wse2=GUARD, rules="LIB-033")
def _queue_flush(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (queue,) = node.arguments
    id = ev.expr(queue)
    if id.type not in (types.INPUT_QUEUE, types.OUTPUT_QUEUE):
        ev.fail(queue, f"@queue_flush takes an 'input_queue' or 'output_queue', not '{id.type}'")
    ev.session.asks_for_queues = True
    address = ev.session.target.registers.queues + 4 + (id.type is types.OUTPUT_QUEUE)
    Memory(Address(None, 0, 1, 2 * address), types.U16, const=False).store(ev, Value(types.U16, id.data), node)
    return VOID


@TABLE.row("@loom_asks_for_queues()", where=Where.PE)
def _asks_for_queues(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Note that the program asks for the state of queues."""
    ev.session.asks_for_queues = True
    return VOID


@TABLE.row("@loom_call_empty_handlers(inputs, outputs)", where=Where.RUN_TIME)
def _call_empty_handlers(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Call the handlers of the queues that are flushed, as bits."""
    if ev.journal is not None:
        ev.journal.give_up()
    flushed = [ev.ssa(ev.expr(argument), argument) for argument in node.arguments]
    for (is_output, number), (handler, _) in _empty_handlers(ev).items():
        _call_if(ev, flushed[is_output], types.U16, number, handler, node)
    return VOID


@TABLE.row("@loom_has_empty_handlers()", where=Where.RUN_TIME)
def _has_empty_handlers(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    if ev.journal is not None:
        ev.journal.give_up()
    return boolean(bool(_empty_handlers(ev)))


def _call_if(
    ev: Evaluator, word: SSAValue, type: types.Int, number: int, handler: Callable, node: syntax.Builtin
) -> None:
    """Call a handler if a bit of a word is set."""

    def run() -> Value:
        call(ev, handler, [], node)
        return VOID

    bit = emit.binary(ev.code, "&", type, word, ev.code.constant(type, 1 << number))
    control.branch(ev, emit.binary(ev.code, "!=", type, bit, ev.code.constant(type, 0)), run, lambda: VOID, node)


@TABLE.row("@loom_call_teardown_handlers(pending)", where=Where.RUN_TIME)
def _call_teardown_handlers(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Call the handlers of the colors that are torn down, as bits."""
    if ev.journal is not None:
        ev.journal.give_up()  # what handlers there are is not asked for
    (argument,) = node.arguments
    pending, handlers = ev.ssa(ev.expr(argument), argument), _handlers(ev)
    code, zero = ev.code, ev.code.constant(types.U32, 0)

    for number, (handler, _) in handlers.items():
        _call_if(ev, pending, types.U32, number, handler, node)
    rest = emit.binary(
        code, "&", types.U32, pending, code.constant(types.U32, ~sum(1 << number for number in handlers) & 0xFFFFFFFF)
    )
    known = ", ".join(map(str, sorted(handlers))) or "none"
    message = (
        f"a color without teardown handler is torn down; this PE has handlers of {known}: add @set_teardown_handler"
    )
    code(wse.AssertOp(emit.binary(code, "==", types.U32, rest, zero), message))
    return VOID
