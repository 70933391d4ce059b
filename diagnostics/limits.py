"""Limits on how long a program may take, from environment variables; for the compiler and the simulator alike.

And the name of the file that gets the statistics of a host script.
"""

from __future__ import annotations

import os
import re

from .errors import LoomError

NOTICE_AFTER = "LOOM_NOTICE_AFTER"
"""Environment variable: seconds until the first notice, 0 for none ever."""

STEP_LIMIT = "LOOM_STEP_LIMIT"
"""Environment variable: steps after which a compilation, launch or copy ends with an error."""

STATISTICS = "LOOM_STATS"
"""Environment variable: the file that a host script's last machine writes its statistics to."""

FIRST_NOTICE = 10.0
"""Seconds after which something is said to take long."""

LATER = 4
"""Every further notice comes after so many times the seconds of the one before."""


def notice_after() -> float:
    """Return the seconds until the first notice, 0 for none ever. Raises LoomError."""
    text = os.environ.get(NOTICE_AFTER, "")
    if text and not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]+)?", text):
        raise LoomError(f"{NOTICE_AFTER} is '{text}'; give a number of seconds, or 0 for no notices")
    return float(text) if text else FIRST_NOTICE


def step_limit() -> int | None:
    """Return the steps after which a command ends with an error, None without a limit. Raises LoomError."""
    text = os.environ.get(STEP_LIMIT, "")
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) == 0:
        raise LoomError(f"{STEP_LIMIT} is '{text}'; give the number of steps after which a command is to end")
    return int(text)
