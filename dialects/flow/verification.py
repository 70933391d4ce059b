"""Verification of the members of a fabric: what they name, and places, ids and names that must agree or differ.

Nothing here changes an operation.
"""

from __future__ import annotations

from xdsl.utils.exceptions import VerifyException

from ...targets import Target
from ...targets import fabric as target_of
from ..machine.code import Bodies
from ..machine.region import indices_text, region_list_text
from ..machine.region_overlap import first_overlap
from ..machine.rules import network_problem
from ..machine.symbols import Scope, belongs_in, described, verify_members, verify_user
from ..symbols import symbols_of
from .channels import ChannelOp
from .code import TaskOp
from .fabric import ColorOp, FabricOp, HostStreamOp, MessageNetworkOp, RouteOp, UnitsOp
from .memory import ExportOp
from .origins import Origins
from .queues import QueueOp
from .scope import UnitsScope
from .tiles import SpaceOp


def _verify_units(units: UnitsOp, outer: Scope, bodies: Bodies, origins: Origins) -> None:
    """Check all that the operations of a class name, how their streams flow, and the ids of the class."""
    available = outer.target.memory_bytes // 2
    words = units.words.value.data
    if not 0 <= words <= available:
        op = units  # by this name `located` finds the operation that an error is about
        raise VerifyException(
            f"units @{op.sym_name.data} have {words} words of memory, but a PE of {outer.target.name} has {available}; "
            "use fewer"
        )
    symbols = symbols_of(units)
    where = f"flow.units @{units.sym_name.data}"
    streams = origins.of(units, symbols)
    scope = UnitsScope(outer.target, outer.grid, where, outer.shared, symbols, words, streams)
    bodies.verify(units, scope, alone=not origins.cross_calls(units))
    _verify_queue_ids(units, scope)
    _verify_task_ids(units, scope)


def _verify_queue_ids(units: UnitsOp, scope: Scope) -> None:
    """Check that queues of one id and direction serve one color on a PE of WSE-3, where a queue keeps its color
    (AMB-11)."""
    if not scope.target.queues_keep_color:
        return
    sharing: dict[tuple[str, int], list[QueueOp]] = {}
    for op in units.body.block.ops:
        if isinstance(op, QueueOp):
            sharing.setdefault((op.direction.data, op.queue_id.value.data), []).append(op)
    for (_, number), queues in sharing.items():
        places = [(queue, place) for queue in queues for place in queue.places(scope.grid)]
        found = first_overlap([place for _, place in places])
        if found is not None:
            (first, _), (op, _) = places[found[0]], places[found[1]]
            x, y = found[2]
            raise VerifyException(
                f"{described(op)} has id {number}, which @{first.sym_name.data} has already with another color at PE "
                f"({x}, {y}); give one another id"
            )


def _verify_task_ids(units: UnitsOp, scope: Scope) -> None:
    """Check the ids of tasks: local and data tasks share their numbers, control tasks have their own."""
    taken: dict[tuple[bool, int], TaskOp] = {}
    for op in units.body.block.ops:
        if not isinstance(op, TaskOp):
            continue
        other = taken.setdefault((op.kind.data == "control", op.task_id.value.data), op)
        # Data tasks have the ids of their queues or colors, which may be one on different PEs.
        if other is not op and not (op.is_data and other.is_data):
            raise VerifyException(
                f"{described(op)} has id {op.task_id.value.data}, which @{other.sym_name.data} has already; give one "
                "another id"
            )


@verify_members.register
def _(fabric: FabricOp) -> None:
    """Check what the operations of a fabric name, and that its units agree."""
    target = target_of(fabric.target.data)
    scope = Scope(target, fabric.grid, f"flow.fabric @{fabric.sym_name.data}", symbols_of(fabric), {})
    _verify_colors(fabric, target)
    bodies, origins = Bodies(fabric), Origins(fabric)
    for op in fabric.body.block.ops:
        match op:
            case ColorOp() | SpaceOp():
                pass
            case RouteOp() | HostStreamOp() | MessageNetworkOp() | ChannelOp():
                verify_user(op, scope)
            case UnitsOp():
                _verify_units(op, scope, bodies, origins)
            case _:
                raise VerifyException(
                    f"{op.name} does not belong in a flow.fabric directly; only colors, routes, host streams, "
                    "message networks, spaces, channels and units do"
                )
    _verify_networks(fabric)
    _verify_places(fabric)
    _verify_exports(fabric)


def _verify_networks(fabric: FabricOp) -> None:
    ops = list(fabric.body.block.ops)
    networks = [op.color.string_value() for op in ops if isinstance(op, MessageNetworkOp)]
    others = [op.color.string_value() for op in ops if isinstance(op, RouteOp | HostStreamOp)]
    if (problem := network_problem(networks, others)) is not None:
        raise VerifyException(problem)


def _verify_colors(fabric: FabricOp, target: Target) -> None:
    taken: dict[int, str] = {}
    for op in fabric.body.block.ops:
        if not isinstance(op, ColorOp):
            continue
        number, name = op.color.value.data, op.sym_name.data
        if not 0 <= number < target.routable_colors:
            raise VerifyException(
                f"color @{name} is color {number}, which {target.name} does not offer; choose one from 0 to "
                f"{target.routable_colors - 1}"
            )
        if (other := taken.setdefault(number, name)) != name:
            raise VerifyException(f"colors @{other} and @{name} are both color {number}; give one another number")


def _verify_places(fabric: FabricOp) -> None:
    places: list[tuple[UnitsOp, tuple[range, range]]] = []
    for op in fabric.body.block.ops:
        if isinstance(op, UnitsOp):
            regions = [region.resolve(*fabric.grid) for region in op.regions_attr]
            if not any(columns and rows for columns, rows in regions):
                raise VerifyException(
                    f"units @{op.sym_name.data} on {region_list_text(op.regions_attr)} cover no PE of the grid, "
                    f"which has {indices_text(*fabric.grid)}; correct their region or remove them"
                )
            places += [(op, region) for region in regions]
    found = first_overlap(places)
    if found is not None:
        (first, _), (op, _) = places[found[0]], places[found[1]]
        x, y = found[2]
        raise VerifyException(
            f"units @{op.sym_name.data} are placed on PE ({x}, {y}), where @{first.sym_name.data} are already; "
            "place one class of units on each PE"
        )


def _verify_exports(fabric: FabricOp) -> None:
    """Check that what has one name has one type on all PEs."""
    known: dict[str, tuple[str, str]] = {}
    for units in fabric.body.block.ops:
        if not isinstance(units, UnitsOp):
            continue
        symbols = symbols_of(units)
        for op in units.body.block.ops:
            if not isinstance(op, ExportOp):
                continue
            name, shown = op.visible_name.data, op.shown_as(symbols)
            other, owner = known.setdefault(name, (shown, units.sym_name.data))
            if other != shown:
                raise VerifyException(
                    f'"{name}" is {shown} here, but {other} in units @{owner}; give them one type or two names'
                )


@verify_members.register
def _(units: UnitsOp) -> None:
    """Check the members of units, the names of their exports and the queues of their tasks."""
    exported: set[str] = set()
    listening: dict[str, str] = {}
    for op in units.body.block.ops:
        if not belongs_in(op, UnitsOp):
            raise VerifyException(
                f"{op.name} does not belong in flow.units directly; put it into a flow.func or flow.task"
            )
        if isinstance(op, ExportOp):
            if (name := op.visible_name.data) in exported:
                raise VerifyException(f'"{name}" is exported twice; give one of them another name')
            exported.add(name)
        elif isinstance(op, TaskOp) and op.queue is not None:
            name, queue = op.sym_name.data, op.queue.string_value()
            if (other := listening.setdefault(queue, name)) != name:
                raise VerifyException(
                    f"queue @{queue} has two data tasks, @{other} and @{name}; give one of them another queue"
                )
