"""Reachability: the queues and channels that a unit may still use once what it waits for has come.

It reads the IR of a class of units and errs on the side of too many: a branch counts as taken, a loop as repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import flow
from ...dialects.traversal import walk

if TYPE_CHECKING:
    from .unit_class import UnitClass


class Continuations:
    """The symbols that units of one class may name after a point of their program."""

    def __init__(self, cls: UnitClass) -> None:
        self._bodies: dict[str, Block] = {}
        self._calls: dict[str, list[Operation]] = {}
        self._loads: list[Operation] = []
        self._named: dict[str, frozenset[str]] = {}
        for op in cls.op.body.block.ops:
            if isinstance(op, flow.TaskOp | flow.FuncOp):
                self._bodies[op.sym_name.data] = cls.bodies.of(op).block
        for op in cls.bodies.walk(cls.op):
            if isinstance(op, flow.CallOp):
                self._calls.setdefault(op.callee.root_reference.data, []).append(op)
            elif isinstance(op, flow.LoadRegisterOp):
                self._loads.append(op)

    def after(self, op: Operation) -> frozenset[str]:
        """Return the symbols that may be named after an operation of a body, in tasks that follow too."""
        return self._closure(self._following(op))

    def of(self, tasks: Iterable[str]) -> frozenset[str]:
        """Return the symbols that some tasks, and what follows them, may name."""
        return self._closure(op for name in tasks if name in self._bodies for op in self._bodies[name].ops)

    def _following(self, op: Operation) -> Iterator[Operation]:
        """Yield the operations that may run after one: behind it, in its loops, behind calls of its function."""
        pending, seen = [op], {op}
        while pending:
            here = pending.pop()
            following = here.next_op
            while following is not None:
                yield following
                following = following.next_op
            parent = here.parent_op()
            if parent is None or isinstance(parent, flow.TaskOp | flow.UnitsOp):
                continue
            if isinstance(parent, flow.FuncOp):
                callers = self._calls.get(parent.sym_name.data, [])
            else:
                callers = [parent]
                if parent.name in ("scf.for", "scf.while"):
                    yield parent
            for caller in callers:
                if caller not in seen:
                    seen.add(caller)
                    pending.append(caller)

    def _closure(self, first: Iterable[Operation]) -> frozenset[str]:
        """Return the symbols that operations name, with those of bodies they call or start and of their operands."""
        names: set[str] = set()
        pending = list(first)
        seen: set[Operation] = set()
        while pending:
            top = pending.pop()
            for op in () if top in seen else walk(top):
                if op in seen:
                    continue
                seen.add(op)
                for symbol in _symbols(op):
                    if symbol not in names:
                        names.add(symbol)
                        if symbol in self._bodies:
                            pending += self._bodies[symbol].ops
                pending += [owner for operand in op.operands for owner in _owners(operand)]
                if isinstance(op, flow.RegisterOp):
                    pending += self._loads
        return frozenset(names)


def _symbols(op: Operation) -> Iterator[str]:
    """Yield the symbols that an operation names."""
    for attribute in (*op.properties.values(), *op.attributes.values()):
        yield from _references(attribute)


def _references(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolRefAttr):
        yield attribute.root_reference.data


def _owners(value: SSAValue) -> Iterator[Operation]:
    """Yield what a value is made by; of the argument of a body, the operation that has the body."""
    if isinstance(value.owner, Operation):
        yield value.owner
        return
    parent = value.owner.parent_op()
    if parent is not None and not isinstance(parent, flow.TaskOp | flow.FuncOp):
        yield parent
