"""The settings of an asynchronous operation: what its end activates or unblocks, and its microthread."""

from __future__ import annotations

from ...csl import syntax
from ...dialects import dsd
from .. import types
from ..evaluator import Evaluator
from ..struct_fields import Fields, one_of
from ..values import Value
from .tasks import completion_symbol


def symbol_of_completion(ev: Evaluator, value: Value | None, node: syntax.Node) -> str | None:
    """Return the symbol of a task, by its name or its id, or of a queue or color, that is signaled."""
    return None if value is None else completion_symbol(ev, value, node)


def asynchronous(ev: Evaluator, fields: Fields, node: syntax.Node) -> dsd.AsyncAttr | None:
    """Return what the options of an operation say about its microthread; None for a synchronous one."""
    is_async = fields.flag("async")
    activate, unblock = fields.take("activate"), fields.take("unblock")
    control = fields.take("on_control")
    ut = fields.identifier("ut_id", types.UT_ID)
    if ev.pe is not None:
        ev.pe.use(ev, "microthread", ut, node)
    priority = fields.choice("priority")
    if not is_async:
        if activate is not None or unblock is not None or control is not None:
            ev.fail(node, "'.activate', '.unblock' and '.on_control' need '.async = true' (DSD-196)")
        return None
    if activate is not None and unblock is not None:
        ev.fail(node, "an operation takes '.activate' or '.unblock', not both")
    return dsd.AsyncAttr.get(
        activate=symbol_of_completion(ev, activate, node),
        unblock=symbol_of_completion(ev, unblock, node),
        on_control=None if control is None else _on_control(ev, control, node),
        ut=ut,
        priority=None if priority is None else dsd.Priority(one_of(ev, dsd.Priority, priority, "priority", node)),
    )


def _on_control(ev: Evaluator, value: Value, node: syntax.Node) -> dsd.OnControlAttr:
    fields = Fields(ev, value, node, "'.on_control'")
    terminate = fields.flag("terminate")
    activate, unblock = fields.take("activate"), fields.take("unblock")
    fields.end()
    if (activate is not None) + (unblock is not None) + bool(terminate) > 1:
        ev.fail(node, "'.on_control' takes one of '.terminate', '.activate' and '.unblock', not several")
    if activate is not None:
        return dsd.OnControlAttr.get(dsd.ControlAction.ACTIVATE, symbol_of_completion(ev, activate, node))
    if unblock is not None:
        return dsd.OnControlAttr.get(dsd.ControlAction.UNBLOCK, symbol_of_completion(ev, unblock, node))
    if not terminate:
        ev.fail(node, "'.on_control' is .{ .terminate = true }, .{ .activate = task } or .{ .unblock = task }")
    return dsd.OnControlAttr.get(dsd.ControlAction.TERMINATE)
