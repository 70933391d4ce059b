"""The instructions into which a control tree is compiled: known loops are unrolled, others become tests and jumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..event_graph import Event
from ..symbolic_integers import (
    Condition,
    IsNegative,
    add,
    symbol,
    values_in,
)
from .control_trees import Branch, EventNode, Exit, Loop, Node, iteration
from .iterations import signature

MAX_ROUNDS = 256
"""Iterations of a loop that are counted exactly."""

MAX_COPIES = 512
"""Nodes into which a loop of known trip count may be unrolled."""


@dataclass(eq=False)
class Instruction:
    """One instruction: an event, a test with its target if it fails, or a jump."""

    opcode: Literal["event", "enter", "test", "repeat", "branch", "exit", "jump", "end"]
    node: EventNode | None = None
    condition: Condition = True
    target: int = 0
    origin: Any = None
    heads: tuple[int, ...] = ()
    """The indices at which the loops around it begin, outermost first."""
    loop_tests: tuple[Instruction, ...] = ()
    """The tests of these loops."""


@dataclass(eq=False)
class Code:
    """The instructions of a core, with the depth of each loop that is not unrolled."""

    instructions: list[Instruction] = field(default_factory=list[Instruction])
    loop_depths: dict[object, int] = field(default_factory=dict[object, int])
    last_loop: int = -1
    """The index at which the last outermost loop begins."""
    queries: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """The indices of the instructions whose conditions have integers of one signature, see `signature`."""

    def add(self, instruction: Instruction, loops: Sequence[tuple[int, Instruction]]) -> None:
        """Append an instruction inside loops given by their first index and their test."""
        instruction.heads, instruction.loop_tests = tuple(head for head, _ in loops), tuple(test for _, test in loops)
        conditions = (
            [instruction.condition]
            if instruction.node is None or instruction.node.signal is None
            else [instruction.node.signal]
        )
        for number in (number for condition in conditions for number in values_in(condition)):
            for shape in {signature(number.terms), *(signature((term,)) for term in number.terms)}:
                self.queries.setdefault(shape, []).append(len(self.instructions))
        self.instructions.append(instruction)


def _is_unrolled(node: Node) -> bool:
    """Return True if a node is unrolled: it has no conditions, and a known trip count."""
    if isinstance(node, EventNode):
        return node.signal is None and node.received is None
    return (
        isinstance(node, Loop)
        and node.trip_count is not None
        and all(map(_is_unrolled, node.body))
        and node.trip_count * _length(node.body) <= MAX_COPIES
    )


def _length(nodes: Sequence[Node]) -> int:
    return sum(_length(node.body) * (node.trip_count or 0) if isinstance(node, Loop) else 1 for node in nodes)


def compile_core(nodes: Sequence[Node], drains: Sequence[Event]) -> Code:
    code = Code()
    _compile(code, nodes, (), [])
    for event in drains:
        code.add(Instruction("event", EventNode(event)), ())
    code.add(Instruction("end"), ())
    return code


def _test(loop: Loop) -> Condition:
    """Return the test of a loop; a very large trip count is treated as unknown."""
    if loop.trip_count is None or loop.trip_count < MAX_ROUNDS:
        return loop.condition
    return IsNegative(add(iteration(loop.key), symbol(str(loop.trip_count)), -1))


def _compile(
    code: Code, nodes: Sequence[Node], loops: tuple[tuple[int, Instruction], ...], exits: list[Instruction]
) -> None:
    for node in nodes:
        match node:
            case EventNode():
                code.add(Instruction("event", node), loops)
            case Loop() if _is_unrolled(node):
                for _ in range(node.trip_count or 0):
                    _compile(code, node.body, loops, exits)
            case Loop():
                code.loop_depths[node.key] = len(loops)
                code.last_loop = code.last_loop if loops else max(code.last_loop, len(code.instructions))
                code.add(Instruction("enter"), loops)
                test = Instruction("test", condition=_test(node), origin=node.origin)
                head = len(code.instructions)
                inside = (*loops, (head, test))
                code.add(test, inside)
                inner: list[Instruction] = []
                _compile(code, node.body, inside, inner)
                code.add(Instruction("repeat", target=head), inside)
                for instruction in (test, *inner):
                    instruction.target = len(code.instructions)
            case Branch():
                branch = Instruction("branch", condition=node.condition, origin=node.origin)
                code.add(branch, loops)
                _compile(code, node.then, loops, exits)
                jump = Instruction("jump")
                code.add(jump, loops)
                branch.target = len(code.instructions)
                _compile(code, node.otherwise, loops, exits)
                jump.target = len(code.instructions)
            case Exit():
                leave = Instruction("exit", condition=node.condition, origin=node.origin)
                code.add(leave, loops)
                exits.append(leave)
