"""The skeleton of a PE program: what its tasks and functions start, signal and repeat, in structured control flow.

The passes build it from the IR; the concurrency and the register analysis read it. Operations, tasks and functions
are named by hashable keys of the caller's choice, whose order of appearance is kept, so results do not depend on
hash values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from ..diagnostics.records import record

TaskKind = Literal["local", "data", "control"]
Action = Literal["activate", "block", "unblock"]


@record
class Signal:
    """Activates, blocks or unblocks tasks: the act of a statement or of a completing operation."""

    action: Action
    task: Hashable


@record
class Operation:
    """A DSD operation. A synchronous one holds the PE until it is done, and `waits` if that may be until something from
    outside has come; an asynchronous one goes on after its statement and ends by one of `completions`, each the signals
    of one way to end."""

    key: Hashable
    asynchronous: bool = False
    completions: tuple[tuple[Signal, ...], ...] = ((),)
    waits: bool = False


@record
class Call:
    """Runs a function of the same program to its end."""

    function: Hashable


@record
class Branch:
    """Runs one of its arms; an arm may be empty. `separate` arms do not see what statements before them in the same
    loop have made: they are the second part of a loop that is written in two."""

    arms: tuple[tuple[Statement, ...], ...]
    separate: bool = False


@record
class Loop:
    """Repeats its body at least `at_least` times; `key` names the place before it, None if there is none."""

    body: tuple[Statement, ...]
    at_least: int = 0
    key: Hashable = None


Statement = Signal | Operation | Call | Branch | Loop


@record
class Task:
    """A task and its state when the program starts. A local task runs when activated, a data or control task
    whenever wavelets arrive; a blocked one waits until it is unblocked."""

    body: tuple[Statement, ...]
    kind: TaskKind = "local"
    active: bool = False
    blocked: bool = False


@record
class Function:
    """A function; the host launches it if `exported`."""

    body: tuple[Statement, ...]
    exported: bool = False


@dataclass
class Program:
    """The tasks and functions of one PE program."""

    tasks: dict[Hashable, Task] = field(default_factory=dict[Hashable, Task])
    functions: dict[Hashable, Function] = field(default_factory=dict[Hashable, Function])

    def bodies(self) -> Iterator[tuple[Statement, ...]]:
        """Yield the bodies of all tasks, then of all functions."""
        yield from (task.body for task in self.tasks.values())
        yield from (function.body for function in self.functions.values())

    def operations(self) -> Iterator[Operation]:
        """Yield every DSD operation, in order of appearance."""
        for body in self.bodies():
            for statement in statements(body):
                if isinstance(statement, Operation):
                    yield statement


def statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield the statements of a body and of all bodies inside it, outer before inner."""
    for statement in body:
        yield statement
        if isinstance(statement, Branch):
            for arm in statement.arms:
                yield from statements(arm)
        elif isinstance(statement, Loop):
            yield from statements(statement.body)


def callees_first(program: Program) -> list[Hashable]:
    """Return the functions in an order in which each is behind those that it calls, without those that may call
    themselves."""
    called = {
        name: list(dict.fromkeys(inner.function for inner in statements(function.body) if isinstance(inner, Call)))
        for name, function in program.functions.items()
    }
    order: list[Hashable] = []
    entered: set[Hashable] = set()
    for start in called:
        pending = [(start, iter(called[start]))] if start not in entered else []
        entered.add(start)
        while pending:
            name, rest = pending[-1]
            following = next((callee for callee in rest if callee in called and callee not in entered), None)
            if following is None:
                order.append(pending.pop()[0])
            else:
                entered.add(following)
                pending.append((following, iter(called[following])))
    recursive: set[Hashable] = set()
    for name in order:
        seen: set[Hashable] = set()
        left = list(called[name])
        while left:
            callee = left.pop()
            if callee not in seen:
                seen.add(callee)
                left += called.get(callee, ())
        if name in seen:
            recursive.add(name)
    return [name for name in order if name not in recursive]
