"""Error recovery: all semantic errors of a program in one compilation, rather than the first.

Compilation stops at the first error. The program is then compiled once more to look for others, so that none of this
concerns programs without errors. There evaluation goes on in panic mode, as parsers do: after a statement with an error
comes the next one of its block, after a block with an error what follows the statement that it is in, after a function
the next one, after a PE program the next one. What a statement with an error would have declared or assigned is
*poisoned*: a statement that uses it is skipped without a word, as its errors would be consequences of the first. So is
whatever evaluates a block with an error at compile time, as nothing it computes is known.

Code of libraries, code that is evaluated on trial, and code that is checked for its errors alone ends at its first
error, which is reported where it is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable as Function
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from xdsl.ir import Block

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Diagnostic, Source
from ..diagnostics.errors import LoomError
from . import types
from .emit import has_one_register
from .errors import Ended, Poisoned, ProgramErrors, UnknownDescriptor
from .mistakes import Mistakes
from .modules import Files, Global
from .values import Local, Value

if TYPE_CHECKING:
    from .evaluator import Evaluator
    from .session import Session


def goes_on(ev: Evaluator) -> bool:
    """Return True if evaluation goes on after an error here."""
    return ev.mistakes is not None and not ev.is_checking and not ev.frame.module.is_library


@contextmanager
def going_on(ev: Evaluator) -> Generator[None]:
    """Record an error inside, and go on behind it, where errors are looked for."""
    builder = ev.builder
    try:
        yield
    except Ended:
        raise
    except CslError as error:
        if ev.mistakes is None:
            raise
        ev.builder = builder
        note(ev, error)


@contextmanager
def checked(session: Session) -> Generator[None]:
    """Record an error inside that is about the whole program, where errors are looked for.

    One that says what an error of a part of it says already is left out.
    """
    try:
        yield
    except CslError as error:
        if session.mistakes is None:
            raise
        if not session.mistakes.says(error.message):
            session.mistakes.add(error)


def note(ev: Evaluator, error: CslError) -> None:
    """Record an error, after which evaluation goes on."""
    assert ev.mistakes is not None
    ev.mistakes.add(error)
    ev.mistakes.lacks_statements |= ev.builder is None


@contextmanager
def on_trial(ev: Evaluator) -> Generator[None]:
    """Let an error inside end what is inside: it is evaluated in another way then."""
    mistakes, ev.mistakes = ev.mistakes, None
    try:
        yield
    finally:
        ev.mistakes = mistakes


def also(ev: Evaluator, error: CslError, run: Function[[], object]) -> CslError:
    """Look for errors in code beside that in which there was one; return the error to raise then."""
    if not goes_on(ev) or isinstance(error, Ended):
        return error
    note(ev, error)
    try:
        run()
    except Ended:
        raise
    except CslError as other:
        note(ev, other)
    return Poisoned(error.diagnostics)


class Before:
    """What evaluation goes back to after a statement with an error."""

    def __init__(self, ev: Evaluator) -> None:
        self._ev = ev
        self._builder = ev.builder
        self._code: tuple[tuple[int, int], Block] | None = None
        if ev.builder is not None:
            self._code = ev.builder.mark(), ev.builder.block
        self._live = [(local, local.value, local.type) for local in ev.live]

    def restore(self) -> None:
        """Give the variables what they held; what has been emitted stays, as nothing will run."""
        ev = self._ev
        ev.builder = self._builder
        if ev.builder is not None and self._code is not None:
            mark, block = self._code
            ev.builder.go_back(mark, block, block.last_op)
        del ev.live[len(self._live) :]
        for local, value, type in self._live:
            local.value, local.type = value, type


def after(ev: Evaluator, error: CslError, node: syntax.Node, before: Before | None) -> Poisoned:
    """Go on after a statement with an error: poison what it would have changed, and return what its block is to raise.

    Raises the error itself where evaluation does not go on.
    """
    if before is None or isinstance(error, Ended | UnknownDescriptor):
        raise error
    note(ev, error)
    before.restore()
    consequence = Poisoned([Diagnostic(ev.source, node.start, node.end, error.message)])
    if _may_end_block(ev, error, node):
        raise consequence
    _poison(ev, node)
    return consequence


def _may_end_block(ev: Evaluator, error: CslError, node: syntax.Node) -> bool:
    """Return True if what follows a statement may not be meant to be evaluated: an assertion, or it may jump away.

    Of code that is emitted, all is, unless the condition of a jump was to be known.
    """
    if isinstance(node, syntax.Builtin) and node.name in ("comptime_assert", "unreachable"):
        return True
    jumps = ev.session.analyses.jumps(node)
    if not jumps:
        return False
    if ev.builder is None:
        return True
    first = error.diagnostics[0]
    is_inside = first.source is ev.source and node.start <= first.start < node.end
    return not is_inside or any(part.start <= first.start < part.end for part in _conditions(node))


def _conditions(node: syntax.Node) -> list[syntax.Expression]:
    """Return what decides on the parts of a statement that are evaluated."""
    match node:
        case syntax.If(branches=branches):
            return [link.condition for link in branches]
        case syntax.Switch(subject=subject):
            return [subject]
        case syntax.While(condition=condition):
            return [condition]
        case syntax.For(iterable=iterable):
            return [iterable]
        case _:
            return []


def _poison(ev: Evaluator, node: syntax.Node) -> None:
    """Poison what a statement declares or assigns, or could change by an address."""
    if isinstance(node, syntax.Variable):
        ev.declare(_in_place_of(ev, node), node)
        return
    for name in ev.session.analyses.assigned(node) | ev.session.analyses.addressed(node):
        local = ev.frame.find(name)
        if local is None:
            found = ev.frame.module.globals.get(name)
            if found is not None and ev.builder is None and isinstance(found.node, syntax.Variable):
                found.type = types.POISON
        elif local.memory is None:
            blank = _unknown(ev, local.type) if local.mutable and not local.comptime else None
            if blank is None:
                local.type = types.POISON
            local.value = blank


def _in_place_of(ev: Evaluator, node: syntax.Variable) -> Local:
    """Return the variable that a declaration with an error makes: one of its type if only its value is wrong."""
    type = None
    changes = node.kind == "var" and not node.is_comptime and node.name not in ev.frame.in_memory
    if changes and node.type is not None and ev.builder is not None:
        with on_trial(ev), suppress(CslError):
            type = ev.type_of(node.type)
    value = None if type is None else _unknown(ev, type)
    if type is None or value is None:
        return Local(node.name, types.POISON, None, mutable=True)
    return Local(node.name, type, value, mutable=True, comptime=False)


def _unknown(ev: Evaluator, type: types.Type) -> Value | None:
    """Return a value of which only the type is known; None if there is none while nothing is emitted."""
    if ev.builder is None or type is types.POISON or not has_one_register(type):
        return None
    return Value(type, ev.builder.constant(type, 0))


def check(type: types.Type) -> None:
    """Raise Poisoned if that is the type of a name."""
    if type is types.POISON:
        raise Poisoned(_UNKNOWN)


_UNKNOWN = (Diagnostic(Source("", ""), 0, 0, "this depends on something with an error"),)
"""Never shown."""


def poison_global(ev: Evaluator, found: Global, error: CslError) -> CslError:
    """Poison a global whose declaration has an error; return the error to raise."""
    if ev.mistakes is None or ev.is_checking or isinstance(error, Ended | UnknownDescriptor):
        return error
    ev.mistakes.add(error)
    ev.mistakes.lacks_statements = True
    found.type = types.POISON
    return Poisoned(error.diagnostics)


def all_errors(first: CslError, files: Files, compile: Function[[Mistakes], object]) -> ProgramErrors:
    """Compile a program again that has an error; return one error with all that are found, and what is left to passes.

    What goes wrong after an error in a way that nobody has foreseen ends the search; it is shown if LOOM_TRACEBACK is
    set.
    """
    if isinstance(first, Ended):
        return ProgramErrors(first.diagnostics, first.unreported, (), None)
    mistakes = Mistakes(first)
    try:
        compile(mistakes)
    except LoomError:
        pass
    except Exception:
        if os.environ.get("LOOM_TRACEBACK"):
            raise
    return mistakes.error(files.paths())
