"""Pass `dsd-assign-microthreads`: every asynchronous operation gets the microthread it runs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .. import targets
from ..diagnostics import LoomError, location_of
from ..dialects import dsd, dsr, wse
from ..verification import verify_dominance
from .analysis.colouring import Exhausted, colour, graph_of
from .analysis.concurrency import Concurrency
from .dsd_assign_queues import queues_of
from .pe_program import described, pe_programs, skeleton_of


@dataclass(frozen=True)
class DsdAssignMicrothreadsPass(ModulePass):
    """Writes `ut = n` into the settings of every asynchronous operation; run `dsd-assign-queues` before it.

    On WSE-2 the microthread is the id of the outgoing queue, or else of the first incoming one (DSD-223). On WSE-3
    numbers that are given are kept (DSD-224); an operation without one gets the id of the queue of its first fabric
    operand, destination before sources (AMB-14), unless an operation that may run at the same time has that one,
    and then another. What reads or writes one queue does not run at the same time unless the program's order leaves
    no other way.

    Two operations on one microthread of which one is always started before the other can have ended are an error
    (DSD-209), and so is a program that needs more microthreads than there are.
    """

    name = "dsd-assign-microthreads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for pe in pe_programs(op):
            _assign(pe)
        verify_dominance(op)


def _assign(pe: wse.PeOp) -> None:
    target = targets.get(pe.program.target.data)
    skeleton = skeleton_of(pe)
    started = [cast(dsd.DsdOperation, entry.key) for entry in skeleton.operations() if entry.asynchronous]
    operations = [op for op in started if not _is_settled_elsewhere(op)]
    if not operations:
        return
    concurrency = Concurrency(skeleton)
    ids = {op.sym_name.data: op.queue_id for op in pe.body.block.ops if isinstance(op, wse.QueueOp)}
    defaults = {op: _queue_id(op, ids) for op in operations}
    queues = {op: set(queues_of(op)) for op in operations}
    fixed = {op: number for op in operations if (number := _microthread(op)) is not None}
    if target.microthread_of_queue:
        for op, number in fixed.items():
            if number != defaults[op]:
                message = (
                    f"on {target.name} {described(op)} runs on the microthread of its queue, {defaults[op]}, not "
                    f"{number}; remove ut"
                )
                raise LoomError(message, location_of(op))
        fixed = defaults
    _check_given(operations, fixed, concurrency)
    edges = [
        (first, second)
        for first in operations
        for second in cast("tuple[dsd.DsdOperation, ...]", concurrency.overlapping(first))
        # Two given numbers are checked by themselves: what is merely possible is not an error.
        if second in defaults
        and second is not first
        and not (first in fixed and second in fixed)
        # Nor does a program do what is merely possible if no queue allows it (DSD-208).
        and not (queues[first] & queues[second] and not concurrency.certainly_overlap(first, second))
    ]
    try:
        numbers = colour(
            graph_of(operations, edges), dict.fromkeys(operations, range(target.microthreads)), fixed, defaults
        )
    except Exhausted as error:
        competitors = [cast(dsd.DsdOperation, op) for op in error.competitors]
        listed = ", ".join(described(op) for op in competitors)
        message = (
            f"{target.name} has {target.microthreads} microthreads, too few for the operations that may run at the "
            f"same time: {listed}; start one from a task that the end of another activates, or give operations that "
            "never meet the same ut"
        )
        raise LoomError(message, location_of(competitors[-1])) from None
    for op, number in numbers.items():
        settings = op.settings
        assert settings is not None
        op.asynchronous = settings.with_microthread(number)


def _is_settled_elsewhere(op: dsd.DsdOperation) -> bool:
    """Whether a register that another body loads says how an operation runs, and none that is loaded here."""
    owners = [operand.owner for operand in op.table_operands]
    return any(isinstance(owner, dsr.GetDsrOp) for owner in owners) and not any(
        isinstance(owner, dsr.LoadOp) and owner.asynchronous is not None for owner in owners
    )


def _microthread(op: dsd.DsdOperation) -> int | None:
    return None if op.settings is None else op.settings.microthread


def _queue_id(op: dsd.DsdOperation, ids: dict[str, int | None]) -> int:
    """The id of the queue of the first fabric operand."""
    queues = queues_of(op)
    number = ids.get(queues[0]) if queues else None
    if number is None:
        message = f"{described(op)} has no queue with an id; run dsd-assign-queues first"
        raise LoomError(message, location_of(op))
    return number


def _check_given(
    operations: Sequence[dsd.DsdOperation], fixed: dict[dsd.DsdOperation, int], concurrency: Concurrency
) -> None:
    """Refuse operations that always overlap on the microthread they were given."""
    position = {op: number for number, op in enumerate(operations)}
    for first in operations:
        for second in concurrency.overlapping(first):
            number = fixed.get(first)
            if number is None or not isinstance(second, dsd.DsdOperation) or fixed.get(second) != number:
                continue
            if position[second] >= position[first] and concurrency.certainly_overlap(first, second):
                if first is second:
                    message = (
                        f"{described(first)} is started again while it may still run, on the same microthread "
                        f"{number}; start it again from a task that its end activates"
                    )
                else:
                    message = (
                        f"{described(first)} and {described(second)} run at the same time on the same microthread "
                        f"{number}; start the second from a task that the end of the first activates, or give it "
                        "another microthread"
                    )
                raise LoomError(message, location_of(second))
