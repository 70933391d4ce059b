"""The executor `core`: programs run by the core in C."""

from __future__ import annotations

from typing import IO

from ...diagnostics import limits
from ...diagnostics.errors import LoomError
from ...operations.prices import NONE as NO_PRICES
from ...operations.prices import Prices
from ..fabric.model import Fabric
from ..hosted import HostedEngine, host
from ..trace_lines import Tracing
from ..warnings import Warnings
from .core import PARALLEL_FROM, Core, cores, missing_features

THREADS_FROM = 8192
"""PEs of the smallest grid that several threads run unless their number is given."""


def load(
    program: object,
    warnings: Warnings,
    trace: IO[bytes] | None = None,
    prices: Prices = NO_PRICES,
    counts: bool = False,
    threads: int | None = None,
    parallel_from: int = PARALLEL_FROM,
    statistics: bool = False,
    tracing: Tracing | None = None,
    check: bool = False,
) -> HostedEngine:
    """Return an executor of tables; `trace` gets a line for each record that `tracing` asks for, `counts` counts costs,
    `statistics` what PEs do with their cycles, and `check` looks for races.

    `threads` work on it at the same time, where each has at least `parallel_from` PEs to visit; if none are given,
    those that the environment names, or as many as there are cores if the grid is large.

    Raises LoomError for a program that needs what the core does not have.
    """
    return host(
        program,
        warnings,
        lambda fabric: _core(fabric, tracing, counts, statistics, threads, parallel_from, check),
        prices,
        trace,
        are_last=tracing is not None and tracing.last is not None,
    )


def _core(
    fabric: Fabric, tracing: Tracing | None, counts: bool, statistics: bool, threads: int | None, parallel_from: int,
    check: bool,
) -> Core:  # fmt: skip
    missing = missing_features(fabric.tables, fabric)
    if missing:
        raise LoomError(
            f"the executor 'core' does not run programs with {' and '.join(missing)}; LOOM_EXECUTOR=reference does"
        )
    threads = limits.threads() if threads is None else threads
    if threads is None:
        threads = cores() if fabric.width * fabric.height >= THREADS_FROM else 1
    return Core(
        fabric.tables, fabric, tracing, counts=counts, statistics=statistics, threads=threads,
        parallel_from=parallel_from, check=check,
    )  # fmt: skip
