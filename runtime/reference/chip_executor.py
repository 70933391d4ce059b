"""The executor 'reference' of programs of chips: runs their tables on cores in plain Python."""

from __future__ import annotations

from typing import IO

from ...operations.prices import NONE as NO_PRICES
from ...operations.prices import Prices
from ..chips.hosted import HostedChip, load_chip
from ..trace_lines import Tracing
from ..warnings import Warnings
from .cores import Cores


def load(
    program: object,
    warnings: Warnings,
    trace: IO[bytes] | None = None,
    prices: Prices = NO_PRICES,
    counts: bool = False,
    statistics: bool = False,
    tracing: Tracing | None = None,
    check: bool = False,
    prompt: bool = False,
) -> HostedChip:
    """Return an executor of tables of a chip; with `prompt` cores let others go first after every push.

    Chips have no cost model, so prices change nothing, and nothing is counted. Raises LoomError if a trace is asked
    for.
    """
    return load_chip(program, trace, tracing, lambda chip, spaces: Cores(chip, spaces, prompt=prompt))
