"""Lint of CSL programs: warnings about tasks, queues and variables that cannot do what they are declared for.

Only what the program's own files declare is looked at, not the libraries, and only what no PE program uses: params rule
out parts of the code of each. What one looks for in the text (is a task named anywhere?) counts code that is ruled out,
too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FileLineColLoc

from ..analysis.wse.lint import Declared, Seen, coded, lint_behavior, unused_queue, unwritten
from ..csl import syntax
from ..diagnostics.records import record
from ..dialects import wse
from . import unused_globals
from .modules import is_of_library

if TYPE_CHECKING:
    from ..csl.source import Source
    from .session import Session


def lint(session: Session, program: wse.ProgramOp) -> list[str]:
    """Return warnings about a program, in the order of its files and of their lines."""
    files = [file for file in session.files.all() if not is_of_library(file.source)]
    order = {file.source.path: number for number, file in enumerate(files)}
    found = [
        *_unnamed(session, files),
        *_unused_queues(session, files),
        *_never_used(session, program, files),
        *_mistaken(session),
        *_misbehaving(program, files),
    ]
    found.sort(key=lambda each: (order.get(each.source.path, len(order)), each.start))
    return list(dict.fromkeys(map(str, found)))


@record
class _Warning:
    source: Source
    start: int
    message: str

    def __str__(self) -> str:
        return f"{self.source.location(self.start)}: warning: {self.message}"


# In the text


def _unnamed(session: Session, files: Sequence[syntax.File]) -> Iterator[_Warning]:
    """Yield warnings about tasks that nothing binds: their names are nowhere."""
    tasks = [
        (file.source, node)
        for file in files
        for node in file.declarations
        if isinstance(node, syntax.Function) and node.keyword == "task" and not node.storage
    ]
    for source, node in tasks:
        if not any(session.analyses.mentions(file)[node.name] for file in files):
            advice = "bind it to an id, as with @bind_local_task in a comptime block, or remove it"
            message = coded("unbound-task", f"task '{node.name}' is never bound; {advice}")
            yield _Warning(source, node.start, message)


def _unused_queues(session: Session, files: Sequence[syntax.File]) -> Iterator[_Warning]:
    """Yield warnings about queues that are initialized, and that no DSD or data task of any PE program uses.

    One whose name is elsewhere, in code that is ruled out, say, is left out.
    """
    if session.asks_for_queues:
        return
    texts = {file.source.path: file for file in files}
    for (path, start, output, number), is_used in session.queues.items():
        file = texts.get(path)
        node = None if file is None else _builtin_at(file, start)
        if is_used or file is None or node is None or not node.arguments or not _is_named_once(file, node.arguments[0]):
            continue
        message = unused_queue(output=output, name=number)
        yield _Warning(file.source, start, message)


def _builtin_at(file: syntax.File, start: int) -> syntax.Builtin | None:
    found = (node for node in syntax.walk(file) if isinstance(node, syntax.Builtin) and node.start == start)
    return next(found, None)


def _is_named_once(file: syntax.File, queue: syntax.Expression) -> bool:
    """Return True if a queue is named by calls of @initialize_queue only."""
    initialized: set[int] = set()
    for node in syntax.walk(file):
        if isinstance(node, syntax.Builtin) and node.name == "initialize_queue":
            initialized |= {id(inner) for inner in syntax.walk(node.arguments[0])} if node.arguments else set()
    if isinstance(queue, syntax.Name):
        return all(
            id(node) in initialized
            for node in syntax.walk(file)
            if isinstance(node, syntax.Name | syntax.Field) and node.name == queue.name
        )
    if isinstance(queue, syntax.Builtin):
        return all(
            id(node) in initialized
            for node in syntax.walk(file)
            if isinstance(node, syntax.Builtin) and node.name == queue.name
        )
    return False


def _mistaken(session: Session) -> Iterator[_Warning]:
    """Yield the mistakes of globals that nothing uses, which would be errors otherwise."""
    for name, mistake in unused_globals.warnings(session):
        message = f"{mistake.message}; it would be an error if anything used '{name}'"
        yield _Warning(mistake.source, mistake.start, coded("unused-mistake", message))


# In the IR


def _never_used(session: Session, program: wse.ProgramOp, files: Sequence[syntax.File]) -> Iterator[_Warning]:
    """Yield what is wrong with the tasks and variables that files declare."""
    declared = Declared(program)
    of_modules = {node.name for file in files for node in syntax.walk(file) if isinstance(node, syntax.Field)}
    for file in files:
        # Code that no PE program contains may write them.
        written = of_modules | session.analyses.assigned(file) | session.analyses.addressed(file)
        for node in file.declarations:
            place = (file.source.path, *file.source.line_and_column(node.start))
            if isinstance(node, syntax.Function) and node.keyword == "task" and place in declared.tasks:
                message = declared.of_task(node.name, declared.tasks[place])
            elif isinstance(node, syntax.Variable) and node.value is None and place in declared.buffers:
                message = None if node.name in written else _of_variable(node, declared.buffers[place])
            else:
                continue
            if message is not None:
                yield _Warning(file.source, node.start, message)


def _of_variable(node: syntax.Variable, variable: Seen) -> str | None:
    if node.kind != "var" or node.storage or not variable.is_read or variable.is_written:
        return None
    return unwritten(node.name, "initialize it, with @zeros for example, or write it")


def _misbehaving(program: wse.ProgramOp, files: Sequence[syntax.File]) -> Iterator[_Warning]:
    """Yield what is wrong with what the code of files does."""
    sources = {file.source.path: file.source for file in files}
    for op, message in lint_behavior(program):
        where = op.location
        if isinstance(where, FileLineColLoc) and (source := sources.get(where.filename.data)) is not None:
            yield _Warning(source, source.offset(where.line.data, where.column.data), message)
