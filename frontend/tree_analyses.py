"""Analyses of syntax trees, each cached by node: names, jumps, tail calls, sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Generic, TypeVar

from ..csl import syntax

_T = TypeVar("_T")


class CachedAnalysis(Generic[_T]):
    """A function of a tree node whose result is computed once for each node."""

    def __init__(self, find: Callable[[syntax.Node], _T]) -> None:
        self._find = find
        # The node is kept with its result, so that no other can take its identity.
        self._known: dict[int, tuple[syntax.Node, _T]] = {}

    def __call__(self, node: syntax.Node) -> _T:
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = node, self._find(node)
        return known[1]


def _root(place: syntax.Node) -> str | None:
    """Return the variable a place such as `a[i].b` is part of; None behind a pointer."""
    while True:
        match place:
            case syntax.Index() | syntax.Field():
                place = place.base
            case syntax.Builtin(name="field") if place.arguments:
                place = place.arguments[0]
            case _:
                return place.name if isinstance(place, syntax.Name) else None


def _names(places: Iterable[syntax.Node]) -> frozenset[str]:
    return frozenset(name for name in map(_root, places) if name is not None)


def _traps(node: syntax.Node) -> bool:
    return any(isinstance(inner, syntax.Field) and inner.name == "set_exception_mask" for inner in syntax.walk(node))


def _addressed(node: syntax.Node) -> frozenset[str]:
    places: list[syntax.Node] = []
    for inner in syntax.walk(node):
        if isinstance(inner, syntax.Unary) and inner.operator == "&":
            places.append(inner.operand)
        elif isinstance(inner, syntax.TensorAccess) and isinstance(inner.base, syntax.Name):
            places.append(inner.base)
    return _names(places)


def _assigned(node: syntax.Node) -> frozenset[str]:
    return _names(inner.target for inner in syntax.walk(node) if isinstance(inner, syntax.Assign))


def _jumps(node: syntax.Node) -> frozenset[type[syntax.Node]]:
    kinds = (syntax.Return, syntax.Break, syntax.Continue)
    return frozenset(type(inner) for inner in syntax.walk(node) if isinstance(inner, kinds))


def _labels_left(node: syntax.Node) -> frozenset[str]:
    jumps = (inner for inner in syntax.walk(node) if isinstance(inner, syntax.Break | syntax.Continue))
    return frozenset(jump.label for jump in jumps if jump.label is not None)


def _is_plain(node: syntax.Node) -> bool:
    harmless = (syntax.Binary, syntax.Unary, syntax.Name, syntax.Field, syntax.Integer, syntax.Float)
    return all(
        isinstance(inner, harmless) and not (isinstance(inner, syntax.Binary) and inner.operator in ("/", "%"))
        for inner in syntax.walk(node)
    )


def _occurrences(node: syntax.Node) -> Counter[str]:
    return Counter(inner.name for inner in syntax.walk(node) if isinstance(inner, syntax.Name))


def _mentions(file: syntax.Node) -> Counter[str]:
    found: Counter[str] = Counter()
    for node in syntax.walk(file):
        if isinstance(node, syntax.Name | syntax.Field):
            found[node.name] += 1
        elif isinstance(node, syntax.String):
            # @field and @has_field take names as strings.
            found[node.value.decode(errors="replace")] += 1
    return found


def _tail_calls(node: syntax.Node) -> frozenset[int]:
    """Return the identities of calls after which a function does nothing but return their result."""
    assert isinstance(node, syntax.Function)
    found: set[int] = set()
    pending: list[syntax.Node] = []

    def take(*nodes: syntax.Node | None) -> None:
        pending.extend(node for node in nodes if node is not None)

    # Wherever they are, what follows nothing but a return is in tail position.
    for inner in syntax.walk(node):
        if isinstance(inner, syntax.Return):
            take(inner.value)
        elif isinstance(inner, syntax.Block):
            for one, other in pairwise(inner.statements):
                if not isinstance(other, syntax.Return):
                    continue
                if other.value is None:
                    take(one)
                elif isinstance(one, syntax.Variable) and isinstance(other.value, syntax.Name):
                    take(one.value if other.value.name == one.name else None)
    take(node.body)
    while pending:
        match pending.pop():
            case syntax.Call() as call:
                found.add(id(call))
            case syntax.Block(statements=statements):
                take(*statements[-1:])
            case syntax.If(branches=branches, otherwise=otherwise):
                take(*(link.body for link in branches), otherwise)
            case syntax.Switch(branches=branches):
                take(*(link.body for link in branches))
            case syntax.Binary(operator="and" | "or", right=right):
                take(right)
            case syntax.Assign(operator="=", target=syntax.Name(name="_"), value=value):
                take(value)
            case _:
                pass
    return frozenset(found)


def _operands(node: syntax.Node) -> frozenset[str] | None:
    inside = list(syntax.walk(node))
    if any(isinstance(inner, syntax.Call) for inner in inside):
        return None
    return frozenset(inner.name for inner in inside if isinstance(inner, syntax.Name))


class TreeAnalyses:
    """The analyses of one compilation."""

    def __init__(self) -> None:
        self.addressed = CachedAnalysis(_addressed)
        """Names of variables whose address is taken in a function."""
        self.assigned = CachedAnalysis(_assigned)
        """Names of variables that are assigned to somewhere in a loop."""
        self.jumps = CachedAnalysis(_jumps)
        """The kinds of jumps in a loop."""
        self.labels_left = CachedAnalysis(_labels_left)
        """The labels that jumps in a loop name."""
        self.is_plain = CachedAnalysis(_is_plain)
        """True if evaluating an expression has no effect and cannot fail."""
        self.size = CachedAnalysis(lambda node: sum(1 for _ in syntax.walk(node)))
        """Number of nodes."""
        self.tail_calls = CachedAnalysis(_tail_calls)
        """The identities of the calls of a function that are in tail position."""
        self.operands = CachedAnalysis(_operands)
        """The names in an expression; None for one that calls a function."""
        self.names = CachedAnalysis(_occurrences)
        """How often each name is used in a function, type or file."""
        self.mentions = CachedAnalysis(_mentions)
        """How often each name is in expressions of a file, as a field or a string too."""
        self.traps = CachedAnalysis(_traps)
        """True if a file unmasks floating point exceptions."""
        self.labels: set[int] = set()
        """The identities of labeled statements that have been checked."""
