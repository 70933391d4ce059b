"""Flags between cores in a dry run: `pto.sync.set`, `pto.sync.wait` and their kin, as counters that sets raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from xdsl.ir import Operation

from ....dialects.pto.attributes import HardwarePipe, HardwarePipeAttr
from ....dialects.pto.instructions import OPERATIONS, InstructionOp
from ..core_flags import ALL_OF_A_KIND, SETS, WAITS, stated_number
from .core_state import CoreState, Waiting
from .trace import Problem


class CoreFlagOperations(CoreState):
    """Executes the operations of a core on flags between cores."""

    def _flag_of(self, op: InstructionOp) -> int | None:
        """Return the number of the flag; None if it is not known, which is noted."""
        number: Any = stated_number(op)
        dynamic = op.operand("event_id_dyn")
        if number is None and dynamic is not None:
            number = self.values.get(dynamic)
        if number is None:
            self.trace.orders_cores = True
            self.trace.unchecked.setdefault(op, "the number of its flag is not known here")
        return number

    def _partners(self, mode: int, number: int) -> list[int]:
        """Return the cores of which a wait takes a set."""
        here, cores = self.place, self.trace.cores
        flags = self.core_flags.of_program
        columns = flags.columns(mode, number, here.column, {core.column for core in cores})
        return [
            place
            for place, core in enumerate(cores)
            if core.device == here.device
            and core.column in columns
            and (mode == ALL_OF_A_KIND or core.block == here.block)
        ]

    def _set(self, op: InstructionOp) -> None:
        number = self._flag_of(op)
        pipe = op.attribute("pipe")
        if number is None:
            return
        flags = self.core_flags.of_program
        mode = flags.mode_of(op, number)
        step = self._step(op, "set", pipe.data if isinstance(pipe, HardwarePipeAttr) else HardwarePipe.S)
        key = flags.key(mode, number, self.place.column)
        self.core_flags.raised.setdefault((mode, key, self.core), []).append(step)

    def _wait(self, op: InstructionOp) -> Waiting:
        number = self._flag_of(op)
        if number is None:
            return
        flags, of_program = self.core_flags, self.core_flags.of_program
        mode = of_program.mode_of(op, number)
        key, partners = of_program.key(mode, number, self.place.column), self._partners(mode, number)
        if not partners:
            # Whoever raises it is not in this program.
            self.trace.orders_cores = True
            self.trace.unchecked.setdefault(op, "no core of this program sets its flag")
            return
        count = flags.taken.get((mode, key, self.core), 0)
        flags.taken[mode, key, self.core] = count + 1

        def missing() -> list[int]:
            return [core for core in partners if len(flags.raised.get((mode, key, core), ())) <= count]

        while late := missing():
            flags.stuck[self.core] = op, number, late
            yield
        flags.stuck.pop(self.core, None)
        self._step(op, "wait", HardwarePipe.S, after=tuple(flags.raised[mode, key, core][count] for core in partners))

    HANDLERS: ClassVar[Mapping[type[Operation], Callable[[Any, Any], None]]] = {
        **dict.fromkeys((OPERATIONS[name] for name in SETS), _set)
    }

    WAITING: ClassVar[Mapping[type[Operation], Callable[[Any, Any], Waiting]]] = {
        **dict.fromkeys((OPERATIONS[name] for name in WAITS), _wait)
    }

    def report_stuck(self, ended: set[int]) -> None:
        """Report that the core waits for a flag of a core that has ended."""
        if self.core not in self.core_flags.stuck:
            return
        op, number, late = self.core_flags.stuck[self.core]
        gone = next((core for core in late if core in ended), None)
        if gone is not None:
            self.trace.report(
                Problem(
                    "unset-flag",
                    op,
                    f"{self.place} waits for flag {number} of {self.trace.cores[gone]}, which has ended without "
                    "setting it for this wait, so it waits forever; set it before",
                )
            )
