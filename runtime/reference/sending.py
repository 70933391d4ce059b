"""Sending: wavelets leave an output queue, with the times at which they do, and come to queues or routers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from ...targets.wavelets import CONTROL_MARK, WORD_BITS, WORD_MASK
from ..fabric.model import LEAVES, LOST, PARTLY_UNREAD, SWALLOWED
from ..findings import Code
from .descriptors import Wavelets
from .multicast import Multicast, Part
from .pes import Issue
from .queues import OutputQueue, Run
from .sends import Send
from .switches import TEARDOWN, Passage, command, is_ignored

if TYPE_CHECKING:
    from .machine import Machine


def transmit(
    machine: Machine, issue: Issue, stream: Wavelets, payload: list[int], first: int, rate: int, *, last: bool,
    send: Send | None = None,
) -> None:  # fmt: skip
    """Send elements out of a queue; the wavelet of element k leaves at `first` + k * `rate`.

    `last` means that the operation sends no more. `send` is notified when the receivers, or the routers of a color with
    switches, have made room for the wavelets.
    """
    pe = issue.pe
    queue = pe.outputs[stream.queue]
    if stream.packed:
        payload, rate = packed(payload), rate * stream.lanes
    _check_route(machine, issue, queue)
    if stream.mark is not None:
        payload = [word | (stream.mark & WORD_MASK) << WORD_BITS for word in payload]
    machine.wavelets += len(payload)
    if queue.flags & PARTLY_UNREAD:
        queue.unread += len(payload)
    sections = [Part(payload, first, stream.control)]
    if stream.transforms and queue.network is None:
        payload = [word ^ pe.control_mask if word & CONTROL_MARK == CONTROL_MARK else word for word in payload]
        sections = list(_sections(payload, first, rate))
    for wavelets, when, control in sections:
        if control and queue.network is None and machine.routers_of(pe, queue) is None:
            _check_commands(machine, issue, queue, wavelets, when, rate)
    if machine.statistics is not None:
        for wavelets, when, control in sections:
            ignored = sum(map(is_ignored, wavelets)) if control else 0
            machine.statistics.leaves(pe, queue, len(wavelets), ignored, when, rate)
    if queue.network is not None:
        machine.networks[queue.network].inject(issue, stream, payload, first, rate, last=last, send=send)
        return
    parts = [part for section in sections for part in _for_engines(section, rate)]
    in_pieces = sum(way.path is not None for way in queue.ways) > 1 or any(way.meets for way in queue.ways)
    if send is not None and in_pieces:
        Multicast(machine, send, queue.ways, rate, deque(parts)).start()
        parts = []
    for wavelets, when, control in parts:
        for way in queue.ways:
            if way.path is not None:
                way.path.send(len(wavelets), send)
            run = Run(wavelets, when + way.latency, rate, control, way.origin, path=way.path)
            machine.arrive(way.pe, machine.queue(way.pe, way.queue), run)
    color = machine.routers_of(pe, queue)
    if color is not None:
        assert queue.ramp is not None
        for place, (wavelets, when, control) in enumerate(sections, 1):
            queue.ramp.send(len(wavelets), send)
            run = Passage(wavelets, when, rate, control, queue.ramp)
            color.send(pe.number, run, advances=stream.advances and last and place == len(sections))
            color.settle()


def _check_commands(
    machine: Machine, issue: Issue, queue: OutputQueue, payload: list[int], first: int, rate: int
) -> None:
    """Report a control wavelet whose first command, which is for this router, tears a color down with fixed routes."""
    for k, word in enumerate(payload):
        if queue.color is not None and queue.color >= 0 and command(word) == TEARDOWN:
            where = machine.program["colors"][queue.color].where
            machine.note_at_router(issue.pe.number, Code.TEARDOWN, first + k * rate, where, queue.color)
            return


def _sections(payload: list[int], first: int, rate: int) -> Iterator[Part]:
    """Yield what is marked as control wavelets, without the mark, and the rest as it is (DSD-257)."""
    for control, group in groupby(payload, lambda word: word & CONTROL_MARK == CONTROL_MARK):
        words = [word & ~CONTROL_MARK if control else word for word in group]
        yield Part(words, first, control)
        first += len(words) * rate


def _for_engines(section: Part, rate: int) -> list[Part]:
    """Return wavelets, and when they leave, without those that an ignore bit keeps from the compute engine."""
    payload, first, control = section
    if not control or not any(map(is_ignored, payload)):
        return [section]
    return [Part([word], first + k * rate, control) for k, word in enumerate(payload) if not is_ignored(word)]


def packed(payload: list[int]) -> list[int]:
    """Return values of 16 bits two to a wavelet, the first in the low half; a zero fills the last."""
    even = payload if len(payload) % 2 == 0 else [*payload, 0]
    return [low | high << WORD_BITS for low, high in zip(even[::2], even[1::2], strict=True)]


def unpacked(payload: list[int]) -> list[int]:
    """Return the values of wavelets that carry two."""
    return [half for word in payload for half in (word & WORD_MASK, word >> WORD_BITS)]


def _check_route(machine: Machine, issue: Issue, queue: OutputQueue) -> None:
    """Find wavelets that go nowhere (AMB-34)."""
    values = (issue.operation.number, queue.number)
    if queue.color is None:
        machine.fail_of(issue, Code.SENDS_WITHOUT_COLOR, *values)
    if queue.flags & SWALLOWED:
        machine.warn_of(issue, Code.SENDS_SWALLOWED, *values)
    if queue.flags & LEAVES and not queue.flags & LOST:
        machine.warn_of(issue, Code.SENDS_OFF_GRID, *values)
    if queue.flags & LOST:
        machine.fail_of(issue, Code.SENDS_LOST, *values)
