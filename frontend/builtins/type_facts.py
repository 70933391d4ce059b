"""Builtins of the libraries that ask about types, check what programs pass, and make strings."""

from __future__ import annotations

from typing import Any

from ...csl import syntax
from ...dialects import wse
from ...operations import integers
from ...operations.print_format import shown
from .. import types
from ..errors import Refused, in_program
from ..evaluator import Evaluator
from ..registry import Table
from ..types import Type
from ..values import VOID, Column, Value, boolean, is_ssa, string

TABLE = Table("Types and strings", has_effects=False)


@TABLE.row("@loom_type_name(type)")
def _type_name(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return string(str(ev.type_of(node.arguments[0])))


DSR_TYPES = (types.DSR_DEST, types.DSR_SRC0, types.DSR_SRC1, types.DSR_FIFO_DEST, types.DSR_FIFO_SRC1)


@TABLE.row("@loom_is_type(type, kind)")
def _is_type(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    type = ev.type_of(node.arguments[0])
    match ev.text(node.arguments[1], "a kind of type"):
        case "signed integer":
            return boolean(isinstance(type, types.Int) and type.signed)
        case "unsigned integer":
            return boolean(isinstance(type, types.Int) and not type.signed)
        case "float":
            return boolean(isinstance(type, types.Float))
        case "descriptor":
            return boolean(isinstance(type, types.Descriptor))
        case "register":
            return boolean(type in DSR_TYPES)
        case "directions":
            return boolean(isinstance(type, types.Array) and type.element is types.DIRECTION)
        case kind:
            raise AssertionError(kind)


@TABLE.row("@loom_type_size(type, unit)")
def _type_size(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    type = ev.type_of(node.arguments[0])
    if types.is_comptime_only(type) or type is types.VOID:
        message = f"a value of type '{type}' is not in memory, so it has no size; use a type that exists at run time"
        raise Refused(ev.error(node, message).diagnostics)
    match ev.text(node.arguments[1], "a unit"):
        case "bits":
            bits = types.bit_width(type)
            return Value(types.COMPTIME_INT, 8 * types.size(type) if bits is None else bits)
        case "bytes":
            return Value(types.COMPTIME_INT, types.size(type))
        case _:
            return Value(types.COMPTIME_INT, types.alignment(type))


@TABLE.row("@loom_unsigned(bits)")
def _unsigned(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    bits = ev.integer(node.arguments[0], "the width of an integer")
    if bits > types.MAX_INTEGER_BITS:
        message = f"there are no integers of {bits} bits; use at most {types.MAX_INTEGER_BITS}"
        raise Refused(ev.error(node, message).diagnostics)
    return Value(types.TYPE, types.Int(bits, False))


@TABLE.row("@loom_require(condition, message)")
def _require(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Refuse what is known to be wrong; what is not known is checked when it runs."""
    condition, text = node.arguments
    value = ev.expr(condition)
    message = ev.text(text, "the message of a requirement")
    if is_ssa(value.data):
        test = ev.ssa(value, condition)
        ev.code.at(ev.source, node.start)
        ev.code(wse.AssertOp(test, message))
    else:
        if isinstance(value.data, Column):
            ev.data(value, condition)
        if not ev.data(value, condition):
            raise Refused(ev.error(node, message).diagnostics)
    return VOID


@TABLE.row("@loom_target(fact)")
def _target(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    target = ev.session.target
    match ev.text(node.arguments[0], "a fact of the target"):
        case "name":
            return string(target.name)
        case "fifo_alignment":
            return Value(types.COMPTIME_INT, target.fifo_alignment)
        case "filters":
            return Value(types.COMPTIME_INT, target.filters)
        case "input_queue_bits":
            return Value(types.COMPTIME_INT, (1 << target.input_queues) - 1)
        case "output_queue_bits":
            return Value(types.COMPTIME_INT, (1 << target.output_queues) - 1)
        case "teardown_task":
            return Value(types.COMPTIME_INT, target.teardown_task)
        case "filter_registers":
            return Value(types.COMPTIME_INT, target.registers.filters)
        case "color_registers":
            return Value(types.COMPTIME_INT, target.registers.colors)
        case "switch_registers":
            return Value(types.COMPTIME_INT, target.registers.switches)
        case "position_registers":
            return Value(types.COMPTIME_INT, target.registers.positions[0])
        case "queue_registers":
            return Value(types.COMPTIME_INT, target.registers.queues)
        case "clock_registers":
            return Value(types.COMPTIME_INT, target.registers.clock)
        case "setting_registers":
            return Value(types.COMPTIME_INT, target.registers.settings)
        case "teardown_pending":
            return Value(types.COMPTIME_INT, target.registers.teardown_pending)
        case fact:
            raise AssertionError(fact)


@TABLE.row("@loom_warn(message)")
def _warn(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Report, once, what the program may be wrong about, at its call of the library."""
    warn_program(ev, node, ev.text(node.arguments[0], "a warning"))
    return VOID


def warn_program(ev: Evaluator, node: syntax.Node, message: str) -> None:
    """Report, once, what the program may be wrong about, at its own place if this is in a library."""
    warning = f"{in_program(ev.error(node, message)).location}: warning: {message}"
    if warning not in ev.session.warnings:
        ev.session.warnings.append(warning)


_TAKES = {"d": "an integer", "X": "an integer", "b": "an integer", "f": "a float", "s": "a string"}
"""What each specifier of a format shows."""


def _fits(specifier: str, type: Type) -> bool:
    if specifier == "s":
        return type is types.COMPTIME_STRING
    return types.is_float(type) if specifier == "f" else types.is_integer(type) or type is types.BOOL


def _parsed(text: str, values: list[Value]) -> list[str | tuple[str, Value]]:
    """Return the parts of a format: texts, and specifiers with what they show. Raise ValueError if they do not fit."""
    parts: list[str | tuple[str, Value]] = []
    position, used = 0, 0
    while position < len(text):
        letter, name = text[position], text[position + 1 : position + 2]
        if letter in "{}" and name == letter:
            parts.append(letter)
            position += 2
        elif letter != "{":
            parts.append(letter)
            position += 1
        else:
            if name not in _TAKES or text[position + 2 : position + 3] != "}":
                known = ", ".join(f"{{{specifier}}}" for specifier in _TAKES)
                written = text[position : position + 3]
                raise ValueError(f"'{written}' is not a specifier; use {known}, or '{{{{' for a brace")
            if used == len(values):
                raise ValueError(f"the format '{text}' takes more than the {len(values)} values given")
            value = values[used]
            used += 1
            if not _fits(name, value.type):
                raise ValueError(f"'{{{name}}}' takes {_TAKES[name]}, but value {used} is of type '{value.type}'")
            parts.append((name, value))
            position += 3
    if used < len(values):
        raise ValueError(f"the format '{text}' takes {used} of the {len(values)} values given")
    return parts


def _formatted(ev: Evaluator, node: syntax.Builtin) -> list[str | tuple[str, Value]]:
    """Return the parts of the format that a builtin's first two arguments are: its text and the tuple of values."""
    library = ev.frame.module.path.stem
    text = ev.text(node.arguments[0], "a format")
    given = ev.expr(node.arguments[1])
    try:
        if not isinstance(given.type, types.Struct) or given.type.names:
            raise ValueError(f"the values of a format are a tuple, .{{ value, ... }}, not '{given.type}'")
        return _parsed(text, list(given.data))
    except ValueError as error:
        raise Refused(ev.error(node, f"<{library}>: {error}").diagnostics) from None


def _shown(ev: Evaluator, specifier: str, value: Value, node: syntax.Node) -> str:
    """Return a value as a specifier shows it, as `<simprint>` does at run time."""
    data: Any = ev.data(value, node, "a value of a format")
    if specifier == "s":
        return data.decode(errors="replace")
    if specifier == "f":
        return shown("f", str(value.type) if value.type in (types.F16, types.BF16, types.F32) else "f64", data)
    if specifier == "d":
        return str(int(data))
    if isinstance(value.type, types.Int):
        bits = value.type.bits
        number = integers.unsigned(data, bits)
        return f"{number:0{bits}b}" if specifier == "b" else f"{number:0{-(-bits // 4)}X}"
    return f"{data:b}" if specifier == "b" else f"{data:X}"


@TABLE.row("@loom_format(format, values)")
def _format(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Return a string with values known at compile time in it."""
    parts = _formatted(ev, node)
    return string("".join(part if isinstance(part, str) else _shown(ev, *part, node) for part in parts))


@TABLE.row("@loom_check_format(format, values)")
def _check_format(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Refuse values that a format does not print at run time; warn of integers that the manual does not name."""
    for part in _formatted(ev, node):
        if not isinstance(part, str) and part[0] in "dXb":
            type = part[1].type
            if type not in (types.U16, types.U32, types.COMPTIME_INT):
                warn_program(
                    ev, node, f"<simprint>: '{{{part[0]}}}' takes a u16 or u32; this '{type}' is printed without sign"
                )
    return VOID


@TABLE.row("@loom_set_exception_mask(mask)")
def _set_exception_mask(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    if ev.builder is None:
        message = "<tile_config>: set_exception_mask works at run time only; call it first in a task or function"
        raise Refused(ev.error(node, message).diagnostics)
    mask = ev.ssa(ev.expr(argument), argument)
    ev.code.at(ev.source, node.start)
    ev.code(wse.SetExceptionMaskOp(mask))
    return VOID
