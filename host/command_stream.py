"""Completion of a launch: every PE that listens to the host has called unblock_cmd_stream() since.

CSL programs say so; a program without <memcpy/memcpy> completes when nothing is left to do. Shared by all hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..diagnostics.output import tell
from ..runtime import Deadlock, Machine
from ..runtime.deadlock import Hang
from ..targets.memcpy import COMMAND_STREAM

MAX_PLACES = 5
"""PEs that a message lists before it only counts them."""


class CommandStream:
    """The command streams of the PEs of one machine, which must have some."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    @staticmethod
    def exists(machine: Machine) -> bool:
        """Return True if some PE listens to the host."""
        return machine.exports(COMMAND_STREAM)

    def launch(
        self, name: str, arguments: Sequence[Any], settle: Callable[[], Deadlock | None], *, defers: bool = False
    ) -> Deadlock | None:
        """Start a function on all PEs and run until every PE has called unblock_cmd_stream() since.

        `settle` runs the machine until it rests and returns who waits for what never comes. Raises Deadlock, which
        says which PEs never listen to the host again and what they wait for. With `defers` that is returned where
        nothing waits any more: the function has run to its end, and only a further command would wait for ever.
        """
        before = self._counts()
        machine = self._machine
        machine.launch(name, arguments, machine.target.timing.launch)
        if machine.watch is not None:
            machine.watch.begin(f"launch of '{name}'", lambda: self._in_words(before))
        hang = settle()
        self._warn_of_more(name, before)
        missing = self._silent(before)
        if not missing.any():
            return None
        without = missing & ~machine.exporting(name)
        if without.any():
            verb = "does" if without.sum() == 1 else "do"
            raise Deadlock(
                f"launch of '{name}' never completes: {describe_pes(without)} {verb} not export '{name}'; export it on "
                "every PE, if only to call unblock_cmd_stream()",
                hang=Hang(silent=positions(without), statistics=machine.statistics()),
            )
        waits = hang or machine.explain(allow_pending=False)
        message = (
            f"launch of '{name}' never completes: {describe_pes(missing)} never called unblock_cmd_stream(); call it "
            f"on every PE, where the work that '{name}' starts ends"
        )
        known = waits.hang if waits else machine.unexplained()
        machine.note_reported(known.unread)
        silent = positions(missing)
        calls, place = machine.missing_calls(name, silent)
        more = [*([waits.message] if waits else machine.clues(silent)), *calls]
        error = Deadlock(
            "\n".join([message, *more]),
            waits.location if waits else place,
            replace(known, silent=silent),
        )
        if defers and waits is None:
            return error
        raise error

    def _warn_of_more(self, name: str, before: NDArray[Any]) -> None:
        """Warn of PEs that have unblocked their command streams more than once since.

        Where the executor looks for races, it has said so, with the place of the second call.
        """
        if self._machine.looks_for_races:
            return
        calls = (self._counts() - before).astype(np.uint16)
        twice = self._listening() & (calls > 1)
        if twice.any():
            tell(
                "warning",
                f"unblock_cmd_stream() was called {calls[twice].max()} times on {describe_pes(twice)} in the launch of "
                f"'{name}'; call it once for each launch, where the work that '{name}' starts ends, since the first "
                "call lets the host go on",
            )

    def _counts(self) -> NDArray[Any]:
        """Return how often each PE has unblocked its command stream, [height, width], modulo 2**16."""
        return self._machine.read_symbol(COMMAND_STREAM)

    def _silent(self, before: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the PEs that have a command stream and have not unblocked it since, [height, width]."""
        return self._listening() & (self._counts() == before)

    def _in_words(self, before: NDArray[Any]) -> str:
        silent, total = int(self._silent(before).sum()), int(self._listening().sum())
        return f"unblock_cmd_stream() not called yet on {silent} of {total} PE{'' if total == 1 else 's'}"

    def _listening(self) -> NDArray[np.bool_]:
        return self._machine.exporting(COMMAND_STREAM)


def positions(mask: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Return (x, y) of the PEs of a mask [height, width]."""
    return tuple((x, y) for y, x in np.argwhere(mask).tolist())


def describe_pes(mask: NDArray[np.bool_]) -> str:
    """Describe PEs in words: "PE (1, 0)", or the first few of many."""
    points = [f"({x}, {y})" for y, x in np.argwhere(mask).tolist()]
    if len(points) == 1:
        return f"PE {points[0]}"
    if mask.all():
        return f"all {len(points)} PEs"
    rest = len(points) - MAX_PLACES
    shown = ", ".join(points[:MAX_PLACES])
    return f"{len(points)} PEs, {shown}{f' and {rest} more' if rest > 0 else ''},"
