"""Lost wavelets of static routes: at which router they end, and why."""

from __future__ import annotations

from collections.abc import Iterator

from ...targets.wavelets import PORTS
from ..fabric.classes import areas_of
from ..fabric.model import NOWHERE
from ..fabric.routers import routers_of
from ..fabric.routes import OPPOSITE, RAMP, STEP, Routers
from ..tables.format import INPUT
from .places import Names


def lost_wavelets(names: Names, queue: int, pe: int) -> str:
    """Return where and why wavelets end that a PE sends on an output queue, and what to do."""
    fabric = names.fabric
    unit = int(fabric.pe_unit[pe])
    at = next(at for row, its, at in fabric.lost.tolist() if (row, its) == (queue, unit))
    color = names.color_at(queue, pe)
    return f"its wavelets of color {names.color(color)} end at {names.pe(at)}{_cause(names, color, pe, at)}"


def leaving_wavelets(names: Names, queue: int, pe: int) -> str:
    """Return where wavelets leave the grid that a PE sends on an output queue, and what to do."""
    fabric = names.fabric
    unit = int(fabric.pe_unit[pe])
    at = next(at for row, its, at in fabric.left.tolist() if (row, its) == (queue, unit))
    color = names.color_at(queue, pe)
    routers = routers_of(names.tables, color)
    row, column = divmod(at, fabric.width)
    transmit = int(routers.transmit[row, column])
    off = [
        PORTS[port]
        for port, (dy, dx) in STEP.items()
        if transmit >> port & 1 and not (0 <= row + dy < fabric.height and 0 <= column + dx < fabric.width)
    ]
    where = _routed_at(names, color, row, column)
    name = f"color {routers.label} at {names.pe(at)}{f' ({where})' if where else ''}"
    remedy = f"leave {' and '.join(off)} out of its tx there" if transmit >> RAMP & 1 else "end it there, at the ramp"
    ports = " and ".join(off)
    return (
        f"the route of {name} sends them to the {ports}, where they are dropped; a wafer may hold up the send: {remedy}"
    )


def missing_ramp(names: Names, color: int, pe: int) -> str | None:
    """Return that the route by which a color comes to a PE does not lead down its ramp, and what to do.

    None if no route brings it from elsewhere.
    """
    routers = routers_of(names.tables, color)
    row, column = divmod(pe, names.fabric.width)
    receive, transmit = int(routers.receive[row, column]), int(routers.transmit[row, column])
    if not transmit or transmit >> RAMP & 1 or receive == 1 << RAMP:
        return None
    where = _routed_at(names, color, row, column)
    at = f"{names.pe(pe)}{f' ({where})' if where else ''}"
    ports = _ports(transmit)
    return f"the route of color {routers.label} at {at} leads to {ports}, not down the ramp; add the ramp to its tx"


def _cause(names: Names, color: int, sender: int, at: int) -> str:
    """Return why the wavelets of a PE end at a router, and what to do."""
    routers = routers_of(names.tables, color)
    row, column = divmod(at, names.fabric.width)
    receive, transmit = int(routers.receive[row, column]), int(routers.transmit[row, column])
    pe, name = names.pe(at), f"color {routers.label}"
    if not receive and not transmit:
        return f", which has no route for {name}; give it one, or stop the send before it"
    where = _routed_at(names, color, row, column)
    route = f": the route of {name} at {pe}{f' ({where})' if where else ''}"
    come = {RAMP} if at == sender else set(_arriving(routers, row, column))
    if not any(receive >> port & 1 for port in come):
        wanted = " or ".join(PORTS[port] for port in sorted(come))
        return (
            f"{route} takes wavelets from {_ports(receive)}, not from {wanted}, where these come from; add "
            f"{wanted} to its rx"
        )
    if transmit >> RAMP & 1 and color not in _readers(names, at).values():
        return f"{route} sends them down the ramp, {_unread(names, routers.label, at)}"
    return (
        f"{route} leads back to {_ports(transmit)} and not to the ramp; add to its tx the ramp, or a port that leads on"
    )


def _routed_at(names: Names, color: int, row: int, column: int) -> str | None:
    """Return the source place of the route that holds at a router."""
    routes = names.tables["routes"]
    for route in routes[routes["color"] == color][::-1]:
        if any(column in columns and row in rows for columns, rows in areas_of(names.tables, route)):
            return names.where(int(route["where"]))
    return None


def _arriving(routers: Routers, row: int, column: int) -> Iterator[int]:
    """Yield the ports of a router to which its neighbors send the color."""
    height, width = routers.transmit.shape
    for port, (dy, dx) in STEP.items():
        y, x = row + dy, column + dx
        if 0 <= y < height and 0 <= x < width and int(routers.transmit[y, x]) >> OPPOSITE[port] & 1:
            yield port


def _ports(mask: int) -> str:
    return " and ".join(name for port, name in enumerate(PORTS) if mask >> port & 1) or "nowhere"


def _readers(names: Names, at: int) -> dict[str, int]:
    """Return the colors that a PE reads, by the names of its input queues."""
    queues, owner = names.tables["queues"], int(names.fabric.pe_class[at])
    numbers = {
        names.queue(row): names.color_at(row, at)
        for row in range(len(queues))
        if queues["owner"][row] == owner and queues["direction"][row] == INPUT
    }
    return {queue: number for queue, number in numbers.items() if number != NOWHERE}


def _unread(names: Names, label: str, at: int) -> str:
    """Return why wavelets that come down the ramp of a PE are read by none of its queues, and what to do."""
    name = f"color {label}"
    if names.fabric.pe_class[at] == NOWHERE:
        return f"where there is no program; give the PE code that reads {name}, with @set_tile_code"
    read = {queue: names.color(number) for queue, number in _readers(names, at).items()}
    remedy = f"read {name} there by an input queue or bind a data task to it, or stop the send before it"
    if not read:
        return f"where no operation and no data task reads any color; {remedy}"
    others = ", ".join(f"{queue} color {other}" for queue, other in sorted(read.items()))
    noun = "queue reads" if len(read) == 1 else "queues read"
    return f"where the input {noun} another color ({others}); {remedy}"
