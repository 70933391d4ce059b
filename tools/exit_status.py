"""Exit status of a tool: 0, or 1 with one line on stderr that says why, never a traceback."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from xdsl.utils.exceptions import ArgSpecParseError

from ..diagnostics.nesting import deep_nesting, with_room_for_frames
from ..diagnostics.output import of_a_tool, tell, tell_error


class Interrupted(KeyboardInterrupt):
    """A signal ends the tool; clean-up runs as for an interrupt at the keyboard."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def run_tool(run: Callable[[], None]) -> int:
    """Run the whole of a tool; return its exit status, having printed on stderr why if that is not 0."""
    _open_standard_streams()
    with of_a_tool():
        return _status_of(run)


def _open_standard_streams() -> None:
    """Open those of stdin, stdout and stderr that are closed, so that no file of ours takes the place of one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _status_of(run: Callable[[], None]) -> int:
    try:
        with _signals(), deep_nesting():
            with_room_for_frames(run)
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads our output has seen enough; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as error:
        tell("error", "interrupted; no results were written")
        for note in getattr(error, "__notes__", ()):
            tell("note", note)
        return error.status if isinstance(error, Interrupted) else 128 + signal.SIGINT
    except (Exception, ArgSpecParseError) as error:
        tell_error(error)
        return 1
    return 0


@contextmanager
def _signals() -> Generator[None]:
    """Turn the signals that would end the process at once, leaving partial files behind, into `Interrupted`."""
    numbers = [signal.SIGTERM] + ([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])
    if threading.current_thread() is not threading.main_thread():
        numbers = []

    def interrupt(number: int, frame: object) -> None:
        raise Interrupted(number)

    # A signal that is ignored, as under nohup, or handled by whoever calls us stays as it is.
    changed = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)
