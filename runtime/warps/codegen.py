"""Code generation: Python source for runs of scalar code, for units that run alone.

A warp pays for numpy at every instruction; a single unit should not. A run of operations that only compute on
scalars, load and store is written out as one Python function over local variables and a flat view of the memory,
and gives the same values, cycles and steps as the instructions it replaces. The source holds identifiers made
here and numbers, never text from the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from ...diagnostics.errors import LoomError
from ...diagnostics.locations import location_of
from ...dialects import flow
from ...operations import integers, nans
from ...operations.float_exceptions import raises
from ...operations.floats import LOWEST_NORMAL
from ...targets.wavelets import WORD_MASK
from ..reports.sentences import show_index
from .memory import DTYPES, WIDE
from .prices import access_price, scalar_price
from .scalars import bits_of_kind, function_of, kind_of
from .warp import Warp

if TYPE_CHECKING:
    from .machine import WarpMachine
    from .streams import Buffer
    from .unit_class import UnitClass

_SIMPLE = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*"}
_BITWISE = {"arith.andi": "&", "arith.ori": "|", "arith.xori": "^"}
_FLOAT = {"arith.addf": "+", "arith.subf": "-", "arith.mulf": "*"}
_ROUNDED = frozenset({*_FLOAT, "arith.divf", "math.sqrt", "arith.sitofp", "arith.uitofp"})
"""Operations whose expression still has to be rounded to f32."""
_INTEGERS = ("i8", "i16", "i32", "i64", "index")
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@dataclass
class Generated:
    """A generated function: `function(warp, slots, base, budget)` gives the cycles and steps it took."""

    function: Callable[[Warp, list[Any], int, int], tuple[int, int]]
    inputs: list[int]
    uses_memory: bool


_STRUCTURED: tuple[type[Operation], ...] = (scf.IfOp, scf.ForOp, scf.WhileOp)
_TERMINATORS: tuple[type[Operation], ...] = (scf.YieldOp, scf.ConditionOp, flow.ReturnOp)
_OWN_VALUES: tuple[type[Operation], ...] = (
    flow.CoordinateOp, flow.GetParamOp, flow.ExtentOp, arith.ConstantOp,
)  # fmt: skip
"""What is known, or read when the task starts."""


MAX_INLINE_SIZE = 256
"""Operations, with those of the functions it calls, of the largest function that is inlined."""


CALL_SIZE = 8
"""What a call adds to that, so that inlined calls are not nested deeply."""


MAX_LOOPS = 20
"""Nested loops in one function of Python, whose compiler accepts no more."""

MAX_LEVELS = 90
"""Levels of indentation in one function of Python; it knows 100."""


class Functions:
    """The functions of a class of units, and which of them are small enough to be inlined."""

    def __init__(self, functions: Mapping[str, flow.FuncOp], owner: str, *, traps: bool = False):
        self.traps = traps
        """True if floating point exceptions may stop the program, which generated code does not look for."""
        self._functions = functions
        self._owner = owner
        self._sizes: dict[str, int] = {}
        self._recursive: set[flow.CallOp] = set()
        self._nesting: dict[Operation, tuple[int, int]] = {}
        self._answers: dict[tuple[Operation, bool], bool] = {}

    def called(self, op: flow.CallOp) -> flow.FuncOp:
        """Return the function a call names. Raises LoomError if there is none."""
        callee = self._named(op)
        if callee.sym_name.data not in self._sizes:
            self._measure(op)
        return callee

    def is_flat(self, op: Operation) -> bool:
        """Return True if Python can nest an operation's code as deeply as the operation nests its own."""
        loops, levels = self._depth(op)
        return loops <= MAX_LOOPS and levels <= MAX_LEVELS

    def _depth(self, op: Operation) -> tuple[int, int]:
        """Return the depth of nested loops in an operation, and how many levels of indentation they need."""
        found = self._nesting.get(op)
        if found is None:
            kind = type(op)
            if isinstance(op, flow.CallOp) and not self.is_recursive(op) and self.is_inlined(op):
                blocks = [self.called(op).body.block]
            else:
                blocks = [block for region in op.regions for block in region.blocks]
            inside = [
                self._depth(inner)
                for block in blocks
                for inner in block.ops
                if inner.regions or type(inner) is flow.CallOp
            ]
            loops, levels = (max(depths, default=0) for depths in zip(*inside, strict=True)) if inside else (0, 0)
            own = kind in _STRUCTURED
            # The test of a loop's end is a level deeper.
            found = loops + (own and kind is not scf.IfOp), max(levels, 1) + 1 if own else levels
            self._nesting[op] = found
        return found

    def can_generate(self, op: Operation, *, memory: bool) -> bool:
        """Return the answer of `can_generate` for an operation, computed once."""
        key = op, memory
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self.is_flat(op) and _can_generate(op, self, memory=memory)
        return found

    def is_recursive(self, op: flow.CallOp) -> bool:
        """Return True if a call leads back to a function that has not returned yet: these cannot be run."""
        self.called(op)
        return op in self._recursive

    def is_inlined(self, op: flow.CallOp) -> bool:
        """Return True if the function is inlined at the call."""
        return self._sizes[self.called(op).sym_name.data] <= MAX_INLINE_SIZE

    def _named(self, op: flow.CallOp) -> flow.FuncOp:
        name = op.callee.root_reference.data
        callee = self._functions.get(name)
        if callee is None:
            raise LoomError(f"@{name} is not a function of {self._owner}", location_of(op))
        return callee

    def _measure(self, op: flow.CallOp) -> None:
        """Compute the size of a function, whose calls may be nested to any depth."""
        active: dict[str, tuple[list[flow.CallOp], Iterator[flow.CallOp], int]] = {}

        def enter(call: flow.CallOp) -> None:
            callee = self._named(call)
            name = callee.sym_name.data
            if name in active:
                self._recursive.add(call)
            elif name not in self._sizes:
                inside = list(callee.body.walk())
                calls = [inner for inner in inside if type(inner) is flow.CallOp]
                active[name] = calls, iter(calls), len(inside)

        enter(op)
        while active:
            name, (calls, rest, own) = next(reversed(active.items()))
            following = next(rest, None)
            if following is not None:
                enter(following)
                continue
            self._sizes[name] = own + sum(
                CALL_SIZE + (0 if call in self._recursive else self._sizes[call.callee.root_reference.data])
                for call in calls
            )
            del active[name]

    def reachable(self, block: Block) -> list[flow.FuncOp]:
        """Return every function that code may call, once."""
        found: dict[str, flow.FuncOp] = {}
        pending = [block]
        while pending:
            for op in pending.pop().walk():
                if type(op) is flow.CallOp and (name := op.callee.root_reference.data) not in found:
                    found[name] = self.called(op)
                    pending.append(found[name].body.block)
        return list(found.values())


@dataclass
class Inlined:
    """An inlined function: the slots of its values, and those of the calls inside it."""

    slots: dict[SSAValue, int]
    calls: dict[flow.CallOp, Inlined]


def can_generate(op: Operation, functions: Functions, *, memory: bool = True) -> bool:
    """Return True if an operation, with all inside it, only computes on scalars and, with `memory`, loads and stores.

    What nests more deeply than Python can is left to instructions too, as far as it does.
    """
    if type(op) in _STRUCTURED or type(op) is flow.CallOp:
        return functions.can_generate(op, memory=memory)
    return _can_generate(op, functions, memory=memory)


def _can_generate(op: Operation, functions: Functions, *, memory: bool) -> bool:
    # By exact type: this is asked several times of each operation.
    kind = type(op)
    if kind in _STRUCTURED:
        return all(
            type(inner) in _TERMINATORS or can_generate(inner, functions, memory=memory)
            for region in op.regions
            for block in region.blocks
            for inner in block.ops
        ) and all(kind_of(result.type) is not None for result in op.results)
    if type(op) is flow.CallOp:
        return (
            not functions.is_recursive(op)
            and functions.is_inlined(op)
            and all(kind_of(value.type) is not None for value in (*op.operands, *op.results))
            and all(
                type(inner) in _TERMINATORS or can_generate(inner, functions, memory=memory)
                for inner in functions.called(op).body.block.ops
            )
        )
    if kind is flow.LoadOp or kind is flow.StoreOp:
        return memory
    if functions.traps and may_trap(op):
        return False
    return kind in _OWN_VALUES or kind is flow.AssertOp or function_of(op) is not None


def may_trap(op: Operation) -> bool:
    """Return True if a scalar operation may have floating point exceptions."""
    return bool(op.results) and kind_of(op.results[0].type) in LOWEST_NORMAL and raises(op.name)


def worth_generating(ops: Sequence[Operation]) -> bool:
    """Return True if a run is more than a few cheap operations."""
    work = [op for op in ops if type(op) not in _OWN_VALUES]
    return len(work) > 2 or any(type(op) in (scf.ForOp, scf.WhileOp, flow.CallOp) for op in ops)


def generate(
    ops: Sequence[Operation],
    slots: dict[SSAValue, int],
    template: list[Any],
    known: set[int],
    cls: UnitClass,
    functions: Functions,
    calls: dict[flow.CallOp, Inlined],
) -> Generated:
    """Return the function of a run of operations, given the slots of their values and of those of inlined calls."""
    return _Writer(slots, template, known, cls, functions, calls).write(ops)


class _Writer:
    def __init__(
        self,
        slots: dict[SSAValue, int],
        template: list[Any],
        known: set[int],
        cls: UnitClass,
        functions: Functions,
        calls: dict[flow.CallOp, Inlined],
    ):
        self.slots = slots
        self.template = template
        self.known = known
        self.cls = cls
        self.machine = machine = cls.machine
        self.functions = functions
        self.calls = calls
        self.timing = machine.target.timing
        self.lines: list[str] = []
        self.depth = 1
        self.pending = 0
        self.bound: dict[str, Any] = {}
        self.defined: set[int] = set()
        self.inputs: list[int] = []
        self.memory = False

    def write(self, ops: Sequence[Operation]) -> Generated:
        inside = set(ops)
        for op in ops:
            self.operation(op)
        self.add_cycles(self.charge())
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
        self.line("return t, n")
        parameters = ", ".join(f"{key}={key}" for key in self.bound)
        source = f"def generated(w, s, b, budget{', ' + parameters if parameters else ''}):\n    t = n = 0\n"
        source += "\n".join(self.lines) + "\n"
        namespace = dict(self.bound)
        exec(compile(source, f"<generated {len(self.lines)} lines>", "exec"), namespace)
        return Generated(namespace["generated"], self.inputs, self.memory)

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

    def charge(self) -> int:
        cost, self.pending = self.pending, 0
        return cost

    def add_cycles(self, cost: int) -> None:
        if cost:
            self.line(f"t += {cost}")

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
        self.pending += scalar_price(self.timing, op)
        if op.name in integers.DIVISIONS and not self.number(op.operands[1]):
            self.line(f"if not {operands[1]}: raise {self.bind('e', division_by_zero(op))}(w, {operands[1]})")
        text = self.expression(op, kind, operands)
        target = self.define(op.results[0])
        if text is None:
            function = self.bind("f", function_of(op))
            text = f"{function}({', '.join(operands)})"
        elif kind == "f32" and op.name in _ROUNDED:
            rounding = self.bind("r", _rounding_cell(self.machine))
            self.line(f"{rounding}[0] = {text}")
            text = f"{rounding}[0]"
        self.line(f"{target} = {text}")

    def is_known(self, value: SSAValue) -> bool:
        """Return True if the number that a value is does not change."""
        return self.slots[value] in self.known

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
        self.pending += self.timing.branch_not_taken
        condition = self.use(op.condition)
        value = None if op.value is None else self.use(op.value)
        self.line(f"if not {condition}: raise {self.bind('e', assertion(op))}(w, {condition}, {value})")

    def element(self, op: flow.LoadOp | flow.StoreOp, kind: str) -> str:
        """Return an element as an expression that can also be assigned to; its address is tested before."""
        index = self.pointed(op, op.address, kind) if op.address is not None else self.address(op)
        return f"{self.view(kind)}[{index}]"

    def may_be_odd(self, op: flow.LoadOp | flow.StoreOp, kind: str) -> bool:
        """Return True if the element may have 32 bits and be at an odd word; `a` is its byte address then."""
        return op.address is not None and kind in WIDE

    def view(self, kind: str) -> str:
        """Return the name of the flat memory as numbers of a kind, of bf16 as integers with their bits."""
        self.memory = True
        kind = "i16" if kind == "bf16" else kind
        views = self.cls.scalar_views
        if kind not in views:
            view = self.cls.memory.scalars(kind)
            views[kind] = self.cls.memory.typed[kind].reshape(-1) if view is None else view
        return self.bind("m", views[kind])

    def pointed(self, op: flow.LoadOp | flow.StoreOp, pointer: SSAValue, kind: str) -> str:
        """Return the index of an element behind a pointer, in the view of its kind."""
        size = DTYPES[kind].itemsize
        text = self.use(pointer)
        if op.indices:
            text += f" + {self.use(op.indices[0])}" + (f" * {size}" if size > 1 else "")
        self.line(f"a = {text} & {WORD_MASK}")
        stray = self.bind("e", _stray(op, kind))
        odd = " or a & 1" if size > 1 else ""
        self.line(f"if a > {2 * self.cls.memory.words - size}{odd}: raise {stray}(w, a)")
        word = f"b + (a >> 2) * {self.cls.memory.stride}"
        return word if size == 4 else f"2 * ({word}) + (a >> 1 & 1)" if size == 2 else f"4 * ({word}) + (a & 3)"

    def address(self, op: flow.LoadOp | flow.StoreOp) -> str:
        """Return the index of an element of a buffer, in the view of its kind."""
        assert op.buffer is not None
        buffer = self.cls.buffers[op.buffer.root_reference.data]
        size = buffer.element_bytes
        stride = self.cls.memory.stride
        base, scales = addressing(buffer)
        fixed, terms, elements = base, "", ""
        indices: list[str] = []
        unsure: list[int] = []
        for position, (value, scale) in enumerate(zip(op.indices, scales, strict=True)):
            slot = self.slots[value]
            indices.append(self.use(value))
            if slot in self.known:
                # The instructions of the same run were compiled first and have checked it.
                fixed += self.template[slot] * scale
                continue
            unsure.append(position)
            terms += _term(indices[-1], scale)
            elements += _term(indices[-1], scale // 2)
        for position in unsure:
            leave = self.bind("e", leaving(self.cls, op, buffer))
            self.line(f"if not 0 <= {indices[position]} < {buffer.shape[position]}:")
            self.line(f"    {leave}(w, [{', '.join(indices)}], {fixed}{terms})")
        if size == 4:
            return f"b + {(fixed >> 1) * stride}" if not terms else f"b + ({fixed >> 1}{elements}) * {stride}"
        if size == 2:
            if not terms:
                return f"2 * b + {2 * stride * (fixed >> 1) + (fixed & 1)}"
            self.line(f"a = {fixed}{terms}")
            return f"2 * (b + (a >> 1) * {stride}) + (a & 1)"
        if not terms:
            return f"4 * b + {4 * stride * (fixed >> 2) + (fixed & 3)}"
        self.line(f"a = {fixed}{terms}")
        return f"4 * (b + (a >> 2) * {stride}) + (a & 3)"

    def load(self, op: flow.LoadOp) -> None:
        kind = str(kind_of(op.result.type))
        text = self.element(op, kind)
        self.pending += access_price(self.timing, op, self.is_known)
        if kind == "bf16":
            text = f"{self.bind('l', nans.bf16_from_bits)}({text})"
        elif kind not in ("f32", "i32", "i16", "i8"):
            text = f"{text}.item()"
        result = self.define(op.result)
        if self.may_be_odd(op, kind):
            self.line(f"if a & 2: {result} = {self.bind('l', _odd_load(op, kind))}(w, a >> 1)")
            self.line(f"else: {result} = {text}")
        else:
            self.line(f"{result} = {text}")

    def store(self, op: flow.StoreOp) -> None:
        kind = str(kind_of(op.value.type))
        element = self.element(op, kind)
        self.pending += access_price(self.timing, op, self.is_known)
        if self.may_be_odd(op, kind):
            self.line(f"if a & 2: {self.bind('l', _odd_store(op, kind))}(w, a >> 1, {self.use(op.value)})")
            self.line(f"else: {element} = {self.use(op.value)}")
        else:
            value = self.use(op.value)
            self.line(
                f"{element} = {self.bind('l', nans.bf16_bits)}({value})" if kind == "bf16" else f"{element} = {value}"
            )

    # Control flow; cycles are charged where the instructions charge them

    def if_(self, op: scf.IfOp) -> None:
        cost = self.charge()
        condition = self.use(op.cond)
        before = set(self.defined)
        self.line(f"if {condition}:")
        self.depth += 1
        self.line(f"t += {cost + self.timing.branch_not_taken}")
        self.arm(op.true_region.block, op)
        self.depth -= 1
        self.defined = set(before)
        self.line("else:")
        self.depth += 1
        self.line(f"t += {cost + self.timing.branch_taken}")
        if op.false_region.blocks:
            self.arm(op.false_region.block, op)
        self.depth -= 1
        self.defined = before | {self.slots[result] for result in op.results}

    def arm(self, block: Block, op: scf.IfOp) -> None:
        self.block(block)
        self.add_cycles(self.charge())
        terminator = block.last_op
        if isinstance(terminator, scf.YieldOp) and op.results:
            self.copies([self.use(value) for value in terminator.operands], [self.define(r) for r in op.results])

    def block(self, block: Block) -> None:
        for op in block.ops:
            if type(op) not in _TERMINATORS:
                self.operation(op)

    def copies(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        if targets:
            self.line(f"{', '.join(targets)} = {', '.join(sources)}")

    def call(self, op: flow.CallOp) -> None:
        """Write a call as the inlined code of its function, on the slots it has here."""
        body = self.functions.called(op).body.block
        sources = [self.use(value) for value in op.arguments]
        inlined = self.calls[op]
        outer = self.slots, self.calls
        self.slots, self.calls = inlined.slots, inlined.calls
        self.copies(sources, [self.define(argument) for argument in body.args])
        self.pending += self.timing.call
        self.block(body)
        returned = body.last_op
        values = [self.use(value) for value in returned.values] if isinstance(returned, flow.ReturnOp) else []
        self.slots, self.calls = outer
        if op.results:
            self.copies(values, [self.define(result) for result in op.results])

    def step(self, op: Operation, count: str = "1") -> None:
        """Count a trip of a loop."""
        overrun, where = self.bind("o", self.machine.scheduler.overrun), self.bind("p", location_of(op))
        self.line(f"n += {count}")
        self.line("if n > budget:")
        self.line(f"    budget = {overrun}(w, {where}, n)")

    def for_(self, op: scf.ForOp) -> None:
        self.add_cycles(self.charge())
        body = op.body.block
        sources = [self.use(value) for value in (op.lb, *op.iter_args)]
        upper, step = self.use(op.ub), self.use(op.step)
        self.copies(sources, [self.define(argument) for argument in body.args])
        index, *carried = [self.define(argument) for argument in body.args]
        again = self.timing.instruction + self.timing.loop
        last = self.timing.instruction + self.timing.branch_not_taken
        step_slot = self.slots[op.step]
        counted = step_slot in self.known and self.template[step_slot] > 0
        before = set(self.defined)
        place = 0
        if counted:
            self.line(f"i{self.depth} = range({index}, {upper}, {step})")
            self.step(op, f"len(i{self.depth})")
            place = len(self.lines)
            self.line("")
            self.line(f"for {index} in i{self.depth}:")
            self.depth += 1
        else:
            self.line("while True:")
            self.depth += 1
            self.line(f"if not {index} < {upper}:")
            self.line(f"    t += {last}")
            self.line("    break")
            self.line(f"t += {again}")
            self.step(op)
        self.block(body)
        terminator = body.last_op
        assert terminator is not None
        self.copies([self.use(value) for value in terminator.operands], carried)
        cost = self.charge() + self.timing.instruction
        if counted:
            self.line("pass")
            self.depth -= 1
            self.lines[place] = "    " * self.depth + f"t += {last} + len(i{self.depth}) * {again + cost}"
        else:
            self.line(f"{index} += {step}")
            self.line(f"t += {cost}")
            self.depth -= 1
        self.defined = before
        self.copies(carried, [self.define(result) for result in op.results])

    def while_(self, op: scf.WhileOp) -> None:
        self.add_cycles(self.charge())
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
        tested = self.charge()
        self.line(f"if not {condition}:")
        self.depth += 1
        self.line(f"t += {tested + self.timing.branch_not_taken}")
        results = [f"v{self.slots[result]}" for result in op.results]
        self.copies(arguments, results)
        self.line("break")
        self.depth -= 1
        self.line(f"t += {tested + self.timing.loop}")
        self.step(op)
        self.copies(arguments, [self.define(argument) for argument in after.args])
        self.block(after)
        last = after.last_op
        assert last is not None
        self.copies([self.use(value) for value in last.operands], carried)
        self.add_cycles(self.charge())
        self.depth -= 1
        self.defined = outside | {self.slots[result] for result in op.results}


_WRITERS: dict[type[Operation], Callable[[_Writer, Any], None]] = {
    scf.IfOp: _Writer.if_,
    scf.ForOp: _Writer.for_,
    scf.WhileOp: _Writer.while_,
    flow.LoadOp: _Writer.load,
    flow.StoreOp: _Writer.store,
    flow.AssertOp: _Writer.check,
    flow.CallOp: _Writer.call,
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


def _rounding_cell(machine: WarpMachine) -> Any:
    """Return one float32 cell: writing a Python number to it and reading it back rounds to nearest even."""
    return machine.rounding_cell


def assertion(op: flow.AssertOp) -> Callable[[Warp, Any, Any], LoomError]:
    """Return a function that makes the error of a failed assertion from the warp, its condition and its value."""
    where, message = location_of(op), op.message.data

    def failed(warp: Warp, condition: Any, value: Any) -> LoomError:
        shown = condition if value is None else value
        place, number = warp.cls.describe_first(warp.units, np.logical_not(condition), shown)
        text = message if value is None else message.replace("{u}", str(int(number) & WORD_MASK))
        return LoomError(f"the assertion fails on {place}: {text}", where)

    return failed


def recursion(op: flow.CallOp) -> Callable[[Warp], LoomError]:
    """Return a function that makes the error of a recursive call."""
    where, name = location_of(op), op.callee.root_reference.data

    def failed(warp: Warp) -> LoomError:
        return LoomError(
            f"function @{name} is called again before it has returned, on {warp.cls.describe(warp.units)}; recursion "
            "other than tail calls is not supported yet; write a loop instead", where,
        )  # fmt: skip

    return failed


def _term(text: str, scale: int) -> str:
    return f" + {text}" if scale == 1 else f" + {text} * {scale}"


def _stray(op: Operation, kind: str) -> Callable[[Warp, int], LoomError]:
    where = location_of(op)

    def stray(warp: Warp, address: int) -> LoomError:
        return warp.cls.stray(warp.units, address, kind, where)

    return stray


def accesses(op: flow.LoadOp | flow.StoreOp) -> str:
    """Return in words what an operation does to memory, as the beginning of a sentence."""
    return "this load reads" if isinstance(op, flow.LoadOp) else "this store writes"


def _odd_load(op: flow.LoadOp, kind: str) -> Callable[[Warp, int], Any]:
    """Return a function that loads 32 bits at an odd word address."""
    what, where = accesses(op), location_of(op)

    def load(warp: Warp, address: int) -> Any:
        warp.cls.warn_of_odd_word(warp.units, address, what, where)
        return warp.cls.memory.load(kind, warp.units, address).item()

    return load


def _odd_store(op: flow.StoreOp, kind: str) -> Callable[[Warp, int, Any], None]:
    """Return a function that stores 32 bits at an odd word address."""
    what, where = accesses(op), location_of(op)

    def store(warp: Warp, address: int, value: Any) -> None:
        warp.cls.warn_of_odd_word(warp.units, address, what, where)
        warp.cls.memory.store(kind, warp.units, address, value)

    return store


def addressing(buffer: Buffer) -> tuple[int, list[int]]:
    """Return the address of the first element of a buffer and the step of each index, in words, of i8 in bytes."""
    unit = min(buffer.element_bytes, 2)
    step = buffer.element_bytes // unit
    return 2 * buffer.address // unit, [
        step * prod(buffer.shape[position + 1 :]) for position in range(len(buffer.shape))
    ]


def leaving(
    cls: UnitClass, op: flow.LoadOp | flow.StoreOp, buffer: Buffer
) -> Callable[[Warp, Sequence[Any], Any], None]:
    """Return a function that checks an access out of bounds, given the warp, the indices and the address.

    While the element is in memory in use that is a warning, once for each place, else LoomError.
    """
    machine, where = cls.machine, location_of(op)
    unit = min(buffer.element_bytes, 2)
    last = (2 * cls.memory.words - buffer.element_bytes) // unit

    def leave(warp: Warp, indices: Sequence[Any], address: Any) -> None:
        away = (address < 0) | (address > last)
        beyond = bool(np.any(away))
        if not beyond and where is not None and machine.warnings.has(where):
            return
        for position, (index, extent) in enumerate(zip(indices, buffer.shape, strict=True)):
            wrong = (index < 0) | (index >= extent)
            if beyond:
                wrong = wrong & away
            if np.any(wrong):
                place, number = cls.describe_first(warp.units, wrong, index)
                text = (
                    f"index {show_index(number)} of dimension {position} is outside @{buffer.name}, which has {extent} "
                    f"elements there, on {place}"
                )
                if beyond:
                    raise LoomError(f"{text}, and outside {cls.memory_in_words}; check the loop bounds", where)
                machine.warn(where, f"{text}: the access is to the memory next to it; check the loop bounds")
                return

    return leave
