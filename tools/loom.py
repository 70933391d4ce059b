"""`loom`: compiles and runs programs from the command line."""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import re
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from math import prod
from stat import S_ISREG
from typing import IO, TYPE_CHECKING, Any

from .. import __version__
from ..diagnostics.errors import LoomError
from ..diagnostics.output import tell_line
from .arguments import OnceEach, Parser, TellAsJson, assignment, number, positive
from .exit_status import run_tool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..host.simulator import Simulator
    from ..runtime.tables.format import Tables
    from .outputs import Outputs


COMMANDS: dict[str, str] = {
    "cslc": "compile CSL, with the SDK compiler's flags",
    "pto": "check or run kernels of cube and vector cores that pass tiles through pipes",
    "python": "run a host script written for the SDK",
    "sdk": "run shell scripts written for the SDK, or a suite of them",
}
"""Commands in modules of their own, which read their arguments themselves."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status, having printed on stderr why if that is not 0."""
    given = sys.argv[1:] if argv is None else argv
    if argv is None:
        _relieve_collector(given)
    if given[:1] == ["python"]:
        from . import python

        return python.main(given[1:], is_process=argv is None)
    if given and given[0] in COMMANDS:
        return import_module(f".{given[0]}", __package__).main(given[1:])

    def run() -> None:
        arguments = _parser().parse_args(given)
        arguments.command(arguments)

    return run_tool(run)


COLLECT_EVERY = 100_000
"""Objects made between two runs of Python's cyclic garbage collector, instead of 700."""


def _relieve_collector(given: Sequence[str]) -> None:
    """Run the garbage collector of this process less often: nearly all objects stay until the end."""
    gc.set_threshold(COLLECT_EVERY)
    if given[:1] == ["cslc"] or given[:2] == ["pto", "check"]:
        # A compilation pauses it, and to go over all that was made meanwhile would be the last thing that it does.
        gc.disable()
    if given[:1] != ["python"]:
        # A script may leave it to the collector to close its files; we do not.
        atexit.register(gc.freeze)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="loom",
        description="Compiles and runs programs for dataflow machines without the machine.",
        epilog="loom COMMAND --help describes each command.",
    )
    parser.add_argument("--version", action="version", version=f"loom {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, what in COMMANDS.items():
        commands.add_parser(name, help=what, add_help=False)
    run = commands.add_parser(
        "run",
        help="run a CSL layout, or IR at any level",
        description="Compiles a CSL layout, or lowers what remains of a program in IR, and runs it: arrays are set, "
        "functions launched and arrays "
        "read in that order, launches one after the other. Without --launch the program runs as it starts by itself. "
        "Output files appear whole or, after an error, not at all; those of --stats and --trace appear also of a run "
        "that hangs, ends with an error or is interrupted. Cycles are estimates.",
    )
    run.set_defaults(command=_run)
    run.add_argument(
        "file",
        metavar="FILE",
        help="a CSL layout (.csl), IR text at any level from wse to flow, or an output directory of cslc",
    )
    run.add_argument(
        "--arch", metavar="NAME", help="wse2 or wse3, instead of the program's; for a CSL layout wse2 if not given"
    )
    run.add_argument("--rectangle", type=_rectangle, metavar="WxH", help="PEs instead of the program's, e.g. 8x4")
    run.add_argument(
        "--param",
        type=assignment,
        action=OnceEach,
        default=[],
        metavar="NAME=VALUE",
        help="a parameter's value: a number, or a .npy file with one for each PE [height, width]; of a CSL layout "
        "a number, true or false",
    )
    run.add_argument(
        "--import-path",
        action="append",
        default=[],
        metavar="DIR",
        help="also search this directory for modules of a CSL layout, before those of CSL_IMPORT_PATH",
    )
    run.add_argument(
        "--set",
        type=assignment,
        action=OnceEach,
        default=[],
        metavar="SYMBOL=FILE.npy",
        help="fill an exported buffer: [height, width, *shape], or [*shape] for the same on every PE",
    )
    run.add_argument(
        "--launch", action="append", nargs="+", default=[], metavar=("FN", "ARG"), help="call an exported function"
    )
    run.add_argument(
        "--get",
        type=assignment,
        action="append",
        default=[],
        metavar="SYMBOL=FILE.npy",
        help="write an exported buffer after the run: [height, width, *shape]",
    )
    run.add_argument(
        "--stats",
        nargs="?",
        const="-",
        metavar="FILE",
        help="print statistics of the run in short, or write all of them to a file: FILE.csv, or else JSON",
    )
    run.add_argument("--trace", metavar="FILE", help="write a trace of the run, one JSON object per line")
    run.add_argument(
        "--trace-kinds",
        metavar="KINDS",
        help="what a trace has, with commas: tasks, operations, waits, wavelets; all if not given",
    )
    run.add_argument("--trace-last", type=positive, metavar="N", help="keep only the last N records of a trace")
    run.add_argument(
        "--prices", metavar="FILE.json", help="cycles instead of the target's: an object of names and numbers"
    )
    run.add_argument(
        "--threads",
        type=positive,
        metavar="N",
        help="threads that run the program, with the same results for any number (default: LOOM_THREADS, else all "
        "cores if the grid is large)",
    )
    run.add_argument(
        "--check",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="look for races between tasks and asynchronous operations (default: LOOM_CHECK, else on up to 4,096 PEs)",
    )
    run.add_argument("--json", action=TellAsJson, help=TellAsJson.HELP)
    run.add_argument("--step-limit", type=positive, metavar="N", help="end with an error after N steps of a PE")
    return parser


def _rectangle(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a rectangle; write width x height, for example 8x4")
    return int(match[1]), int(match[2])


def read_array(path: str) -> NDArray[Any]:
    """Return the array in a .npy file; raises LoomError if there is none."""
    import numpy as np
    from numpy.lib import format as npy

    try:
        with open(path, "rb") as stream:
            if stream.read(6) != b"\x93NUMPY":
                raise LoomError("is not a .npy file; write it with numpy.save", path)
            stream.seek(0)
            # The header is looked at first: reading believes it, and asks for as much memory as it says.
            version = npy.read_magic(stream)
            read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = read_header(stream)
            if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None:
                raise LoomError(f"holds elements of type {dtype}; write an array of numbers with numpy.save", path)
            if any(not isinstance(extent, int) or extent < 0 for extent in shape) or len(shape) > MAX_DIMENSIONS:
                raise LoomError(f"has a header of shape {shape}, which no array has; write it again", path)
            needed, have = prod(shape) * dtype.itemsize, _rest(stream)
            if have is not None and needed > have:
                message = f"has a header of {needed} bytes of elements, but {have} follow; write it again"
                raise LoomError(message, path)
            stream.seek(0)
            return np.load(stream, allow_pickle=False)
    except OSError as error:
        raise LoomError(f"cannot be read: {error.strerror or error}", path) from error
    except LoomError:
        raise
    except Exception as error:
        # The header is a Python literal, and what is wrong with it comes as whatever its parser runs into.
        raise LoomError(f"cannot be read as a .npy file: {' '.join(str(error).split())[:200]}", path) from error


MAX_DIMENSIONS = 32
"""Of an array of every version of numpy."""


def _rest(stream: IO[bytes]) -> int | None:
    """Return the bytes that follow in a file; None for a pipe, which has no end yet."""
    status = os.fstat(stream.fileno())
    return status.st_size - stream.tell() if S_ISREG(status.st_mode) else None


@contextmanager
def _progress() -> Generator[Callable[[str], None]]:
    """Yield a function that shows the current step: on a terminal only, and erased at the end."""
    if not sys.stderr.isatty():
        yield lambda what: None
        return
    from rich.console import Console  # takes long to import, and only a terminal needs it

    with Console(stderr=True).status("") as status:
        yield lambda what: status.update(what)


def _run(arguments: argparse.Namespace) -> None:
    from .outputs import Outputs  # only this command writes files of its own

    with Outputs() as outputs, _progress() as progress:
        summary = _compile_and_run(arguments, outputs, progress)
    print(summary)


def _compile_and_run(arguments: argparse.Namespace, outputs: Outputs, progress: Callable[[str], None]) -> str:
    # Imported when the flags are known to be right: it takes most of the start-up time.
    import numpy as np

    from ..host.compilation import compile
    from ..host.notices import print_notice, watch_on_stderr
    from ..host.output_files import uninterrupted
    from ..host.simulator import Simulator
    from ..runtime import Deadlock

    file = _program_in(arguments.file) if os.path.isdir(arguments.file) else arguments.file
    is_csl = file.endswith(".csl")
    defines: dict[str, Any] = {}
    params: dict[str, int | float | bool] = {}
    for name, value in arguments.param:
        if is_csl:
            params[name] = value == "true" if value in ("true", "false") else number(value, f"param '{name}'")
        else:
            defines[name] = read_array(value) if value.endswith(".npy") else number(value, f"parameter '{name}'")
    progress("compiling")
    program = compile(
        file,
        target=arguments.arch,
        rectangle=arguments.rectangle,
        defines=defines,
        progress=lambda name: progress(f"compiling: {name}"),
        params=params,
        import_paths=arguments.import_path,
        notice=print_notice,
    )
    if os.path.isdir(arguments.file):
        program = replace(program, tables=_tables_in(arguments.file))
    for warning in program.warnings:
        tell_line(warning)
    trace = outputs.open(arguments.trace, of_hang=True) if arguments.trace is not None else None
    hint = "Ctrl-C ends it, and so does --step-limit N after N steps"
    simulator = Simulator(
        program,
        step_limit=arguments.step_limit,
        trace=trace,
        watch=watch_on_stderr(hint),
        trace_kinds=None if arguments.trace_kinds is None else arguments.trace_kinds.split(","),
        trace_last=arguments.trace_last,
        prices=arguments.prices,
        counts=arguments.stats is not None,
        threads=arguments.threads,
        statistics=arguments.stats is not None,
        check=arguments.check,
    )

    # All that can be wrong with the flags is found before the run, which may take long.
    launches = [(name, _launch_arguments(simulator, name, texts)) for name, *texts in arguments.launch]
    for name, path in arguments.set:
        array = read_array(path)
        try:
            simulator.set(name, array)
        except LoomError as error:
            raise LoomError(error.message, path) from error
    results = [(simulator.buffer(name).name, outputs.open(path)) for name, path in arguments.get]
    write_stats = _statistics_writer(arguments.stats, outputs, simulator)

    start = time.perf_counter()

    try:
        for name, values in launches:
            progress(f"running {name}")
            simulator.launch(name, *values)
        if not launches:
            progress("running")
            simulator.run()
    except (LoomError, KeyboardInterrupt) as error:
        with uninterrupted():  # a second signal may follow at once, as that of timeout(1) does
            write_stats(time.perf_counter() - start, error.statistics if isinstance(error, Deadlock) else None)
            simulator.write_trace()
            outputs.keep_reports()
        raise
    seconds = time.perf_counter() - start
    write_stats(seconds)
    simulator.write_trace()
    simulator.warn_of_unread("at the end of the run")

    for name, stream in results:
        np.save(stream, simulator.get(name))
    width, height = program.rectangle
    return f"{width} x {height} PEs, {simulator.cycles} cycles (estimated), {seconds:.3f} s"


def _program_in(directory: str) -> str:
    """Return the program in an output directory of `loom cslc`; raises LoomError if there is none."""
    from ..host.sdk.artifact import FLOW

    file = os.path.join(directory, FLOW)
    if not os.path.isfile(file):
        instead = "name the CSL file with the layout block, a file of IR, or an output directory of loom cslc"
        raise LoomError(f"is a directory without a compiled program; {instead}", directory)
    return file


def _tables_in(directory: str) -> Tables | None:
    """Return the tables that `loom cslc` has written, with the places of the source; None if they are not those of the
    program there, which may have been changed."""
    from ..host.sdk import artifact

    try:
        return artifact.read_tables(artifact.read(directory))
    except LoomError:
        return None


def _statistics_writer(path: str | None, outputs: Outputs, simulator: Simulator) -> Callable[..., None]:
    """Return a function that writes the statistics of a run, which took some seconds, as `--stats` asks for.

    The work of a run that hung is that of its report.
    """
    stream = outputs.open(path, of_hang=True) if path not in (None, "-") else None

    def write(seconds: float, of_hang: Mapping[str, Any] | None = None) -> None:
        if path is None:
            return
        from ..runtime.statistics.text import summary, whole

        found = simulator.statistics()
        assert found is not None, "asked for"
        if stream is None:
            print(summary(found))
        else:
            work = {**(of_hang or simulator.stats()), "wall_seconds": round(seconds, 6)}
            stream.write(whole(work, found, path))

    return write


def _launch_arguments(simulator: Simulator, name: str, texts: Sequence[str]) -> list[int | float]:
    symbol = simulator.function(name)
    truths = [position for position, dtype in enumerate(symbol.arguments, start=1) if dtype.kind == "b"]
    values = [
        int(text == "true")
        if position in truths and text in ("true", "false")
        else number(text, f"argument {position} of {symbol}")
        for position, text in enumerate(texts, start=1)
    ]
    simulator.check_arguments(name, values)
    return values


if __name__ == "__main__":
    sys.exit(main())
