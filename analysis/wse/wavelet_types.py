"""Types of wavelets: colors on which all that is sent are floats of one type, and received as another.

Integers of the same width carry whatever bits there are, so a color on which some are sent or received is left alone,
unless the floats have 32 bits and the integers 16. Control wavelets do not count. A color is left alone too that the
host sends, or whose routes swap or change while the program runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Operation, SSAValue

from ...diagnostics.locations import location_of
from ...dialects import dsd, wse
from ...dialects.machine.code import Bodies
from ...dialects.machine.source_names import shown_name
from ...dialects.traversal import walk

FLOATS = ("f16", "bf16", "f32")

_Users = dict[str, dict[str | None, Operation]]
"""By color, the types of elements with an operation that has each; None if it may be any."""

_Use = tuple[dsd.FabinOp | dsd.FaboutOp, str | None, Operation]
"""What makes a descriptor of wavelets, the type of their elements, and an operation that uses it."""


def mixed_floats(program: wse.ProgramOp) -> Iterator[tuple[Operation, str]]:
    """Yield an operation or task that receives each color on which floats of another type are sent."""
    users = _Colors(program)
    for color, received in users.received.items():
        sent = users.sent.get(color, {})
        if users.swaps or color in users.open or len(sent) != 1 or len(received) != 1:
            continue
        (((has, sender),), ((takes, receiver),)) = sent.items(), received.items()
        if differs(has, takes):
            where = location_of(sender)
            yield (
                receiver,
                f"{takes} elements are received here on color {users.names[color]}, but all that is sent on it are "
                f"{has}{'' if where is None else f', at {where}'}; send and receive the same type",
            )


def differs(has: str | None, takes: str | None) -> bool:
    """Return True if what is sent as one type is another number, or part of one, as what it is received."""
    if has in FLOATS and takes in FLOATS:
        return has != takes
    return {has, takes} == {"f32", "i16"}


def open_colors(program: wse.ProgramOp) -> set[str] | None:
    """Return the colors by which more may come than PEs send on them: of the host, of a message network, or of which
    routes change while the program runs. None if wavelets change from one color to another."""
    found: set[str] = set()
    for op in program.body.block.ops:
        match op:
            case wse.ColorOp() if op.changes is not None:
                found.add(op.sym_name.data)
            case wse.HostStreamOp() | wse.MessageNetworkOp():
                found.add(op.color.string_value())
            case wse.RouteOp() if op.swap is not None:
                return None
            case _:
                pass
    return found


class _Colors:
    """What is sent and received on each color."""

    def __init__(self, program: wse.ProgramOp) -> None:
        self.sent: _Users = {}
        self.received: _Users = {}
        self.names: dict[str, str] = {}
        self._read: dict[Operation, list[_Use]] = {}
        bodies = Bodies(program)
        opened = open_colors(program)
        self.open = opened or set()
        self.swaps = opened is None
        for op in program.body.block.ops:
            if isinstance(op, wse.ColorOp):
                self.names[op.sym_name.data] = shown_name(op)
        for pe in program.pes:
            self._add(pe, bodies)

    def _add(self, pe: wse.PeOp, bodies: Bodies) -> None:
        queues: dict[str, list[str]] = {}
        for op in pe.body.block.ops:
            if isinstance(op, wse.InputQueueOp | wse.OutputQueueOp):
                queues[op.sym_name.data] = [entry.color_name for entry in op.colors]
        for op in pe.body.block.ops:
            if isinstance(op, wse.TaskOp) and op.queue is not None:
                arguments = bodies.home(op).body.block.args
                kind = arguments[0].type.name if len(arguments) == 1 else None
                for color in queues.get(op.queue.string_value(), ()):
                    self.received.setdefault(color, {}).setdefault(kind, op)
            if isinstance(op, wse.TaskOp | wse.FuncOp):
                home = bodies.home(op)
                if home not in self._read:
                    self._read[home] = list(_uses_of(home))
                self._add_uses(self._read[home], queues)
            elif isinstance(op, wse.InitialOp):
                self._add_uses(_uses_of(op), queues)

    def _add_uses(self, uses: Iterable[_Use], queues: dict[str, list[str]]) -> None:
        for maker, kind, user in uses:
            colors = queues.get(maker.queue_name, []) if maker.queue_name is not None else []
            colors = [maker.color_name] if maker.color_name is not None else colors
            users = self.received if isinstance(maker, dsd.FabinOp) else self.sent
            for color in colors:
                users.setdefault(color, {}).setdefault(kind, user)


def _uses_of(code: Operation) -> Iterator[_Use]:
    """Yield what code sends and receives: what makes a descriptor that something else uses is open."""
    for op in walk(code):
        if isinstance(op, dsd.FabinOp | dsd.FaboutOp):
            if "control" in op.options:
                continue
            is_open = any(name in op.options for name in ("simd", "wavelet_index_offset"))
            for kind, user in dict(_kinds(op.result)).items():
                yield op, None if is_open else kind, user


def _kinds(descriptor: SSAValue) -> Iterator[tuple[str | None, Operation]]:
    """Yield the types that operations have for the wavelets of a descriptor, each with the operation."""
    for use in descriptor.uses:
        op = use.operation
        match op:
            case dsd.SetLengthOp():
                yield from _kinds(op.result)
            case dsd.DsdOperation() if op.drops_data is None:
                row = op.definition
                yield (row.destination, *row.sources)[use.index], op
            case _:
                yield None, op
