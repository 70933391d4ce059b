"""Limits on how long a program may take, from environment variables; for the compiler and the simulator alike.

And the threads of a run, and the name of the file that gets the statistics of a host script.
"""

from __future__ import annotations

import os
import re

from .errors import LoomError

NOTICE_AFTER = "LOOM_NOTICE_AFTER"
"""Environment variable: seconds until the first notice, 0 for none ever."""

STEP_LIMIT = "LOOM_STEP_LIMIT"
"""Environment variable: steps after which a compilation, launch or copy ends with an error."""

THREADS = "LOOM_THREADS"
"""Environment variable: the threads that run a program of the wafer."""

MAX_THREADS = 1024

CHECK = "LOOM_CHECK"
"""Environment variable: 1 to look for races in programs of the wafer, 0 not to."""

STATISTICS = "LOOM_STATS"
"""Environment variable: the file that a host script's last machine writes its statistics to; "-" prints a summary."""

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


def check() -> bool | None:
    """Return True if races are to be looked for, None if the size of the grid decides. Raises LoomError."""
    text = os.environ.get(CHECK, "")
    if text not in ("", "0", "1"):
        raise LoomError(f"{CHECK} is '{text}'; give 1 to look for races, or 0 not to")
    return text == "1" if text else None


def threads() -> int | None:
    """Return the threads that run a program, None if the size of the grid decides. Raises LoomError."""
    text = os.environ.get(THREADS, "")
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= MAX_THREADS:
        raise LoomError(f"{THREADS} is '{text}'; give a number of threads from 1 to {MAX_THREADS}")
    return int(text)
