"""Recursion at run time: which calls lead back, the loops that tail calls become, and the functions other calls need.

A call is a tail call if nothing is done after it in its function and its result is the function's, unchanged. Where a
chain of tail calls leads back to a function whose code is being emitted, that code becomes a loop, and each such call
sets the parameters and goes on with the next iteration. Nothing here emits code; `calls` does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Block, Operation

from ..csl import syntax
from ..operations.bit_patterns import identity
from . import types
from .control import leaves, rebuild, zero
from .frames import Frame, flag
from .types import Type
from .values import Address, Callable, Column, Local, Value, is_ssa, known

if TYPE_CHECKING:
    from .evaluator import Evaluator

MAX_UNROLLED_CALLS = 16
"""Calls of one function within each other, each with other known arguments, that are emitted one in the other before
they become a loop, if they are tail calls, or calls at run time, if a run-time branch decides whether they end."""


class Recursion(Exception):
    """Raised where a call leads back to a function whose code is being emitted, at the frame `target`."""

    def __init__(self, target: Frame, *, is_tail: bool, differs: bool = False) -> None:
        super().__init__()
        self.target = target
        self.is_tail = is_tail
        self.differs = differs
        """True if arguments known at compile time differ, so that the calls might end by themselves."""


# Values


def same(one: Value, other: Value) -> bool:
    """Return True if two values are certainly equal."""
    return one.type == other.type and _same_data(one.data, other.data)


def _same_items(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(map(_same_data, one, other))


def _same_data(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if is_ssa(one) or is_ssa(other) or type(one) is not type(other):
        return False
    match one:
        case Value():
            return same(one, other)
        case tuple() | list():
            return _same_items(cast("Sequence[Any]", one), cast("Sequence[Any]", other))
        case Column():
            return one.lanes is other.lanes and identity(one.values) == identity(other.values)
        case Callable():
            return one.module is other.module and one.node is other.node
        case _:
            return identity(one) == identity(other)


def blank(value: Value) -> Value:
    """Return a value like `value` that holds zeros, whatever of it changes at run time."""
    return rebuild(value, [_blank(leaf.type, leaf.data) for leaf in leaves(value)])


def _blank(type: Type, data: Any) -> Any:
    if not isinstance(data, Address):
        return zero(type)
    return Address(None, 0, 1, 0) if is_ssa(data.base) else replace(data, offset=0)


def result_of(type: Type) -> Value:
    """Return a placeholder for the value of a call that becomes a jump; it is never used."""
    return Value(type, None if type is types.VOID else zero(type))


# Functions with what their calls fix


def fixed(function: Callable, arguments: Sequence[Value]) -> list[Value | Type | None]:
    """Return what specializes a function for each argument: None, the type, or the value."""

    def one(parameter: syntax.Parameter, value: Value) -> Value | Type | None:
        if parameter.is_comptime or types.is_comptime_only(value.type):
            return value
        return value.type if isinstance(parameter.type, syntax.AnyType) else None

    return [one(*pair) for pair in zip(function.node.parameters, arguments, strict=True)]


def _agree(function: Callable, one: Sequence[Value], other: Sequence[Value]) -> bool:
    """Return True if two calls of a function have the same code."""
    return all(
        same(left, right) if isinstance(left, Value) and isinstance(right, Value) else left == right
        for left, right in zip(fixed(function, one), fixed(function, other), strict=True)
    )


def is_instance(frame: Frame, function: Callable, arguments: Sequence[Value]) -> bool:
    """Return True if a frame is a call of a function that has the same code as one with other arguments."""
    return (
        frame.function is function.node
        and frame.module is function.module
        and not frame.is_host
        and _agree(function, frame.arguments, arguments)
    )


def in_place(ev: Evaluator, *, whole: bool = False) -> Iterator[Frame]:
    """Yield the frames whose code is being emitted into one body, innermost first: those around the innermost.

    With `whole` the innermost is yielded too.
    """
    for frame in reversed(ev.frames if whole else ev.frames[:-1]):
        if frame.function is None:
            return
        yield frame
        if frame.is_root:
            return


def called(ev: Evaluator) -> Callable | Type | None:
    """Return what the IR calls to run the body that is being emitted; None if it is not called."""
    found = next((frame for frame in reversed(ev.frames) if frame.is_root or frame.function is None), None)
    return None if found is None else found.called


# Loops


@dataclass(eq=False)
class Parameter:
    """A parameter of a member of a loop: always `value`, or carried from one iteration to the next."""

    value: Value
    carried: bool = False
    next: Local = field(default_factory=lambda: flag("next"))
    """What the next call of the member gives it, if it is carried."""


@dataclass(eq=False)
class Member:
    """A function that a loop carries out as one of its iterations."""

    function: Callable
    arguments: list[Value]
    parameters: list[Parameter]

    def fits(self, function: Callable, arguments: Sequence[Value]) -> bool:
        return (
            self.function.node is function.node
            and self.function.module is function.module
            and _agree(function, self.arguments, arguments)
        )


@dataclass(eq=False)
class TailLoop:
    """Functions that call each other in tail position, the first of them called from outside."""

    members: list[Member] = field(default_factory=list[Member])
    again: Local = field(default_factory=lambda: flag("again"))
    """True if a tail call has asked for another iteration."""
    which: Local = field(default_factory=lambda: Local("which", types.U16, None, True, comptime=False))
    """The number of the member it asked for."""
    passed: list[Frame] = field(default_factory=list[Frame])
    """Calls emitted in place that a tail call led back through."""
    has_grown: bool = False
    """True if its tail calls turned out to need more of it than was known when it began: it is to be emitted again."""

    def add(self, function: Callable, arguments: Sequence[Value], *, is_first: bool = False) -> Member:
        """Add a function; what is not known of its first call is carried."""
        parameters = [Parameter(value, not is_first and not known(value)) for value in arguments]
        self.members.append(Member(function, list(arguments), parameters))
        self.has_grown = True
        return self.members[-1]

    def find(self, function: Callable, arguments: Sequence[Value]) -> Member | None:
        """Return the member that a call goes on with."""
        return next((member for member in self.members if member.fits(function, arguments)), None)

    def carried(self) -> list[Local]:
        """Return what changes from one iteration to the next, beside the result."""
        state = [self.again, self.which] if len(self.members) > 1 else [self.again]
        return state + [p.next for member in self.members for p in member.parameters if p.carried]

    def begin(self) -> None:
        """Make the variables of the loop anew, as they are before it."""
        self.has_grown = False
        self.passed.clear()
        self.again = flag("again")
        self.again.value = Value(types.BOOL, True)
        self.which = Local("which", types.U16, Value(types.U16, 0), True, comptime=False)
        for number, member in enumerate(self.members):
            for parameter in member.parameters:
                value = parameter.value if number == 0 else blank(parameter.value)
                parameter.next = Local("next", value.type, value, True, comptime=False)

    def jump(self, member: Member, arguments: Sequence[Value]) -> None:
        """Ask for an iteration with a member. A parameter that turns out to change is carried from now on."""
        for parameter, value in zip(member.parameters, arguments, strict=True):
            if not parameter.carried and not same(parameter.value, value):
                parameter.carried = self.has_grown = True
            if parameter.carried:
                parameter.next.value = value
        self.which.value = Value(types.U16, self.members.index(member))
        self.again.value = Value(types.BOOL, True)

    def lead_through(self, frames: Sequence[Frame]) -> None:
        """Take note of the calls in place between the loop and a jump; one met twice becomes a member."""
        for frame in frames:
            assert frame.function is not None
            if any(other is frame for other in self.passed):
                continue
            function = Callable(frame.module, frame.function)
            is_second = any(is_instance(other, function, frame.arguments) for other in self.passed)
            if is_second and self.find(function, frame.arguments) is None:
                self.add(function, frame.arguments)
            self.passed.append(frame)


def loops(ev: Evaluator) -> Iterator[TailLoop]:
    """Yield the loops around the code being emitted that a tail call may go on with."""
    for frame in reversed(ev.frames):
        if frame.loop is not None:
            yield frame.loop
        if frame.is_root or frame.function is None:
            return


# Outlined functions


@dataclass(eq=False)
class OutlinedFunction:
    """A function that calls itself otherwise than in tail position, with what is known of it at compile time."""

    function: Callable
    arguments: list[Value]
    """Those of the first call: they fix the code, and what of a DSD cannot change at run time."""
    symbol: str


def outlined(ev: Evaluator, function: Callable, arguments: Sequence[Value]) -> OutlinedFunction | None:
    """Return the function with the code of a call, if there is one by now."""
    assert ev.pe is not None
    if not ev.pe.is_outlined(function):
        return None
    for found in ev.pe.recursive:
        if (
            found.function.node is function.node
            and found.function.module is function.module
            and _agree(function, found.arguments, arguments)
        ):
            return found
    return None


# Going back


class Checkpoint:
    """The state of emission at one place, to which it can go back."""

    def __init__(self, ev: Evaluator) -> None:
        assert ev.owner is not None
        self.ev = ev
        self.builder = ev.code
        self.location: FileLineColLoc | None = self.builder.location
        self.block: Block = self.builder.block
        self.last: Operation | None = self.block.last_op
        self.mark = self.builder.mark()
        self.live = [(local, local.value, local.type) for local in ev.live]
        self.counts = [(count, dict(count)) for count in self._counts()]

    def restore(self) -> None:
        """Drop the code emitted since, and give the variables what they held."""
        ev = self.ev
        self.builder.go_back(self.mark, self.block, self.last)
        self.builder.location = self.location
        del ev.live[len(self.live) :]
        for local, value, type in self.live:
            local.value, local.type = value, type
        for count, before in self.counts:
            count.clear()
            count.update(before)

    def _counts(self) -> list[dict[Hashable, int]]:
        """Return the counts of the code that calls have made in place."""
        assert self.ev.owner is not None
        return [self.ev.owner.inlined, *([] if self.ev.journal is None else [self.ev.journal.spent])]
