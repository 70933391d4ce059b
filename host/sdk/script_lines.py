"""Lines of the host script that is being run, for messages."""

from __future__ import annotations

import os
from inspect import currentframe
from typing import NamedTuple

OWN = os.path.dirname(__file__)


class Origin(NamedTuple):
    """A line of a host script."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def origin() -> Origin:
    """Return the line of the script that called us, whichever module it has called."""
    frame = currentframe()
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == OWN:
        frame = frame.f_back
    return Origin("host script", 0) if frame is None else Origin(frame.f_code.co_filename, frame.f_lineno)
