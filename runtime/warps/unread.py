"""Unread wavelets of a machine at rest: in queues, at routers, in messages, and on their way to the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..unread_wavelets import Unread, at_router, by_place, down_ramp, in_queue, off_grid, without_queue

if TYPE_CHECKING:
    from .machine import WarpMachine
    from .queues import InputQueue
    from .switches import SwitchedColor


def unread(machine: WarpMachine) -> list[Unread]:
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
                    found.append(without_queue(label, (x, y), count, cls.grid_position(row, column)))
    for color in machine.switched.values():
        found += _at_routers(color)
    for network in machine.networks.values():
        found += network.left()
    return by_place(found)


def _waiting(machine: WarpMachine, queue: InputQueue) -> list[Unread]:
    counts = np.zeros(queue.cls.shape, np.int64)
    for message in queue.messages:
        counts[message.units.index] += message.remaining
    found: list[Unread] = []
    for y, x in np.argwhere(counts).tolist():
        label = machine.color_label(int(queue.colors[y, x]))
        room = None if queue.network is None else queue.room
        place = queue.cls.grid_position(y, x)
        found.append(in_queue(label, place, int(counts[y, x]), queue.label, queue.number, room))
    return found


def _at_routers(color: SwitchedColor) -> list[Unread]:
    """Return the wavelets of a color with switches that wait at routers, or have gone where nothing reads them."""
    label = color.color.label
    found: list[Unread] = []
    for port, row, column, count in color.left_waiting():
        position = int(color.position[row, column])
        found.append(at_router(label, (column, row), count, port, position, color.taken_ports(row, column)))
    for row, column in np.argwhere(color.unread).tolist():
        found.append(down_ramp(label, (column, row), int(color.unread[row, column])))
    for port, row, column in np.argwhere(color.left_grid).tolist():
        found.append(off_grid(label, (column, row), int(color.left_grid[port, row, column]), port))
    return found
