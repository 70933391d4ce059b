"""Pass `dsd-assign-microthreads`: every asynchronous operation gets the microthread it runs on."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from .. import targets
from ..analysis.wse.pe_program import PeCode, ProgramReader, Registers, described, members_of, programs
from ..diagnostics.errors import LoomError, Mistakes
from ..diagnostics.locations import location_of
from ..dialects import dsd, dsr, wse
from ..dialects.machine.code import CodeOperation
from ..dialects.machine.sharing import part
from ..dialects.traversal import walk
from .dsd_assign_queues import queues_of_operands


@dataclass(frozen=True)
class DsdAssignMicrothreadsPass(ModulePass):
    """Writes `ut = n` into the settings of every asynchronous operation; run `dsd-assign-queues` before it.

    The microthread is the id of the queue of the first fabric operand, destination before sources (DSD-223, AMB-14).
    On WSE-3 a number that is given is kept instead (DSD-224).

    Two operations on one microthread of which one is always started before the other can have ended are an error
    (DSD-209); whether others meet is for the run to see. So is an operation that asks to be asynchronous although
    every register it may find was loaded without `async` (DSD-182, AMB-35).
    """

    name = "dsd-assign-microthreads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mistakes = Mistakes()
        for program in programs(op):
            reader, checked = ProgramReader(program), set[Hashable]()
            decisions: list[tuple[CodeOperation, Hashable]] = []
            for pe in program.pes:
                code = PeCode(pe, reader)
                numbers = _numbers(code, checked, mistakes)
                for member in code.members.values():
                    inside = reader.body(reader.bodies.home(member)).inside
                    decisions.append((member, tuple(numbers.get(inner) for inner in inside)))
            for each in part(reader.bodies, decisions):
                for inner, number in zip([*walk(each.op)][1:], each.decision, strict=True):
                    if number is not None:
                        assert isinstance(inner, dsd.DsdOperation) and inner.settings is not None
                        inner.asynchronous = inner.settings.with_microthread(number)
        mistakes.end()


def _numbers(code: PeCode, checked: set[Hashable], mistakes: Mistakes) -> Mapping[Operation, int]:
    """Return the microthreads of the operations of a PE program; `checked` are those that have been checked."""
    pe, registers = code.pe, code.registers
    target = targets.get(pe.program.target.data)
    entries = list(code.started())
    for op, _ in entries:
        with mistakes.going_on():
            _check_loaded(op, registers)
    operations = [op for op, asynchronous in entries if asynchronous and not _is_settled_elsewhere(op)]
    if not operations:
        return {}
    ids = {op.sym_name.data: op.queue_id for op in members_of(pe, wse.QueueOp)}
    numbers: dict[dsd.DsdOperation, int] = {}
    for op in operations:
        with mistakes.going_on():
            numbers[op] = _queue_id(op, ids, registers)
    for op in numbers:
        given = _microthread(op)
        if given is None:
            continue
        if target.microthread_of_queue and given != numbers[op]:
            message = (
                f"on {target.name} {described(op)} runs on the microthread of its queue, {numbers[op]}, not {given}; "
                "remove ut"
            )
            mistakes.add(LoomError(message, location_of(op)))
        else:
            numbers[op] = given
    own = [op for op in numbers if not _may_be_overruled(op, registers)]
    key = code.outline, tuple((code.position(op), numbers[op]) for op in own)
    if key not in checked:
        checked.add(key)
        for error in _sharing(own, {op: numbers[op] for op in own}, code, target.microthread_of_queue):
            mistakes.add(error)
    return {**numbers}


def _check_loaded(op: dsd.DsdOperation, registers: Registers) -> None:
    """Refuse an operation whose settings no load of its registers has, or whose registers are loaded for @map."""
    if any(map(registers.is_for_map, op.table_operands)):
        message = (
            f"an operand of {described(op)} is a register that is loaded with single_step alone, which is for @map; "
            "load it without (DSR-069)"
        )
        raise LoomError(message, location_of(op))
    own = op.asynchronous
    if own is None or not _is_settled_elsewhere(op):
        return
    ways = registers.settings(op)
    loads = [load for operand in op.table_operands for load in registers.loads(operand)]
    if not any(isinstance(load.descriptor.type, dsd.FabricDescriptorType) for load in loads):
        return
    if all(way is None for way in ways):
        message = (
            f"{described(op)} is async, but no fabric operand was loaded with async; add async to its load "
            "(DSD-182, AMB-35)"
        )
        raise LoomError(message, location_of(op))
    for name in ("activate", "unblock"):
        given = getattr(own, name)
        if not isinstance(given, NoneAttr) and all(way is not None and getattr(way, name) != given for way in ways):
            message = (
                f"'{name}' of {described(op)} takes effect only where the fabric descriptor is loaded; give it to that "
                "load (DSD-195)"
            )
            raise LoomError(message, location_of(op))


def _is_settled_elsewhere(op: dsd.DsdOperation) -> bool:
    """Return True if a register that another body loads says how an operation runs, and none that is loaded here."""
    owners = [operand.owner for operand in op.table_operands]
    return any(isinstance(owner, dsr.GetDsrOp) for owner in owners) and not any(
        isinstance(owner, dsr.LoadOp) and owner.asynchronous is not None for owner in owners
    )


def _may_be_overruled(op: dsd.DsdOperation, registers: Registers) -> bool:
    """Return True if a register loaded by another body may override the settings of one loaded here."""
    for operand in op.table_operands:
        loads = registers.loads(operand)
        if any(load.asynchronous is not None for load in loads):
            return isinstance(operand.owner, dsr.GetDsrOp)
    return False


def _microthread(op: dsd.DsdOperation) -> int | None:
    return None if op.settings is None else op.settings.microthread


def _queue_id(op: dsd.DsdOperation, ids: dict[str, int | None], registers: Registers) -> int:
    """Return the id of the queue of the first fabric operand."""
    queues = queues_of_operands(op, registers)
    number = ids.get(queues[0][0]) if queues else None
    if number is None:
        message = f"{described(op)} has no queue with an id; run dsd-assign-queues first"
        raise LoomError(message, location_of(op))
    return number


def _sharing(
    operations: Sequence[dsd.DsdOperation], numbers: dict[dsd.DsdOperation, int], code: PeCode, of_queue: bool
) -> Iterator[LoomError]:
    """Yield errors about operations that always overlap on one microthread, that `of_queue` or one of their choice; one
    for each that comes too early."""
    remedy = "give it another microthread with '.ut_id'"
    if of_queue:
        remedy = "give its queue another id, which is the microthread's"
    told: set[dsd.DsdOperation] = set()
    position = {op: number for number, op in enumerate(operations)}
    for first in operations:
        for second in code.overlapping(first):
            number = numbers[first]
            if numbers.get(second) != number or second in told:
                continue
            if position[second] >= position[first] and code.certainly_overlap(first, second):
                told.add(second)
                if first is second or described(first) == described(second):
                    message = (
                        f"{described(first)} is issued again while it may still run, on the same microthread "
                        f"{number}; issue it again from a task that its completion activates"
                    )
                else:
                    message = (
                        f"{described(first)} and {described(second)} run at the same time on the same microthread "
                        f"{number}; issue the second from a task that the completion of the first activates, or "
                        f"{remedy}"
                    )
                yield LoomError(message, location_of(second))
