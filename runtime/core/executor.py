"""The executor `core`: programs run by the core in C."""

from __future__ import annotations

from typing import IO

from ...operations.prices import NONE as NO_PRICES
from ...operations.prices import Prices
from ..executors import Unable
from ..fabric.model import Fabric
from ..hosted import HostedEngine, host
from ..trace_lines import Lines
from ..warnings import Warnings
from .core import PARALLEL_FROM, Core, missing_features


def load(
    program: object,
    warnings: Warnings,
    trace: IO[bytes] | None = None,
    prices: Prices = NO_PRICES,
    counts: bool = False,
    threads: int = 1,
    parallel_from: int = PARALLEL_FROM,
) -> HostedEngine:
    """Return an executor of tables; `trace` gets a line for each step, `counts` counts costs.

    `threads` work on it at the same time, where each has at least `parallel_from` PEs to visit.

    Raises LoomError for a program that needs what the core does not have yet.
    """
    return host(program, warnings, lambda fabric: _core(fabric, trace, counts, threads, parallel_from), prices)


def _core(fabric: Fabric, trace: IO[bytes] | None, counts: bool, threads: int, parallel_from: int) -> Core:
    missing = missing_features(fabric.tables, fabric)
    if missing:
        raise Unable(
            f"the executor 'core' does not run programs with {' and '.join(missing)} yet; choose another executor"
        )
    lines = None if trace is None else Lines(trace, fabric)
    return Core(fabric.tables, fabric, lines, counts=counts, threads=threads, parallel_from=parallel_from)
