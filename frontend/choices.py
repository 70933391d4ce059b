"""Fabric DSDs of which a program chooses one at run time.

A DSD keeps its queue, color and options in instructions rather than in memory, so a variable that holds one of several
keeps which one it is, and what is done with it is emitted for each of them, in branches.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import replace

from xdsl.dialects import arith

from ..csl import syntax
from . import control, types
from .descriptors import FabricChoice
from .evaluator import Evaluator
from .types import Type
from .values import Value, is_ssa


def each(ev: Evaluator, value: Value, node: syntax.Node, use: Function[[Value], Value]) -> Value:
    """Return what `use` makes of a value; if that is one of several DSDs, of each of them, in branches."""
    data = value.data
    if not isinstance(data, FabricChoice):
        return use(value)
    choice = data

    def among(position: int) -> Value:
        number, descriptor = choice.alternatives[position]
        alternative = Value(value.type, replace(descriptor, extent=choice.extent))
        if not is_ssa(choice.chosen):
            return use(alternative) if choice.chosen == number else among(position + 1)
        if position == len(choice.alternatives) - 1:
            return use(alternative)
        is_it = arith.CmpiOp(choice.chosen, ev.code.constant(types.U16, number), "eq")
        return control.branch(ev, ev.code.value(is_it), lambda: use(alternative), lambda: among(position + 1), node)

    return among(0)


class _OneOfSeveral(Exception):
    """Raised where an operand turns out to be one of several DSDs."""

    def __init__(self, key: int, value: Value) -> None:
        super().__init__()
        self.key, self.value = key, value


class Operands:
    """The values of an operation's operands, each evaluated once however often the operation is emitted."""

    def __init__(self, ev: Evaluator, values: dict[int, Value]) -> None:
        self._ev = ev
        self._values = values

    def expr(self, node: syntax.Expression, want: Type | None = None) -> Value:
        """Return the value of an operand."""
        value = self._values.get(id(node))
        if value is None:
            value = self._values[id(node)] = self._ev.expr(node, want)
            if isinstance(value.data, FabricChoice):
                raise _OneOfSeveral(id(node), value)
        return value

    def emit(self, node: syntax.Node, use: Function[[Operands], Value]) -> Value:
        """Return what `use` makes of these operands, or in branches of each that a choice among them may be."""
        try:
            return use(self)
        except _OneOfSeveral as several:
            key, value = several.key, several.value

        def with_one(alternative: Value) -> Value:
            return Operands(self._ev, {**self._values, key: alternative}).emit(node, use)

        return each(self._ev, value, node, with_one)


def for_each(ev: Evaluator, node: syntax.Node, use: Function[[Operands], Value]) -> Value:
    """Return what `use` makes of the operands of an operation, emitted for each DSD that a choice among them may be."""
    return Operands(ev, {}).emit(node, use)
