"""The executor 'core' of programs of chips: runs their tables on cores in C."""

from __future__ import annotations

from typing import IO

from ...diagnostics import limits
from ...operations.prices import NONE as NO_PRICES
from ...operations.prices import Prices
from ..chips.chip import Chip, Spaces
from ..chips.hosted import HostedChip, load_chip
from ..trace_lines import Tracing
from ..warnings import Warnings
from .chip import PARALLEL_FROM, ChipCore
from .core import cores

THREADS_FROM = 2
"""Rows of the smallest grid that several threads run unless their number is given."""


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
    threads: int | None = None,
    parallel_from: int = PARALLEL_FROM,
) -> HostedChip:
    """Return an executor of tables of a chip; with `prompt` cores let others go first after every push.

    `threads` run its rows of cores; if none are given, those that the environment names, or as many as there are cores.
    Chips have no cost model, so prices change nothing, and nothing is counted. Raises LoomError if a trace is asked
    for.
    """
    wanted = limits.threads() if threads is None else threads

    def make(chip: Chip, spaces: Spaces) -> ChipCore:
        every = cores() if chip.height >= THREADS_FROM else 1
        return ChipCore(
            chip, spaces, prompt=prompt, threads=every if wanted is None else wanted, parallel_from=parallel_from
        )

    return load_chip(program, trace, tracing, make)
