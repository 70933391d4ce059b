"""Unread wavelets at rest: in queues, at routers and in messages, from the records of an executor."""

from __future__ import annotations

import numpy as np

from ...targets.wavelets import PORTS
from ..fabric.model import NOWHERE, Fabric
from ..unread_wavelets import (
    Unread,
    at_router,
    at_sender,
    before_full,
    before_torn_down,
    by_place,
    down_ramp,
    in_message,
    in_queue,
    off_grid,
    without_queue,
)
from .held_at_switches import has_switch, port_names
from .places import Names
from .rest import IN_TEARDOWN, Rest
from .waits import reason


def unread(fabric: Fabric, rest: Rest) -> list[Unread]:
    """Return the wavelets that have been sent and not been read, but for those to the host, by color and PE."""
    names = Names(fabric)
    return by_place(
        [*_in_queues(names, rest), *_without_queues(names, rest), *_at_routers(names, rest), *_messages(names, rest)]
    )


def _in_queues(names: Names, rest: Rest) -> list[Unread]:
    found: list[Unread] = []
    for (queue, pe), (count, held) in sorted(rest.in_queues().items()):
        color, place = names.color(names.color_at(queue, pe)), names.position(pe)
        room = None if names.fabric.network[queue] == NOWHERE else int(names.fabric.room[queue])
        label, number = names.queue(queue), names.queue_id(queue)
        if count > held:
            found.append(in_queue(color, place, count - held, label, number, room, held))
        else:
            found.append(at_sender(color, place, held, label, number))
    return found


def _without_queues(names: Names, rest: Rest) -> list[Unread]:
    """Return the wavelets of multicasts that came to PEs without a queue for their color."""
    sent = {(queue, pe): count for queue, pe, count in rest.sent.tolist() if count}
    found: list[Unread] = []
    for queue, unit, place in names.fabric.unread.tolist() if sent else ():
        pe = int(names.fabric.units(int(names.fabric.queue_class[queue]))[unit])
        count = sent.get((queue, pe), 0)
        if count:
            color = names.color(names.color_at(queue, pe))
            found.append(without_queue(color, names.position(place), count, names.position(pe)))
    return found


def _at_routers(names: Names, rest: Rest) -> list[Unread]:
    """Return the wavelets of colors with switches that wait at routers, or have gone where nothing reads them."""
    found: list[Unread] = []
    for color, pe, port, position, mask, count in np.sort(rest.at_routers, order=["color", "port", "pe"]).tolist():
        taken = port_names(mask)
        label, place = names.color(color), names.position(pe)
        is_closed = PORTS[port] not in taken
        if position == IN_TEARDOWN:
            found.append(before_torn_down(label, place, count, port))
            continue
        found.append(
            at_router(label, place, count, port, position if has_switch(names, color, pe) else None, taken)
            if is_closed
            else before_full(label, place, count, port)
        )
    for color, pe, count in np.sort(rest.down_ramps, order=["row", "pe"]).tolist():
        found.append(down_ramp(names.color(color), names.position(pe), count))
    for color, pe, port, _, _, count in np.sort(rest.off_grid, order=["color", "port", "pe"]).tolist():
        found.append(off_grid(names.color(color), names.position(pe), count, port))
    return found


def _messages(names: Names, rest: Rest) -> list[Unread]:
    """Return the messages of networks that have not come to a queue."""
    found: list[Unread] = []
    for message in rest.messages[rest.messages["delivered"] == 0]:
        color = names.color(int(names.tables["networks"]["color"][int(message["network"])]))
        source, target = (names.position(int(message[end])) for end in ("source", "target"))
        found.append(in_message(color, target, 1 + int(message["elements"]), source, reason(names, message)))
    return found
