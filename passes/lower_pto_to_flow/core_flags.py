"""Lowering of flags between cores: counters in a memory that all cores share.

A core counts how often it has raised each flag, and how often it has waited for each. A wait rests until every core
that its mode names has raised the flag more often than this core has waited for it before.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i1, i32, i64
from xdsl.ir import Block, Region, SSAValue

from ...analysis.pto.core_flags import (
    ALL_OF_A_KIND,
    FLAGS,
    FLAGS_OF_A_CORE,
    INTRA_BLOCK,
    MODES,
    SETS,
    WAITS,
    FlagsOfProgram,
    stated_number,
)
from ...analysis.pto.pipe_ends import refusal
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...dialects.pto.attributes import HardwarePipeAttr, KernelKind
from ...dialects.pto.instructions import InstructionOp
from ...dialects.pto.kernels import core_of
from .emission import Emitter
from .handles import Handles
from .pipes import Machine
from .views import Number, View

NAMES = (*SETS, *WAITS)

SPACE = "core_flags"
"""The memory with the counters."""

_COUNTER = 4
"""Bytes of one."""

_COUNTERS = 2 * len(MODES) * FLAGS
"""Counters of a core: of flags raised, and of waits."""


class CoreFlags:
    """The flags between the cores of a program; `present` are the columns of a block whose cores run any kernel."""

    def __init__(self, machine: Machine, flags: FlagsOfProgram, present: Sequence[int]) -> None:
        self.machine = machine
        self.flags = flags
        self.present = present
        self.used = False

    def spaces(self) -> list[flow.SpaceOp]:
        """Return the memory that flags use."""
        machine = self.machine
        cores = machine.devices * machine.blocks * (1 + machine.lanes)
        return [flow.SpaceOp(SPACE, cores * _COUNTERS * _COUNTER)] if self.used else []

    def lower(self, op: InstructionOp, column: Number, emitter: Emitter, handles: Handles) -> None:
        """Lower an operation of the core in a column of the grid, which is 0 for the cube core alone."""
        self.used = True
        stated, dynamic = stated_number(op), op.operand("event_id_dyn")
        mode = self.flags.mode_of(op, stated)
        number: Number
        if stated is not None:
            number = stated
        else:
            assert dynamic is not None
            number = handles.number(dynamic)
            emitter.within(number, 1, FLAGS, f"flags between cores have numbers from 0 to {FLAGS - 1}; correct it")
            if op.row.name in WAITS and mode != INTRA_BLOCK and len(self.flags.modes_of(None)) > 1:
                raise refusal(
                    op, "waits for a flag whose number is known only when it runs, and flags are set in several modes; "
                    "give it ffts_mode"
                )  # fmt: skip
        core = _Core(self, emitter, mode, number, column)
        if op.row.name in SETS:
            core.count(core.counter(core.row, column, core.key()))
        else:
            self._wait(op, core)

    def _wait(self, op: InstructionOp, core: _Core) -> None:
        emitter, machine = core.emitter, self.machine
        is_cube = core.column == 0
        two_ways = core.mode == INTRA_BLOCK and is_cube and self.flags.uses_second and not isinstance(core.number, int)
        numbers = (0, FLAGS_OF_A_CORE) if two_ways else (core.number if isinstance(core.number, int) else 0,)
        column = 0 if is_cube else 1
        columns = [self.flags.columns(core.mode, number, column, self.present) for number in numbers]
        if not all(columns):
            kinds = "the vector cores" if is_cube else "the cube core"
            raise refusal(
                op, f"waits for a flag of {kinds}, and no kernel of this module runs there; set it in one, or leave "
                "the wait out"
            )  # fmt: skip
        core.label = self._label(op, core, sorted({each for some in columns for each in some}))
        taken = core.counter(core.row, core.column, core.key(), of_waits=True)
        core.count(taken)
        wanted = emitter.make(flow.TileGetOp(emitter.tile(taken), i32))
        if core.mode == ALL_OF_A_KIND:
            first = emitter.multiply(emitter.divide(core.row, machine.blocks), machine.blocks)
            block = Block(arg_types=[IndexType()])
            with emitter.inside(block):
                row = emitter.add(first, emitter.integer(block.args[0]))
                for each in columns[0]:
                    core.rest(core.counter(row, each, core.key()), wanted)
                emitter.append(scf.YieldOp())
            none, blocks, one = (emitter.constant(bound, IndexType()) for bound in (0, machine.blocks, 1))
            emitter.append(scf.ForOp(none, blocks, one, [], Region(block)))
        elif two_ways:
            second = emitter.divide(core.number, FLAGS_OF_A_CORE)
            core.rest(core.counter(core.row, emitter.add(second, 1), core.key()), wanted)
        else:
            for each in columns[0]:
                core.rest(core.counter(core.row, each, core.key()), wanted)

    def _label(self, op: InstructionOp, core: _Core, columns: Sequence[int]) -> str:
        """Return what a wait is for: the flag, the cores that set it, and the operations by which they do."""
        flags, number = self.flags, core.number if isinstance(core.number, int) else None
        cores = " and ".join(_CORES[column] for column in columns)
        whose = "of every block" if core.mode == ALL_OF_A_KIND else "of its block"
        flag = "a flag" if number is None else f"flag {number}"
        mode = "" if core.mode == INTRA_BLOCK else f" in mode {core.mode}"
        kind = KernelKind.CUBE if 0 in columns else KernelKind.VECTOR
        sets = [each for each in flags.sets_of(number, core.mode) if core_of(each) in (kind, None)]
        right = [_said(each) for each in sets if flags.mode_of(each, stated_number(each)) == core.mode]
        wrong = [
            f"{_said(each)} in mode {flags.mode_of(each, stated_number(each))}"
            for each in sets
            if flags.mode_of(each, stated_number(each)) not in (core.mode, INTRA_BLOCK)
        ]
        by = f"by {' and '.join(right[:_SHOWN])}" if right else "by nothing in this module"
        but = f", but {' and '.join(wrong[:_SHOWN])}" if wrong and not right else ""
        return f"{flag} of {cores} {whose}{mode} on {_pipe_of(op)}, which is set {by}{but}"


_CORES = {0: "AIC", 1: "AIV0", 2: "AIV1"}
_SHOWN = 2


def _pipe_of(op: InstructionOp) -> str:
    pipe = op.attribute("pipe")
    return pipe.data.value if isinstance(pipe, HardwarePipeAttr) else "PIPE_S"


def _said(op: InstructionOp) -> str:
    """Return the text of an operation that sets a flag in a message."""
    place = location_of(op)
    return f"{op.name} on {_pipe_of(op)}{f' at {place}' if place else ''}"


class _Core:
    """A flag as the core that uses it sees it."""

    label: str
    """What a wait is for, in words."""

    def __init__(self, flags: CoreFlags, emitter: Emitter, mode: int, number: Number, column: Number) -> None:
        self.flags = flags
        self.emitter = emitter
        self.mode = mode
        self.number = number
        self.column = column
        self.row: Number = emitter.integer(emitter.make(flow.CoordinateOp("y", IndexType())))

    def key(self) -> Number:
        """Return the number by which both ends know the flag."""
        if self.column == 0 or self.mode != INTRA_BLOCK or not self.flags.flags.uses_second:
            return self.number
        emitter = self.emitter
        of_first = emitter.remainder(self.number, FLAGS_OF_A_CORE)
        return emitter.add(of_first, emitter.multiply(emitter.subtract(self.column, 1), FLAGS_OF_A_CORE))

    def counter(self, row: Number, column: Number, key: Number, *, of_waits: bool = False) -> View:
        """Return the counter of a core for a flag."""
        emitter = self.emitter
        core = emitter.add(emitter.multiply(row, 1 + self.flags.machine.lanes), column)
        place = emitter.add(emitter.multiply(core, _COUNTERS), emitter.add(key, self.mode * FLAGS))
        address = emitter.multiply(emitter.add(place, len(MODES) * FLAGS if of_waits else 0), _COUNTER)
        return View(SPACE, i32, address, (1,), (1,))

    def count(self, counter: View) -> None:
        self.emitter.apply("add", counter, [counter, self.emitter.constant(1, i32)])

    def rest(self, counter: View, wanted: SSAValue) -> None:
        """Rest until a counter is what is wanted, or more."""
        rest_until(self.emitter, counter, wanted, "sge", self.label)


def rest_until(emitter: Emitter, counter: View, wanted: SSAValue, how: str, label: str | None = None) -> None:
    """Append a loop that rests until a 32-bit integer in shared memory compares with another as wanted.

    With a label, it counts how often that flag has been set.
    """
    before, after = Block(), Block()
    emitter.append(scf.WhileOp([], [], Region(before), Region(after)))
    with emitter.inside(before):
        found = emitter.make(flow.TileGetOp(emitter.tile(counter), i32))
        holds = emitter.make(arith.CmpiOp(found, wanted, how))
        counted, least = (emitter.make(arith.ExtSIOp(number, i64)) for number in (found, wanted))
        emitter.append(flow.RestOp(holds, counted, least, label))
        emitter.append(scf.ConditionOp(emitter.make(arith.XOrIOp(holds, emitter.constant(1, i1)))))
    with emitter.inside(after):
        emitter.append(scf.YieldOp())
