"""What a function call in evaluation has: its names, its result, and where its jumps go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..csl import syntax
from ..csl.source import Source
from . import types
from .modules import Module
from .types import Type
from .values import Callable, Local, Value

if TYPE_CHECKING:
    from .recursion import TailLoop


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
    """Where the call stands, and the name of what is called."""
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
