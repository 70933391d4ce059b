"""Builtins of parts of the machine that are not modeled yet, and the task table of control tasks.

Each is known, checked as far as that goes without the part, and refused with one error.
"""

from __future__ import annotations

from ..csl import syntax
from .core import Evaluator, builtin
from .operations import Fields, expect
from .tasks import pe_of
from .types import Type
from .values import VOID, Value

NOT_YET: dict[str, tuple[tuple[int, ...], str]] = {
    "@get_config": ((1, 2), "configuration registers are"),
    "@get_config_unchecked": ((1,), "configuration registers are"),
    "@set_config": ((2, 3), "configuration registers are"),
    "@set_config_unchecked": ((2,), "configuration registers are"),
    "@get_filter_id": ((1,), "filters are"),
    "@set_teardown_handler": ((2,), "teardown is"),
    "@dfilt": ((2,), "dropping wavelets up to a control wavelet is"),
    "@queue_flush": ((1,), "flushing queues is"),
    "@set_empty_queue_handler": ((2,), "flushing queues is"),
    "@bind_rotating_tasks": ((4,), "task rotation is"),
}
"""How many arguments each takes, and what it needs."""

WSE3_ONLY = frozenset({"queue_flush", "set_empty_queue_handler", "bind_rotating_tasks", "set_control_task_table"})


def _only_on_wse3(ev: Evaluator, node: syntax.Builtin) -> None:
    if node.name in WSE3_ONLY and ev.session.target.data_tasks_by_color:
        ev.fail(node, f'@{node.name} exists on WSE-3 only; guard it with @is_arch("wse3")')


@builtin(*NOT_YET)
def _not_yet(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    counts, what = NOT_YET[f"@{node.name}"]
    expect(ev, node, *counts)
    _only_on_wse3(ev, node)
    ev.fail(node, f"@{node.name} is not supported yet: {what} not simulated")


@builtin("@set_control_task_table")
def _set_control_task_table(ev: Evaluator, node: syntax.Builtin, want: Type | None) -> Value:
    arguments = expect(ev, node, 0, 1)
    pe = pe_of(ev, node)
    _only_on_wse3(ev, node)
    if ev.builder is not None:
        ev.fail(node, "@set_control_task_table stands in a comptime block, not in code for run time")
    if "control_task_table" in pe.state:
        before = pe.state["control_task_table"]
        ev.fail(node, "@set_control_task_table is called twice; once is enough", ev.note(before, "first here"))
    if arguments:
        fields = Fields(ev, ev.comptime_expr(arguments[0]), arguments[0], "the configuration of the control task table")
        instructions, stride = fields.number("instructions"), fields.number("stride")
        fields.end()
        if instructions not in (None, 2, 4, 8):
            ev.fail(arguments[0], f"'.instructions' is 2, 4 or 8, not {instructions}")
        if stride is not None and not 1 <= stride <= 7:
            ev.fail(arguments[0], f"'.stride' is 1 to 7, not {stride}")
    pe.state["control_task_table"] = node
    return VOID
