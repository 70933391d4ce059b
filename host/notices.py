"""What people are told, on stderr, of a compilation or a run that takes long; see `loomir.runtime.watch`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..diagnostics import limits as environment
from ..diagnostics.errors import shown

if TYPE_CHECKING:
    from ..runtime.watch import Watch


def watch_on_stderr(hint: str) -> Watch:
    """A watch that writes its notices to stderr, each with a hint how to end the run. Raises LoomError."""
    from ..runtime.watch import Watch

    return Watch(lambda notice: print_notice(f"{notice}; {hint}"), first=environment.notice_after())


def print_notice(notice: str) -> None:
    """Writes a notice to stderr."""
    print(shown(f"note: {notice}"), file=sys.stderr, flush=True)
