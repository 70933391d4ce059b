"""Time of every program of a tree, from the shell script on: compiling, running, and the tools' start-up.

    python bench/suite.py [DIR] [--arch wse2|wse3] [--only TEXT] [--repeat N]

DIR is examples/csl if not given. Each commands_*.sh runs by itself in a copy of the tree, with cslc and cs_python on
PATH as `loom sdk` puts them there, and has to succeed. Times are the best of the repetitions, on the wall; those of the
processor, user and system, show how much of that was waiting.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from loomir.diagnostics.errors import LoomError
from loomir.tools.sdk_path import COMMANDS
from loomir.tools.sdk_suite import find_scripts, imported_folders, run_one

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "csl"

WANTED_SECONDS = 5.0
"""Of a program in all, on the wall."""

WANTED_PROCESSOR = 3.0
"""Of a program in all, of the processor."""

WANTED_START = 0.7
"""Seconds until a tool has started."""

STARTS = {
    "loom cslc --help": ["cslc", "--help"],
    "loom python, empty script": ["python", "-c", ""],
    "loom python, SdkRuntime imported": [
        "python",
        "-c",
        "from cerebras.sdk.runtime.sdkruntimepybind import SdkRuntime",
    ],
}


def loom(arguments: list[str]) -> list[str]:
    return [sys.executable, "-P", "-m", "loomir.tools.loom", *arguments]


def write_timed_commands(folder: Path, log: Path) -> None:
    """Write the SDK's commands, which append their name, start, end and processor times to a file."""
    for name, command in COMMANDS.items():
        run = shlex.join(loom([command]))
        (folder / name).write_text(
            f'#!/bin/sh\nstart=$(date +%s.%N)\n{run} "$@"\nstatus=$?\n'
            f"{{ echo {name} $start $(date +%s.%N); times; }} >> {shlex.quote(str(log))}\nexit $status\n"
        )
        (folder / name).chmod(0o755)


class Times(NamedTuple):
    """Seconds of one run: compiling and running, the whole script, and of the processor."""

    compile: float
    run: float
    all: float
    processor: float


def measure(directory: Path, script: Path, log: Path) -> Times:
    """Run a program. Raises LoomError if it fails."""
    log.unlink(missing_ok=True)
    result = run_one(directory, script, imported_folders(directory), 600)
    if not result.passed:
        raise LoomError(result.error, str(script))
    spent = dict.fromkeys(COMMANDS, 0.0)
    processor = 0.0
    lines = log.read_text().splitlines()
    # Three lines a command: name, start, end; then user and system time of the shell; and of what it has run.
    for command, _, children in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        name, start, end = command.split()
        spent[name] += float(end) - float(start)
        for time_used in children.split():
            minutes, _, seconds = time_used.rstrip("s").partition("m")
            processor += 60 * float(minutes) + float(seconds)
    return Times(spent["cslc"], spent["cs_python"], result.seconds, processor)


def start_times(repeat: int) -> None:
    table = Table("start-up", "seconds", "wanted", box=None)
    for name, arguments in STARTS.items():
        best = float("inf")
        for _ in range(repeat):
            start = time.perf_counter()
            subprocess.run(loom(arguments), check=True, stdout=subprocess.DEVNULL)
            best = min(best, time.perf_counter() - start)
        table.add_row(name, f"{best:.2f}", f"{WANTED_START}")
    Console().print(table)


def programs(directory: Path, arch: str | None, only: str | None, repeat: int) -> bool:
    """Print the table; return True if every program ran in the time wanted, not counting time lost to others."""
    scripts = find_scripts(directory, arch, only)
    table = Table("program", "script", "compile s", "run s", "all s", "processor s", box=None)
    totals = [0.0] * len(Times._fields)
    slowest = costliest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        write_timed_commands(Path(folder), log)
        os.environ["PATH"] = folder + os.pathsep + os.environ.get("PATH", os.defpath)
        for script in scripts:
            best = min((measure(directory, script, log) for _ in range(repeat)), key=lambda times: times.all)
            totals = [total + seconds for total, seconds in zip(totals, best, strict=True)]
            slowest, costliest = max(slowest, best.all), max(costliest, best.processor)
            table.add_row(script.parent.name, script.name, *(f"{seconds:.2f}" for seconds in best))
    table.add_row("all", f"{len(scripts)} scripts", *(f"{seconds:.2f}" for seconds in totals))
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    print(f"slowest: {slowest:.2f} s; wanted: at most {WANTED_SECONDS:.0f} s")
    print(f"costliest: {costliest:.2f} s of the processor; wanted: at most {WANTED_PROCESSOR:.0f} s")
    return costliest <= WANTED_PROCESSOR


def main() -> int:
    parser = argparse.ArgumentParser(description="Wall time of compiling and running every program of a tree.")
    parser.add_argument("directory", nargs="?", type=Path, default=EXAMPLES, metavar="DIR")
    parser.add_argument("--arch", choices=("wse2", "wse3"), help="only the scripts for this architecture")
    parser.add_argument("--only", metavar="TEXT", help="only scripts whose path contains TEXT")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each, of which the best counts; 1 if not given")
    arguments = parser.parse_args()
    if arguments.repeat < 1:
        parser.error("argument --repeat: give 1 or above")
    try:
        start_times(max(2, arguments.repeat))
        return 0 if programs(arguments.directory, arguments.arch, arguments.only, arguments.repeat) else 1
    except LoomError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
