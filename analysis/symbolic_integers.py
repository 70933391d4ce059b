"""Symbolic integers: affine expressions of symbols, conditions on them, and bounds of their values.

An integer is an affine expression: a sum of symbols with coefficients, and a constant. Whatever is not affine is a
symbol of its own, named after its operation and operands, so that two integers computed alike are equal. Conditions
compare integers with 0. Bounds hold the interval of each sum of symbols.

Integers do not overflow here. Knows nothing of IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from math import gcd
from typing import NamedTuple, TypeAlias


class Symbol(NamedTuple):
    """An integer whose value is unknown: the operation that makes it, and its operands.

    Equal symbols are equal integers. `instance` distinguishes symbols of the same name.
    """

    name: str
    operands: tuple[Affine, ...] = ()
    instance: tuple[object, ...] = ()

    def __str__(self) -> str:
        """Return the text of it in a message."""
        return _symbol_text(self)


Terms: TypeAlias = tuple[tuple[Symbol, int], ...]
"""Symbols with their coefficients, in the order of their names."""


class Affine(NamedTuple):
    """An affine expression: a sum of symbols with coefficients, and a constant."""

    constant: int
    terms: Terms = ()

    def __str__(self) -> str:
        """Return the text of it in a message."""
        parts: list[str] = []
        for symbol, coefficient in self.terms:
            sign = ("- " if coefficient < 0 else "+ ") if parts else ("-" if coefficient < 0 else "")
            parts.append(f"{sign}{'' if abs(coefficient) == 1 else f'{abs(coefficient)} * '}{symbol}")
        if self.constant or not parts:
            sign = ("- " if self.constant < 0 else "+ ") if parts else ("-" if self.constant < 0 else "")
            parts.append(f"{sign}{abs(self.constant)}")
        return " ".join(parts)


def symbol(name: str, *operands: Affine, instance: tuple[object, ...] = ()) -> Affine:
    """Return a symbol as an integer."""
    return Affine(0, ((Symbol(name, operands, instance), 1),))


_INFIX: Mapping[str, str] = {
    "arith.divsi": "/", "arith.divui": "/", "arith.remsi": "mod", "arith.remui": "mod", "arith.muli": "*",
}  # fmt: skip
"""Operations whose text is between their operands."""


@lru_cache(maxsize=1 << 14)
def _symbol_text(value: Symbol) -> str:
    if value.instance:
        return value.name
    operands = [f"({operand})" if len(operand.terms) > 1 else str(operand) for operand in value.operands]
    if value.name in _INFIX and len(operands) == 2:
        return f"{operands[0]} {_INFIX[value.name]} {operands[1]}"
    plain = [str(operand) for operand in value.operands]
    if value.name.startswith("%") and plain:
        return f"{value.name}[{', '.join(plain)}]"
    name = value.name.removeprefix("arith.").removeprefix("math.")
    return f"{name}({', '.join(plain)})" if plain else name


def _sort_key(term: tuple[Symbol, int]) -> tuple[str, str]:
    return _symbol_text(term[0]), repr(term[0].instance)


def add(left: Affine, right: Affine, coefficient: int = 1) -> Affine:
    """Return `left + coefficient * right`."""
    if not right.terms or not coefficient:
        return Affine(left.constant + coefficient * right.constant, left.terms)
    found = dict(left.terms)
    for value, count in right.terms:
        found[value] = found.get(value, 0) + coefficient * count
    kept = sorted(((value, count) for value, count in found.items() if count), key=_sort_key)
    return Affine(left.constant + coefficient * right.constant, tuple(kept))


def scale(value: Affine, coefficient: int) -> Affine:
    """Return `coefficient * value`."""
    return add(Affine(0), value, coefficient)


# ---------------------------------------------------------------------------------------------
# Conditions
# ---------------------------------------------------------------------------------------------


class IsNegative(NamedTuple):
    """The condition that an integer is less than 0."""

    value: Affine


class IsZero(NamedTuple):
    """The condition that an integer is 0."""

    value: Affine


class IsTrue(NamedTuple):
    """The condition that an integer that is 0 or 1 is 1."""

    value: Affine


class Not(NamedTuple):
    """The negation of a condition."""

    condition: Condition


class And(NamedTuple):
    """The conjunction of two conditions."""

    left: Condition
    right: Condition


Condition: TypeAlias = IsNegative | IsZero | IsTrue | Not | And | bool
"""A condition on symbolic integers, or a constant."""


def condition_text(condition: Condition) -> str:
    """Return the text of a condition in a message."""
    match condition:
        case bool():
            return str(condition).lower()
        case IsNegative(value):
            left, right = _comparison_sides(value)
            return f"{left} < {right}"
        case IsZero(value):
            left, right = _comparison_sides(value)
            return f"{left} == {right}"
        case IsTrue(value):
            return str(value)
        case Not(inner):
            return f"not ({condition_text(inner)})"
        case And(left, right):
            return f"{condition_text(left)} and {condition_text(right)}"


def _comparison_sides(value: Affine) -> tuple[Affine, Affine]:
    """Return the two sides of a comparison with 0, without negative terms."""
    left = Affine(max(0, value.constant), tuple(term for term in value.terms if term[1] > 0))
    right = Affine(max(0, -value.constant), tuple((name, -count) for name, count in value.terms if count < 0))
    return left, right


class CaseSplit(NamedTuple):
    """The comparison `terms < bound` whose two outcomes have to be followed separately."""

    terms: Terms
    bound: int


Interval: TypeAlias = tuple[int | None, int | None]
"""The least and the greatest value of an integer; None without a limit."""


class Bounds(dict[Terms, Interval]):
    """The intervals of sums of symbols. The first symbol of each sum has a positive coefficient."""

    def interval(self, terms: Terms) -> Interval:
        """Return the interval of a sum, its own intersected with that of its terms."""
        low, high = self.get(terms, (None, None))
        if len(terms) > 1:
            parts = [_scaled_interval(self.get(((value, 1),), _NONNEGATIVE.get(value.name, _UNBOUNDED)), coefficient)
                     for value, coefficient in terms]  # fmt: skip
            low = _max(low, _sum(part[0] for part in parts))
            high = _min(high, _sum(part[1] for part in parts))
        for value, coefficient in terms[:1]:
            natural = _scaled_interval(_NONNEGATIVE.get(value.name, _UNBOUNDED), coefficient)
            if len(terms) == 1:
                low, high = _max(low, natural[0]), _min(high, natural[1])
        return low, high

    def record(self, split: CaseSplit, answer: bool) -> None:
        """Record the outcome of a comparison."""
        low, high = self.get(split.terms, (None, None))
        if answer:
            self[split.terms] = low, _min(high, split.bound - 1)
        else:
            self[split.terms] = _max(low, split.bound), high

    def less_than(self, terms: Terms, bound: int) -> bool | CaseSplit:
        """Return True if a sum of symbols is less than `bound`, or the comparison to split on."""
        split, negated = _case_split(terms, bound)
        terms, bound = split
        low, high = self.interval(terms)
        if high is not None and high < bound:
            return not negated
        if low is not None and low >= bound:
            return negated
        return split

    def decide(self, condition: Condition) -> bool | CaseSplit:
        """Return True if a condition holds, or the comparison to split on."""
        match condition:
            case bool():
                return condition
            case IsNegative(value):
                return self.less_than(value.terms, -value.constant) if value.terms else value.constant < 0
            case IsTrue(value):
                return self.decide(Not(IsNegative(add(value, Affine(-1)))))
            case IsZero(value):
                return self._is_zero(value)
            case Not(inner):
                found = self.decide(inner)
                return found if isinstance(found, CaseSplit) else not found
            case And(left, right):
                first = self.decide(left)
                if first is False:
                    return False
                second = self.decide(right)
                return second if first is True or second is False else first

    def _is_zero(self, value: Affine) -> bool | CaseSplit:
        if not value.terms:
            return value.constant == 0
        if value.constant % gcd(*(coefficient for _, coefficient in value.terms)):
            return False
        less = self.less_than(value.terms, -value.constant)
        most = self.less_than(value.terms, 1 - value.constant)
        if less is True or most is False:
            return False
        return less if isinstance(less, CaseSplit) else most

    def assume(self, condition: Condition, holds: bool) -> None:
        """Record that a condition holds, or that it does not, where intervals can express it."""
        match condition:
            case IsNegative(value) if value.terms:
                split, negated = _case_split(value.terms, -value.constant)
                self.record(split, holds != negated)
            case IsTrue(value):
                self.assume(IsNegative(add(value, Affine(-1))), not holds)
            case IsZero(value) if holds and value.terms:
                self.assume(IsNegative(value), False)
                self.assume(IsNegative(add(value, Affine(-1))), True)
            case Not(inner):
                self.assume(inner, not holds)
            case And(left, right) if holds:
                self.assume(left, True)
                self.assume(right, True)
            case _:
                pass


def _case_split(terms: Terms, bound: int) -> tuple[CaseSplit, bool]:
    """Return `terms < bound` as a comparison of the normalized sum, and whether its outcome is negated."""
    divisor = gcd(*(coefficient for _, coefficient in terms))
    # -x < b exactly if not x < 1 - b
    negated = _leading_coefficient(terms) < 0
    return CaseSplit(normalized(terms), -(-(1 - bound if negated else bound) // divisor)), negated


def normalized(terms: Terms) -> Terms:
    """Return a sum divided by the gcd of its coefficients, the first of which becomes positive."""
    divisor = gcd(*(coefficient for _, coefficient in terms)) * (-1 if _leading_coefficient(terms) < 0 else 1)
    if divisor == 1:
        return terms
    return tuple((value, coefficient // divisor) for value, coefficient in terms)


def _leading_coefficient(terms: Terms) -> int:
    """Return the coefficient of the first symbol of a sum."""
    return terms[0][1] if terms else 0


_UNBOUNDED: Interval = (None, None)

ITERATION = "the round"
"""Name of the symbol of a loop's iteration number; its instance is the loop."""

BLOCK = "the block"
"""Name of the symbol of the block number."""

_NONNEGATIVE: Mapping[str, Interval] = {ITERATION: (0, None), BLOCK: (0, None)}
"""Intervals of all symbols of a name."""


def substitute(condition: Condition, transform: Callable[[Affine], Affine]) -> Condition:
    """Return a condition with every integer in it transformed."""
    match condition:
        case bool():
            return condition
        case IsNegative(value):
            return IsNegative(transform(value))
        case IsZero(value):
            return IsZero(transform(value))
        case IsTrue(value):
            return IsTrue(transform(value))
        case Not(inner):
            return Not(substitute(inner, transform))
        case And(left, right):
            return And(substitute(left, transform), substitute(right, transform))


def _scaled_interval(interval: Interval, coefficient: int) -> Interval:
    low, high = (None if limit is None else coefficient * limit for limit in interval)
    return (low, high) if coefficient > 0 else (high, low)


def _sum(values: Iterable[int | None]) -> int | None:
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _max(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else max(left, right)


def _min(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else min(left, right)


def values_in(condition: Condition) -> Iterator[Affine]:
    """Yield the integers that a condition compares."""
    match condition:
        case bool():
            return
        case IsNegative(value) | IsZero(value) | IsTrue(value):
            yield value
        case Not(inner):
            yield from values_in(inner)
        case And(left, right):
            yield from values_in(left)
            yield from values_in(right)


def free_symbols(value: Affine) -> Iterator[Symbol]:
    """Yield the symbols without operands that an integer is computed from."""
    for part, _ in value.terms:
        if not part.operands:
            yield part
        for operand in part.operands:
            yield from free_symbols(operand)
