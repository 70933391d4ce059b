"""Frames of calls being evaluated: names, result and where jumps go; and the loops that tail calls become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..csl import syntax
from ..csl.source import Source
from . import types
from .modules import Module
from .specialization import agree, blank, same
from .types import Type
from .values import Callable, Local, Value, known


class Return(Exception):
    """`return` while a function is evaluated at compile time."""

    def __init__(self, node: syntax.Node, value: Value) -> None:
        super().__init__()
        self.node = node
        self.value = value


class Break(Exception):
    """`break` at compile time; `label` is None for the innermost loop."""

    def __init__(self, node: syntax.Node, label: str | None, value: Value) -> None:
        super().__init__()
        self.node = node
        self.label = label
        self.value = value


class Continue(Exception):
    """`continue` at compile time."""

    def __init__(self, node: syntax.Node, label: str | None) -> None:
        super().__init__()
        self.node = node
        self.label = label


@dataclass(eq=False)
class Target:
    """A loop or labeled block of code being emitted, and whether it has been left."""

    label: str | None
    is_loop: bool
    broken: Local
    continued: Local | None = None
    result: Local | None = None
    wanted: Type | None = None
    """The type a block's value is given."""
    without_value: syntax.Node | None = None
    """The first break that gives a block no value."""


@dataclass(eq=False)
class Frame:
    """A call, or the evaluation of a global's initial value."""

    module: Module
    function: syntax.Function | None = None
    result_type: Type | None = None
    scopes: list[dict[str, Local]] = field(default_factory=lambda: [{}])
    targets: list[Target] = field(default_factory=list[Target])
    returned: Local | None = None
    """True if code being emitted has returned; None at compile time."""
    result: Local | None = None
    in_memory: frozenset[str] = frozenset()
    """Names of locals whose address is taken."""
    comptime: bool = False
    signing: bool = False
    """Only the type of the function is being found."""
    arguments: list[Value] = field(default_factory=list[Value])
    called_at: tuple[Source, int, int, str] | None = None
    """The place of the call, and the name of what is called."""
    written: tuple[Frame, list[syntax.Expression]] | None = None
    """The caller of a library's inline function, and the arguments as they are written there."""
    branches: int = 0
    """Run-time branches around its call."""
    is_root: bool = False
    """True if its code is a function or task of the IR, rather than part of its caller's."""
    called: Callable | Type | None = None
    """The function that the IR calls, or the type of the function pointer. None for tasks and for functions that the
    host launches: none of these runs while another does."""
    is_recursive: bool = False
    """True if that function may be entered again before it has returned."""
    is_tail: bool = False
    """True if its call is a tail call of the frame before."""
    is_host: bool = False
    """True if its body is that of a loop, whose iterations are calls with frames of their own."""
    unrolls: bool = False
    """True if its tail calls are emitted one in the other, because no loop can be made of them."""
    loop: TailLoop | None = None
    """The loop of which it is an iteration."""

    def find(self, name: str) -> Local | None:
        for scope in reversed(self.scopes):
            local = scope.get(name)
            if local is not None:
                return local
        return None

    def flags(self) -> list[Local]:
        """Return the flags that say whether control has left the statements being emitted."""
        flags = [] if self.returned is None else [self.returned]
        for target in self.targets:
            flags.append(target.broken)
            if target.continued is not None:
                flags.append(target.continued)
        return flags


def flag(name: str) -> Local:
    return Local(name, types.BOOL, Value(types.BOOL, False), mutable=True, comptime=False)


def is_instance(frame: Frame, function: Callable, arguments: Sequence[Value]) -> bool:
    """Return True if a frame is a call of a function that has the same code as one with other arguments."""
    return (
        frame.function is function.node
        and frame.module is function.module
        and not frame.is_host
        and agree(function, frame.arguments, arguments)
    )


# Loops of tail calls


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
            and agree(function, self.arguments, arguments)
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
        """Record the calls in place between the loop and a jump; one met twice becomes a member."""
        for frame in frames:
            assert frame.function is not None
            if any(other is frame for other in self.passed):
                continue
            function = Callable(frame.module, frame.function)
            is_second = any(is_instance(other, function, frame.arguments) for other in self.passed)
            if is_second and self.find(function, frame.arguments) is None:
                self.add(function, frame.arguments)
            self.passed.append(frame)
