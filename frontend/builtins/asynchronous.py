"""The settings of an asynchronous operation: what its end activates or unblocks, and its microthread."""

from __future__ import annotations

from ...csl import syntax
from ...dialects import dsd, wse
from .. import types
from ..evaluator import Evaluator
from ..struct_fields import Fields, one_of
from ..values import Value
from .tasks import completion_symbol


def symbol_of_completion(ev: Evaluator, fields: Fields, name: str, node: syntax.Node) -> str | None:
    """Return the symbol of the task, given by its name or its id, or of the queue or color, that a field signals.

    What is activated is a local task (DSD-190, DSD-191, DSD-203), what is unblocked no control task (DSD-206).
    """
    value = fields.take(name)
    if value is None:
        return None
    symbol = completion_symbol(ev, value, node, f"'.{name}'", is_activated=name != "unblock")
    assert ev.pe is not None
    kind = ev.pe.kind_of_task(symbol)
    if kind == wse.TaskKind.CONTROL.value or (kind == wse.TaskKind.DATA.value and name != "unblock"):
        needed = "a local or data task" if name == "unblock" else "a local task"
        ev.fail(node, f"'.{name}' names {needed}, but this one is bound as a {kind} task")
    return symbol


def asynchronous(ev: Evaluator, fields: Fields, node: syntax.Node) -> dsd.AsyncAttr | None:
    """Return what the options of an operation say about its microthread; None for a synchronous one."""
    is_async = fields.flag("async")
    names = [name for name in ("activate", "unblock", "on_control") if fields.has(name)]
    ut = fields.identifier("ut_id", types.UT_ID)
    if ev.pe is not None:
        ev.pe.use(ev, "microthread", ut, node)
    priority = fields.choice("priority")
    if not is_async:
        if names:
            ev.fail(node, "'.activate', '.unblock' and '.on_control' need '.async = true' (DSD-196)")
        return None
    if priority is not None and not ev.session.target.operation_priority:
        ev.fail(node, "'.priority' belongs to the fabric DSD or FIFO on WSE-3, not to the operation (DSD-228)")
    if "activate" in names and "unblock" in names:
        ev.fail(node, "an operation takes '.activate' or '.unblock', not both")
    control = fields.take("on_control")
    return dsd.AsyncAttr.get(
        activate=symbol_of_completion(ev, fields, "activate", node),
        unblock=symbol_of_completion(ev, fields, "unblock", node),
        on_control=None if control is None else _on_control(ev, control, node),
        ut=ut,
        priority=None if priority is None else dsd.Priority(one_of(ev, dsd.Priority, priority, "priority", node)),
    )


def _on_control(ev: Evaluator, value: Value, node: syntax.Node) -> dsd.OnControlAttr:
    fields = Fields(ev, value, node, "'.on_control'")
    terminate = fields.flag("terminate")
    if fields.has("activate") + fields.has("unblock") + bool(terminate) > 1:
        ev.fail(node, "'.on_control' takes one of '.terminate', '.activate' and '.unblock', not several")
    activate = symbol_of_completion(ev, fields, "activate", node)
    unblock = symbol_of_completion(ev, fields, "unblock", node)
    fields.end()
    if activate is not None:
        return dsd.OnControlAttr.get(dsd.ControlAction.ACTIVATE, activate)
    if unblock is not None:
        return dsd.OnControlAttr.get(dsd.ControlAction.UNBLOCK, unblock)
    if not terminate:
        ev.fail(node, "'.on_control' is .{ .terminate = true }, .{ .activate = task } or .{ .unblock = task }")
    return dsd.OnControlAttr.get(dsd.ControlAction.TERMINATE)
