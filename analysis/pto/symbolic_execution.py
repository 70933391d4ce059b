"""Symbolic execution of connected kernels whose loops and branches depend on unknown integers.

The number of pushes, pops and frees of a ring is a polynomial of these integers. `analysis.model_checking` decides the
outcomes for all of their values, the event graph for given ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ...dialects.pto.kernels import GetBlockIdxOp
from ...dialects.traversal import walk
from ..event_graph import Action
from ..model_checking.control_trees import Branch, EventNode, Loop, Node, event_nodes_in
from ..model_checking.search import explore
from ..model_checking.verdicts import Verdict
from ..symbolic_integers import (
    BLOCK,
    ITERATION,
    Affine,
    Condition,
    Interval,
    Symbol,
    Terms,
    add,
    free_symbols,
    substitute,
    values_in,
)
from .control_trees import Arguments, Numbers, control_of
from .rings import Component, Program, core_name, ring_buffers_of
from .schedules import Kernel, schedules

_WORK_IN_VARYING_LOOPS = 20_000
"""Work of the search in loops whose trip counts depend on other loops."""


class SymbolicExecution:
    """The control trees of the cores of a component; raises UnknownControl for control flow without one."""

    def __init__(self, component: Component, arguments: Arguments) -> None:
        self.component = component
        self._numbers: dict[Kernel, Numbers] = {}
        self.cores: dict[str, list[Node]] = {}
        """The control tree of each core, by the names of cores in messages."""
        self._opaque: dict[str, list[Node]] = {}
        """The same, with opaque trip counts."""
        for kernel in component.kernels:
            for paths in kernel.schedules:
                path, name = paths[0], core_name(kernel, paths[0])
                numbers = self._numbers[kernel] = Numbers(arguments, name, path.lane)
                events = component.events(kernel, path)
                self.cores[name] = control_of(kernel.function, path, events, kernel.uses, numbers)
                self._opaque[name] = control_of(kernel.function, path, events, kernel.uses, numbers, opaque=True)
        names = list(self.cores)
        self._alike = {
            name
            for place, name in enumerate(names)
            if any(_are_alike(self.cores[name], self.cores[other]) for other in names[:place])
        }
        """Cores that do on all rings what an earlier one does: they change no outcome, as all of them go in step."""

    def explore(self, *, seeded: bool = True, known: Mapping[Terms, Interval] | None = None) -> Verdict:
        """Return the outcomes for all integers within the bounds `known`.

        Trip counts that depend on other loops are opaque first: what ends well for any numbers does so for these, and
        is found fast, where the relation of such loops has no end of states. Otherwise a short search looks for what
        goes wrong.
        """
        behavior = self.component.kernels[0].behavior
        rings = ring_buffers_of(self.component.rings, behavior, seeded=seeded)
        cores = {name: nodes for name, nodes in self.cores.items() if name not in self._alike}
        if any(_varies(loop) for nodes in cores.values() for loop in _loops_in(nodes)):
            opaque = {name: self._opaque[name] for name in cores}
            verdict = explore(opaque, rings, known)
            return verdict if verdict.is_clean else explore(cores, rings, known, _WORK_IN_VARYING_LOOPS)
        return explore(cores, rings, known)

    def program(self, values: Mapping[Symbol, int]) -> Program | None:
        """Return the kernels and their events for given values of symbols; None if they depend on others."""
        found: list[Kernel] = []
        for kernel in self.component.kernels:
            numbers = self._numbers[kernel]
            conditions: list[SSAValue] = list(kernel.function.body.blocks[0].args)
            conditions += [op.result for op in walk(kernel.function) if isinstance(op, GetBlockIdxOp)]
            given: dict[SSAValue, int] = {}
            for value in conditions:
                number = numbers.number(value)
                if all(part in values for part, _ in number.terms):
                    given[value] = number.constant + sum(times * values[part] for part, times in number.terms)
            found.append(replace(kernel, schedules=schedules(kernel.function, kernel.uses, given)))
        program = self.component.program(found)
        return program if program is not None and program.exact else None

    def times(self, ring: str, action: Action, default: Action | None = None) -> list[tuple[str, Polynomial | None]]:
        """Return each core with its number of actions on a ring; None where that is not a polynomial.

        Cores without the action are left out, except those that perform `default`.
        """
        found: list[tuple[str, Polynomial | None]] = []
        for core, nodes in self.cores.items():
            if any(do.event.ring == ring and do.event.action in (action, default) for do in event_nodes_in(nodes)):
                found.append((core, _times(nodes, ring, action)))
        return found


def _are_alike(left: Sequence[Node], right: Sequence[Node], loops: Mapping[object, object] | None = None) -> bool:
    """Return True if two control trees have the same events under the same conditions.

    `loops` has the key of each loop around the left tree by that of the right one.
    """
    if len(left) != len(right):
        return False
    known = loops or {}
    for one, other in zip(left, right, strict=True):
        match one, other:
            case EventNode(), EventNode():
                alike = one.event == other.event and one.signal is other.signal and one.received is other.received
            case Loop(), Loop():
                inside = {**known, other.key: one.key}
                alike = one.condition == _renamed(other.condition, inside) and _are_alike(one.body, other.body, inside)
            case Branch(), Branch():
                alike = one.condition == _renamed(other.condition, known) and _are_alike(one.then, other.then, known)
                alike = alike and _are_alike(one.otherwise, other.otherwise, known)
            case _:
                return False
        if not alike:
            return False
    return True


def _renamed(condition: Condition, loops: Mapping[object, object]) -> Condition:
    """Return a condition with the iterations of other loops."""

    def renamed(value: Affine) -> Affine:
        found = Affine(value.constant)
        for part, times in value.terms:
            instance = part.instance
            if part.name == ITERATION and instance:
                instance = (loops.get(instance[0], instance[0]),)
            operands = tuple(renamed(operand) for operand in part.operands)
            found = add(found, Affine(0, ((Symbol(part.name, operands, instance), times),)))
        return found

    return substitute(condition, renamed)


def _loops_in(nodes: Sequence[Node]) -> Iterator[Loop]:
    for node in nodes:
        if isinstance(node, Loop):
            yield node
            yield from _loops_in(node.body)
        elif isinstance(node, Branch):
            yield from _loops_in((*node.then, *node.otherwise))


def _varies(loop: Loop) -> bool:
    """Return True if the trip count of a loop depends on the iteration of another one."""
    trips = loop.symbolic_trip_count
    return trips is not None and any(leaf.name == ITERATION for leaf in free_symbols(trips))


# ---------------------------------------------------------------------------------------------
# Dependences on symbols
# ---------------------------------------------------------------------------------------------


def inputs_of(conditions: Mapping[tuple[Condition, Any], None]) -> list[Symbol] | None:
    """Return the arguments and the block that conditions depend on; None if they depend on other symbols."""
    found: dict[Symbol, None] = {}
    for condition, _ in conditions:
        for number in values_in(condition):
            if not _is_given(number):
                return None
            found |= {part: None for part in free_symbols(number) if part.name != ITERATION}
    return list(found)


def _is_given(number: Affine) -> bool:
    """Return True if an integer is computed from arguments and the block alone."""
    for part, _ in number.terms:
        if part.name == ITERATION:
            continue
        if part.name.startswith("%") or part.name == BLOCK:
            if part.operands or part.instance:
                return False
        elif not part.operands or not all(map(_is_given, part.operands)):
            return False
    return True


def deciding_condition(conditions: Mapping[tuple[Condition, Any], None]) -> tuple[str, Operation] | None:
    """Return the text of a symbol that the outcome depends on, and the loop or branch whose condition it is in.

    Symbols of a single condition come first: these are where the two ends differ.
    """
    names: dict[Operation, list[str]] = {}
    for condition, origin in conditions:
        if isinstance(origin, Operation):
            parts = [part for number in values_in(condition) for part, _ in number.terms if part.name != ITERATION]
            names.setdefault(origin, []).extend(map(str, dict.fromkeys(parts)))
    counts = Counter(name for said in names.values() for name in said)
    for origin, said in sorted(names.items(), key=lambda item: min(map(counts.__getitem__, item[1]), default=0)):
        alone = [name for name in said if counts[name] == 1] or said
        return " and ".join(alone), origin
    return None


# ---------------------------------------------------------------------------------------------
# Counts of actions
# ---------------------------------------------------------------------------------------------


class Polynomial(dict[tuple[Symbol, ...], int]):
    """A polynomial of symbols: the coefficient of each product."""

    def __str__(self) -> str:
        """Return the text of it in a message."""
        parts: list[str] = []
        for product, times in sorted(self.items(), key=lambda item: (-len(item[0]), str(item[0]))):
            sign = ("- " if times < 0 else "+ ") if parts else ("-" if times < 0 else "")
            factors = [str(abs(times))] if abs(times) != 1 or not product else []
            parts.append(sign + " * ".join([*factors, *map(str, product)]))
        return " ".join(parts) or "0"

    def minus(self, other: Polynomial) -> Polynomial:
        """Return the difference of two polynomials."""
        return _sum([self, _scaled(other, -1)])

    @property
    def symbols(self) -> list[Symbol]:
        """The symbols in it."""
        return list(dict.fromkeys(part for product in self for part in product))

    @property
    def is_unbounded(self) -> bool:
        """True if its symbols are unbounded: arguments, loaded integers, and quotients of these."""
        return all(map(_is_unbounded, self.symbols))

    @property
    def is_independent(self) -> bool:
        """True if its symbols can take any values: no two depend on the same one, and all kernels know them."""
        parts = [set(free_symbols(Affine(0, ((part, 1),)))) for part in self.symbols]
        every = set[Symbol]().union(*parts)
        return len(every) == sum(map(len, parts)) and not any(part.instance for part in every)

    def value(self, values: Mapping[Symbol, int]) -> int:
        """Return its value for given values of symbols."""
        total = 0
        for product, times in self.items():
            for part in product:
                times *= values[part]
            total += times
        return total


def _sum(parts: Sequence[Polynomial]) -> Polynomial:
    found = Polynomial()
    for part in parts:
        for product, times in part.items():
            found[product] = found.get(product, 0) + times
    return Polynomial({product: times for product, times in found.items() if times})


def _scaled(part: Polynomial, by: int) -> Polynomial:
    return Polynomial({product: by * times for product, times in part.items()})


def _times(nodes: Sequence[Node], ring: str, action: Action) -> Polynomial | None:
    parts: list[Polynomial] = []
    for node in nodes:
        match node:
            case EventNode():
                if (node.event.ring, node.event.action) == (ring, action):
                    parts.append(Polynomial({(): 1}))
            case Loop():
                inner = _times(node.body, ring, action)
                trips = node.symbolic_trip_count
                if inner is None or (inner and (trips is None or not _grows(trips))):
                    return None
                if inner and trips is not None:
                    factor = [((part,), times) for part, times in trips.terms] + [((), trips.constant)]
                    parts += [
                        Polynomial(
                            {tuple(sorted(product + more, key=str)): count * times for product, count in inner.items()}
                        )
                        for more, times in factor
                    ]
            case Branch():
                then, other = _times(node.then, ring, action), _times(node.otherwise, ring, action)
                if then is None or then != other:
                    return None
                parts.append(then)
            case _:
                pass
    return _sum(parts)


_QUOTIENTS = frozenset(kind.name for kind in (arith.DivSIOp, arith.DivUIOp, arith.CeilDivSIOp))


def _is_unbounded(part: Symbol) -> bool:
    if part.name in _QUOTIENTS:
        value, by = part.operands
        return (
            not by.terms
            and by.constant > 0
            and bool(value.terms)
            and all(times > 0 and _is_unbounded(inner) for inner, times in value.terms)
        )
    return part.name.startswith("%") and not part.instance


def _grows(trips: Affine) -> bool:
    """Return True if a trip count grows with every symbol in it and depends on no other loop."""
    if not trips.terms:
        return trips.constant >= 0
    return all(times > 0 and not any(leaf.name == ITERATION for leaf in free_symbols(Affine(0, ((part, 1),))))
               for part, times in trips.terms)  # fmt: skip
