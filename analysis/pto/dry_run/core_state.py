"""State of a core in a dry run, and the steps that it adds to the trace."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping
from typing import Any, TypeAlias

from xdsl.ir import Operation, SSAValue

from ....dialects.pto.attributes import HardwarePipe, KernelKind
from ....dialects.pto.internal_pipes import (
    InitializePipeOp,
)
from .barrier import Barrier
from .channels import Channel
from .contents import Contents
from .core_flags_state import CoreFlags
from .global_memory import GlobalMemory
from .program import Program
from .trace import Access, Core, Kind, Problem, Step, Trace

Waiting: TypeAlias = Generator[None, None, Any]
"""A part of a program: yields whenever it has to wait."""


class Undecided(Exception):
    """Raised where the control flow depends on what a dry run does not know."""


class TooLong(Exception):
    """Raised when the trace has its maximal length, or loops as many iterations."""


class CoreState:
    """The state of one core in a dry run; adds its steps to the trace."""

    def __init__(
        self,
        program: Program,
        trace: Trace,
        core: int,
        blocks: int,
        channels: Mapping[str, Channel],
        barrier: Barrier,
        arrays: Mapping[str, Any],
        max_steps: int,
        memory: GlobalMemory | None,
        flags: CoreFlags,
    ) -> None:
        self.program = program
        self.trace = trace
        self.core = core
        self.place: Core = trace.cores[core]
        self.kind = KernelKind.CUBE if self.place.column == 0 else KernelKind.VECTOR
        self.lane = max(0, self.place.column - 1)
        self.blocks = blocks
        self.channels = channels
        self.barrier = barrier
        self.arrays = arrays
        self.max_steps = max_steps
        self.global_memory = memory
        """Addresses of arrays; None if there is only one device."""
        self.core_flags = flags
        self.memory = Contents(trace, core)
        self.values: dict[SSAValue, Any] = {}
        self.opened: dict[str, InitializePipeOp] = {}
        self.flags: dict[tuple[str, str, str], list[int]] = {}
        self.freed: dict[str, int] = {}
        """The step that freed a buffer last, by its number."""
        self.held: dict[str, deque[Access]] = {}
        """The popped entries of each ring that are not freed: what a free gives up."""

    def _step(
        self,
        op: Operation,
        kind: Kind,
        pipe: HardwarePipe,
        accesses: tuple[Access, ...] = (),
        after: tuple[int, ...] = (),
        extents: tuple[int, ...] = (),
        size: int = 4,
        channel: str = "",
        number: int = 0,
        joins: tuple[HardwarePipe, ...] = (),
    ) -> int:
        steps = self.trace.steps
        if len(steps) >= self.max_steps:
            raise TooLong
        for access in accesses:
            self._check_array(op, access)
        steps.append(Step(self.core, op, kind, pipe, accesses, after, extents, size, channel, number, joins))
        return len(steps) - 1

    def _count_iteration(self) -> None:
        """Count an iteration of a loop: those that add no steps end a dry run too."""
        if self.trace.iterations >= self.max_steps:
            raise TooLong
        self.trace.iterations += 1

    def _check_array(self, op: Operation, access: Access) -> None:
        """Report an access beyond an array whose size is known."""
        array, region = self.arrays.get(access.memory), access.region
        if array is None or region is None or region.is_empty or (region.low >= 0 and region.high <= array.nbytes):
            return
        self.trace.report(
            Problem(
                "outside-tensor",
                op,
                f"{self.place} {'stores' if access.writes else 'loads'} bytes {region.low} to {region.high - 1} of "
                f"'{access.memory}', which has {array.nbytes}; check offsets, shape and strides, or pass a larger "
                "array",
            )
        )
