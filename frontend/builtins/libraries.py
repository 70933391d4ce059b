"""Builtins that only the libraries call, and those that are calls of a library."""

from __future__ import annotations

import math
from collections.abc import Callable as Function

from xdsl.dialects import arith
from xdsl.dialects import math as mlir_math
from xdsl.ir import Operation, SSAValue

from ...csl import syntax
from ...dialects import wse
from .. import message_passing, types
from ..asking import question
from ..calls import call
from ..conversion import cast
from ..emit import of_cb16, stored
from ..evaluator import MACHINE_BITS, Evaluator
from ..modules import LIBRARIES, Module
from ..places import Memory
from ..registry import Table, Where
from ..scalars import column, lifted, rounded
from ..types import Type
from ..values import VOID, Address, Callable, Value, boolean, is_ssa, struct
from .structs import bytes_of
from .tasks import with_task

TABLE = Table("Random numbers", has_effects=False)


@TABLE.row("@loom_shared(library)", where=Where.PE)
def _shared(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    return Value(types.MODULE, shared_module(ev, ev.text(argument, "the name of a library")))


@question
def shared_module(ev: Evaluator, name: str) -> Module:
    """Return the one instance of a library that all of a PE's program shares."""
    assert ev.pe is not None
    plain = name.strip("<>")
    module = ev.pe.shared.get(plain)
    if module is None:
        module = ev.pe.shared[plain] = ev.load(LIBRARIES / f"{plain}.csl", {}, plain, is_library=True)
    return module


def _shared_call(ev: Evaluator, library: str, name: str, node: syntax.Builtin) -> Value:
    module = shared_module(ev, library)
    declaration = module.globals[name].node
    assert isinstance(declaration, syntax.Function)
    return call(ev, Callable(module, declaration), [ev.expr(argument) for argument in node.arguments], node)


@TABLE.row("@random16()", where=Where.RUN_TIME)
def _random16(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _shared_call(ev, "pseudorandom", "random16", node)


@TABLE.row("@set_active_prng(prng_id)", where=Where.RUN_TIME)
def _set_active_prng(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _shared_call(ev, "pseudorandom", "set_active", node)


@TABLE.row("@loom_coordinate(axis)", where=Where.PE)
def _coordinate(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    pe = ev.program
    axis = ev.text(argument, "an axis")
    if ev.builder is None:
        lanes = pe.state["lanes"]
        return Value(types.U16, column(lanes, pe.columns if axis == "x" else pe.rows))
    ev.code.at(ev.source, node.start)
    return Value(types.U16, ev.code.value(wse.CoordinateOp(wse.Axis(axis))))


@TABLE.row("@loom_elements_at(pointer)", where=Where.PE)
def _elements_at(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Return how many elements an array has from where a pointer points; the largest u16 if that is not known."""
    (argument,) = node.arguments
    pointer = ev.expr(argument)
    where, most = pointer.data, types.U16.highest
    assert isinstance(pointer.type, types.Pointer)
    if isinstance(where, Address) and where.buffer is not None and type(where.offset) is int:
        space = types.size(where.buffer.element) * where.buffer.count - where.offset * where.unit
        most = min(most, space // types.size(pointer.type.target))
    return Value(types.COMPTIME_INT, most)


@TABLE.row("@loom_timestamp(words)", where=Where.RUN_TIME, refusal="cycles are counted at run time only")
def _timestamp(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    pointer = ev.expr(argument)
    ev.code.at(ev.source, node.start)
    op = ev.code(wse.TimestampOp())
    assert isinstance(pointer.type, types.Pointer) and isinstance(pointer.type.target, types.Array)
    where = pointer.data if isinstance(pointer.data, Address) else Address(None, 0, 1, pointer.data)
    words = Memory(where, pointer.type.target, const=False)
    for position, word in enumerate(op.results):
        words.element(ev, position, node).store(ev, Value(types.U16, word), node)
    return VOID


@TABLE.row("@loom_set_clock(action)", where=Where.RUN_TIME, refusal="cycles are counted at run time only")
def _set_clock(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    action = ev.text(argument, "an action")
    ev.code.at(ev.source, node.start)
    ev.code(wse.SetClockOp(action))
    return VOID


@TABLE.row("@loom_print(format[, value...])", takes="a format and what it shows")
def _print(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    text = bytes_of(ev, node.arguments[0]).decode(errors="replace")
    values = [ev.expr(argument) for argument in node.arguments[1:]]
    if len(values) == 1 and isinstance(values[0].type, types.Struct) and values[0].type.names is None:
        values = list(values[0].data)
    if ev.builder is None:
        return VOID
    operands: list[SSAValue] = []
    pieces: list[str] = []
    rest = text
    while rest:
        head, brace, rest = rest.partition("{")
        pieces.append(head.replace("}}", "}").replace("}", "}}"))
        if not brace:
            break
        if rest.startswith("{"):
            pieces.append("{{")
            rest = rest[1:]
            continue
        format, _, rest = rest.partition("}")
        if not values:
            ev.fail(node, f"the format '{text}' shows more values than are given")
        value = values.pop(0)
        if format == "s":
            pieces.append(value.data.decode(errors="replace").replace("{", "{{").replace("}", "}}"))
            continue
        if value.type is types.COMPTIME_INT:
            value = ev.coerce(value, types.I32, node)
        elif value.type is types.COMPTIME_FLOAT:
            value = ev.coerce(value, types.F32, node)
        if types.is_float(value.type) != (format == "f"):
            ev.fail(node, f"'{{{format}}}' does not show a '{value.type}'")
        if value.type is types.BOOL:
            value = cast(ev, value, types.U16, node)
        if value.type is types.CB16:
            value = cast(ev, value, types.F32, node)
        if isinstance(value.type, types.Int) and value.type.bits > MACHINE_BITS:
            ev.fail(
                node, f"'{{{format}}}' does not show a '{value.type}'; convert parts of {MACHINE_BITS} bits with @as"
            )
        if isinstance(value.type, types.Int):
            value = cast(ev, value, stored(value.type), node)
        operands.append(ev.ssa(value, node))
        pieces.append(f"{{{format}}}")
    if values:
        ev.fail(node, f"the format '{text}' shows fewer values than are given")
    ev.code.at(ev.source, node.start)
    ev.code(wse.PrintOp("".join(pieces), operands))
    return VOID


@TABLE.row("@loom_host_stream(color, direction)", where=Where.PE)
def _host_stream(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    color, way = node.arguments
    pe = ev.program
    number = ev.data(ev.expr(color), color, "the color of a stream")
    pe.use(ev, "color", number, node)
    pe.color(number)
    pe.host_streams[number, ev.text(way, "a direction")] = None
    return VOID


@TABLE.row("@loom_is_host_stream(color)", where=Where.RUN_TIME)
def _is_host_stream(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Return True if a color is one on which this PE sends to the host; the modules are imported by now."""
    (argument,) = node.arguments
    number = ev.data(ev.expr(argument), argument, "the color")
    return boolean(ev.program.is_host_stream(number, "out"))


@TABLE.row("@loom_directive(directive, is_x, root, count)", where=Where.RUN_TIME)
def _directive(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    directive, is_x, root, count = node.arguments
    name, axis = ev.text(directive, "a directive"), "x" if ev.data(ev.expr(is_x), is_x, "the axis") else "y"
    numbers = [ev.ssa(ev.expr(number), number) for number in (root, count)]
    ev.code.at(ev.source, node.start)
    ev.code(wse.DirectiveOp(name, axis, *numbers))
    return VOID


@TABLE.row("@loom_message_network(input_queue_id, output_queue_id)", where=Where.PE)
def _message_network(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return Value(types.COLOR, message_passing.use_network(ev, *(ev.integer(argument) for argument in node.arguments)))


@TABLE.row("@loom_message(buffer, on_term)", where=Where.RUN_TIME)
def _message(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Check the arguments of a call; return the type of the array that a message is in."""
    buffer, on_term = (ev.expr(argument) for argument in node.arguments)
    return Value(types.TYPE, message_passing.check_call(ev, buffer, on_term, node))


@TABLE.row("@loom_with_task(id, function, argument)", where=Where.RUN_TIME)
def _with_task(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    """Call a function with an argument and `.{ .activate = id }`, where the id is known: one of those of the tasks."""
    id, function, argument = (ev.expr(argument) for argument in node.arguments)

    def call_for(number: int) -> None:
        call(ev, function.data, [argument, struct(activate=Value(types.LOCAL_TASK_ID, number))], node)

    if is_ssa(id.data):
        with_task(ev, id, lambda binding: call_for(binding.id), node)
    else:
        call_for(ev.data(id, node.arguments[0]))
    return VOID


@TABLE.row("@loom_memory_bytes()")
def _memory_bytes(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return Value(types.COMPTIME_INT, ev.session.target.memory_bytes)


_UNARY: dict[str, tuple[type[Operation], Function[[float], float]]] = {
    "sqrt": (mlir_math.SqrtOp, lambda x: math.sqrt(x) if x >= 0 else math.nan),
    "rsqrt": (mlir_math.RsqrtOp, lambda x: 1 / math.sqrt(x) if x > 0 else (math.inf if x == 0 else math.nan)),
    "exp": (mlir_math.ExpOp, math.exp),
    "log": (mlir_math.LogOp, lambda x: math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan)),
    "log2": (mlir_math.Log2Op, lambda x: math.log2(x) if x > 0 else (-math.inf if x == 0 else math.nan)),
    "log10": (mlir_math.Log10Op, lambda x: math.log10(x) if x > 0 else (-math.inf if x == 0 else math.nan)),
    "sin": (mlir_math.SinOp, math.sin),
    "cos": (mlir_math.CosOp, math.cos),
    "tan": (mlir_math.TanOp, math.tan),
    "tanh": (mlir_math.TanhOp, math.tanh),
    "atan": (mlir_math.AtanOp, math.atan),
    "ceil": (mlir_math.CeilOp, lambda x: float(math.ceil(x))),
    "floor": (mlir_math.FloorOp, lambda x: float(math.floor(x))),
    "round": (mlir_math.RoundOp, lambda x: math.copysign(math.floor(abs(x) + 0.5), x)),
    "abs": (mlir_math.AbsFOp, abs),
}
_BINARY: dict[str, tuple[type[Operation], Function[[float, float], float]]] = {
    "pow": (mlir_math.PowFOp, math.pow),
    "atan2": (mlir_math.Atan2Op, math.atan2),
    "min": (arith.MinimumfOp, min),
    "max": (arith.MaximumfOp, max),
}


@TABLE.row("@loom_math(function, value[, value[, value]])")
def _math(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = node.arguments
    name = ev.text(arguments[0], "the name of a function")
    values = [ev.expr(argument) for argument in arguments[1:]]
    type = next((v.type for v in values if v.type is not types.COMPTIME_FLOAT), values[0].type)
    values = [ev.coerce(value, type, argument) for value, argument in zip(values, arguments[1:], strict=True)]
    if not types.is_float(type):
        ev.fail(node, f"this works on floats, not on '{type}'")
    op, known = (_UNARY if len(values) == 1 else _BINARY)[name]
    if any(is_ssa(value.data) for value in values):
        operands = [ev.ssa(value, node) for value in values]
        ev.code.at(ev.source, node.start)
        if type is types.CB16:
            return Value(type, of_cb16(ev.code, op.name.partition(".")[2], operands, operands[0].type))
        return Value(type, ev.code.value(op(*operands)))

    def safe(*numbers: float) -> float:
        try:
            return rounded(type, known(*numbers))
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return Value(type, lifted(ev.lanes, safe, *(value.data for value in values)))
