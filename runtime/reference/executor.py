"""The executor 'reference': runs tables on the machine in plain Python."""

from __future__ import annotations

from typing import IO

from ...diagnostics.errors import LoomError
from ...operations.prices import NONE as NO_PRICES
from ...operations.prices import Prices
from ..hosted import HostedEngine, host
from ..tables.format import Tables
from ..trace_lines import Tracing
from ..warnings import Warnings
from .machine import Machine


def load(
    program: object,
    warnings: Warnings,
    trace: IO[bytes] | None = None,
    prices: Prices = NO_PRICES,
    counts: bool = False,
    statistics: bool = False,
    tracing: Tracing | None = None,
    check: bool = False,
) -> HostedEngine:
    """Return an executor of tables; `trace` gets a line for each record that `tracing` asks for, `counts` counts costs,
    `statistics` what PEs do with their cycles, and `check` looks for races.

    Raises LoomError for what it cannot run.
    """
    if not isinstance(program, Tables):
        raise LoomError(f"the executor 'reference' runs tables, not {type(program).__name__}; assemble the program")
    return host(
        program,
        warnings,
        lambda fabric: Machine(fabric, tracing, counts=counts, statistics=statistics, check=check),
        prices,
        trace,
        are_last=tracing is not None and tracing.last is not None,
    )
