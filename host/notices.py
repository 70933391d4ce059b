"""Notices of long compilations and runs, printed on stderr; `loomir.runtime.watch` decides when one is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostics import limits as environment
from ..diagnostics.output import tell

if TYPE_CHECKING:
    from ..runtime.watch import Watch


def watch_on_stderr(hint: str) -> Watch:
    """Return a watch that prints its notices on stderr, each with a hint how to end the run. Raises LoomError."""
    from ..runtime.watch import Watch  # loads the engine, which a compilation does not need

    return Watch(lambda notice: print_notice(f"{notice}; {hint}"), first=environment.notice_after())


def print_notice(notice: str) -> None:
    """Print a notice on stderr."""
    tell("note", notice)
