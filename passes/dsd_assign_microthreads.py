"""Pass `dsd-assign-microthreads`: every asynchronous operation gets the microthread it runs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneAttr
from xdsl.passes import ModulePass

from .. import targets
from ..analysis.concurrency import Concurrency
from ..analysis.wse.pe_program import Registers, described, pe_programs, skeleton_of
from ..diagnostics.errors import LoomError
from ..diagnostics.locations import location_of
from ..dialects import dsd, dsr, wse
from ..dialects.verification import verify_dominance
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
        for pe in pe_programs(op):
            _assign(pe)
        verify_dominance(op)


def _assign(pe: wse.PeOp) -> None:
    target = targets.get(pe.program.target.data)
    skeleton = skeleton_of(pe)
    registers = Registers(pe)
    for entry in skeleton.operations():
        _check_loaded(cast(dsd.DsdOperation, entry.key), registers)
    started = [cast(dsd.DsdOperation, entry.key) for entry in skeleton.operations() if entry.asynchronous]
    operations = [op for op in started if not _is_settled_elsewhere(op)]
    if not operations:
        return
    concurrency = Concurrency(skeleton)
    ids = {op.sym_name.data: op.queue_id for op in pe.body.block.ops if isinstance(op, wse.QueueOp)}
    numbers = {op: _queue_id(op, ids, registers) for op in operations}
    for op in operations:
        given = _microthread(op)
        if given is None:
            continue
        if target.microthread_of_queue and given != numbers[op]:
            message = (
                f"on {target.name} {described(op)} runs on the microthread of its queue, {numbers[op]}, not {given}; "
                "remove ut"
            )
            raise LoomError(message, location_of(op))
        numbers[op] = given
    own = [op for op in operations if not _may_be_overruled(op, registers)]
    _check_sharing(own, {op: numbers[op] for op in own}, concurrency)
    for op, number in numbers.items():
        settings = op.settings
        assert settings is not None
        op.asynchronous = settings.with_microthread(number)


def _check_loaded(op: dsd.DsdOperation, registers: Registers) -> None:
    """Refuse an operation whose settings no load of its registers has."""
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


def _check_sharing(
    operations: Sequence[dsd.DsdOperation], numbers: dict[dsd.DsdOperation, int], concurrency: Concurrency
) -> None:
    """Refuse operations that always overlap on one microthread."""
    position = {op: number for number, op in enumerate(operations)}
    for first in operations:
        for second in concurrency.overlapping(first):
            number = numbers[first]
            if not isinstance(second, dsd.DsdOperation) or numbers.get(second) != number:
                continue
            if position[second] >= position[first] and concurrency.certainly_overlap(first, second):
                if first is second:
                    message = (
                        f"{described(first)} is issued again while it may still run, on the same microthread "
                        f"{number}; issue it again from a task that its completion activates"
                    )
                else:
                    message = (
                        f"{described(first)} and {described(second)} run at the same time on the same microthread "
                        f"{number}; issue the second from a task that the completion of the first activates, or give "
                        "it "
                        "another microthread"
                    )
                raise LoomError(message, location_of(second))
