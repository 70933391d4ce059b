"""Builtins that make colors, queues and task ids of numbers."""

from __future__ import annotations

from ... import targets
from ...csl import syntax
from .. import types
from ..comptime_known import warn as warn_of_late
from ..conversion import extremes
from ..evaluator import Evaluator
from ..pe import TASK_KINDS
from ..registry import Table
from ..types import Type
from ..values import Value, boolean, is_ssa

TABLE = Table("Colors, queues and task ids", has_effects=False)


def _identifier(ev: Evaluator, node: syntax.Builtin, type: types.Identifier, allowed: range, what: str) -> Value:
    (argument,) = node.arguments
    value = ev.expr(argument, types.U16)
    if not types.is_integer(value.type):
        ev.fail(argument, f"@{node.name} takes an integer, not '{value.type}'")
    if is_ssa(value.data):
        if type in (types.INPUT_QUEUE, types.OUTPUT_QUEUE):
            ev.fail(argument, "the number of a queue must be known at compile time")
        return Value(type, ev.coerce(value, types.U16, argument).data)
    if ev.builder is not None and type in (types.INPUT_QUEUE, types.OUTPUT_QUEUE):
        warn_of_late(ev, argument)
    if isinstance(value.type, types.Int) and value.type.signed and type in TASK_KINDS:
        ev.warn(argument, f"the SDK's compiler takes unsigned integers for @{node.name}, not '{value.type}'; use 'u16'")
    low, high = extremes(value.data)
    if low < allowed[0] or high > allowed[-1]:
        wrong = low if low < allowed[0] else high
        arch = ev.session.target.name.upper().replace("WSE", "WSE-")
        ev.fail(argument, f"there is no {what} {wrong} on {arch}; they are {allowed[0]} to {allowed[-1]}")
    return Value(type, value.data)


@TABLE.row("@get_color(number)")
def _get_color(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _identifier(ev, node, types.COLOR, range(ev.session.target.routable_colors), "color")


@TABLE.row("@get_local_task_id(number)")
def _get_local_task_id(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _identifier(ev, node, types.LOCAL_TASK_ID, ev.session.target.local_task_ids, "local task id")


@TABLE.row("@get_control_task_id(number)")
def _get_control_task_id(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _identifier(ev, node, types.CONTROL_TASK_ID, ev.session.target.control_task_ids, "control task id")


@TABLE.row("@get_input_queue(number)")
def _get_input_queue(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    return _identifier(ev, node, types.INPUT_QUEUE, range(ev.session.target.input_queues), "input queue")


@TABLE.row("@get_output_queue(number)")
def _get_output_queue(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    if isinstance(ev.expr(argument).type, types.Identifier):
        # Published programs contain `@get_output_queue(input_queues[2])`.
        return Value(types.OUTPUT_QUEUE, ev.expr(argument).data)
    return _identifier(ev, node, types.OUTPUT_QUEUE, range(ev.session.target.output_queues), "output queue")


@TABLE.row("@get_ut_id(number)", on_wse2="on WSE-2 the microthread is that of the queue")
def _get_ut_id(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    value = ev.expr(argument)
    if value.type in (types.INPUT_QUEUE, types.OUTPUT_QUEUE):
        return Value(types.UT_ID, value.data)
    return _identifier(ev, node, types.UT_ID, range(ev.session.target.microthreads), "microthread")


@TABLE.row("@get_data_task_id(color_or_queue)")
def _get_data_task_id(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    value = ev.expr(argument)
    needed = types.COLOR if ev.session.target.data_tasks_by_color else types.INPUT_QUEUE
    if value.type is not needed:
        wanted = f"{'a' if needed is types.COLOR else 'an'} '{needed}'"
        ev.fail(argument, f"@get_data_task_id takes {wanted} on {ev.session.target.name}, not '{value.type}'")
    return Value(types.DATA_TASK_ID, value.data)


@TABLE.row("@get_int(value)")
def _get_int(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    value = ev.expr(argument)
    if isinstance(value.type, types.Enum):
        return Value(value.type.underlying, value.data)
    if isinstance(value.type, types.Identifier) and value.type is not types.DIRECTION:
        return Value(types.U16, value.data)
    if value.type is types.DIRECTION and ev.frame.module.is_library:
        return Value(types.U16, value.data)
    if types.is_integer(value.type):
        return value
    ev.fail(argument, f"a '{value.type}' has no underlying integer")


@TABLE.row("@is_arch(name)")
def _is_arch(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    (argument,) = node.arguments
    name = ev.text(argument, "an architecture")
    if name not in targets.TARGETS:
        ev.warn(argument, f"there is no architecture '{name}'; there are: {', '.join(targets.TARGETS)}")
    return boolean(name.lower() == ev.session.target.name)
