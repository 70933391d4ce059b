"""Unread wavelets of a machine at rest: not an error by themselves, but often the cause of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...targets.wavelets import PORTS

if TYPE_CHECKING:
    from .host_streams import HostOutput
    from .machine import Machine
    from .queues import InputQueue
    from .switches import SwitchedColor


class Unread(NamedTuple):
    """Wavelets of a color at one PE that nothing there has read."""

    color: str
    place: tuple[int, int]
    """(x, y) in the grid"""
    wavelets: int
    queue: str | None
    """The input queue they wait in; None where the PE has no queue for the color, and for what went to the host."""
    sender: tuple[int, int] | None
    """A PE that sent some of them, where that is known."""
    label: str
    """The name of the color in messages."""
    state: str
    """Where they are, in words: "wait in input queue @in of PE (1, 0): nothing reads them"."""

    def __str__(self) -> str:
        return f"{_counted(self.wavelets)} of color {self.label} {self.state}"


def plain(label: str) -> str:
    """Return the name in a label: @red and 'red' are red."""
    return label.replace("'", "").removeprefix("@")


def unread(machine: Machine) -> list[Unread]:
    """Return all wavelets that have been sent and not been read, by color and PE."""
    found: list[Unread] = []
    for cls in machine.classes:
        for queue in cls.inputs.values():
            found += _waiting(machine, queue)
        for output in cls.outputs.values():
            for number, (row, column) in enumerate(output.unread_from):
                count = int(output.unread_count[row, column]) if output.unread_count is not None else 0
                if count:
                    label = machine.color_label(int(output.colors[row, column]))
                    y, x = output.unread_at[number]
                    sender = cls.grid_position(row, column)
                    state = f"{_were(count)} sent by PE {sender} to PE {(x, y)}, which has no input queue for the color"
                    found.append(Unread(plain(label), (x, y), count, None, sender, label, state))
    for color in machine.switched.values():
        found += _at_routers(color)
    for network in machine.networks.values():
        label = network.color.label
        for row, column, count, sender, state in network.left():
            found.append(Unread(plain(label), (column, row), count, None, sender, label, state))
    return sorted(found, key=lambda left: (left.color, left.place[::-1]))


def unreceived(machine: Machine) -> list[Unread]:
    """Return the wavelets that PEs have sent to the host and that it has not received, by color and PE."""
    return [left for stream in machine.host_outputs.values() for left in _sent_to_host(stream)]


def summary(found: Iterable[Unread], when: str) -> list[str]:
    """Return a sentence for each color of some unread wavelets, with the number of PEs; `when` is "at stop()"."""
    colors: dict[str, list[Unread]] = {}
    for left in found:
        colors.setdefault(left.label, []).append(left)
    return [_sentence(label, lefts, when) for label, lefts in colors.items()]


def _sentence(label: str, lefts: Sequence[Unread], when: str) -> str:
    first = lefts[0]
    total = sum(left.wavelets for left in lefts)
    pes = len({left.place for left in lefts})
    remedy = "receive as many wavelets as are sent"
    if len(lefts) == 1:
        return f"{when}: {first}; {remedy}"
    where = f"on {pes} PEs" if pes > 1 else f"on PE {first.place}"
    return f"{when}: {_counted(total)} of color {label} {_are(total)} unread {where}; the first {first.state}; {remedy}"


def _counted(count: int) -> str:
    return f"{count} wavelet{'' if count == 1 else 's'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _waiting(machine: Machine, queue: InputQueue) -> list[Unread]:
    counts = np.zeros(queue.cls.shape, np.int64)
    for message in queue.messages:
        counts[message.units.index] += message.remaining
    found: list[Unread] = []
    for y, x in np.argwhere(counts).tolist():
        count, place = int(counts[y, x]), queue.cls.grid_position(y, x)
        label = machine.color_label(int(queue.colors[y, x]))
        wait, them = ("waits", "it") if count == 1 else ("wait", "them")
        where = f"in input queue {queue.label} (id {queue.number}) of PE {place}"
        if queue.network is not None and count > queue.room:
            where = f"for PE {place}, {queue.room} {where[: where.index(' of PE')]} and {count - queue.room} held back"
        state = f"{wait} {where}: nothing reads {them}"
        found.append(Unread(plain(label), place, count, plain(queue.label), None, label, state))
    return found


def _sent_to_host(stream: HostOutput) -> list[Unread]:
    counts = stream.available()
    found: list[Unread] = []
    for y, x in np.argwhere(counts).tolist():
        count = int(counts[y, x])
        state = f"{_were(count)} sent by PE {(x, y)} to the host, which has not received {_them(count)}"
        found.append(Unread(plain(stream.color), (x, y), count, None, (x, y), stream.color, state))
    return found


def _them(count: int) -> str:
    return "it" if count == 1 else "them"


def _at_routers(color: SwitchedColor) -> list[Unread]:
    """Return the wavelets of a color with switches that wait at routers, or have gone where nothing reads them."""
    found: list[Unread] = []
    label = color.color.label

    def add(row: int, column: int, count: int, state: str) -> None:
        found.append(Unread(plain(label), (column, row), count, None, None, label, state))

    for port, row, column, count in color.left_waiting():
        taken = " or ".join(color.taken_ports(row, column)) or "no port"
        position = int(color.position[row, column])
        add(
            row, column, count,
            f"{'waits' if count == 1 else 'wait'} at the router of PE ({column}, {row}), from {PORTS[port]}: "
            f"its switch is at position {position}, where it takes the color from {taken}",
        )  # fmt: skip
    for row, column in np.argwhere(color.unread).tolist():
        count = int(color.unread[row, column])
        add(row, column, count, f"arrived at PE ({column}, {row}), which has no input queue for the color")
    for port, row, column in np.argwhere(color.left_grid).tolist():
        count = int(color.left_grid[port, row, column])
        add(row, column, count, f"left the grid to the {PORTS[port]} of PE ({column}, {row})")
    return found
