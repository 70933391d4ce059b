"""The step limit of compile-time evaluation: it ends endless loops, and reports what takes long."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic

from ..csl import syntax
from ..csl.source import Source
from ..diagnostics import limits as environment

MAX_STEPS = 5_000_000
"""Steps, which are statements and iterations, from one progress of a compilation to the next."""

PER_EMITTED = 25
"""Steps that a statement counts as when code for run time is emitted for it, which takes memory too."""

BETWEEN_LOOKS = 64
"""Steps from one look at the clock to the next."""


class Steps:
    """The steps of one compilation. `notice` is given a line now and then while it takes long."""

    def __init__(self, notice: Callable[[str], None] | None, limit: int | None = None) -> None:
        self.count = 0
        self.due = 0
        """When `look` is to be called."""
        self._limit = limit or environment.step_limit() or MAX_STEPS
        self._last = self._limit
        """The last step that is allowed."""
        self._loops: list[tuple[Source, syntax.Node, int]] = []
        """The loops being evaluated, innermost last, and the step at which each began."""
        self._report = notice
        self._start = monotonic()
        self._notice = (environment.notice_after() or float("inf")) if notice is not None else float("inf")

    @contextmanager
    def loop(self, source: Source, node: syntax.Node) -> Generator[None]:
        """Count the steps inside as those of a loop."""
        depth = len(self._loops)
        self._loops.append((source, node, self.count))
        try:
            yield
        finally:
            del self._loops[depth:]

    def progress(self) -> None:
        """Allow all steps again: the compilation has come nearer to its end."""
        self._last = self.count + self._limit

    def look(self, source: Source, node: syntax.Node) -> tuple[syntax.Node, Source, str] | None:
        """Return where and why the compilation is to end; None if it may go on. Called at a step."""
        self.due = min(self.count + BETWEEN_LOOKS, self._last + 1)
        if self.count > self._last:
            found = self._longest()
            at, where = (node, source) if found is None else (found[1], found[0])
            what = "compile-time evaluation" if found is None else "this loop"
            allowed = f"if it ends at all, allow more with {environment.STEP_LIMIT}=N in the environment"
            return at, where, f"{what} has not ended after {self._limit} steps at compile time; {allowed}"
        seconds = monotonic() - self._start
        if seconds >= self._notice and self._report is not None:
            self._notice *= environment.LATER
            found = self._longest()
            place = source.location(node.start) if found is None else f"the loop at {found[0].location(found[1].start)}"
            self._report(
                f"the compilation is still running: {seconds:.0f} s and {self.count:,} steps so far, now in {place}; "
                f"Ctrl-C ends it, and so does {environment.STEP_LIMIT}=N after N steps"
            )
        return None

    def _longest(self) -> tuple[Source, syntax.Node, int] | None:
        """Return the innermost loop that made most of the last steps; loops inside it come to their ends."""
        first = self._last - self._limit
        half = first + (self.count - first) // 2
        return next((loop for loop in reversed(self._loops) if loop[2] <= half), None)
