"""Sharing of bodies: functions and tasks of several PE programs that are written alike get one body.

Knows no dialect: bodies are alike if their operations are, with their places in the source.

A pass that looks at bodies alone sees each once by itself. One whose result depends on the PE program too asks that
through `Variants`, or decides for each program first and then lets `part` give bodies of their own to programs for
which the decisions differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ...diagnostics.records import record
from ..traversal import walk
from .code import Bodies, CodeOperation, reference_to


class Sharing:
    """The bodies of one program met so far, each in the PE program that came first with it."""

    def __init__(self) -> None:
        self._homes: dict[Hashable, CodeOperation] = {}
        self._numbers: dict[Attribute, int] = {}
        self._number_of: dict[int, tuple[Attribute, int]] = {}
        """By identity, since hashing takes longer; the attribute is kept, so that no other can have its identity."""

    def add(self, owner: Operation) -> None:
        """Let the functions and tasks of one more PE program share bodies with those of the programs before it."""
        for op in owner.regions[0].block.ops:
            if isinstance(op, CodeOperation) and op.shares is None:
                home = self._homes.setdefault(self._key(op), op)
                if home is not op:
                    op.share(home)

    def _key(self, op: CodeOperation) -> Hashable:
        """Return what is equal for bodies that are alike; they share only under one name, which messages give."""
        key: list[Hashable] = [type(op), op.sym_name.data]
        type_of_function = op.properties.get("function_type")
        if type_of_function is not None:
            key.append(self._number(type_of_function))
        self._region(op.body, key, {})
        return tuple(key)

    def _number(self, attribute: Attribute) -> int:
        found = self._number_of.get(id(attribute))
        if found is None:
            found = attribute, self._numbers.setdefault(attribute, len(self._numbers))
            self._number_of[id(attribute)] = found
        return found[1]

    def _region(self, region: Region, key: list[Hashable], values: dict[SSAValue, int]) -> None:
        number = self._number
        key.append(len(region.blocks))
        for block in region.blocks:
            key.append(len(block.args))
            for argument in block.args:
                values[argument] = len(values)
                key.append(number(argument.type))
            for op in block.ops:
                operands, properties, attributes, results = op.operands, op.properties, op.attributes, op.results
                key.append((type(op), len(operands), len(properties), len(attributes), len(op.regions), len(results)))
                key.append(number(op.location))
                key += [values[operand] for operand in operands]
                for name, value in properties.items():
                    key += (name, number(value))
                for name, value in attributes.items():
                    key += (name, number(value))
                if op.successors:
                    key.append(op)  # Branches between blocks are like no others.
                for inner in op.regions:
                    self._region(inner, key, values)
                for result in results:
                    values[result] = len(values)
                    key.append(number(result.type))
            key.append(None)


def owners_of_code(program: Operation) -> Iterator[Operation]:
    """Yield the PE programs, or classes of units, of a program: its members that hold operations."""
    return (op for op in program.regions[0].block.ops if op.regions)


def share(program: Operation) -> None:
    """Give functions and tasks of a program that are alike one body, that of the first."""
    sharing = Sharing()
    for owner in owners_of_code(program):
        sharing.add(owner)


def unshare(program: Operation) -> None:
    """Give every function and task of a program a body of its own."""
    own_bodies(program, lambda _: True)


def own_bodies(program: Operation, wanted: Callable[[Operation], bool]) -> None:
    """Give a body of its own to each function and task that shares one with a wanted operation inside."""
    bodies = Bodies(program)
    found: dict[CodeOperation, bool] = {}
    for owner in owners_of_code(program):
        for op in owner.regions[0].block.ops:
            if isinstance(op, CodeOperation) and op.shares is not None:
                home = bodies.home(op)
                if home not in found:
                    found[home] = any(map(wanted, walk(home)))
                if found[home]:
                    own_body(op, bodies)


def own_body(op: CodeOperation, bodies: Bodies) -> None:
    """Give a function or task a copy of the body that it shares."""
    bodies.of(op).clone_into(op.body)
    op.shares = None


@record
class Part:
    """A body, the one that it is a copy of or itself, and what was decided for it."""

    op: CodeOperation
    home: CodeOperation
    decision: Any


def part(bodies: Bodies, decisions: Iterable[tuple[CodeOperation, Hashable]]) -> list[Part]:
    """Give bodies of their own to those for which something else is decided than for the one whose body they share.

    `decisions` are what is decided for the functions and tasks of a program. Returns each body that there is then once.
    """
    parts: dict[CodeOperation, list[Part]] = {}
    # An operation with a body of its own keeps it; it may come after those that share it.
    in_order = sorted(decisions, key=lambda one: one[0].shares is not None)
    for op, decision in in_order:
        home = bodies.home(op)
        found = parts.setdefault(home, [])
        same = next((each for each in found if each.decision == decision), None)
        if same is None:
            if op is not home:
                own_body(op, bodies)
            found.append(Part(op, home, decision))
        elif op is not home:
            op.shares = reference_to(same.op)
    return [each for found in parts.values() for each in found]


class Ask:
    """Questions about a PE program, with its answers."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        self._answer = answer
        self.answers: dict[tuple[Hashable, ...], Any] = {}

    def __call__(self, *question: Hashable) -> Any:
        if question not in self.answers:
            self.answers[question] = self._answer(*question)
        return self.answers[question]


_Made = TypeVar("_Made")


class Variants(Generic[_Made]):
    """Results for each body: another one only for a PE program that answers a question of the first otherwise."""

    def __init__(self) -> None:
        self._made: dict[CodeOperation, list[tuple[Ask, _Made]]] = {}

    def of(self, home: CodeOperation, answer: Callable[..., Any], make: Callable[[Ask], _Made]) -> _Made:
        """Return what `make` makes of a body, for a PE program that answers questions by `answer`."""
        found = self._made.setdefault(home, [])
        for ask, made in found:
            if all(answer(*question) == known for question, known in ask.answers.items()):
                return made
        ask = Ask(answer)
        made = make(ask)
        found.append((ask, made))
        return made


def programs_of(module: ModuleOp) -> Iterator[Operation]:
    """Yield the operations of a module that hold PE programs or classes of units."""
    return (op for op in module.body.block.ops if op.name in ("wse.program", "flow.fabric"))
