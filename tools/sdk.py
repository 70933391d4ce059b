"""`loom sdk`: runs shell scripts written for the SDK, one, or all of a directory as a suite."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..diagnostics import LoomError
from .arguments import Parser
from .ending import run_tool
from .sdk_path import sdk_on_path

TIME_LIMIT = 300.0
"""Seconds a program of a suite may take, if not told otherwise."""


def main(argv: Sequence[str]) -> int:
    """Runs a script or a suite; returns the exit status: the script's, or 1 if a program of the suite fails."""
    status = 0

    def run() -> None:
        nonlocal status
        status = _run(argv)

    return run_tool(run) or status


def parser() -> Parser:
    """The flags of `loom sdk`."""
    found = Parser(
        prog="loom sdk",
        description="Runs a shell script with loom cslc and loom python on PATH as cslc and cs_python, in the script's "
        "folder. With --suite, runs every commands_*.sh below a directory, each in a copy of its own, and tabulates.",
        allow_abbrev=False,
    )
    found.add_argument("script", nargs="?", type=Path, metavar="SCRIPT.sh", help="the script to run")
    found.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARG", help="arguments of the script")
    found.add_argument("--suite", type=Path, metavar="DIR", help="run every commands_*.sh below DIR")
    found.add_argument("--arch", choices=("wse2", "wse3"), help="of a suite, only the scripts for this architecture")
    found.add_argument("--only", metavar="TEXT", help="of a suite, only scripts whose path contains TEXT")
    found.add_argument("--json", type=Path, metavar="FILE", help="write the suite's results")
    found.add_argument("-j", "--jobs", type=_positive, default=os.cpu_count() or 1, metavar="N", help="run N at once")
    found.add_argument(
        "--time-limit", type=_seconds, default=TIME_LIMIT, metavar="S", help="seconds for a program of a suite (300)"
    )
    return found


def _run(argv: Sequence[str]) -> int:
    arguments = parser().parse_args(argv)
    if arguments.suite is not None:
        if arguments.script is not None:
            raise LoomError("a script and --suite are given; give one of them")
        from .sdk_suite import run_suite

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
            raise LoomError(f"--{flag} belongs to --suite; give that, or leave it out")
    if arguments.script is None:
        raise LoomError("no script is named; give one, or --suite DIR")
    if not arguments.script.is_file():
        missing = "is no file" if arguments.script.exists() else "does not exist"
        raise LoomError(f"{missing}; name a shell script", str(arguments.script))
    sys.stdout.flush()
    with sdk_on_path(always=True):
        script = arguments.script.resolve()
        ended = subprocess.run([shell(script), script, *arguments.arguments], cwd=script.parent, check=False)
    # A script that a signal ended has a status of its own in shells.
    return ended.returncode if ended.returncode >= 0 else 128 - ended.returncode


def shell(script: Path) -> str:
    """The shell that a script asks for in its first line: bash unless that is plain sh."""
    with script.open("rb") as file:
        first = file.readline(200)
    return "sh" if re.match(rb"#!\s*\S*/(?:env\s+)?sh\s*$", first) else "bash"


def _positive(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,4}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]+)?", text) or float(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return float(text)
