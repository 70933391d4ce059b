"""Files of which nobody sees a part: how one is begun under another name, and how several are put in place at once.

Knows neither what is written nor by which tool.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def create_partial(folder: Path, mode: int = 0o666) -> tuple[IO[bytes], Path]:
    """Return a stream to a new file in a folder, and the file's path, to be renamed when it is complete.

    The name cannot be guessed, and the file is created exclusively, so that no link laid out by somebody else is
    followed. Raises OSError.
    """
    while True:
        path = folder / f".loom-{os.urandom(8).hex()}.partial"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        except FileExistsError:
            continue
        return os.fdopen(descriptor, "wb"), path


@contextmanager
def uninterrupted() -> Generator[None]:
    """Delay signals that end the process until the block is left: for short work that must not be done by half."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[int] = []
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))
    }
    # A signal that is ignored, or handled outside of Python, stays as it is.
    changed = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in changed:
        signal.signal(number, lambda number, frame: pending.append(number))
    try:
        yield
    finally:
        for number, handler in changed.items():
            signal.signal(number, handler)
        for number in pending:
            signal.raise_signal(number)
