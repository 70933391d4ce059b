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
from .core import Core, missing_features


def load(
    program: object,
    warnings: Warnings,
    trace: IO[bytes] | None = None,
    prices: Prices = NO_PRICES,
    counts: bool = False,
) -> HostedEngine:
    """Return an executor of tables; `trace` gets a line for each step, `counts` counts costs.

    Raises LoomError for a program that needs what the core does not have yet.
    """
    return host(program, warnings, lambda fabric: _core(fabric, trace, counts), prices)


def _core(fabric: Fabric, trace: IO[bytes] | None, counts: bool) -> Core:
    missing = missing_features(fabric.tables, fabric)
    if missing:
        raise Unable(
            f"the executor 'core' does not run programs with {' and '.join(missing)} yet; choose another executor"
        )
    return Core(fabric.tables, fabric, None if trace is None else Lines(trace, fabric), counts=counts)
