"""Mistakes in constants, variables and functions that nothing uses, which evaluation never comes to.

Globals are evaluated when they are used first, so that a file may declare what its params rule out. What nothing uses
is evaluated on trial behind each PE program: a mistake that it has in all of them is a warning. Functions are those
that no text names: one whose calls params rule out may be wrong for them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING

from xdsl.ir import Block

from ..csl import syntax
from ..csl.errors import CslError
from ..csl.source import Diagnostic
from ..diagnostics.errors import LoomError
from . import calls, global_variables, types
from .asking import Bodies
from .emit import Builder, has_one_register, scalar
from .errors import Ended, Mistyped, MistypedAtRunTime, Refused, Unchecked, UnknownDescriptor, in_program
from .evaluator import Evaluator
from .frames import Frame
from .modules import Global, Module
from .recovery import on_trial
from .step_limit import Steps
from .values import Callable, EmittedAgain, Split, Value

if TYPE_CHECKING:
    from .session import Session

_KEPT = (
    "warnings", "widening_reported", "sections_used", "printed", "queues", "color_names", "color_names_of_pes",
    "asks_for_queues", "main_thread_changes", "filters_change", "changing_colors", "widths",
)  # fmt: skip
"""Attributes of a session that are restored after a global has been evaluated on trial."""

MAX_STEPS = 100_000
"""Steps of the trials behind one PE program, after which no mistake is looked for."""


def note(ev: Evaluator) -> None:
    """Record the mistakes of the globals of an evaluated program that nothing has used."""
    unused = [*_unused(ev), *_unnamed(ev)]
    found = [each for each in unused if _key(each) not in ev.session.unused or ev.session.unused[_key(each)]]
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


def _unnamed(ev: Evaluator) -> Iterator[Global]:
    """Yield the functions and tasks that no text of the program names, and that take what exists at run time."""
    if ev.pe is None:
        return
    modules = [module for module in ev.instances if not module.is_library]
    files = {id(module.file): module.file for module in modules}.values()
    named = ev.session.analyses.mentions
    for module in modules:
        for each in module.globals.values():
            node = each.node
            if isinstance(node, syntax.Function) and node.body is not None and not node.storage:
                if not calls.is_generic(node) and not any(named(file)[node.name] for file in files):
                    yield each


def _key(each: Global) -> tuple[str, int, str]:
    return each.module.file.source.path, each.node.start, each.node.name


def _mistake(ev: Evaluator, each: Global) -> Diagnostic | None:
    """Return the error that the use of a global would be, None if there is none, or it depends on the PE."""
    is_certain = True
    try:
        with on_trial(ev), ev.framed(Frame(each.module, comptime=True)):
            if isinstance(each.node, syntax.Function):
                is_certain = not each.node.parameters
                _emit(ev, each.module, each.node)
            else:
                global_variables.resolve(ev, each, each.node)
    except (Ended, UnknownDescriptor):
        return None
    except CslError as error:
        # What the arguments of a call are may decide.
        is_certain |= isinstance(error, Mistyped) and not isinstance(error, MistypedAtRunTime | Refused)
        return in_program(error).diagnostics[0] if is_certain else None
    except (LoomError, Unchecked, Split, EmittedAgain):
        return None
    return None


def _emit(ev: Evaluator, module: Module, node: syntax.Function) -> None:
    """Emit the code of a function, for its errors alone."""
    parameters = [ev.type_of(parameter.type) for parameter in node.parameters]
    if not all(map(has_one_register, parameters)) or (node.result is not None and _is_of_comptime(ev, node.result)):
        return
    block = Block(arg_types=[scalar(type) for type in parameters])
    ev.builder = Builder(block)
    try:
        values = [Value(type, argument) for type, argument in zip(parameters, block.args, strict=True)]
        calls.emit_function(ev, Callable(module, node), values)
    finally:
        ev.builder = None


def _is_of_comptime(ev: Evaluator, result: syntax.Expression) -> bool:
    return types.is_comptime_only(ev.type_of(result))


@contextmanager
def _aside(session: Session) -> Generator[None]:
    """Evaluate without a trace in the session: no warnings, nothing printed, nothing used."""

    def ignore(line: str) -> None:
        pass

    before = {name: getattr(session, name) for name in _KEPT}
    bodies, session.bodies = session.bodies, Bodies()
    steps, session.steps = session.steps, Steps(None, MAX_STEPS)
    shown, session.options.print = session.options.print, ignore
    for name, value in before.items():
        setattr(session, name, copy(value))
    try:
        yield
    finally:
        session.options.print = shown
        session.bodies = bodies
        session.steps = steps
        for name, value in before.items():
            setattr(session, name, value)
