"""Simulator: the Python API that runs a compiled program (write arrays, launch, read arrays)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import index
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..diagnostics.errors import LoomError
from ..diagnostics.limits import MAX_THREADS
from ..operations import integers
from ..operations.prices import Prices
from ..operations.prices import of as prices_of
from ..operations.prices import read as prices_of_file
from ..runtime import Deadlock
from ..runtime.statistics.report import Statistics
from ..runtime.trace_lines import Traced
from ..runtime.watch import Watch
from . import machines
from .arrays import as_array, convert, spread
from .command_stream import CommandStream
from .compilation import ExportedSymbol, Program, describe

Argument: TypeAlias = "float | np.number[Any] | np.bool_"
"""An argument of a launch."""


class Simulator:
    """One fabric running one program.

    `step_limit` ends a run with an error where a PE takes more than so many steps, task starts and loop iterations, or
    an operation passes on more elements; None means never. `trace` is a binary stream that gets one JSON object a line
    for each record of the trace, of the kinds `trace_kinds`: some of "tasks", "operations", "waits", "wavelets", or
    None for all. With `trace_last` only so many records are kept, the last ones; `traced` returns them. `watch`
    reports runs that take long. Cycles are estimates of the target's cost model; `prices` are instead of some of its
    prices, by name, or in a JSON file of this path (docs/costs.md). With `counts`, `stats` has how often each price
    has been charged. `threads` run the program, with the same results for any number; None means those of
    LOOM_THREADS, or all cores for a large grid. With `statistics`, the method of that name has what PEs did with their
    cycles, and wavelets; that takes some time of a run. With `check`, races are warned of; None means what LOOM_CHECK
    says, or on grids of up to 4,096 PEs (docs/running.md).
    """

    def __init__(
        self,
        program: Program,
        step_limit: int | None = None,
        trace: IO[bytes] | None = None,
        watch: Watch | None = None,
        trace_kinds: Iterable[str] | None = None,
        trace_last: int | None = None,
        prices: Mapping[str, Any] | str | None = None,
        counts: bool = False,
        threads: int | None = None,
        statistics: bool = False,
        check: bool | None = None,
    ) -> None:
        if not isinstance(program, Program):
            raise LoomError(f"a simulator runs a compiled program, not {program!r}; make one with loomir.compile")
        if trace is not None and not hasattr(trace, "write"):
            raise LoomError(f"a trace is written to a binary stream, not {trace!r}; open a file with mode 'wb'")
        self.program = program
        self.step_limit = _steps(step_limit)
        self._machine = machines.load(
            program.module, trace=trace, trace_kinds=trace_kinds, trace_last=trace_last, prices=_prices(prices),
            counts=counts, statistics=statistics, threads=_threads(threads), check=check, tables=program.tables,
        )  # fmt: skip
        self._machine.watch = watch

    def set(self, name: str, value: ArrayLike) -> None:
        """Write buffer `name` on every PE that has it.

        `value` has shape [height, width, *buffer shape], or that of the buffer on one PE, or is one number, which
        then go to all PEs. Raises LoomError if the symbol, the shape or the type does not fit.
        """
        symbol = self.buffer(name)
        if symbol.read_only:
            raise LoomError(f"'{name}' is exported read_only; the host cannot write it")
        assert symbol.dtype is not None and symbol.shape is not None
        what = f"the array for '{name}'"
        array = convert(value, symbol.dtype, what)
        self._machine.write_symbol(name, spread(array, symbol.shape, self.program.rectangle, what))

    def get(self, name: str) -> NDArray[Any]:
        """Return buffer `name` of all PEs as a new array [height, width, *buffer shape]; zeros for PEs without it."""
        return self._machine.read_symbol(self.buffer(name).name)

    def launch(self, name: str, *arguments: Argument) -> None:
        """Call exported function `name` on every PE that has it and run until nothing is left to do.

        In a CSL program every PE then has to have called unblock_cmd_stream(). Raises LoomError if the arguments do not
        fit or the launch never completes, Deadlock if something waits for ever.
        """
        values = self.check_arguments(name, arguments)
        self._machine.warn_of_unread(f"when '{name}' is launched", at_end=False)
        if CommandStream.exists(self._machine):
            CommandStream(self._machine).launch(name, values, self._settle)
            return
        self._machine.launch(name, values)
        self._run(f"launch of '{name}'")

    def _settle(self) -> Deadlock | None:
        """Run until nothing can happen; what still waits may wait for the next launch."""
        try:
            self._machine.run(self.step_limit, allow_pending=True)
        except Deadlock as error:
            return error
        return None

    def warn_of_unread(self, when: str) -> None:
        """Warn on stderr of wavelets that nothing has read, as `when` says that nothing will: "at the end"."""
        self._machine.warn_of_unread(when, at_end=True)

    def check_arguments(self, name: str, arguments: Sequence[Argument]) -> list[int | float]:
        """Return the arguments as function `name` takes them; raises LoomError if they do not fit."""
        symbol = self.function(name)
        if len(arguments) != len(symbol.arguments):
            count = len(symbol.arguments)
            raise LoomError(f"{symbol} takes {count} argument{'' if count == 1 else 's'}, not {len(arguments)}")
        return [
            _argument(value, dtype, _place_of(symbol, position))
            for position, (value, dtype) in enumerate(zip(arguments, symbol.arguments, strict=True), start=1)
        ]

    def run(self) -> None:
        """Run until nothing is left to do; raises Deadlock if something waits for ever."""
        self._run("the program")

    def _run(self, awaited: str) -> None:
        if self._machine.watch is not None:
            self._machine.watch.begin(awaited)
        try:
            self._machine.run(self.step_limit, allow_pending=CommandStream.exists(self._machine))
        except Deadlock as error:
            self._machine.note_reported(error.unread)
            raise

    @property
    def log(self) -> list[tuple[int, int, int, str]]:
        """Return what the program has printed: (cycle, x, y, text), ordered by cycle, then by row and column."""
        return self._machine.log

    @property
    def cycles(self) -> int:
        """Return the latest clock of any PE, in estimated cycles."""
        return self._machine.cycles

    def stats(self) -> dict[str, Any]:
        """Return what the run cost so far, in estimated cycles and in work of the engine."""
        return self._machine.statistics()

    def statistics(self) -> Statistics | None:
        """Return what PEs have done with their cycles, int64 [height, width] each, and wavelets of queues and links.

        It can be read after an error, a hang or an interruption too. None if the simulator was not made with
        `statistics`. docs/statistics.md defines each number.
        """
        return self._machine.measured()

    def write_trace(self) -> None:
        """Write to the stream of the trace what is kept back: with `trace_last` the last records, and those of a run
        that an interrupt has ended."""
        self._machine.write_trace()

    def traced(self) -> tuple[Traced, bytes]:
        """Return the records of the trace that are kept, with how many were dropped before them, and their lines.

        Records are a structured array [n], `loomir.runtime.trace_lines.RECORD`, by cycle. They can be read after an
        error, a hang or an interruption too.
        """
        found = self._machine.traced()
        assert found is not None, "programs of the wafer have traces"
        return found

    def buffer(self, name: str) -> ExportedSymbol:
        """Return the exported buffer `name`; raises LoomError naming those there are."""
        return self._symbol(name, "buffer")

    def function(self, name: str) -> ExportedSymbol:
        """Return the exported function `name`; raises LoomError naming those there are."""
        return self._symbol(name, "function")

    def _symbol(self, name: str, kind: Any) -> ExportedSymbol:
        symbol = self.program.symbols.get(name) if isinstance(name, str) else None
        if symbol is None or symbol.kind != kind:
            raise LoomError(f"the program exports no {kind} '{name}'; {describe(self.program.symbols, kind)}")
        return symbol


def _prices(given: Mapping[str, Any] | str | None) -> Prices | None:
    if given is None:
        return None
    return prices_of_file(given) if isinstance(given, str) else prices_of(given)


def _steps(limit: int | None) -> int | None:
    if limit is None:
        return None
    try:
        steps = index(limit)
    except TypeError:
        raise LoomError(f"{limit!r} is not a step limit; give a whole number of at least 1, or none") from None
    if steps < 1:
        raise LoomError(f"a step limit of {steps} lets nothing run; give at least 1, or none")
    return steps


@cache
def _place_of(symbol: ExportedSymbol, position: int) -> str:
    return f"argument {position} of {symbol}"


def _threads(count: int | None) -> int | None:
    if count is None:
        return None
    try:
        threads = index(count)
    except TypeError:
        threads = 0
    if not 1 <= threads <= MAX_THREADS:
        raise LoomError(f"{count!r} is not a number of threads; give 1 to {MAX_THREADS}, or none")
    return threads


def _argument(value: Argument, dtype: np.dtype, what: str) -> int | float:
    array = as_array(value, what)
    if array.shape != ():
        raise LoomError(f"{what} is an array; it takes one number, the same for all PEs")
    if dtype.kind == "b":
        if array.dtype.kind not in "biu" or int(array) not in (0, 1):
            raise LoomError(f"{what} is {array.item()!r}; give true or false, or 1 or 0")
        return int(array)
    if dtype.kind in "iu" and array.dtype.kind == "f":
        raise LoomError(f"{what} is {float(array)}; give a whole number without a decimal point or exponent")
    if dtype.kind in "iu" and array.dtype.kind in "iu":
        # Integers of the machine have no sign of their own: 65535 and -1 are the same 16 bits.
        bits = dtype.itemsize * 8
        number = int(array)
        if not integers.fits(number, bits):
            raise LoomError(f"{what} is {number}, which does not fit in {bits} bits")
        return number
    return convert(array, dtype, what).item()
