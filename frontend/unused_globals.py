"""Mistakes in constants and variables that nothing uses, which evaluation never comes to.

Globals are evaluated when they are used first, so that a file may declare what its params rule out. What nothing uses
is evaluated on trial behind each PE program: a mistake that it has in all of them is a warning.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Diagnostic
from ..diagnostics.errors import LoomError
from . import expressions
from .errors import in_program
from .evaluator import Evaluator, Unchecked
from .frames import Frame
from .modules import Global
from .recovery import on_trial
from .values import Split, WidthChanges

if TYPE_CHECKING:
    from .evaluator import Session

_KEPT = (
    "warnings", "widening_reported", "sections_used", "printed", "queues", "color_names", "color_names_of_pes",
    "asks_for_queues", "main_thread_changes", "filters_change", "changing_colors", "widths",
)  # fmt: skip
"""Attributes of a session that are restored after a global has been evaluated on trial."""


def note(ev: Evaluator) -> None:
    """Take note of the mistakes of the globals of an evaluated program that nothing has used."""
    found = [each for each in _unused(ev) if _key(each) not in ev.session.unused or ev.session.unused[_key(each)]]
    used = (each for module in ev.instances for each in module.globals.values() if each.type is not None)
    ev.session.unused.update(dict.fromkeys(map(_key, used)))
    if found:
        with _aside(ev.session):
            for each in found:
                ev.session.unused[_key(each)] = _mistake(ev, each)


def warnings(session: Session) -> Iterator[tuple[str, Diagnostic]]:
    """Yield the names of unused globals whose declarations have a mistake in all PE programs, and the mistake."""
    for (_, _, name), diagnostic in session.unused.items():
        if diagnostic is not None:
            yield name, diagnostic


def _unused(ev: Evaluator) -> Iterator[Global]:
    for module in ev.instances:
        if not module.is_library:
            for each in module.globals.values():
                is_variable = isinstance(each.node, syntax.Variable) and each.node.kind != "param"
                if is_variable and not each.node.storage and each.type is None:
                    yield each


def _key(each: Global) -> tuple[str, int, str]:
    return each.module.file.source.path, each.node.start, each.node.name


def _mistake(ev: Evaluator, each: Global) -> Diagnostic | None:
    """Return the error that the use of a global would be, None if there is none, or it depends on the PE."""
    try:
        with on_trial(ev), ev.framed(Frame(each.module, comptime=True)):
            expressions.resolve(ev, each, each.node)
    except CslError as error:
        return in_program(error).diagnostics[0]
    except (LoomError, Unchecked, Split, WidthChanges):
        return None
    return None


@contextmanager
def _aside(session: Session) -> Generator[None]:
    """Evaluate without a trace in the session: no warnings, nothing printed, nothing used."""

    def ignore(line: str) -> None:
        pass

    before = {name: getattr(session, name) for name in _KEPT}
    shown, session.options.print = session.options.print, ignore
    for name, value in before.items():
        setattr(session, name, copy(value))
    try:
        yield
    finally:
        session.options.print = shown
        for name, value in before.items():
            setattr(session, name, value)
