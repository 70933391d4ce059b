"""Code generation: Python source for runs of scalar code, for units that have the same values.

A warp pays for numpy at every instruction; values that are the same on all units should not. A run of operations that
only compute on scalars is written out as one Python function over local variables, and gives the same values and steps
as the instructions it replaces. The source holds identifiers made here and numbers, never text from the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...operations import integers
from ...targets.wavelets import WORD_MASK
from .scalars import bits_of_kind, function_of, kind_of
from .warp import Warp

if TYPE_CHECKING:
    from .machine import WarpMachine

_SIMPLE = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*"}
_BITWISE = {"arith.andi": "&", "arith.ori": "|", "arith.xori": "^"}
_FLOAT = {"arith.addf": "+", "arith.subf": "-", "arith.mulf": "*"}
_ROUNDED = frozenset({*_FLOAT, "arith.divf", "math.sqrt", "arith.sitofp", "arith.uitofp"})
"""Operations whose expression still has to be rounded to f32."""
_INTEGERS = ("i8", "i16", "i32", "i64", "index")
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


Generated: TypeAlias = "Callable[[Warp, list[Any], int], int]"
"""A generated function of a warp, its slots and the steps that it may take; it returns how many it took."""

_STRUCTURED: tuple[type[Operation], ...] = (scf.IfOp, scf.ForOp, scf.WhileOp)
_TERMINATORS: tuple[type[Operation], ...] = (scf.YieldOp, scf.ConditionOp, flow.ReturnOp)
_OWN_VALUES: tuple[type[Operation], ...] = (flow.CoordinateOp, arith.ConstantOp)
"""What is known, or read when the task starts."""

MAX_LOOPS = 20
"""Nested loops in one function of Python, whose compiler accepts no more."""

MAX_LEVELS = 90
"""Levels of indentation in one function of Python; it knows 100."""


class Nesting:
    """Which operations of a body become generated code: those that only compute on scalars.

    What nests more deeply than Python can is left to instructions, as far as it does.
    """

    def __init__(self) -> None:
        self._depths: dict[Operation, tuple[int, int]] = {}
        self._answers: dict[Operation, bool] = {}

    def can_generate(self, op: Operation) -> bool:
        """Return True if an operation, with all inside it, becomes generated code."""
        # By exact type: this is asked several times of each operation.
        kind = type(op)
        if kind not in _STRUCTURED:
            return kind in _OWN_VALUES or kind is flow.AssertOp or function_of(op) is not None
        found = self._answers.get(op)
        if found is None:
            loops, levels = self._depth(op)
            found = self._answers[op] = (
                loops <= MAX_LOOPS
                and levels <= MAX_LEVELS
                and all(kind_of(result.type) is not None for result in op.results)
                and all(
                    type(inner) in _TERMINATORS or self.can_generate(inner)
                    for region in op.regions
                    for block in region.blocks
                    for inner in block.ops
                )
            )
        return found

    def _depth(self, op: Operation) -> tuple[int, int]:
        """Return the depth of nested loops in an operation, and how many levels of indentation they need."""
        found = self._depths.get(op)
        if found is None:
            blocks = [block for region in op.regions for block in region.blocks]
            inside = [self._depth(inner) for block in blocks for inner in block.ops if inner.regions]
            loops, levels = (max(depths, default=0) for depths in zip(*inside, strict=True)) if inside else (0, 0)
            # The test of a loop's end is a level deeper.
            own = type(op) in _STRUCTURED
            found = loops + (own and type(op) is not scf.IfOp), max(levels, 1) + 1 if own else levels
            self._depths[op] = found
        return found


def worth_generating(ops: Sequence[Operation]) -> bool:
    """Return True if a run is more than a few cheap operations."""
    work = [op for op in ops if type(op) not in _OWN_VALUES]
    return len(work) > 2 or any(type(op) in (scf.ForOp, scf.WhileOp) for op in ops)


def generate(
    ops: Sequence[Operation], slots: dict[SSAValue, int], template: list[Any], known: set[int], machine: WarpMachine
) -> tuple[Generated, list[int]]:
    """Return the function of a run of operations, given the slots of their values, and the slots that it reads."""
    return _Writer(slots, template, known, machine).write(ops)


class _Writer:
    def __init__(self, slots: dict[SSAValue, int], template: list[Any], known: set[int], machine: WarpMachine):
        self.slots = slots
        self.template = template
        self.known = known
        self.machine = machine
        self.lines: list[str] = []
        self.depth = 1
        self.bound: dict[str, Any] = {}
        self.defined: set[int] = set()
        self.inputs: list[int] = []

    def write(self, ops: Sequence[Operation]) -> tuple[Generated, list[int]]:
        inside = set(ops)
        for op in ops:
            self.operation(op)
        body, self.lines = self.lines, []
        outputs = [
            self.slots[result]
            for op in ops
            for result in op.results
            if self.slots[result] in self.defined
            and any(_outermost(use.operation, ops) not in inside for use in result.uses)
        ]
        for slot in self.inputs:
            self.line(f"v{slot} = s[{slot}]")
        self.lines += body
        for slot in outputs:
            self.line(f"s[{slot}] = v{slot}")
        self.line("return n")
        parameters = ", ".join(f"{key}={key}" for key in self.bound)
        source = f"def generated(w, s, budget{', ' + parameters if parameters else ''}):\n    n = 0\n"
        source += "\n".join(self.lines) + "\n"
        namespace = dict(self.bound)
        exec(compile(source, f"<generated {len(self.lines)} lines>", "exec"), namespace)
        return namespace["generated"], self.inputs

    # Text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def bind(self, prefix: str, value: Any) -> str:
        """Return a name for an object the function needs."""
        for key, other in self.bound.items():
            if other is value:
                return key
        key = f"{prefix}{len(self.bound)}"
        self.bound[key] = value
        return key

    def use(self, value: SSAValue) -> str:
        slot = self.slots[value]
        if slot in self.known:
            number = self.template[slot]
            if isinstance(number, bool | int):
                return f"({number!r})"
            if isinstance(number, float) and isfinite(number):
                return f"({number!r})"
            return self.bind("k", number)
        if slot not in self.defined and slot not in self.inputs:
            self.inputs.append(slot)
        return f"v{slot}"

    def define(self, value: SSAValue) -> str:
        slot = self.slots[value]
        self.defined.add(slot)
        return f"v{slot}"

    # Operations

    def operation(self, op: Operation) -> None:
        if type(op) in _OWN_VALUES:
            return
        writer = _WRITERS.get(type(op))
        if writer is not None:
            writer(self, op)
        elif self.slots[op.results[0]] not in self.known:
            self.scalar(op)

    def scalar(self, op: Operation) -> None:
        operands = [self.use(value) for value in op.operands]
        kind = str(kind_of(op.results[0].type))
        if op.name in integers.DIVISIONS and not self.number(op.operands[1]):
            self.line(f"if not {operands[1]}: raise {self.bind('e', division_by_zero(op))}(w, {operands[1]})")
        text = self.expression(op, kind, operands)
        target = self.define(op.results[0])
        if text is None:
            function = self.bind("f", function_of(op))
            text = f"{function}({', '.join(operands)})"
        elif kind == "f32" and op.name in _ROUNDED:
            rounding = self.bind("r", self.machine.rounding_cell)
            self.line(f"{rounding}[0] = {text}")
            text = f"{rounding}[0]"
        self.line(f"{target} = {text}")

    def number(self, value: SSAValue) -> Any:
        """Return the number a value is known to be, else None."""
        slot = self.slots[value]
        return self.template[slot] if slot in self.known else None

    def expression(self, op: Operation, kind: str, operands: list[str]) -> str | None:
        """Return the expression of a common operation, None for one that is left to its function."""
        name = op.name
        if kind in _INTEGERS:
            return self.integer(op, kind, operands)
        if kind == "f32":
            if name in _FLOAT:
                return f"{operands[0]} {_FLOAT[name]} {operands[1]}"
            if name == "arith.divf":
                return f"{operands[0]} / {operands[1]} if {operands[1]} else {self.bind('f', function_of(op))}" + (
                    f"({operands[0]}, {operands[1]})"
                )
            if name == "math.sqrt":
                root, function = self.bind("q", sqrt), self.bind("f", function_of(op))
                return f"{root}({operands[0]}) if {operands[0]} > 0 else {function}({operands[0]})"
            if name in ("arith.sitofp", "arith.uitofp"):
                source = str(kind_of(op.operands[0].type))
                unsigned = name == "arith.uitofp" and source != "i1"
                if source in ("i8", "i16", "i32") or (source == "i1" and name == "arith.uitofp"):
                    return f"float({operands[0]} & {_mask(source)})" if unsigned else f"float({operands[0]})"
        if name == "arith.negf":
            return f"-{operands[0]}"
        if name == "math.absf":
            return f"abs({operands[0]})"
        if name == "arith.extf":
            return operands[0]
        if name == "arith.select":
            return f"{operands[1]} if {operands[0]} else {operands[2]}"
        if kind == "i1":
            if name in _BITWISE:
                return f"{operands[0]} {_BITWISE[name]} {operands[1]}"
            if isinstance(op, arith.CmpiOp):
                return _integer_comparison(op, operands)
            if isinstance(op, arith.CmpfOp):
                return _float_comparison(op, operands)
            if name == "arith.trunci":
                return f"({operands[0]} & 1) != 0"
        return None

    def integer(self, op: Operation, kind: str, operands: list[str]) -> str | None:
        """Return the expression of a common operation on integers, with operands in the signed range of their kind."""
        name = op.name
        source = str(kind_of(op.operands[0].type))
        if name in _SIMPLE:
            text = f"{operands[0]} {_SIMPLE[name]} {operands[1]}"
            return text if _extent(op.results[0]) is not None else _wrapped(text, kind)
        if name in _BITWISE:
            return f"{operands[0]} {_BITWISE[name]} {operands[1]}"
        if name == "arith.select":
            return f"{operands[1]} if {operands[0]} else {operands[2]}"
        if name in ("arith.minsi", "arith.maxsi"):
            sign = "<" if name == "arith.minsi" else ">"
            return f"{operands[0]} if {operands[0]} {sign} {operands[1]} else {operands[1]}"
        if name == "arith.extui":
            return f"int({operands[0]})" if source == "i1" else f"{operands[0]} & {_mask(source)}"
        if name in ("arith.extsi", "arith.index_cast", "arith.trunci") and source != "i1":
            narrowing = kind != "index" and (source == "index" or int(kind[1:]) < int(source[1:]))
            return _wrapped(operands[0], kind) if narrowing else operands[0]
        if name in ("arith.shli", "arith.shrsi", "arith.shrui"):
            amount = self.number(op.operands[1])
            if amount is None or not 0 <= amount < bits_of_kind(kind):
                return None
            if name == "arith.shrsi":
                return f"{operands[0]} >> {amount}"
            if name == "arith.shrui":
                return _wrapped(f"({operands[0]} & {_mask(kind)}) >> {amount}", kind)
            return _wrapped(f"({operands[0]} << {amount})", kind)
        if name in ("arith.divui", "arith.remui"):
            sign = "//" if name == "arith.divui" else "%"
            mask = _mask(kind)
            return _wrapped(f"({operands[0]} & {mask}) {sign} ({operands[1]} & {mask})", kind)
        if name in ("arith.divsi", "arith.remsi") and (self.number(op.operands[1]) or 0) > 0:
            sign = "//" if name == "arith.divsi" else "%"
            return (
                f"{operands[0]} {sign} {operands[1]} if {operands[0]} >= 0 else -(-{operands[0]} {sign} {operands[1]})"
            )
        return None

    def check(self, op: flow.AssertOp) -> None:
        condition = self.use(op.condition)
        value = None if op.value is None else self.use(op.value)
        self.line(f"if not {condition}: raise {self.bind('e', assertion(op))}(w, {condition}, {value})")

    # Control flow

    def if_(self, op: scf.IfOp) -> None:
        condition = self.use(op.cond)
        before = set(self.defined)
        self.line(f"if {condition}:")
        self.depth += 1
        self.arm(op.true_region.block, op)
        self.depth -= 1
        self.defined = set(before)
        if op.false_region.blocks:
            self.line("else:")
            self.depth += 1
            self.arm(op.false_region.block, op)
            self.depth -= 1
        self.defined = before | {self.slots[result] for result in op.results}

    def arm(self, block: Block, op: scf.IfOp) -> None:
        self.block(block)
        terminator = block.last_op
        if isinstance(terminator, scf.YieldOp) and op.results:
            self.copies([self.use(value) for value in terminator.operands], [self.define(r) for r in op.results])
        self.line("pass")

    def block(self, block: Block) -> None:
        for op in block.ops:
            if type(op) not in _TERMINATORS:
                self.operation(op)

    def copies(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        if targets:
            self.line(f"{', '.join(targets)} = {', '.join(sources)}")

    def step(self, op: Operation, count: str = "1") -> None:
        """Count a trip of a loop."""
        overrun, where = self.bind("o", self.machine.scheduler.overrun), self.bind("p", location_of(op))
        self.line(f"n += {count}")
        self.line("if n > budget:")
        self.line(f"    budget = {overrun}(w, {where}, n)")

    def for_(self, op: scf.ForOp) -> None:
        body = op.body.block
        sources = [self.use(value) for value in (op.lb, *op.iter_args)]
        upper, step = self.use(op.ub), self.use(op.step)
        self.copies(sources, [self.define(argument) for argument in body.args])
        index, *carried = [self.define(argument) for argument in body.args]
        step_slot = self.slots[op.step]
        counted = step_slot in self.known and self.template[step_slot] > 0
        before = set(self.defined)
        if counted:
            self.line(f"i{self.depth} = range({index}, {upper}, {step})")
            self.step(op, f"len(i{self.depth})")
            self.line(f"for {index} in i{self.depth}:")
            self.depth += 1
        else:
            self.line("while True:")
            self.depth += 1
            self.line(f"if not {index} < {upper}: break")
            self.step(op)
        self.block(body)
        terminator = body.last_op
        assert terminator is not None
        self.copies([self.use(value) for value in terminator.operands], carried)
        self.line("pass" if counted else f"{index} += {step}")
        self.depth -= 1
        self.defined = before
        self.copies(carried, [self.define(result) for result in op.results])

    def while_(self, op: scf.WhileOp) -> None:
        before, after = op.before_region.block, op.after_region.block
        sources = [self.use(value) for value in op.arguments]
        carried = [self.define(argument) for argument in before.args]
        self.copies(sources, carried)
        self.line("while True:")
        self.depth += 1
        outside = set(self.defined)
        self.block(before)
        terminator = before.last_op
        assert isinstance(terminator, scf.ConditionOp)
        arguments = [self.use(value) for value in terminator.args]
        condition = self.use(terminator.condition)
        self.line(f"if not {condition}:")
        self.depth += 1
        self.copies(arguments, [f"v{self.slots[result]}" for result in op.results])
        self.line("break")
        self.depth -= 1
        self.step(op)
        self.copies(arguments, [self.define(argument) for argument in after.args])
        self.block(after)
        last = after.last_op
        assert last is not None
        self.copies([self.use(value) for value in last.operands], carried)
        self.depth -= 1
        self.defined = outside | {self.slots[result] for result in op.results}


_WRITERS: dict[type[Operation], Callable[[_Writer, Any], None]] = {
    scf.IfOp: _Writer.if_,
    scf.ForOp: _Writer.for_,
    scf.WhileOp: _Writer.while_,
    flow.AssertOp: _Writer.check,
}


def _mask(kind: str) -> int:
    return (1 << bits_of_kind(kind)) - 1


def _wrapped(text: str, kind: str) -> str:
    """Return an integer expression wrapped into the signed range of a kind."""
    half = 1 << (bits_of_kind(kind) - 1)
    return f"(({text}) + {half} & {_mask(kind)}) - {half}"


def _extent(value: SSAValue, depth: int = 8) -> int | None:
    """Return a bound on the magnitude of an index, None if unknown or beyond its width: most need no wrapping."""
    op = value.owner
    if not isinstance(value.type, IndexType) or not depth:
        return None
    if isinstance(op, Block):
        loop = op.parent_op()
        if not isinstance(loop, scf.ForOp) or value is not op.args[0]:
            return None
        bounds = _extent(loop.lb, depth - 1), _extent(loop.ub, depth - 1)
        return None if None in bounds else max(bound for bound in bounds if bound is not None)
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return abs(op.value.value.data)
    if isinstance(op, arith.IndexCastOp):
        kind = kind_of(op.input.type)
        return 1 << bits_of_kind(kind) - 1 if kind not in (None, "index") else None
    if not isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp):
        return None
    left, right = _extent(op.lhs, depth - 1), _extent(op.rhs, depth - 1)
    if left is None or right is None:
        return None
    extent = left * right if isinstance(op, arith.MuliOp) else left + right
    return extent if extent < 1 << integers.INDEX_BITS - 1 else None


def _integer_comparison(op: arith.CmpiOp, operands: list[str]) -> str | None:
    predicate = integers.PREDICATES[op.predicate.value.data].name
    if predicate in ("eq", "ne"):
        return f"{operands[0]} {_COMPARE[predicate]} {operands[1]}"
    source = str(kind_of(op.lhs.type))
    if source == "i1":
        return None
    if predicate[0] == "s":
        return f"{operands[0]} {_COMPARE[predicate[1:]]} {operands[1]}"
    mask = _mask(source)
    return f"({operands[0]} & {mask}) {_COMPARE[predicate[1:]]} ({operands[1]} & {mask})"


def _float_comparison(op: arith.CmpfOp, operands: list[str]) -> str | None:
    predicate = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    a, b = operands
    if predicate in ("oeq", "ogt", "oge", "olt", "ole", "une"):
        return f"{a} {_COMPARE[predicate[1:]]} {b}"
    if predicate in _REVERSED:
        return f"not {a} {_REVERSED[predicate]} {b}"
    if predicate in ("one", "ueq"):
        return f"{a} < {b} or {a} > {b}" if predicate == "one" else f"not ({a} < {b} or {a} > {b})"
    return None


_REVERSED = {"ugt": "<=", "uge": "<", "ult": ">=", "ule": ">"}
"""The comparison that does not hold where an unordered one does."""


def division_by_zero(op: Operation) -> Callable[[Warp, Any], LoomError]:
    """Return a function that makes the error of a division by 0 from the warp and the divisor."""
    where = location_of(op)

    def failed(warp: Warp, divisor: Any) -> LoomError:
        place, _ = warp.cls.describe_first(warp.units, np.equal(divisor, 0), divisor)
        return LoomError(f"an integer is divided by zero on {place}; guard the divisor", where)

    return failed


def _outermost(op: Operation, ops: Sequence[Operation]) -> Operation:
    """Return the ancestor of an operation that is in the block of `ops`."""
    block = ops[0].parent
    current = op
    while current.parent is not block:
        parent = current.parent_op()
        if parent is None:
            return op
        current = parent
    return current


def assertion(op: flow.AssertOp) -> Callable[[Warp, Any, Any], LoomError]:
    """Return a function that makes the error of a failed assertion from the warp, its condition and its value."""
    where, message = location_of(op), op.message.data

    def failed(warp: Warp, condition: Any, value: Any) -> LoomError:
        shown = condition if value is None else value
        place, number = warp.cls.describe_first(warp.units, np.logical_not(condition), shown)
        text = message if value is None else message.replace("{u}", str(int(number) & WORD_MASK))
        return LoomError(f"the assertion fails on {place}: {text}", where)

    return failed
