"""What the operations of a fabric may name, and what its members must fulfil together.

The fabric knows its members only here: they are built on it. Nothing here changes an operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ...targets import Target
from ..machine.region import indices_text, region_list_text
from ..machine.region_overlap import first_overlap
from ..symbols import symbols_of
from ..traversal import walk
from .channels import ChannelOp
from .code import FuncOp, TaskOp
from .fabric import ColorOp, FabricOp, HostStreamOp, RouteOp, UnitsOp
from .memory import BufferOp, ExportOp, InitializeOp, ParamOp
from .operations import InitialOp
from .origins import Streams
from .queues import FifoOp, QueueOp
from .symbols import SymbolUser, described
from .tiles import SpaceOp

_OperationT = TypeVar("_OperationT", bound=Operation)


@dataclass(frozen=True)
class Scope:
    """What the operations of a fabric, or of one class of its units, may name, and the machine they are for.

    Built once for each class, so that checking all uses of symbols costs one walk of the program.
    """

    target: Target
    grid: tuple[int, int]
    """Columns and rows."""
    where: str
    """The operation whose symbols these are, for errors."""
    fabric: Mapping[str, Operation]
    units: Mapping[str, Operation]
    words: int = 0
    """Memory of a unit, in 16-bit words."""
    streams: Streams = field(default_factory=lambda: Streams())

    def find(self, symbol: SymbolRefAttr) -> Operation:
        """The operation that defines `symbol`; raises VerifyException if there is none."""
        name = symbol.string_value()
        found = self.units.get(name) or self.fabric.get(name)
        if found is None:
            raise VerifyException(f"@{name} is not defined in {self.where}; define it or correct the name")
        return found

    def color(self, symbol: SymbolRefAttr) -> ColorOp:
        """The color called `symbol`; raises VerifyException if it is anything else."""
        # A unit may use the name for something of its own.
        found = self.fabric.get(symbol.string_value())
        return found if isinstance(found, ColorOp) else self._of_kind(symbol, ColorOp, "a color")

    def buffer(self, symbol: SymbolRefAttr) -> BufferOp:
        """The buffer called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, BufferOp, "a buffer")

    def fifo(self, symbol: SymbolRefAttr) -> FifoOp:
        """The FIFO called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, FifoOp, "a FIFO")

    def param(self, symbol: SymbolRefAttr) -> ParamOp:
        """The parameter called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, ParamOp, "a param")

    def space(self, symbol: SymbolRefAttr) -> SpaceOp:
        """The memory called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, SpaceOp, "a space")

    def space_of(self, units: SymbolRefAttr, symbol: SymbolRefAttr) -> SpaceOp:
        """The memory called `symbol` of a class of units; raises VerifyException if there is none."""
        owner = self.units_named(units)
        for member in owner.body.block.ops:
            if isinstance(member, SpaceOp) and member.sym_name.data == symbol.string_value():
                return member
        raise VerifyException(f"{symbol} is no space of {described(owner)}; name one of its spaces")

    def channel(self, symbol: SymbolRefAttr) -> ChannelOp:
        """The channel called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, ChannelOp, "a channel")

    def units_named(self, symbol: SymbolRefAttr) -> UnitsOp:
        """The class of units called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, UnitsOp, "a class of units")

    def func(self, symbol: SymbolRefAttr) -> FuncOp:
        """The function called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, FuncOp, "a function")

    def queue(self, symbol: SymbolRefAttr) -> QueueOp:
        """The queue called `symbol`; raises VerifyException if it is anything else."""
        return self._of_kind(symbol, QueueOp, "a queue")

    def input_queue(self, symbol: SymbolRefAttr) -> QueueOp:
        """The input queue called `symbol`; raises VerifyException if it is anything else."""
        found = self._of_kind(symbol, QueueOp, "an input queue")
        if not found.is_input:
            raise VerifyException(f"{described(found)} stands where an input queue is needed; name an input queue")
        return found

    def task_to_activate(self, symbol: SymbolRefAttr) -> TaskOp:
        """The local task called `symbol`: nothing else can be activated (DSD-190, DSD-191)."""
        found = self.find(symbol)
        if not isinstance(found, TaskOp) or not found.is_local:
            raise VerifyException(f"{described(found)} cannot be activated; name a local task")
        return found

    def check_block(self, symbol: SymbolRefAttr, done: str) -> None:
        """Accept a task, or an input queue, which stands for what its wavelets start (DSD-192, DSD-193)."""
        found = self.find(symbol)
        if not isinstance(found, TaskOp) and not (isinstance(found, QueueOp) and found.is_input):
            raise VerifyException(f"{described(found)} cannot be {done}; name a task or an input queue")

    def _of_kind(self, symbol: SymbolRefAttr, kind: type[_OperationT], noun: str) -> _OperationT:
        found = self.find(symbol)
        if not isinstance(found, kind):
            raise VerifyException(f"{described(found)} stands where {noun} is needed; name {noun}")
        return found


def _verify_symbols(user: SymbolUser, scope: Scope) -> None:
    """Report an error at the operation that made it, not at the fabric that found it."""
    try:
        user.verify_symbols(scope)
    except VerifyException as error:
        user.emit_error(f"Operation does not verify: {error}", error)


def _verify_units(units: UnitsOp, outer: Scope) -> None:
    """Check all that the operations of a class name, how their streams flow, and the ids of the class."""
    available = outer.target.memory_bytes // 2
    words = units.words.value.data
    if not 0 <= words <= available:
        op = units
        raise VerifyException(
            f"units @{op.sym_name.data} have {words} words of memory, but a PE of {outer.target.name} has {available}; "
            "use fewer"
        )
    symbols = symbols_of(units)
    streams = Streams()
    streams.trace(units, symbols)
    where = f"flow.units @{units.sym_name.data}"
    scope = Scope(outer.target, outer.grid, where, outer.fabric, symbols, words, streams)
    for member in units.body.block.ops:
        for user in walk(member):
            if isinstance(user, SymbolUser):
                _verify_symbols(user, scope)
    _verify_queue_ids(units, scope)
    _verify_task_ids(units, scope)


def _verify_queue_ids(units: UnitsOp, scope: Scope) -> None:
    """On WSE-3 a queue keeps its color, so queues of one id and direction serve one color on a PE (AMB-11)."""
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
    """Local and data tasks share their numbers, control tasks have their own."""
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


_UNITS_MEMBERS = (BufferOp, InitializeOp, FifoOp, InitialOp, ParamOp, ExportOp, QueueOp, FuncOp, TaskOp, SpaceOp)


def verify_fabric_members(fabric: FabricOp, target: Target) -> None:
    """Check what the operations of a fabric name, and that its units agree; raises VerifyException or reports it."""
    scope = Scope(target, fabric.grid, f"flow.fabric @{fabric.sym_name.data}", symbols_of(fabric), {})
    _verify_colors(fabric, target)
    for op in fabric.body.block.ops:
        match op:
            case ColorOp() | SpaceOp():
                pass
            case RouteOp() | HostStreamOp() | ChannelOp():
                _verify_symbols(op, scope)
            case UnitsOp():
                _verify_units(op, scope)
            case _:
                raise VerifyException(
                    f"{op.name} does not belong in a flow.fabric directly; only colors, routes, host streams, "
                    "spaces, channels and units do"
                )
    _verify_places(fabric)
    _verify_exports(fabric)


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
                    f"units @{op.sym_name.data} on {region_list_text(op.regions_attr)} stand on no PE of the grid, "
                    f"which has {indices_text(*fabric.grid)}; correct their region or remove them"
                )
            places += [(op, region) for region in regions]
    found = first_overlap(places)
    if found is not None:
        (first, _), (op, _) = places[found[0]], places[found[1]]
        x, y = found[2]
        raise VerifyException(
            f"units @{op.sym_name.data} stand on PE ({x}, {y}), where @{first.sym_name.data} stand already; "
            "place one class of units on each PE"
        )


def _verify_exports(fabric: FabricOp) -> None:
    """What has one name has one type on all PEs."""
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


def verify_units_members(units: UnitsOp) -> None:
    """Check the members of units, the names of their exports and the queues of their tasks; raises VerifyException."""
    exported: set[str] = set()
    listening: dict[str, str] = {}
    for op in units.body.block.ops:
        if not isinstance(op, _UNITS_MEMBERS):
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
