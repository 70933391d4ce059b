"""Lost wavelets of static routes: at which router they end, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...targets.wavelets import PORTS
from .fabric import OPPOSITE, RAMP, STEP, Color

if TYPE_CHECKING:
    from .machine import WarpMachine


def cause(machine: WarpMachine, color: Color, sender: tuple[int, int], at: tuple[int, int]) -> str:
    """Return why the wavelets of a PE end at a router, and what to do; places are (row, column) of the grid."""
    row, column = at
    receive, transmit = int(color.receive[at]), int(color.transmit[at])
    pe, name = f"PE ({column}, {row})", f"color {color.label}"
    if not receive and not transmit:
        return f", which has no route for {name}; give it one, or stop the send before it"
    where = color.routed_at(row, column)
    route = f": the route of {name} at {pe}{f' ({where})' if where else ''}"
    come = {RAMP} if at == sender else set(_arriving(color, at))
    if not any(receive >> port & 1 for port in come):
        wanted = " or ".join(PORTS[port] for port in sorted(come))
        return (
            f"{route} takes wavelets from {_ports(receive)}, not from {wanted}, where these come from; add "
            f"{wanted} to its rx"
        )
    if transmit >> RAMP & 1:
        return f"{route} sends them down the ramp, {_unread(machine, color, at)}"
    for port in (port for port in STEP if transmit >> port & 1):
        y, x = row + STEP[port][0], column + STEP[port][1]
        if not (0 <= y < machine.height and 0 <= x < machine.width):
            return f"{route} sends them to the {PORTS[port]}, off the grid; end it there, at the ramp"
    return (
        f"{route} leads back to {_ports(transmit)} and not to the ramp; add to its tx the ramp, or a port that leads on"
    )


def _arriving(color: Color, at: tuple[int, int]) -> Iterator[int]:
    """Yield the ports of a router to which its neighbors send the color."""
    for port, (dy, dx) in STEP.items():
        y, x = at[0] + dy, at[1] + dx
        inside = 0 <= y < color.transmit.shape[0] and 0 <= x < color.transmit.shape[1]
        if inside and int(color.transmit[y, x]) >> OPPOSITE[port] & 1:
            yield port


def _ports(mask: int) -> str:
    return " and ".join(name for port, name in enumerate(PORTS) if mask >> port & 1) or "nowhere"


def _unread(machine: WarpMachine, color: Color, at: tuple[int, int]) -> str:
    """Return why wavelets that come down the ramp of a PE are read by none of its queues, and what to do."""
    name = f"color {color.label}"
    cls = next((cls for cls in machine.classes if cls.placement.on_grid(np.ones(cls.shape, np.bool_))[at]), None)
    if cls is None:
        return f"where there is no program; give the PE code that reads {name}, with @set_tile_code"
    unit = tuple(cls.placement.local(np.array([at]))[0].tolist())
    numbers = {queue.label: int(queue.colors[unit]) for queue in cls.inputs.values()}
    read = {queue: machine.color_label(number) for queue, number in numbers.items() if number >= 0}
    remedy = f"read {name} there by an input queue or bind a data task to it, or stop the send before it"
    if not read:
        return f"where no operation and no data task reads any color; {remedy}"
    others = ", ".join(f"{queue} color {other}" for queue, other in sorted(read.items()))
    noun = "queue reads" if len(read) == 1 else "queues read"
    return f"where the input {noun} another color ({others}); {remedy}"
