"""Builtins of the configuration of a PE: its registers, and the handlers of teardown phases."""

from __future__ import annotations

from typing import Any

from ...csl import syntax
from ...dialects import wse
from .. import control, emit, types
from ..calls import call
from ..evaluator import Evaluator
from ..places import Memory
from ..registry import Table, Where
from ..types import Type
from ..values import VOID, Address, Callable, Value, boolean, is_ssa
from .libraries import shared_module

TABLE = Table("Configuration of PEs")


def _register(ev: Evaluator, node: syntax.Builtin) -> Memory:
    """Return the register whose word address is the first argument, as a variable; check its address and ranges."""
    argument, registers = node.arguments[0], ev.session.target.registers
    address = ev.coerce(ev.expr(argument), types.U16, argument)
    checks = not node.name.endswith("_unchecked")
    ranges = node.arguments[-1] if checks and len(node.arguments) == (2 if node.name == "get_config" else 3) else None
    allowed = [registers.addresses] if ranges is None else _ranges(ev, ranges)
    if is_ssa(address.data):
        base = emit.binary(ev.code, "*", types.U16, address.data, ev.code.constant(types.U16, 2))
        _note_colors(ev, None)
        return Memory(Address(None, 0, 1, base), types.U16, const=False)
    number = int(ev.data(address, argument, "the address of a register"))
    if checks and not any(number in each for each in allowed):
        known = " and ".join(f"{each.start:#x} to {each[-1]:#x}" for each in allowed)
        ev.fail(argument, f"there is no configuration register at {number:#x}; they are at {known}")
    _note_colors(ev, number)
    return Memory(Address(None, 0, 1, 2 * number), types.U16, const=False)


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


def _note_colors(ev: Evaluator, address: int | None) -> None:
    """Note whose routes a register at an address changes; not known is of all colors."""
    target = ev.session.target
    registers, colors = target.registers, range(target.routable_colors)
    for first in (registers.colors, registers.switches, *registers.positions):
        ev.session.changing_colors.update(colors if address is None else {address - first} & set(colors))


@TABLE.row("@get_config(address[, ranges])", "@get_config_unchecked(address)", where=Where.RUN_TIME)
def _get_config(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _register(ev, node).load(ev, node)


@TABLE.row("@set_config(address, value[, ranges])", "@set_config_unchecked(address, value)", where=Where.RUN_TIME)
def _set_config(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    register = _register(ev, node)
    argument = node.arguments[1]
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


@TABLE.row("@set_teardown_handler(function, color)", where=Where.COMPTIME)
def _set_teardown_handler(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    function, color = node.arguments
    value, id = ev.expr(function), ev.expr(color)
    if not isinstance(value.data, Callable) or value.data.is_task or value.data.node.parameters:
        ev.fail(function, f"a teardown handler is a function without parameters, not a value of type '{value.type}'")
    if isinstance(value.type, types.Function) and value.type.result is not types.VOID:
        ev.fail(function, f"a teardown handler returns 'void', not '{value.type.result}'")
    if id.type is not types.COLOR:
        ev.fail(color, f"a teardown handler belongs to a color, not to a value of type '{id.type}'")
    number, handlers = int(ev.data(id, color, "the color")), _handlers(ev)
    if number in handlers:
        note = ev.note(handlers[number][1], "first here")
        ev.fail(node, f"color {number} has two teardown handlers; leave one out", note)
    handlers[number] = value.data, node
    ev.session.changing_colors.add(number)
    shared_module(ev, "tile_config/dispatcher")
    return VOID


@TABLE.row("@loom_call_teardown_handlers(pending)", where=Where.RUN_TIME)
def _call_teardown_handlers(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Call the handlers of the colors that are torn down, as bits."""
    if ev.journal is not None:
        ev.journal.give_up()  # what handlers there are is not asked for
    (argument,) = node.arguments
    pending, handlers = ev.ssa(ev.expr(argument), argument), _handlers(ev)
    code, zero = ev.code, ev.code.constant(types.U32, 0)

    def run(handler: Callable) -> Value:
        call(ev, handler, [], node)
        return VOID

    for number, (handler, _) in handlers.items():
        bit = emit.binary(code, "&", types.U32, pending, code.constant(types.U32, 1 << number))
        is_down = emit.binary(code, "!=", types.U32, bit, zero)
        control.branch(ev, is_down, lambda handler=handler: run(handler), lambda: VOID, node)
    rest = emit.binary(
        code, "&", types.U32, pending, code.constant(types.U32, ~sum(1 << number for number in handlers) & 0xFFFFFFFF)
    )
    known = ", ".join(map(str, sorted(handlers)))
    message = (
        f"a color without teardown handler is torn down; this PE has handlers of {known}: add @set_teardown_handler"
    )
    code(wse.AssertOp(emit.binary(code, "==", types.U32, rest, zero), message))
    return VOID
