"""Checks of code that is not part of the program: branches ruled out, and whole generic functions."""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import Block

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Diagnostic, Note
from . import types
from .comptime_known import reason
from .emit import Builder, has_one_register
from .errors import Mistyped, Unchecked
from .evaluator import Evaluator
from .types import Type
from .values import VOID, EmittedAgain, Local, Split, Value


def opaque(ev: Evaluator, local: Local) -> Value | None:
    """Return the value of a variable that is not comptime-known as one of its type; None if it need not be hidden."""
    assert local.value is not None
    if local.unknown_because is None or isinstance(local.type, types.Pointer) or not has_one_register(local.type):
        return None
    return unknown(ev, local.value.type)


def unknown(ev: Evaluator, type: Type) -> Value:
    """Return a value of which only the type is known. Raises Unchecked for types that have none at run time."""
    if type is types.VOID:
        return VOID
    if not has_one_register(type):
        raise Unchecked
    return Value(type, ev.code.constant(type, 0))


@contextmanager
def _aside(ev: Evaluator) -> Generator[None]:
    """Evaluate for the errors alone: what is emitted goes nowhere, and variables are then as before."""
    before = [(local, local.value) for local in ev.live]
    result = ev.frame.result
    kept = types.VOID if result is None else result.type
    builder, ev.builder = ev.builder, Builder(Block())
    ev.is_checking = True
    ev.branches += 1
    try:
        yield
    finally:
        ev.branches -= 1
        ev.is_checking = False
        ev.builder = builder
        for local, value in before:
            local.value = value
        if result is not None:
            result.type = kept


def check_untaken(ev: Evaluator, condition: syntax.Node, run: Function[[], object]) -> None:
    """Check the branch that a condition rules out although it is not comptime-known.

    Raises CslError for a mistake that does not depend on values.
    """
    if ev.builder is None or ev.is_checking or ev.pe is None or ev.frame.module.is_library:
        return
    text = reason(ev, condition)
    if text is None:
        return
    said = (
        "the branch that this condition rules out is checked too, because the condition is not known at compile time: "
        f"{text}"
    )
    check(ev, run, Note(ev.source, condition.start, condition.end, said))


def check(ev: Evaluator, run: Function[[], object], note: Note) -> None:
    try:
        with _aside(ev):
            run()
    except Mistyped as error:
        (first, *rest) = error.diagnostics
        first = Diagnostic(first.source, first.start, first.end, first.message, (*first.notes, note))
        raise CslError([first, *rest]) from None
    except (CslError, Unchecked, Split, EmittedAgain):
        # What cannot be told without the values is left to the code that is part of the program.
        return
