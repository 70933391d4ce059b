"""Verification of the members of a program: what they name, and ids and names that must differ.

Nothing here changes an operation.
"""

from __future__ import annotations

from xdsl.utils.exceptions import VerifyException

from ...targets import TARGETS, Target
from ..machine.code import Bodies
from ..machine.rules import network_problem
from ..machine.symbols import Scope, belongs_in, verify_members, verify_user
from ..symbols import symbols_of
from ..verification import Failures
from .attributes import TaskKind
from .code import TaskOp
from .fabric import ColorOp, HostStreamOp, MessageNetworkOp, RouteOp
from .memory import ExportOp
from .program import PeOp, ProgramOp


def _verify_color_id(color: ColorOp, taken: dict[int, str], target: Target) -> None:
    if color.id is None:
        return
    number, name = color.id.value.data, color.sym_name.data
    if not 0 <= number < target.routable_colors:
        raise VerifyException(
            f"color @{name} has id {number}, which {target.name} does not offer; choose one from 0 to "
            f"{target.routable_colors - 1}"
        )
    _verify_unique(taken, number, "color", name)


def _verify_unique(taken: dict[int, str], number: int, noun: str, name: str) -> None:
    if (other := taken.setdefault(number, name)) != name:
        raise VerifyException(f"{noun} @{name} has id {number}, which @{other} has already; give one another id")


@verify_members.register
def _(program: ProgramOp) -> None:
    """Check all that the operations of a program name, and the ids of its colors."""
    symbols, target = symbols_of(program), TARGETS[program.target.data]
    outer = Scope(target, program.rectangle, f"wse.program @{program.sym_name.data}", symbols, {})
    ids: dict[int, str] = {}
    bodies, failures = Bodies(program), Failures()
    for op in program.body.block.ops:
        with failures.going_on():
            match op:
                case PeOp():
                    where = f"wse.pe @{op.sym_name.data} or its program"
                    bodies.verify(op, Scope(target, program.rectangle, where, symbols, symbols_of(op)))
                case ColorOp():
                    _verify_color_id(op, ids, target)
                case RouteOp() | HostStreamOp() | MessageNetworkOp():
                    verify_user(op, outer)
                case _:
                    raise VerifyException(
                        f"{op.name} does not belong in a wse.program directly; only colors, routes, host streams, "
                        "message networks and PE programs do"
                    )
    failures.end()
    ops = list(program.body.block.ops)
    networks = [op.color.string_value() for op in ops if isinstance(op, MessageNetworkOp)]
    others = [op.color.string_value() for op in ops if isinstance(op, RouteOp | HostStreamOp)]
    if (problem := network_problem(networks, others)) is not None:
        raise VerifyException(problem)


@verify_members.register
def _(pe: PeOp) -> None:
    """Check the members of a PE program, the names of its exports and the ids of its tasks."""
    exported: set[str] = set()
    task_ids: dict[TaskKind, dict[int, str]] = {kind: {} for kind in TaskKind}
    failures = Failures()
    for op in pe.body.block.ops:
        with failures.going_on():
            if not belongs_in(op, PeOp):
                message = f"{op.name} does not belong in a wse.pe directly; put it into a wse.func or wse.task"
                raise VerifyException(message)
            if isinstance(op, ExportOp):
                if op.exported_name in exported:
                    raise VerifyException(f'"{op.exported_name}" is exported twice; give one of them another name')
                exported.add(op.exported_name)
            elif isinstance(op, TaskOp) and (number := op.task_id) is not None:
                _verify_unique(task_ids[op.task_kind], number, f"{op.task_kind} task", op.sym_name.data)
    failures.end()
