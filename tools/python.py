"""`loom python`: runs a host script in this interpreter, with the SDK's modules provided by us.

    loom python run.py --name out        as python3 run.py --name out
    loom python -m MODULE [ARG ...]      as python3 -m MODULE
    loom python -c CODE [ARG ...]        as python3 -c CODE

What the script raises itself is shown as Python shows it; errors of ours are one message and the line that called us.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import os
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from types import ModuleType, TracebackType
from typing import cast

from ..diagnostics.errors import LoomError
from .exit_status import run_tool
from .sdk_path import sdk_on_path

USAGE = "usage: loom python [-u] SCRIPT.py [ARG ...] | -m MODULE [ARG ...] | -c CODE [ARG ...]"

HELP = """\
usage: loom python [-u] SCRIPT.py [ARG ...]
       loom python -m MODULE [ARG ...]
       loom python -c CODE [ARG ...]

Runs a host script written for the SDK, as cs_python does, in this Python with all that is
installed for it. The modules cerebras.sdk... that it imports are ours, for this process
alone: SdkRuntime runs what loom cslc has compiled on a simulator, no wafer is needed.

example:
  loom cslc layout.csl --fabric-dims=8,3 --memcpy --channels=1 -o out
  loom python run.py --name out

options:
  -h, --help   show this help message and exit
  -u           do not buffer what the script prints

environment:
  LOOM_STEP_LIMIT=N     end a launch or copy with an error after N steps of the simulator
                        (starts of tasks and trips of loops), for programs that never end
  LOOM_NOTICE_AFTER=S   seconds until a command that takes long says where the PEs are
                        (10 if not set; 0: never)
  LOOM_THREADS=N        threads that run the program, with the same results for any number
                        (if not set: all cores for a large grid, else 1)
  LOOM_CHECK=1          look for races; 0: do not (if not set: on up to 4,096 PEs)
  LOOM_TRACEBACK=1      show the traceback of errors of ours too

A run leaves in the working directory sim.log, what the program printed, and
simfab_traces/, what the PEs did and when. The exit status is the script's; 1 after an
error, 130 after an interrupt from the keyboard."""

INTERRUPTED = 130
"""Status of a script ended by the keyboard."""


def main(argv: Sequence[str], *, is_process: bool = False) -> int:
    """Run a script; return its exit status. With `is_process` the process ends behind it."""
    arguments = list(argv)
    while arguments and arguments[0] in ("-u", "-B"):
        if arguments.pop(0) == "-u":
            for stream in (sys.stdout, sys.stderr):
                cast(TextIOWrapper, stream).reconfigure(write_through=True)
    if arguments and arguments[0] in ("-h", "--help"):
        print(HELP)
        return 0
    status = run_tool(lambda: _check(arguments))
    if status != 0:
        return status
    from ..host.sdk import modules  # --help and wrong flags need neither
    from . import wide_shifts

    modules.install()
    if is_process:
        # The collector need not go over what is loaded by now, above all at the end of the process.
        gc.freeze()
    first, rest = arguments[0], arguments[1:]
    with sdk_on_path(), wide_shifts.in_own_modules(os.getcwd() if first == "-m" else _folder(first)):
        if first == "-m":
            import runpy

            def run_module() -> None:
                known = {wide_shifts.NAME: wide_shifts.shifted_left}
                runpy.run_module(rest[0], known, run_name="__main__", alter_sys=True)

            with _script([rest[0], *rest[1:]], os.getcwd()):
                return _status(run_module)
        with _script(["-c", *rest[1:]] if first == "-c" else arguments, _folder(first)) as module:
            if is_process:
                atexit.register(_clear, module.__dict__)  # behind what the script registers
            return _status(lambda: _execute(module, first, rest))


def _check(arguments: Sequence[str]) -> None:
    if not arguments:
        raise LoomError(f"no script is named; {USAGE}")
    first = arguments[0]
    if first in ("-c", "-m"):
        if len(arguments) < 2:
            raise LoomError(f"{first} needs an argument; {USAGE}")
    elif first.startswith("-"):
        raise LoomError(f"unrecognized argument {first}; {USAGE}")
    elif not os.path.isfile(first):
        missing = "is not a file" if os.path.exists(first) else "does not exist"
        raise LoomError(f"{missing}; name a Python script", first)


def _folder(first: str) -> str:
    return "" if first == "-c" else os.path.dirname(os.path.realpath(first))


def _execute(module: ModuleType, first: str, rest: Sequence[str]) -> None:
    from . import wide_shifts

    source: str | bytes
    if first == "-c":
        source, name = rest[0], "<string>"
    else:
        with open(first, "rb") as file:
            source = file.read()
        module.__file__ = name = first
    module.__dict__[wide_shifts.NAME] = wide_shifts.shifted_left
    exec(wide_shifts.code_of(source, name), module.__dict__)


@contextmanager
def _script(argv: list[str], folder: str) -> Generator[ModuleType]:
    """Make this process look like one that Python started for a script; everything is restored at the end."""
    saved = sys.argv, list(sys.path), sys.modules["__main__"]
    module = ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    sys.argv = argv
    sys.path.insert(0, folder)
    sys.modules["__main__"] = module
    try:
        yield module
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = saved


def _clear(names: dict[str, object]) -> None:
    """Let go of what the names of a script stand for, as Python does at its end: then open files get what was written.

    Functions of a script and its names refer to each other, and the collector closes what it finds of that in any
    order.
    """
    private = [name for name in names if name.startswith("_") and not name.startswith("__")]
    for name in (*private, *names):
        if name != "__builtins__":
            names[name] = None


def _status(run: Callable[[], None]) -> int:
    """Return the exit status of a script, having printed what ended it."""
    status = 0
    try:
        run()
        _join_threads()
    except SystemExit as exit:
        if isinstance(exit.code, int):
            status = exit.code
        elif exit.code is not None:
            print(exit.code, file=sys.stderr)
            status = 1
    except LoomError as error:
        _report(error, str(error))
        status = 1
    except KeyboardInterrupt as error:
        notes = getattr(error, "__notes__", ())
        if notes:
            _report(error, f"error: {'; '.join(notes)}")
        else:
            _show(error)
        status = INTERRUPTED
    except BaseException as error:
        _warn_of_unread()
        _show(error)
        status = 1
    forgotten = _forgot_to_stop()
    if status == 0 and forgotten:
        sys.stdout.flush()
        print(forgotten, file=sys.stderr)
        status = 1
    _flush()
    return status


def _warn_of_unread() -> None:
    """Warn of the wavelets that nothing has read when an error of a script ends it, such as a wrong result, which may
    follow from them: stop() would have said so."""
    runtime = sys.modules.get("loomir.host.sdk.runtime")
    if runtime is not None:
        sys.stdout.flush()
        runtime.warn_of_unread("when the script ends")


def _forgot_to_stop() -> LoomError | None:
    """Return the error of a script that leaves a runtime running (HOST-020). Scripts without one pay nothing."""
    runtime = sys.modules.get("loomir.host.sdk.runtime")
    if runtime is None or not runtime.take_unstopped():
        return None
    return LoomError(runtime.NOT_STOPPED)


def _show(error: BaseException) -> None:
    """Print an error as Python does, without our frames."""
    sys.stdout.flush()
    error = error.with_traceback(_own(error.__traceback__))
    sys.excepthook(type(error), error, error.__traceback__)


def _report(error: BaseException, message: str) -> None:
    """Print a message of ours, and the line of the script that led to it."""
    sys.stdout.flush()
    print(message, file=sys.stderr)
    own = [frame for frame in traceback.extract_tb(_own(error.__traceback__)) if not _ours(frame.filename)]
    if own:
        line = f": {own[-1].line}" if own[-1].line else ""
        print(f"{own[-1].filename}:{own[-1].lineno}: note: called from here{line}", file=sys.stderr)
    if os.environ.get("LOOM_TRACEBACK"):
        traceback.print_exception(error, file=sys.stderr)


PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""Where our own code is; tests and examples of ours below it are scripts like any other."""

SOURCES = tuple(
    entry.path + os.sep for entry in os.scandir(PACKAGE) if os.path.exists(os.path.join(entry.path, "__init__.py"))
)


def _ours(filename: str) -> bool:
    # What the engine generates is ours too.
    return filename.startswith("<generated ") or os.path.abspath(filename).startswith(SOURCES)


def _own(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without our frames at its start, nor those of runpy."""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not (_ours(name) or name.startswith("<frozen runpy")):
            return trace
        trace = trace.tb_next
    return trace


def _join_threads() -> None:
    threading = sys.modules.get("threading")
    if threading is None:
        return
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
