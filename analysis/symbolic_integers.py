"""Numbers that are not known, by the names of what they follow from, and what is learnt of them.

A number is a sum of unknowns, each so many times, and a constant; what cannot be written so is an unknown of its own,
that of an operation on numbers: two that are computed in the same way are the same. Conditions compare numbers with
0. What is known of a sum of unknowns are its limits.

Knows the arithmetic of integers that do not overflow, nothing of IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from math import gcd
from typing import NamedTuple, TypeAlias


class Unknown(NamedTuple):
    """A number that is not known: what makes it, of which numbers.

    Two are the same number if they are equal. `place` tells apart what has the same name.
    """

    name: str
    operands: tuple[Linear, ...] = ()
    place: tuple[object, ...] = ()

    def __str__(self) -> str:
        """How a message writes it."""
        return _text(self)


Terms: TypeAlias = tuple[tuple[Unknown, int], ...]
"""Unknowns and how many times each is taken, in the order of their names."""


class Linear(NamedTuple):
    """A sum of unknowns and a constant."""

    constant: int
    terms: Terms = ()

    def __str__(self) -> str:
        """How a message writes it."""
        parts: list[str] = []
        for unknown, times in self.terms:
            sign = ("- " if times < 0 else "+ ") if parts else ("-" if times < 0 else "")
            parts.append(f"{sign}{'' if abs(times) == 1 else f'{abs(times)} * '}{unknown}")
        if self.constant or not parts:
            sign = ("- " if self.constant < 0 else "+ ") if parts else ("-" if self.constant < 0 else "")
            parts.append(f"{sign}{abs(self.constant)}")
        return " ".join(parts)


def unknown(name: str, *operands: Linear, place: tuple[object, ...] = ()) -> Linear:
    """One unknown as a number."""
    return Linear(0, ((Unknown(name, operands, place), 1),))


_WRITTEN: Mapping[str, str] = {
    "arith.divsi": "/", "arith.divui": "/", "arith.remsi": "mod", "arith.remui": "mod", "arith.muli": "*",
}  # fmt: skip
"""Operations that are written between their operands."""


@lru_cache(maxsize=1 << 14)
def _text(value: Unknown) -> str:
    if value.place:
        return value.name
    operands = [f"({operand})" if len(operand.terms) > 1 else str(operand) for operand in value.operands]
    if value.name in _WRITTEN and len(operands) == 2:
        return f"{operands[0]} {_WRITTEN[value.name]} {operands[1]}"
    plain = [str(operand) for operand in value.operands]
    if value.name.startswith("%") and plain:
        return f"{value.name}[{', '.join(plain)}]"
    name = value.name.removeprefix("arith.").removeprefix("math.")
    return f"{name}({', '.join(plain)})" if plain else name


def _order(term: tuple[Unknown, int]) -> tuple[str, str]:
    return _text(term[0]), repr(term[0].place)


def plus(left: Linear, right: Linear, times: int = 1) -> Linear:
    """`left + times * right`."""
    if not right.terms or not times:
        return Linear(left.constant + times * right.constant, left.terms)
    found = dict(left.terms)
    for value, count in right.terms:
        found[value] = found.get(value, 0) + times * count
    kept = sorted(((value, count) for value, count in found.items() if count), key=_order)
    return Linear(left.constant + times * right.constant, tuple(kept))


def scaled(value: Linear, times: int) -> Linear:
    """`times * value`."""
    return plus(Linear(0), value, times)


# ---------------------------------------------------------------------------------------------
# Conditions
# ---------------------------------------------------------------------------------------------


class Below(NamedTuple):
    """Whether a number is less than 0."""

    value: Linear


class Zero(NamedTuple):
    """Whether a number is 0."""

    value: Linear


class Flag(NamedTuple):
    """Whether a number that is 0 or 1 is 1."""

    value: Linear


class Not(NamedTuple):
    """Whether a condition does not hold."""

    condition: Condition


class Both(NamedTuple):
    """Whether two conditions hold."""

    left: Condition
    right: Condition


Condition: TypeAlias = Below | Zero | Flag | Not | Both | bool
"""What is either true or false."""


def written(condition: Condition) -> str:
    """How a message writes a condition."""
    match condition:
        case bool():
            return str(condition).lower()
        case Below(value):
            left, right = _sides(value)
            return f"{left} < {right}"
        case Zero(value):
            left, right = _sides(value)
            return f"{left} == {right}"
        case Flag(value):
            return str(value)
        case Not(inner):
            return f"not ({written(inner)})"
        case Both(left, right):
            return f"{written(left)} and {written(right)}"


def _sides(value: Linear) -> tuple[Linear, Linear]:
    """A comparison with 0 as one of two numbers from which nothing is taken."""
    left = Linear(max(0, value.constant), tuple(term for term in value.terms if term[1] > 0))
    right = Linear(max(0, -value.constant), tuple((name, -count) for name, count in value.terms if count < 0))
    return left, right


class Question(NamedTuple):
    """Whether a sum of unknowns is less than a number: what has to be known to go on."""

    terms: Terms
    bound: int


Limits: TypeAlias = tuple[int | None, int | None]
"""The least and the greatest that a number can be."""


class Knowledge(dict[Terms, Limits]):
    """The limits of sums of unknowns. Sums begin with an unknown that is taken a positive number of times."""

    def limits(self, terms: Terms) -> Limits:
        """The limits of a sum, also as far as they follow from those of its parts."""
        low, high = self.get(terms, (None, None))
        if len(terms) > 1:
            parts = [_times(self.get(((value, 1),), _NATURAL.get(value.name, _NOTHING)), times)
                     for value, times in terms]  # fmt: skip
            low = _greater(low, _sum(part[0] for part in parts))
            high = _less(high, _sum(part[1] for part in parts))
        for value, times in terms[:1]:
            natural = _times(_NATURAL.get(value.name, _NOTHING), times)
            if len(terms) == 1:
                low, high = _greater(low, natural[0]), _less(high, natural[1])
        return low, high

    def learn(self, question: Question, answer: bool) -> None:
        """Note whether a sum is less than a number."""
        low, high = self.get(question.terms, (None, None))
        if answer:
            self[question.terms] = low, _less(high, question.bound - 1)
        else:
            self[question.terms] = _greater(low, question.bound), high

    def below(self, terms: Terms, bound: int) -> bool | Question:
        """Whether a sum of unknowns is less than `bound`, or what has to be known for that."""
        question, turned = _question(terms, bound)
        terms, bound = question
        low, high = self.limits(terms)
        if high is not None and high < bound:
            return not turned
        if low is not None and low >= bound:
            return turned
        return question

    def decide(self, condition: Condition) -> bool | Question:
        """Whether a condition holds, or what has to be known for that."""
        match condition:
            case bool():
                return condition
            case Below(value):
                return self.below(value.terms, -value.constant) if value.terms else value.constant < 0
            case Flag(value):
                return self.decide(Not(Below(plus(value, Linear(-1)))))
            case Zero(value):
                return self._is_zero(value)
            case Not(inner):
                found = self.decide(inner)
                return found if isinstance(found, Question) else not found
            case Both(left, right):
                first = self.decide(left)
                if first is False:
                    return False
                second = self.decide(right)
                return second if first is True or second is False else first

    def _is_zero(self, value: Linear) -> bool | Question:
        if not value.terms:
            return value.constant == 0
        if value.constant % gcd(*(times for _, times in value.terms)):
            return False
        less = self.below(value.terms, -value.constant)
        most = self.below(value.terms, 1 - value.constant)
        if less is True or most is False:
            return False
        return less if isinstance(less, Question) else most

    def assume(self, condition: Condition, holds: bool) -> None:
        """Note that a condition holds, or that it does not, as far as limits tell."""
        match condition:
            case Below(value) if value.terms:
                question, turned = _question(value.terms, -value.constant)
                self.learn(question, holds != turned)
            case Flag(value):
                self.assume(Below(plus(value, Linear(-1))), not holds)
            case Zero(value) if holds and value.terms:
                self.assume(Below(value), False)
                self.assume(Below(plus(value, Linear(-1))), True)
            case Not(inner):
                self.assume(inner, not holds)
            case Both(left, right) if holds:
                self.assume(left, True)
                self.assume(right, True)
            case _:
                pass


def _question(terms: Terms, bound: int) -> tuple[Question, bool]:
    """Whether a sum is less than `bound` as a question about the sum of which limits are kept.

    The answer is the opposite if the second result is true.
    """
    divisor = gcd(*(times for _, times in terms))
    # -x < b exactly if not x < 1 - b
    turned = _leading(terms) < 0
    return Question(normal(terms), -(-(1 - bound if turned else bound) // divisor)), turned


def normal(terms: Terms) -> Terms:
    """The sum of which limits are kept for a sum: not a multiple, and beginning with what is added."""
    divisor = gcd(*(times for _, times in terms)) * (-1 if _leading(terms) < 0 else 1)
    return tuple((value, times // divisor) for value, times in terms)


def _leading(terms: Terms) -> int:
    """How many times the first unknown of a sum is taken."""
    return next((times for _, times in terms), 0)


_NOTHING: Limits = (None, None)

ROUND = "the round"
"""How often a loop has come round, as an unknown; its place is the loop."""

BLOCK = "the block"
"""The number of the block, as an unknown."""

_NATURAL: Mapping[str, Limits] = {ROUND: (0, None), BLOCK: (0, None)}
"""What is known of all unknowns of a name."""


def replaced(condition: Condition, change: Callable[[Linear], Linear]) -> Condition:
    """A condition on other numbers."""
    match condition:
        case bool():
            return condition
        case Below(value):
            return Below(change(value))
        case Zero(value):
            return Zero(change(value))
        case Flag(value):
            return Flag(change(value))
        case Not(inner):
            return Not(replaced(inner, change))
        case Both(left, right):
            return Both(replaced(left, change), replaced(right, change))


def _times(limits: Limits, times: int) -> Limits:
    low, high = (None if limit is None else times * limit for limit in limits)
    return (low, high) if times > 0 else (high, low)


def _sum(values: Iterable[int | None]) -> int | None:
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _greater(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else max(left, right)


def _less(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else min(left, right)


def numbers_in(condition: Condition) -> Iterator[Linear]:
    """The numbers that a condition compares."""
    match condition:
        case bool():
            return
        case Below(value) | Zero(value) | Flag(value):
            yield value
        case Not(inner):
            yield from numbers_in(inner)
        case Both(left, right):
            yield from numbers_in(left)
            yield from numbers_in(right)


def leaves(value: Linear) -> Iterator[Unknown]:
    """The unknowns that a number follows from and that follow from no others."""
    for part, _ in value.terms:
        if not part.operands:
            yield part
        for operand in part.operands:
            yield from leaves(operand)
