"""Wavelets that nobody has read when the machine is at rest: no error by themselves, but often the cause of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .fabric import PORTS

if TYPE_CHECKING:
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
    """The input queue they wait in; None where the PE has no queue for the color."""
    sender: tuple[int, int] | None
    """A PE that sent some of them, where that is known."""
    router: str | None = None
    """Of a color with switches: what its router does with them."""

    def __str__(self) -> str:
        one = self.wavelets == 1
        noun = f"{self.wavelets} wavelet{'' if one else 's'} of color @{self.color}"
        if self.router is not None:
            return f"{noun} {self.router}"
        if self.queue is not None:
            wait, them = ("waits", "it") if one else ("wait", "them")
            return f"{noun} {wait} in input queue @{self.queue} of PE {self.place}: nothing reads {them}"
        come = "has come" if one else "have come"
        return f"{noun} {come} from PE {self.sender} to PE {self.place}, which has no input queue for the color"


def unread(machine: Machine) -> list[Unread]:
    """All wavelets that have been sent and not been read, by color and PE."""
    found: list[Unread] = []
    for cls in machine.classes:
        for queue in cls.inputs.values():
            found += _waiting(machine, queue)
        for output in cls.outputs.values():
            for number, (row, column) in enumerate(output.unread_from):
                count = int(output.unread_count[row, column]) if output.unread_count is not None else 0
                if count:
                    color = machine.color_name(int(output.colors[row, column]))
                    y, x = output.unread_at[number]
                    found.append(Unread(color, (x, y), count, None, cls.grid_position(row, column)))
    for color in machine.switched.values():
        found += _at_routers(color)
    return sorted(found, key=lambda left: (left.color, left.place[::-1]))


def _waiting(machine: Machine, queue: InputQueue) -> list[Unread]:
    counts = np.zeros(queue.cls.shape, np.int64)
    for message in queue.messages:
        counts[message.units.index] += message.remaining
    return [
        Unread(
            machine.color_name(int(queue.colors[y, x])),
            queue.cls.grid_position(y, x),
            int(counts[y, x]),
            queue.name,
            None,
        )
        for y, x in np.argwhere(counts).tolist()
    ]


def _at_routers(color: SwitchedColor) -> list[Unread]:
    """Wavelets of a color with switches that wait at routers, or have gone where nothing reads them."""
    found: list[Unread] = []
    for port, row, column, count in color.left_waiting():
        taken = " or ".join(color.taken_ports(row, column)) or "no port"
        position = int(color.position[row, column])
        told = (
            f"{'waits' if count == 1 else 'wait'} at the router of PE ({column}, {row}), coming from {PORTS[port]}: "
            f"its switch is at position {position}, where it takes the color from {taken}"
        )
        found.append(Unread(color.color.name, (column, row), count, None, None, told))
    have = {False: "have", True: "has"}
    for row, column in np.argwhere(color.unread).tolist():
        count = int(color.unread[row, column])
        told = f"{have[count == 1]} come to PE ({column}, {row}), which has no input queue for the color"
        found.append(Unread(color.color.name, (column, row), count, None, None, told))
    for port, row, column in np.argwhere(color.left_grid).tolist():
        count = int(color.left_grid[port, row, column])
        told = f"{have[count == 1]} left the grid to the {PORTS[port]} of PE ({column}, {row})"
        found.append(Unread(color.color.name, (column, row), count, None, None, told))
    return found
