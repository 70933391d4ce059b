"""Recursion at run time: which calls lead back, the loops that tail calls become, and the functions other calls need.

A call is a tail call if nothing is done after it in its function and its result is the function's, unchanged. Where a
chain of tail calls leads back to a function whose code is being emitted, that code becomes a loop, and each such call
sets the parameters and goes on with the next iteration (`frames.TailLoop`). Nothing here emits code; `calls` does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Block, Operation

from . import types
from .control import zero
from .frames import Frame, TailLoop
from .specialization import OutlinedFunction, agree
from .types import Type
from .values import Callable, Value

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


def result_of(type: Type) -> Value:
    """Return a placeholder for the value of a call that becomes a jump; it is never used."""
    return Value(type, None if type is types.VOID else zero(type))


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


def loops(ev: Evaluator) -> Iterator[TailLoop]:
    """Yield the loops around the code being emitted that a tail call may go on with."""
    for frame in reversed(ev.frames):
        if frame.loop is not None:
            yield frame.loop
        if frame.is_root or frame.function is None:
            return


# Outlined functions


def outlined(ev: Evaluator, function: Callable, arguments: Sequence[Value]) -> OutlinedFunction | None:
    """Return the function with the code of a call, if there is one by now."""
    assert ev.pe is not None
    if not ev.pe.is_outlined(function):
        return None
    for found in ev.pe.recursive:
        if (
            found.function.node is function.node
            and found.function.module is function.module
            and agree(function, found.arguments, arguments)
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
