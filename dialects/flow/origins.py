"""Origins of streams: where they come from, through branches, loops and calls.

Nothing here decides which origin an operation accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, Region, SSAValue

from ..machine.code import Bodies, CodeOperation
from ..machine.sharing import Variants
from ..traversal import walk
from .code import CallOp, FuncOp
from .fabric import FabricOp, UnitsOp
from .queues import QueueOp
from .scope import Origin, StreamOrigins
from .streams import CircularStreamOp, FifoStreamOp, QueueStreamOp, StreamOp, described_array
from .types import StreamType


def name_of(origin: Origin, owner: Operation) -> str:
    """Return how an error names a stream."""
    if isinstance(owner, FifoStreamOp):
        return f"FIFO @{owner.fifo.string_value()}"
    if isinstance(owner, CircularStreamOp):
        return f"a circular walk over {described_array(owner)}"
    if isinstance(owner, StreamOp):
        dimensions = "" if origin == "vector" else f" of {owner.dimensions} dimensions"
        return f"a walk{dimensions} over {described_array(owner)}"
    assert isinstance(owner, QueueStreamOp)
    return f"a stream of {'input' if origin == 'received' else 'output'} queue @{owner.queue.string_value()}"


class Origins:
    """Where the streams of a fabric come from, through branches, loops and calls.

    A stream type does not tell memory from queues, nor an input from an output. Names that do not exist are passed
    over. Where functions neither take nor return streams, each body is looked at by itself, and one that classes share
    once for those whose queues of the same name go the same way.
    """

    def __init__(self, fabric: FabricOp) -> None:
        self._bodies = Bodies(fabric)
        self._variants: Variants[StreamOrigins] = Variants()

    def of(self, units: UnitsOp, symbols: Mapping[str, Operation]) -> StreamOrigins:
        """Return where each stream of a class of units may come from."""

        def direction(queue: str) -> Origin | None:
            found = symbols.get(queue)
            return None if not isinstance(found, QueueOp) else "received" if found.is_input else "sent"

        if self.cross_calls(units):
            return _origins(self._bodies.walk(units), direction, symbols, self._bodies)
        found: dict[SSAValue, Mapping[Origin, Operation]] = {}
        for op in units.body.block.ops:
            if isinstance(op, CodeOperation):
                home = self._bodies.home(op)
                found |= self._variants.of(
                    home, direction, lambda ask, home=home: _origins(walk(home), ask, symbols, self._bodies)
                )
            elif op.regions:
                found |= _origins(walk(op), direction, symbols, self._bodies)
        return found

    @staticmethod
    def cross_calls(units: UnitsOp) -> bool:
        """Return True if functions of a class take or return streams."""
        return any(isinstance(op, FuncOp) and _takes_streams(op) for op in units.body.block.ops)


def _takes_streams(function: FuncOp) -> bool:
    type = function.function_type
    return any(isinstance(each, StreamType) for each in (*type.inputs, *type.outputs))


def _origins(
    operations: Iterable[Operation],
    direction: Callable[[str], Origin | None],
    symbols: Mapping[str, Operation],
    bodies: Bodies,
) -> StreamOrigins:
    """Return where the streams of operations may come from; `direction` gives the origin of what a queue yields.

    Origins spread along the values that pass a stream on; each value gets each origin once, with an operation that is
    one, so the work is linear.
    """
    origins: dict[SSAValue, dict[Origin, Operation]] = {}
    passed: dict[SSAValue, list[SSAValue]] = {}
    fresh: list[tuple[SSAValue, Origin, Operation]] = []
    for op in operations:
        match op:
            case StreamOp():
                fresh.append((op.result, "vector" if op.dimensions == 1 else "array", op))
            case CircularStreamOp():
                fresh.append((op.result, "ring", op))
            case FifoStreamOp():
                fresh.append((op.result, "fifo", op))
            case QueueStreamOp():
                origin = direction(op.queue.string_value())
                if origin is not None:
                    fresh.append((op.result, origin, op))
            case _:
                for source, target in _passes_on(op, symbols, bodies):
                    if isinstance(target.type, StreamType):
                        passed.setdefault(source, []).append(target)
    while fresh:
        value, origin, owner = fresh.pop()
        known = origins.setdefault(value, {})
        if origin not in known:
            known[origin] = owner
            fresh.extend((target, origin, owner) for target in passed.get(value, ()))
    return origins


def _passes_on(op: Operation, symbols: Mapping[str, Operation], bodies: Bodies) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Yield pairs of values of which the second may be what the first is."""
    match op:
        case scf.IfOp():
            for region in op.regions:
                yield from zip(_last_operands(region), op.results, strict=False)
        case scf.ForOp():
            carried = _arguments(op.body)[1:]
            for values in (op.iter_args, _last_operands(op.body)):
                yield from zip(values, carried, strict=False)
                yield from zip(values, op.results, strict=False)
        case scf.WhileOp():
            before, after = op.before_region, op.after_region
            yield from zip(op.arguments, _arguments(before), strict=False)
            yield from zip(_last_operands(after), _arguments(before), strict=False)
            # The first operand of scf.condition is the condition.
            passed = _last_operands(before)[1:]
            yield from zip(passed, _arguments(after), strict=False)
            yield from zip(passed, op.results, strict=False)
        case CallOp():
            callee = symbols.get(op.callee.string_value())
            if isinstance(callee, FuncOp):
                body = bodies.of(callee)
                yield from zip(op.arguments, _arguments(body), strict=False)
                yield from zip(_last_operands(body), op.results, strict=False)
        case _:
            for result in op.results:
                if isinstance(result.type, StreamType):
                    yield from ((operand, result) for operand in op.operands)


def _arguments(region: Region) -> Sequence[SSAValue]:
    return () if region.first_block is None else region.first_block.args


def _last_operands(region: Region) -> Sequence[SSAValue]:
    last = region.block.last_op if len(region.blocks) == 1 else None
    return () if last is None else last.operands
