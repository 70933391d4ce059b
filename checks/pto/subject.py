"""Subject of the checks: a program with its kernels, rings and connected components, each computed once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ...analysis.event_graph import Deadlock, EventGraph
from ...analysis.pto.balance import Imbalance, imbalance_of
from ...analysis.pto.control_trees import Arguments, UnknownControl
from ...analysis.pto.rings import Component, Program, Ring, components, rings_of
from ...analysis.pto.schedules import Kernel, Pipe, kernel_of
from ...analysis.pto.symbolic_execution import SymbolicExecution
from ...dialects.traversal import walk
from ...operations.pipe_protocol import Behavior


@dataclass(frozen=True, eq=False)
class Execution:
    """A program whose events are known, with the graph of what they wait for."""

    program: Program

    @cached_property
    def graph(self) -> EventGraph:
        """The events of all cores, and what each needs."""
        return EventGraph(self.program.cores, self.program.ring_buffers())

    @cached_property
    def deadlock(self) -> Deadlock | None:
        """The deadlock the cores run into; None if they end."""
        return self.graph.deadlock()


class Subject:
    """A module that verifies, as its pipes behave.

    `behavior` is how pipes behave: as documented (`ideal`), or as on a generation of chips; without it, as on the chip
    each function is for, or else as documented.
    """

    def __init__(self, module: ModuleOp, behavior: Behavior | None, level: int | None = None) -> None:
        self.module = module
        self.level = level
        """The build level of PTOAS that the program is for, 1 to 3; None if that is not known."""
        self.kernels: list[Kernel] = [kernel_of(op, behavior) for op in walk(module) if isinstance(op, FuncOp)]
        self.rings: list[Ring] = rings_of(self.kernels)

    @cached_property
    def imbalances(self) -> dict[Ring, Imbalance]:
        """The rings into which more, or less, is pushed than popped for all numbers."""
        found = {ring: imbalance_of(ring) for ring in self.rings}
        return {ring: imbalance for ring, imbalance in found.items() if imbalance is not None}

    @cached_property
    def balanced_components(self) -> list[Component]:
        """The connected kernels of which no ring is known to be unbalanced."""
        return [
            component
            for component in components(self.kernels, self.rings)
            if not any(ring in self.imbalances for ring in component.rings.values())
        ]

    @cached_property
    def executions(self) -> list[Execution]:
        """The balanced components whose loops run a known number of times."""
        return [Execution(program) for _, program in self._programs if program is not None and program.exact]

    @cached_property
    def symbolic(self) -> list[tuple[Component, Program | None, SymbolicExecution | None]]:
        """The other balanced components.

        Each comes with its events where loops run some number of times, if there is one way through each kernel, and
        with its events as trees of loops and branches, unless other operations than these decide them.
        """
        return list(self._symbolic())

    @cached_property
    def decided_pipes(self) -> set[Pipe]:
        """The ends of pipes whose overwrites the event graph or the model checker decides."""
        decided = [component for component, program in self._programs if program is not None and program.exact]
        decided += [component for component, _, outcomes in self.symbolic if outcomes is not None]
        return {pipe for component in decided for pipe in component.pipes}

    @cached_property
    def _programs(self) -> list[tuple[Component, Program | None]]:
        return [(component, component.program()) for component in self.balanced_components]

    def _symbolic(self) -> Iterator[tuple[Component, Program | None, SymbolicExecution | None]]:
        arguments: Arguments | None = None
        for component, program in self._programs:
            if program is not None and program.exact:
                continue
            arguments = arguments or Arguments(self.module)
            try:
                yield component, program, SymbolicExecution(component, arguments)
            except UnknownControl:
                yield component, program, None
