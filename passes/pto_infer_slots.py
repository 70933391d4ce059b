"""Pass `pto-infer-slots`: infer the size and the number of slots of pipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ..analysis.event_graph import (
    MAX_SLOTS,
    NoSafeSlotCount,
    PeriodOf,
    SlotTradeoff,
    largest_sync_period,
    slot_tradeoffs,
    smallest_slot_counts,
)
from ..analysis.pto.pipe_ends import refusal
from ..analysis.pto.rings import Program, Ring, programs_of, rings_of
from ..analysis.pto.schedules import Kernel, Pipe, PipeUse, kernel_of
from ..analysis.pto.slot_sizes import entry_size
from ..diagnostics.locations import location_of
from ..diagnostics.output import tell
from ..dialects.pto.buffers import ReserveBufferOp
from ..dialects.pto.frontend_pipes import OpenPipeOp
from ..dialects.pto.kernels import architecture_of
from ..dialects.traversal import walk
from ..operations import pipe_protocol

CANDIDATES = (1, 2, 3, 4, 6, 8, 12, 16)
"""Numbers of slots a report shows, with that of the pipe."""


@dataclass(frozen=True)
class PtoInferSlotsPass(ModulePass):
    """Chooses sizes and numbers of slots of pipes that kernels open, where asked to.

    With `slot-size=infer`, slots are as large as the largest entry that goes through (PTO-022): the tile, or those of
    both vector cores where they share it. With `slot-num=infer`, there are as few slots as let the kernels come to
    their ends, two if nothing needs more, and none that overwrite (PTO-023, PTO-024, PTO-028); what kernels do has to
    follow from constants, or the number stays as it is. Kernels that no number helps are an error, which names what
    waits for what. Buffers that are reserved for the slots become as large as these.

    With `keep`, sizes and numbers stay as they are, and a number that is left out is left to
    `pto-lower-frontend-pipe-ops`. `report` tells on the standard error stream what numbers of slots cost and gain, and
    the longest sync period that the pipe allows. `arch` is the chip if the module names none.
    """

    name = "pto-infer-slots"

    slot_num: Literal["keep", "infer"] = "keep"
    slot_size: Literal["keep", "infer"] = "keep"
    report: bool = False
    arch: Literal["a2a3", "a5"] = "a2a3"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.slot_num == self.slot_size == "keep" and not self.report:
            return
        functions = [inner for inner in walk(op) if isinstance(inner, FuncOp)]
        kernels = [kernel_of(function, architecture_of(function) or self.arch) for function in functions]
        rings = rings_of(kernels)
        pipes = _pipes(rings)
        before = {pipe: pipe.numbers() for pipe in pipes}
        if self.slot_size == "infer":
            for pipe in pipes:
                _set_size(pipe)
        programs = [program for program in programs_of(kernels, rings) if program.exact]
        if self.slot_num == "infer":
            for program in programs:
                _set_numbers(program, pipes)
        for pipe in pipes:
            if pipe.numbers() != before[pipe]:
                _fit_buffers(pipe)
        if self.report:
            _report(pipes, programs)


@dataclass(eq=False)
class _Pipe:
    """A pipe with its ends, as kernels open them, and its rings, one for each direction in use."""

    rings: list[Ring]

    @property
    def uses(self) -> Iterator[PipeUse]:
        for ring in self.rings:
            for end in (ring.producers, ring.consumers):
                for uses in end.values():
                    yield from uses

    @property
    def opened(self) -> list[Pipe]:
        return list(dict.fromkeys(use.pipe for use in self.uses))

    @property
    def ends(self) -> list[OpenPipeOp]:
        """The front-end operations that open the pipe, which can be changed."""
        return [end for end in self.opened if isinstance(end, OpenPipeOp)]

    @property
    def kernels(self) -> list[Kernel]:
        return [kernel for ring in self.rings for kernel in (*ring.producers, *ring.consumers)]

    def numbers(self) -> list[tuple[int, int, int]]:
        """Return the sizes and numbers of slots of all ends."""
        return [(end.entry_bytes, end.depth, end.local_depth) for end in self.ends]

    def names(self, program: Program) -> list[str]:
        """Return the names of the rings in a program."""
        return [name for name, ring in program.rings.items() if ring in self.rings]


def _pipes(rings: Sequence[Ring]) -> list[_Pipe]:
    found: list[_Pipe] = []
    for ring in rings:
        opened = _Pipe([ring]).opened
        same = next((pipe for pipe in found if any(end in pipe.opened for end in opened)), None)
        if same is None:
            found.append(_Pipe([ring]))
        else:
            same.rings.append(ring)
    return found


def _set_size(pipe: _Pipe) -> None:
    """Set the slot size to the largest entry; slots that are tensors keep the size of the tensor."""
    known = [entry.bytes for use in pipe.uses if (entry := entry_size(use)) is not None]
    for end in pipe.ends if known else ():
        if end.gm_slot_tensor is None:
            end.slot_size = IntegerAttr(max(known), i32)


def _set_numbers(program: Program, pipes: Sequence[_Pipe]) -> None:
    members = [pipe for pipe in pipes if pipe.ends and pipe.names(program)]
    # On a5 pipes begin with the credits that producers wait for at their end. What these let go on overwrites, so that
    # numbers are chosen as if there were none.
    rings = program.ring_buffers(seeded=False)
    try:
        found = smallest_slot_counts(program.cores, rings, [pipe.names(program) for pipe in members], _periods(program))
    except NoSafeSlotCount as error:
        reason = (
            f"with up to {MAX_SLOTS} slots, a slot is reused before it is free"
            if error.deadlock is None
            else str(error.deadlock)
        )
        raise refusal(
            members[0].ends[0],
            f"opens a pipe that deadlocks or overwrites with any number of slots: {reason}; pop and free entries in "
            "the order in which they are pushed",
        ) from None
    for pipe, slots in zip(members, found, strict=True):
        for end in pipe.ends:
            end.slot_num = IntegerAttr(slots, i32)
            if end.local_slot_num is not None and end.local_depth > slots:
                end.local_slot_num = IntegerAttr(slots, i32)


def _periods(program: Program) -> PeriodOf:
    behavior = program.kernels[0].behavior
    return lambda slots: pipe_protocol.credit_period(slots, behavior)


def _fit_buffers(pipe: _Pipe) -> None:
    """Resize the buffers of consumers to their slots."""
    for end in pipe.ends:
        slots = end.local_depth if pipe.kernels[0].in_global_memory(end) else end.depth
        for direction in (pipe_protocol.C2V, pipe_protocol.V2C):
            buffer = end.consumer_buffer(direction) if end.direction & direction else None
            if buffer is not None and isinstance(buffer.owner, ReserveBufferOp):
                buffer.owner.size = IntegerAttr(slots * end.entry_bytes, i32)


# ---------------------------------------------------------------------------------------------
# Reports
# ---------------------------------------------------------------------------------------------


def tradeoffs_of_pipe(program: Program, names: Sequence[str], slots: Sequence[int] | None = None) -> list[SlotTradeoff]:
    """Return the cost and effect of numbers of slots of a pipe: the rings of a program with these `names`.

    Without `slots`, the numbers are CANDIDATES and the pipe's own. The initial credits of a5, and overwrites that only
    these allow, do not count.
    """
    pipe = program.rings[names[0]].pipe
    counts = sorted({*CANDIDATES, pipe.depth}) if slots is None else slots
    ring_buffers = program.ring_buffers(seeded=False)
    return slot_tradeoffs(program.cores, ring_buffers, names, pipe.entry_bytes, counts, _periods(program))


def longest_period(program: Program, names: Sequence[str]) -> int | None:
    """Return the longest sync period that divides the slots of a pipe and is safe in a program.

    Fewer waits make pushes cheaper; the chips' own period is half the slots (PTO-024).
    """
    ring_buffers = program.ring_buffers(seeded=False)
    return largest_sync_period(program.cores, ring_buffers, names, program.rings[names[0]].pipe.depth)


def _report(pipes: Sequence[_Pipe], programs: Sequence[Program]) -> None:
    for pipe in pipes:
        first = pipe.opened[0]
        location = location_of(first)
        labels = " and ".join(dict.fromkeys(ring.label for ring in pipe.rings))
        program = next((program for program in programs if pipe.names(program)), None)
        if program is None:
            tell("remark", f"{labels}: slot_num = {first.depth} stays, as {_undecided(pipe)}", location)
            continue
        for row in tradeoffs_of_pipe(program, pipe.names(program)):
            own = " (the pipe's)" if row.slots == first.depth else ""
            tell("remark", f"{labels}: {row}{own}", location)
        period = longest_period(program, pipe.names(program))
        found = "no sync period is safe" if period is None else f"the longest safe sync period is {period}"
        tell("remark", f"{labels}: with slot_num = {first.depth}, {found}", location)


def _undecided(pipe: _Pipe) -> str:
    """Describe why the schedules of a pipe's kernels are unknown."""
    if not all(ring.has_two_ends for ring in pipe.rings):
        return "it does not have one kernel at each end"
    for kernel in pipe.kernels:
        name = f"@{kernel.function.sym_name.data}"
        for paths in kernel.schedules:
            if not all(path.complete for path in paths):
                return f"the schedule of {name} is too long"
            if not all(path.exact for path in paths):
                return f"a trip count in {name} depends on values"
            if len(paths) > 1:
                return f"a branch in {name} depends on values"
    return "the events of connected kernels depend on values, or two of them run on one core"
