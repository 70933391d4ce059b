"""The simulated wafer, as a host drives it: loads an artifact's program, copies, launches and streams.

Tensors are [h, w, l] unsigned words of a region of the program's rectangle. Everything runs until the machine is at
rest: the host of a real wafer finds it so, because it is far slower.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...runtime import Deadlock, Machine
from ...runtime.deadlock import explain
from ...runtime.host_streams import MissingWavelets
from ...runtime.trace import TracingMachine
from ..garbage import uncollected
from ..notices import watch
from .artifact import COMMAND_STREAM, Artifact, Export, read_program
from .errors import SdkError

if TYPE_CHECKING:
    from ...runtime.unit_class import UnitClass

Region = tuple[int, int, int, int]
"""First column and row, width and height, of PEs in the program's rectangle."""

STEP_LIMIT = "LOOM_STEP_LIMIT"
"""Environment variable: steps of the engine after which a command ends with an error."""

MAX_PLACES = 5
"""PEs that a message lists before it only counts them."""


class Device:
    """The machine that runs one artifact's program."""

    def __init__(self, artifact: Artifact, trace: IO[bytes] | None = None, step_limit: int | None = None) -> None:
        self.watch = watch(f"Ctrl-C ends it, and so does {STEP_LIMIT}=N after N steps")
        self._step_limit = step_limit
        with uncollected():
            module = read_program(artifact)
            self.machine = Machine(module) if trace is None else TracingMachine(module, trace)
        self.machine.watch = self.watch

    @property
    def log(self) -> Sequence[tuple[int, int, int, str]]:
        """What the program has printed: (cycle, x, y, text), by cycle."""
        return self.machine.log

    @property
    def log_length(self) -> int:
        """How many entries the log has, which costs less than to ask for it."""
        return len(self.machine.print_log)

    def settle(self) -> Deadlock | None:
        """Runs until nothing can happen any more without the host; returns who waits for what never comes.

        That may still come from the host, so it is for the caller to judge.
        """
        try:
            self.machine.run(self._step_limit, allow_pending=True)
        except Deadlock as error:
            return error
        return None

    def read(self, export: Export, region: Region, length: int, bits: int) -> NDArray[np.uint32]:
        """`length` elements of 16 or 32 bits from where an exported array starts, [h, w, l], 16-bit zero-extended.

        What lies behind the array is read too, with a warning: programs are known that do so.
        """
        self.settle()
        room = self._check_length(export, length, bits)
        if room is not None:
            print(
                f"warning: memcpy_d2h reads {length} elements of '{export.name}', which has {room}; the rest is what "
                "lies behind it in memory",
                file=sys.stderr,
            )
        return self.machine.read_region(export.name, *region, length, f"u{bits // 8}").astype(np.uint32)

    def write(self, export: Export, region: Region, tensor: NDArray[np.uint32], bits: int) -> None:
        """Writes all 32 or the low 16 bits of each word of [h, w, l] to where an exported array starts."""
        self.settle()
        length = tensor.shape[2]
        room = self._check_length(export, length, bits)
        if room is not None:
            raise SdkError(
                f"memcpy_h2d: {length} elements do not fit in '{export.name}', which has {room} on each PE; correct "
                "elem_per_pe"
            )
        words = tensor if bits == 32 else tensor.astype(np.uint16)
        self.machine.write_region(export.name, *region, length, words)

    def _check_length(self, export: Export, length: int, bits: int) -> int | None:
        """The elements that an exported array has if they are fewer than `length`; None if there is room for all.

        Raises SdkError if that is because they are narrower than those of the copy.
        """
        found = self.machine.symbol(export.name, "buffer")
        assert found.dtype is not None
        if any(extent < 0 for extent in found.shape):
            return None
        size, elements = found.dtype.itemsize, math.prod(found.shape)
        if length * bits // 8 <= max(size, 2) * elements:
            return None
        if size * 8 < bits:
            raise SdkError(
                f"a copy of {length} elements of {bits} bits does not fit '{export.name}', which has {elements} of "
                f"{size * 8} bits on each PE; pass data_type=MemcpyDataType.MEMCPY_16BIT"
            )
        return elements

    def send(self, color: int, region: Region, tensor: NDArray[np.uint32]) -> None:
        """Sends the words [h, w, l] to PEs as wavelets of a color."""
        x, y, w, h = region
        self.machine.send(self._color(color, self.machine.host_inputs, "from the host"), x, y, w, h, tensor)

    def receive(self, color: int, region: Region, length: int, last: bool) -> NDArray[np.uint32] | None:
        """The next `length` wavelets of a color of each PE, [h, w, l], or None while some are missing.

        With `last` nobody will do anything more about it, and missing wavelets are an error.
        """
        x, y, w, h = region
        name = self._color(color, self.machine.host_outputs, "to the host")
        hang = self.settle()
        try:
            return self.machine.receive(name, x, y, w, h, length)
        except MissingWavelets as error:
            if not last:
                return None
            waits = hang or explain(self.machine, allow_pending=False)
            raise SdkError(f"{error.message}\n{waits.message}" if waits else error.message, error.location) from None

    def _color(self, number: int, streams: Collection[str], way: str) -> str:
        """The name in IR of the color of an id, among those that stream one way."""
        numbers = {self.machine.colors[name].number: name for name in streams}
        if number not in numbers:
            known = ", ".join(map(str, sorted(numbers))) or "none"
            raise SdkError(
                f"color {number} does not stream {way}; the colors given to <memcpy/get_params> for that are: {known}"
            )
        return numbers[number]

    def launch(self, name: str, arguments: Sequence[Any]) -> None:
        """Starts a function on all PEs and runs until every PE has called unblock_cmd_stream() since.

        Raises SdkError naming the PEs that have not, with what the machine waits for.
        """
        before = self._command_streams()
        self.settle()
        self.machine.launch(name, arguments)
        self.watch.begin(f"launch of '{name}'", lambda: self._still_silent(before))
        hang = self.settle()
        grown = self._command_streams() != before
        missing = self._listening() & ~grown
        if not missing.any():
            return
        without = missing & ~self._exporting(name)
        if without.any():
            verb = "does" if without.sum() == 1 else "do"
            raise SdkError(
                f"launch of '{name}' never completes: {_places(without)} {verb} not export '{name}'; export it on "
                "every PE, if only to call unblock_cmd_stream()"
            )
        waits = hang or explain(self.machine, allow_pending=False)
        message = (
            f"launch of '{name}' never completes: {_places(missing)} never called unblock_cmd_stream(); call it on "
            f"every PE, where the work that '{name}' starts ends"
        )
        raise SdkError(f"{message}\n{waits.message}" if waits else message, waits.location if waits else None)

    def _command_streams(self) -> NDArray[Any]:
        """How often each PE has unblocked its command stream, [height, width], modulo 2**16."""
        if COMMAND_STREAM not in self.machine.exports:
            raise SdkError("the program does not import <memcpy/memcpy>, so the host cannot launch functions")
        return self.machine.read_symbol(COMMAND_STREAM)

    def _still_silent(self, before: NDArray[Any]) -> str:
        """How many PEs have not unblocked their command stream since, in words."""
        silent = int((self._listening() & (self._command_streams() == before)).sum())
        total = int(self._listening().sum())
        return f"unblock_cmd_stream() not called yet on {silent} of {total} PE{'' if total == 1 else 's'}"

    def _listening(self) -> NDArray[np.bool_]:
        """PEs that have a command stream, [height, width]."""
        return self._where([place.cls for place in self.machine.exports[COMMAND_STREAM].places])

    def _exporting(self, name: str) -> NDArray[np.bool_]:
        """PEs that export a function, [height, width]."""
        return self._where([cls for cls, _ in self.machine.exports[name].launchers])

    def _where(self, classes: Sequence[UnitClass]) -> NDArray[np.bool_]:
        mask = np.zeros((self.machine.height, self.machine.width), np.bool_)
        for cls in classes:
            mask |= cls.placement.on_grid(np.ones(cls.shape, np.bool_))
        return mask


def _places(mask: NDArray[np.bool_]) -> str:
    """PEs in words: "PE (1, 0)", or the first few of many."""
    points = [f"({x}, {y})" for y, x in np.argwhere(mask).tolist()]
    if len(points) == 1:
        return f"PE {points[0]}"
    if mask.all():
        return f"all {len(points)} PEs"
    rest = len(points) - MAX_PLACES
    shown = ", ".join(points[:MAX_PLACES])
    return f"{len(points)} PEs, {shown}{f' and {rest} more' if rest > 0 else ''},"
