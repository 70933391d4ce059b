"""`loom sdk`: runs shell scripts written for the SDK, one, or all of a directory as a suite."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..diagnostics.errors import LoomError
from .arguments import Parser
from .exit_status import run_tool
from .sdk_path import sdk_on_path, shell

MAX_SECONDS = 300.0
"""Seconds a program of a suite may take by default."""


DESCRIPTION = """\
Runs a shell script that compiles and runs a CSL program with the SDK's commands: cslc is
loom cslc and cs_python is loom python meanwhile. The script runs in its own folder.
With --suite, runs every commands_*.sh below a directory, each in a copy of the tree,
prints a table, and ends with status 1 if one of them fails."""

EXAMPLE = """\
examples:
  loom sdk commands_wse3.sh
  loom sdk --suite csl-examples --arch wse3 --only gemv -j 2 --json results.json"""


def main(argv: Sequence[str]) -> int:
    """Run a script or a suite; return the exit status: the script's, or 1 if a program of the suite fails."""
    status = 0

    def run() -> None:
        nonlocal status
        status = _run(argv)

    return run_tool(run) or status


def parser() -> Parser:
    """Return the flags of `loom sdk`."""
    found = Parser(
        prog="loom sdk",
        description=DESCRIPTION,
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    found.add_argument("script", nargs="?", type=Path, metavar="SCRIPT.sh", help="the script to run")
    found.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARG", help="arguments of the script")
    found.add_argument("--suite", type=Path, metavar="DIR", help="run every commands_*.sh below DIR")
    found.add_argument(
        "--arch", choices=("wse2", "wse3"), help="with --suite: only scripts for this architecture, by their names"
    )
    found.add_argument("--only", metavar="TEXT", help="with --suite: only scripts whose path contains TEXT")
    found.add_argument("--json", type=Path, metavar="FILE", help="with --suite: write the results to FILE")
    found.add_argument(
        "-j",
        "--jobs",
        type=_positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="with --suite: run N at once (default: the number of processors)",
    )
    found.add_argument(
        "--time-limit",
        type=_seconds,
        default=MAX_SECONDS,
        metavar="S",
        help="with --suite: end a program after S seconds (default: 300)",
    )
    return found


def _run(argv: Sequence[str]) -> int:
    arguments = parser().parse_args(argv)
    if arguments.suite is not None:
        if arguments.script is not None:
            raise LoomError("a script and --suite are given; give one of them")
        from .sdk_suite import run_suite  # a single script does not need it

        return run_suite(
            arguments.suite,
            arch=arguments.arch,
            only=arguments.only,
            results=arguments.json,
            jobs=arguments.jobs,
            time_limit=arguments.time_limit,
        )
    for flag in ("arch", "only", "json"):
        if getattr(arguments, flag) is not None:
            raise LoomError(f"--{flag} needs --suite; add that, or leave it out")
    if arguments.script is None:
        raise LoomError("no script is named; give one, or --suite DIR")
    if not arguments.script.is_file():
        missing = "is not a file" if arguments.script.exists() else "does not exist"
        raise LoomError(f"{missing}; name a shell script", str(arguments.script))
    sys.stdout.flush()
    with sdk_on_path(always=True):
        script = arguments.script.resolve()
        ended = subprocess.run([shell(script), script, *arguments.arguments], cwd=script.parent, check=False)
    # A script that a signal ended has a status of its own in shells.
    return ended.returncode if ended.returncode >= 0 else 128 - ended.returncode


def _positive(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]+)?", text) or float(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return float(text)
