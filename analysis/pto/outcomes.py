"""What kernels that pipes connect come to, where what they do depends on numbers that are not known.

How often each end uses a ring is a sum of products of these numbers; what the kernels come to for all of them is told
by `analysis.model_checking`, and for given ones by their events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ...dialects.pto.kernels import GetBlockIdxOp
from ...dialects.traversal import walk
from ..event_graph import Action
from ..model_checking import Branch, EventNode, Loop, Node, Verdict, event_nodes_in, explore
from ..symbolic_integers import BLOCK, ITERATION, Affine, Condition, Interval, Symbol, Terms, free_symbols, values_in
from .control import Arguments, Numbers, control_of
from .events import Component, Program, core_name, tokens_of
from .schedules import Kernel, schedules


class Outcomes:
    """What the kernels of a component come to; raises UnknownControl if loops and branches do not tell."""

    def __init__(self, component: Component, arguments: Arguments) -> None:
        self.component = component
        self._numbers: dict[Kernel, Numbers] = {}
        self.cores: dict[str, list[Node]] = {}
        """What each core does, by the names of cores in messages."""
        for kernel in component.kernels:
            for ways in kernel.schedules:
                way, name = ways[0], core_name(kernel, ways[0])
                numbers = self._numbers[kernel] = Numbers(arguments, name, way.lane)
                events = component.events(kernel, way)
                self.cores[name] = control_of(kernel.function, way, events, kernel.uses, numbers)

    def explore(self, *, seeded: bool = True, known: Mapping[Terms, Interval] | None = None) -> Verdict:
        """What the cores come to, for all numbers or those of which something is `known`."""
        behavior = self.component.kernels[0].behavior
        return explore(self.cores, tokens_of(self.component.rings, behavior, seeded=seeded), known)

    def program(self, values: Mapping[Symbol, int]) -> Program | None:
        """The kernels and their events where numbers have these values; None if they depend on more."""
        found: list[Kernel] = []
        for kernel in self.component.kernels:
            numbers = self._numbers[kernel]
            asked: list[SSAValue] = list(kernel.function.body.blocks[0].args)
            asked += [op.result for op in walk(kernel.function) if isinstance(op, GetBlockIdxOp)]
            given: dict[SSAValue, int] = {}
            for value in asked:
                number = numbers.number(value)
                if all(part in values for part, _ in number.terms):
                    given[value] = number.constant + sum(times * values[part] for part, times in number.terms)
            found.append(replace(kernel, schedules=schedules(kernel.function, kernel.uses, given)))
        program = self.component.program(found)
        return program if program is not None and program.exact else None

    def times(self, ring: str, action: Action, default: Action | None = None) -> list[tuple[str, Sum | None]]:
        """How often each core does something with a ring, with the core; None if that is no sum of products.

        Cores that do not do it are left out, but for those that do what is `default`.
        """
        found: list[tuple[str, Sum | None]] = []
        for core, nodes in self.cores.items():
            if any(do.event.ring == ring and do.event.action in (action, default) for do in event_nodes_in(nodes)):
                found.append((core, _times(nodes, ring, action)))
        return found


# ---------------------------------------------------------------------------------------------
# What it depends on
# ---------------------------------------------------------------------------------------------


def subjects(asked: Mapping[tuple[Condition, Any], None]) -> list[Symbol]:
    """The numbers that conditions compare, apart from rounds of loops."""
    found: dict[Symbol, None] = {}
    for condition, _ in asked:
        for number in values_in(condition):
            found |= {part: None for part, _ in number.terms if part.name != ITERATION}
    return list(found)


def sources(asked: Mapping[tuple[Condition, Any], None]) -> list[Symbol] | None:
    """The arguments and the block, as far as conditions follow from them; None if they follow from more."""
    found: dict[Symbol, None] = {}
    for condition, _ in asked:
        for number in values_in(condition):
            if not _is_given(number):
                return None
            found |= {part: None for part in free_symbols(number) if part.name != ITERATION}
    return list(found)


def _is_given(number: Affine) -> bool:
    """Whether a number is computed of arguments and the block alone."""
    for part, _ in number.terms:
        if part.name == ITERATION:
            continue
        if part.name.startswith("%") or part.name == BLOCK:
            if part.operands or part.instance:
                return False
        elif not part.operands or not all(map(_is_given, part.operands)):
            return False
    return True


def place_of(asked: Mapping[tuple[Condition, Any], None]) -> tuple[str, Operation] | None:
    """A number that what the kernels come to depends on, and the operation that asks for it.

    One that is asked for in one place alone comes first, as that is what both ends do not agree in.
    """
    names: dict[Operation, list[str]] = {}
    for condition, origin in asked:
        if isinstance(origin, Operation):
            parts = [part for number in values_in(condition) for part, _ in number.terms if part.name != ITERATION]
            names.setdefault(origin, []).extend(map(str, dict.fromkeys(parts)))
    counts = Counter(name for said in names.values() for name in said)
    for origin, said in sorted(names.items(), key=lambda item: min(map(counts.__getitem__, item[1]), default=0)):
        alone = [name for name in said if counts[name] == 1] or said
        return " and ".join(alone), origin
    return None


# ---------------------------------------------------------------------------------------------
# How often something is done
# ---------------------------------------------------------------------------------------------


class Sum(dict[tuple[Symbol, ...], int]):
    """A sum of products of unknowns, each so many times."""

    def __str__(self) -> str:
        """How a message writes it."""
        parts: list[str] = []
        for product, times in sorted(self.items(), key=lambda item: (-len(item[0]), str(item[0]))):
            sign = ("- " if times < 0 else "+ ") if parts else ("-" if times < 0 else "")
            factors = [str(abs(times))] if abs(times) != 1 or not product else []
            parts.append(sign + " * ".join([*factors, *map(str, product)]))
        return " ".join(parts) or "0"

    def minus(self, other: Sum) -> Sum:
        """The difference of two sums."""
        return _sum([self, _scaled(other, -1)])

    @property
    def unknowns(self) -> list[Symbol]:
        """What the sum depends on."""
        return list(dict.fromkeys(part for product in self for part in product))

    @property
    def is_unlimited(self) -> bool:
        """Whether its unknowns can all be as large as one likes: arguments, what is loaded, and quotients of these."""
        return all(map(_is_unlimited, self.unknowns))

    @property
    def is_independent(self) -> bool:
        """Whether its unknowns can be any numbers: each follows from others, which all kernels know."""
        parts = [set(free_symbols(Affine(0, ((part, 1),)))) for part in self.unknowns]
        every = set[Symbol]().union(*parts)
        return len(every) == sum(map(len, parts)) and not any(part.instance for part in every)

    def value(self, values: Mapping[Symbol, int]) -> int:
        """The sum where unknowns have these values."""
        total = 0
        for product, times in self.items():
            for part in product:
                times *= values[part]
            total += times
        return total


def _sum(parts: Sequence[Sum]) -> Sum:
    found = Sum()
    for part in parts:
        for product, times in part.items():
            found[product] = found.get(product, 0) + times
    return Sum({product: times for product, times in found.items() if times})


def _scaled(part: Sum, by: int) -> Sum:
    return Sum({product: by * times for product, times in part.items()})


def _times(nodes: Sequence[Node], ring: str, action: Action) -> Sum | None:
    parts: list[Sum] = []
    for node in nodes:
        match node:
            case EventNode():
                if (node.event.ring, node.event.action) == (ring, action):
                    parts.append(Sum({(): 1}))
            case Loop():
                inner = _times(node.body, ring, action)
                trips = node.symbolic_trip_count
                if inner is None or (inner and (trips is None or not _grows(trips))):
                    return None
                if inner and trips is not None:
                    factor = [((part,), times) for part, times in trips.terms] + [((), trips.constant)]
                    parts += [
                        Sum({tuple(sorted(product + more, key=str)): count * times for product, count in inner.items()})
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


def _is_unlimited(part: Symbol) -> bool:
    if part.name in _QUOTIENTS:
        value, by = part.operands
        return (
            not by.terms
            and by.constant > 0
            and bool(value.terms)
            and all(times > 0 and _is_unlimited(inner) for inner, times in value.terms)
        )
    return part.name.startswith("%") and not part.instance


def _grows(trips: Affine) -> bool:
    """Whether a number of rounds grows with all it depends on, and does not depend on other loops."""
    if not trips.terms:
        return trips.constant >= 0
    return all(times > 0 and not any(leaf.name == ITERATION for leaf in free_symbols(Affine(0, ((part, 1),))))
               for part, times in trips.terms)  # fmt: skip
