"""The simulated wafer, as a host drives it: loads an artifact's program, copies, launches and streams.

Tensors are [h, w, l] unsigned words of a region of the program's rectangle. Everything runs until the machine is at
rest: the host of a real wafer finds it so, because it is far slower.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.limits import STEP_LIMIT
from ...runtime import Deadlock, Machine
from ...runtime.deadlock import Hang
from ...runtime.host_streams import MissingWavelets
from ...targets.memcpy import BUFFER_WAVELETS, WEST_COLUMNS
from ..command_stream import CommandStream
from ..notices import watch_on_stderr
from .artifact import Artifact, Export, read_symbols
from .deadlock import SdkDeadlock
from .errors import SdkError
from .loading import load
from .streams import PlacedStream

if TYPE_CHECKING:
    from .placement import FabricPlacement

Region = tuple[int, int, int, int]
"""First column and row, width and height, of PEs in the program's rectangle."""

MAX_REGIONS = 6
"""Regions that a message describes."""


BLOCKS = "pass nonblock=True, or start what takes them before"
NOT_DOCUMENTED = "on a wafer this call returns if memcpy's own PEs hold them, and no document says how many they do"


class Sending(NamedTuple):
    """What a call has sent, or is to send, to the PEs of a region."""

    color: str
    """Its name in IR."""
    region: Region
    goal: NDArray[np.int64]
    """How many words each PE has been sent on the color by then, [h, w]."""
    held: NDArray[np.int64]
    """Words that the way to the PEs of each column of the region holds before the last link, [w]."""
    assumed: int
    """Words that memcpy's own PEs are assumed to hold besides."""
    blocks: bool
    """True if the script goes on only when all has left the host."""
    remedy: str = ""
    """What helps besides."""


class Device:
    """The machine that runs one artifact's program."""

    def __init__(
        self,
        artifact: Artifact,
        trace: IO[bytes] | None = None,
        step_limit: int | None = None,
        *,
        statistics: bool = False,
    ) -> None:
        self.watch = watch_on_stderr(f"Ctrl-C ends it, and so does {STEP_LIMIT}=N after N steps")
        self._step_limit = step_limit
        self.machine = load(artifact, trace, statistics=statistics)
        self.machine.watch = self.watch
        self._held, self._assumed = words_on_the_way(self.machine, artifact.placement)
        self._sends: list[tuple[str, Region, str | None]] = []
        """The calls that have sent on streams: the color by its name in IR, the PEs, and the line of the script."""
        self._artifact = artifact
        self._sent: dict[str, int] = {}
        """Wavelets sent to each stream of a layout."""
        self._initialize(artifact)

    @property
    def log(self) -> Sequence[tuple[int, int, int, str]]:
        """Return what the program has printed: (cycle, x, y, text), by cycle."""
        return self.machine.log

    @property
    def log_length(self) -> int:
        """Return how many entries the log has, which costs less than to ask for it."""
        return self.machine.log_length

    def settle(self) -> Deadlock | None:
        """Run until nothing can happen any more without the host; return who waits for what never comes.

        That may still come from the host, so it is for the caller to judge.
        """
        try:
            self.machine.run(self._step_limit, allow_pending=True)
        except Deadlock as error:
            return error
        return None

    def _can_copy(self, what: str, region: Region, last: bool) -> bool:
        """Run until nothing can happen any more; return True if all PEs of a region can take part in a copy.

        A PE in the middle of a task cannot: copies are tasks too. With `last` nobody will do anything more about it,
        and that is a deadlock.
        """
        hang = self.settle()
        if hang is None:
            return True
        x, y, w, h = region
        inside = [(left, top) for left, top in hang.units if x <= left < x + w and y <= top < y + h]
        if not inside or not last:
            return not inside
        count = len(inside) - 1
        others = f" and {count} other PE{'s are' if count > 1 else ' is'}" if count else " is"
        raise SdkDeadlock(
            f"{what} never completes: PE {inside[0]}{others} in the middle of a task, and takes part in a copy only "
            f"when that has ended; copy before it starts, or let it end\n{hang.message}",
            hang.location,
            replace(hang.hang, silent=tuple(inside)),
        )

    def read(self, export: Export, region: Region, length: int, bits: int, *, last: bool) -> NDArray[np.uint32] | None:
        """Return `length` elements from where an exported array starts, [h, w, l]; those of 16 bits are zero-extended.

        What is behind the array is read too, with a warning: programs are known that do so. Elements narrower than
        those of the copy are an error, unless an array of 16 bits ends in the last word of the copy. None while a PE
        is in the middle of a task; with `last` that is an error.
        """
        if not self._can_copy(f"memcpy_d2h of '{export.name}'", region, last):
            return None
        room = self._check_length(export, length, bits, may_end_inside=True)
        if room is not None:
            print(
                f"warning: memcpy_d2h reads {length} elements of '{export.name}', which has {room[0]}; the rest "
                f"is the memory behind it{room[1]}",
                file=sys.stderr,
            )
        return self.machine.read_region(export.name, *region, length, f"u{bits // 8}").astype(np.uint32)

    def write(self, export: Export, region: Region, tensor: NDArray[np.uint32], bits: int, *, last: bool) -> bool:
        """Write all 32 or the low 16 bits of each word of [h, w, l] to where an exported array starts.

        Returns False, having written nothing, while a PE is in the middle of a task; with `last` that is an error.
        """
        if not self._can_copy(f"memcpy_h2d to '{export.name}'", region, last):
            return False
        length = tensor.shape[2]
        room = self._check_length(export, length, bits)
        if room is not None:
            raise SdkError(
                f"memcpy_h2d: {length} elements do not fit in '{export.name}', which has {room[0]} on each PE; correct "
                "elem_per_pe"
            )
        words = tensor if bits == 32 else tensor.astype(np.uint16)
        self.machine.write_region(export.name, *region, length, words)
        return True

    def _check_length(
        self, export: Export, length: int, bits: int, *, may_end_inside: bool = False
    ) -> tuple[str, str] | None:
        """Return what an exported array has, and advice, if it has no room for `length` elements of `bits`; else None.

        Raises SdkError if that is because its elements are narrower than those of the copy, unless those of 16 bits
        `may_end_inside` the last word of it.
        """
        found = self.machine.buffer(export.name)
        if any(extent < 0 for extent in found.shape):
            return None
        size, elements = found.dtype.itemsize, math.prod(found.shape)
        if length * bits // 8 <= size * elements:
            return None
        if size * 8 < bits:
            remedy = (
                "pass data_type=MemcpyDataType.MEMCPY_16BIT" if size == 2 else "copy whole words of 2 or 4 elements"
            )
            if size == 1 and size * elements % (bits // 8):
                remedy += f", and make the array's length a multiple of {bits // 8}"
            if may_end_inside and size == 2 and (length - 1) * bits // 8 < size * elements:
                return f"{elements} of {size * 8} bits", f"; {remedy}"
            raise SdkError(
                f"a copy of {length} elements of {bits} bits does not fit '{export.name}', which has {elements} of "
                f"{size * 8} bits on each PE; {remedy}"
            )
        return str(elements), ""

    def send(
        self, color: int, region: Region, tensor: NDArray[np.uint32], *, blocks: bool, asked: str | None = None
    ) -> Sending:
        """Send the words [h, w, l] to PEs as wavelets of a color; `asked` is the line of the script that does it."""
        name = self._color(color, self.machine.host_inputs, "from the host")
        self.machine.send(name, *region, tensor)
        self._sends.append((name, region, asked))
        held = self._held[region[0] : region[0] + region[2]]
        return Sending(name, region, self.machine.sent(name)[_inside(region)], held, self._assumed, blocks)

    def has_left(self, what: str, sending: Sending, *, last: bool) -> bool:
        """Return True if all that a call has sent has left the host: it is on its way, or has been taken.

        For a call that blocks, and with `last`, the machine runs until nothing can happen any more; if there is no room
        for all even then, that is a deadlock. `what` is the call in words.
        """
        hang = self.settle() if sending.blocks or last else None
        name, region = sending.color, sending.region
        left = (self.machine.sent(name) - self.machine.unsent(name))[_inside(region)]
        lacking = np.maximum(sending.goal - left - sending.held, 0)
        if not lacking.any():
            return True
        if (lacking <= sending.assumed).all():
            if sending.blocks:
                print(f"warning: {_no_room(what, region, lacking)}: {NOT_DOCUMENTED}; {BLOCKS}", file=sys.stderr)
            return True
        if not (sending.blocks or last):
            return False
        waits = hang or self.machine.explain(allow_pending=True)
        known = waits.hang if waits else self.machine.unexplained()
        self.machine.note_reported(known.unread)
        remedy = BLOCKS if sending.blocks else "let it take them, or send fewer"
        message = f"{what} never completes: {_no_room('', region, lacking)}; {remedy}{sending.remedy}"
        silent = _places(region, lacking)
        starved = tuple(one for one in known.starved if one.place in silent)
        raise SdkDeadlock(
            "\n".join([message, *([waits.message] if waits else ())]),
            waits.location if waits else None,
            replace(known, silent=silent, starved=starved),
        )

    def receive(self, color: int, region: Region, length: int, last: bool) -> NDArray[np.uint32] | None:
        """Return the next `length` wavelets of a color of each PE, [h, w, l], or None while some are missing.

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
            waits = hang or self.machine.explain(allow_pending=False)
            known = waits.hang if waits else self.machine.unexplained()
            silent = tuple((x + column, y + row) for row, column in np.argwhere(error.lacking).tolist())
            have = length - int(error.lacking[silent[0][1] - y, silent[0][0] - x])
            message = (
                f"memcpy_d2h of color {color} asks for {length} wavelets of each PE, but PE {silent[0]} has sent {have}"
                f"{_others(len(silent) - 1)}; ask for {have}, or let it send {length}"
            )
            if not self.machine.host_outputs[name].connected[silent[0][1], silent[0][0]]:
                message = f"{error.message}; ask for data of PEs that stream the color to the host"
            raise SdkDeadlock(
                f"{message}\n{waits.message}" if waits else message,
                waits.location if waits else None,
                replace(known, silent=silent, lacking=int(error.lacking.sum())),
            ) from None

    # Streams of layouts that host scripts make

    def _initialize(self, artifact: Artifact) -> None:
        """Give variables the values that a host script's layout has for them."""
        for address, places, words in read_symbols(artifact):
            self.machine.write_words(address, places, words)

    def send_stream(
        self, stream: PlacedStream, words: NDArray[np.uint32], *, blocks: bool, asked: str | None = None
    ) -> Sending:
        """Send wavelets to a stream of a layout."""
        self._sent[stream.name] = self._sent.get(stream.name, 0) + len(words)
        region, tensor = (stream.x, stream.y, 1, 1), words.reshape(1, 1, -1)
        return self.send(stream.color, region, tensor, blocks=blocks, asked=asked)._replace(
            held=np.zeros(1, np.int64), assumed=0, remedy=", or give the stream a larger io_buffer_size"
        )

    def receive_stream(self, stream: PlacedStream, count: int, last: bool) -> NDArray[np.uint32] | None:
        """Return the next wavelets of a stream of a layout, [count], or None while some are missing.

        With `last` nobody will do anything more about it, and missing wavelets are an error.
        """
        name = self._color(stream.color, self.machine.host_outputs, "to the host")
        hang = self.settle()
        try:
            return self.machine.receive(name, stream.x, stream.y, 1, 1, count).reshape(-1)
        except MissingWavelets as error:
            if not last:
                return None
            waits = self.machine.explain(allow_pending=False, all_of_them=True) or hang
            known = waits.hang if waits else self.machine.unexplained()
            have = count - int(error.lacking[0, 0])
            fewer = f"ask for {have}, or " if have else ""
            message = (
                f"receive from '{stream.name}' never completes: it asks for {count} wavelets of {stream.end}, and "
                f"{have} {'has' if have == 1 else 'have'} come; {fewer}let the program send {count}"
            )
            places = [(stream.x, stream.y), *(waits.units if waits else ()), *(left.place for left in known.unread)]
            lines = [message, *([waits.message] if waits else ()), *self._sent_lines(), *self._legend(places)]
            raise SdkDeadlock(
                "\n".join(lines),
                waits.location if waits else None,
                replace(known, silent=((stream.x, stream.y),), lacking=int(error.lacking.sum())),
            ) from None

    def receive_all(self, stream: PlacedStream) -> NDArray[np.uint32]:
        """Run until the machine rests and return all wavelets of a stream of a layout that have come."""
        name = self._color(stream.color, self.machine.host_outputs, "to the host")
        self.settle()
        count = int(self.machine.received(name)[stream.y, stream.x])
        if count == 0:
            return np.zeros(0, np.uint32)
        return self.machine.receive(name, stream.x, stream.y, 1, 1, count).reshape(-1)

    def _sent_lines(self) -> list[str]:
        """Return how much the host has sent to each input stream, in words."""
        return [
            f"  the host has sent {self._sent.get(stream.name, 0)} wavelets to '{stream.name}', {stream.end}"
            for stream in self._artifact.streams
            if stream.is_input
        ]

    def _legend(self, places: Sequence[tuple[int, int]]) -> list[str]:
        """Return which region each of some PEs belongs to, and what its ports are connected with, in words."""
        found: dict[str, str] = {}
        for x, y in places:
            for region in self._artifact.layout_regions:
                dx, dy = x - region.x, y - region.y
                if 0 <= dx < region.width and 0 <= dy < region.height and region.name not in found:
                    ports = "".join(f"; {port} is connected with {other}" for port, other in region.ports)
                    found[region.name] = f"  PE ({x}, {y}) is PE ({dx}, {dy}) of region '{region.name}'{ports}"
                    if any(stream.name == region.name for stream in self._artifact.streams):
                        found[region.name] = f"  PE ({x}, {y}) is the host's end of stream '{region.name}'"
        rest = len(found) - MAX_REGIONS
        more = [f"  and PEs of {rest} more region{'s' * (rest > 1)}"] if rest > 0 else []
        return [*list(found.values())[:MAX_REGIONS], *more]

    def with_regions(self, hang: Deadlock) -> str:
        """Return the message of a deadlock with the regions of its PEs, where a layout has regions."""
        return "\n".join([hang.message, *self._legend(hang.units)])

    def short_stream(self, hang: Hang) -> str | None:
        """Return which call has sent too few wavelets to a PE that waits for more, in words; None if none waits."""
        if not hang.starved:
            return None
        first = next((one for one in hang.starved if one.place in hang.silent), hang.starved[0])
        x, y = first.place
        number = self.machine.colors[first.color].number
        calls = [
            asked
            for name, (left, top, width, height), asked in self._sends
            if name == first.color and left <= x < left + width and top <= y < top + height
        ]
        more = f"PE {first.place} waits for {first.missing}{' more' if calls else ' of its wavelets'}"
        for stream in self._artifact.streams:
            if stream.is_input and (stream.x, stream.y) == first.place and stream.color == number:
                return f"send to '{stream.name}' is too short: {more}, and has been sent {first.sent}"
        if not calls:
            return (
                f"no memcpy_h2d has sent to color {number}, and {more}; send {first.missing} to each PE that reads it"
            )
        where = f" ({calls[-1]})" if calls[-1] else ""
        times = f" in {len(calls)} calls, this the last," if len(calls) > 1 else ""
        return (
            f"memcpy_h2d to color {number}{where} is too short: PE {first.place} has been sent {first.sent} "
            f"wavelet{'' if first.sent == 1 else 's'}{times} and waits for {first.missing} more; send "
            f"{first.sent + first.missing}"
        )

    def _color(self, number: int, streams: Collection[str], way: str) -> str:
        """Return the name in IR of the color of an id, among those that stream one way."""
        numbers = {self.machine.colors[name].number: name for name in streams}
        if number not in numbers:
            known = ", ".join(map(str, sorted(numbers))) or "none"
            raise SdkError(
                f"color {number} does not stream {way}; the colors given to <memcpy/get_params> for that are: {known}"
            )
        return numbers[number]

    def launch(self, name: str, arguments: Sequence[Any]) -> Deadlock | None:
        """Start a function on all PEs and run until every PE has called unblock_cmd_stream() since.

        Raises Deadlock naming the PEs that have not, with what the machine waits for; where nothing waits, because the
        function has returned, it is returned instead.
        """
        if not CommandStream.exists(self.machine):
            raise SdkError("the program does not import <memcpy/memcpy>, so the host cannot launch functions")
        self.settle()
        self.machine.warn_of_unread(f"when '{name}' is launched", at_end=False)
        return CommandStream(self.machine).launch(name, arguments, self.settle, defers=True)

    def end(self) -> None:
        """Run until nothing can happen any more, and warn of tasks that have not ended and of unread wavelets."""
        hang = self.settle()
        if hang is not None:
            self.machine.warn(None, f"stop() finds PEs in the middle of a task: {self.with_regions(hang)}")
            self.machine.note_reported(hang.unread)
        elif self._artifact.layout_regions:
            # No command of the host is left that could end it.
            begun = self.machine.explain(allow_pending=False, all_of_them=True, begun=True)
            if begun is not None:
                report = self.with_regions(begun)
                self.machine.warn(
                    None, f"stop() finds operations that have received a part of their wavelets: {report}"
                )
                self.machine.note_reported(begun.unread)
        self.machine.warn_of_unread("at stop()", at_end=True)


def words_on_the_way(machine: Machine, placement: FabricPlacement) -> tuple[NDArray[np.int64], int]:
    """Return how many words the way from the host to a PE of each column holds before the last link, [width], and how
    many memcpy's own PEs are assumed to hold besides.

    The way goes by links from column to column, and through the buffers, which the PEs of a row share. Before that it
    goes through memcpy's columns, each of which is assumed to hold what the two queues that memcpy uses on a PE do.
    """
    columns = np.arange(machine.width)
    if not placement.memcpy:
        return 0 * columns, 0
    target = machine.target
    link = target.timing.link_words
    held = columns * link + placement.west_buffer * BUFFER_WAVELETS // machine.width
    return held, WEST_COLUMNS * (target.input_queue_words[0] + target.output_queue_words[0] + link)


def _no_room(what: str, region: Region, lacking: NDArray[np.int64]) -> str:
    """Return for which PEs of a region, and how many wavelets, there is no room, in words."""
    (place, *others), number = _places(region, lacking), int(lacking[lacking > 0][0])
    rest = f", and {len(others)} other PE{'s do' if len(others) > 1 else ' does'} not take theirs" if others else ""
    start, verb = f"{what}: " if what else "", "finds" if number == 1 else "find"
    return (
        f"{start}PE {place} does not go on, and {number} of the wavelets for it {verb} no room on the way there{rest}"
    )


def _places(region: Region, lacking: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    """Return the PEs of a region for which there is no room."""
    return tuple((region[0] + column, region[1] + row) for row, column in np.argwhere(lacking).tolist())


def _inside(region: Region) -> tuple[slice, slice]:
    x, y, w, h = region
    return slice(y, y + h), slice(x, x + w)


def _others(count: int) -> str:
    """Return how many other PEs lack wavelets too, in words."""
    return f", and {count} other PE{'s have' if count > 1 else ' has'} sent too few" if count else ""
