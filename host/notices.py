"""What people are told, on stderr, of a run that takes long; see `loomir.runtime.watch`."""

from __future__ import annotations

import os
import re
import sys

from ..diagnostics import LoomError
from ..runtime.watch import FIRST_NOTICE, Watch

NOTICE_AFTER = "LOOM_NOTICE_AFTER"
"""Environment variable: seconds until the first notice, 0 for none ever."""


def watch(hint: str) -> Watch:
    """A watch that writes its notices to stderr, each with a hint how to end the run. Raises LoomError."""
    text = os.environ.get(NOTICE_AFTER, "")
    if text and not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]+)?", text):
        raise LoomError(f"{NOTICE_AFTER} is '{text}'; give a number of seconds, or 0 for no notices")

    def tell(notice: str) -> None:
        print(f"note: {notice}; {hint}", file=sys.stderr, flush=True)

    return Watch(tell, first=float(text) if text else FIRST_NOTICE)
