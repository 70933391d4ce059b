"""What the benchmarks of the engine share: the choice of an executor, files of results, and the timing of actions."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from loomir.runtime.executors import EXECUTOR, EXECUTORS, chosen


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that all benchmarks of the engine have."""
    parser.add_argument("--executor", choices=list(EXECUTORS), help=f"the executor; by default what {EXECUTOR} names")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")


def choose_executor(name: str | None) -> str:
    """Let an executor run all programs from here on, in processes started from here too, and return its name."""
    if name is not None:
        os.environ[EXECUTOR] = name
    return chosen()


def write_json(path: Path | None, benchmark: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write results with what they were measured on."""
    if path is not None:
        whole = {
            "benchmark": benchmark,
            "executor": chosen(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "rows": [dict(row) for row in rows],
        }
        path.write_text(json.dumps(whole, indent=2) + "\n")


def best(repeat: int, action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds of the fastest of some runs, after one to warm up."""
    action()
    times: list[float] = []
    for _ in range(repeat):
        start = clock()
        action()
        times.append(clock() - start)
    return min(times)
