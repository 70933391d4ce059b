"""Static routes, resolved once into delivery tables.

For every output queue this works out where its wavelets arrive and how long they take, by walking all routers of
a color at once, and compresses the result: neighbors that send the same way become one rectangle and a
displacement, a multicast along a line becomes one broadcast. It runs when a program is loaded; nothing here is
executed per wavelet. It knows grids, colors and router ports, nothing of units' programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ...targets.model import Timing
from ...targets.wavelets import PORTS
from ..fabric import routes
from ..fabric.routes import EAST, NORTH, OPPOSITE, RAMP, SOUTH, STEP, WEST, Routers
from .deliveries import Group, group
from .units import Array, Cells, Rectangle, UnitSet, cells, from_mask, position_keys, rectangle, shift

__all__ = [
    "EAST", "NORTH", "OPPOSITE", "RAMP", "SOUTH", "STEP", "WEST", "Arrival", "Color", "Delivery",
    "Paths", "arrivals", "compress", "port_mask", "reach", "senders_of", "trace",
]  # fmt: skip


def port_mask(ports: Iterable[str]) -> int:
    """Return the bit mask of some ports."""
    return sum(1 << PORTS.index(port) for port in set(ports))


@dataclass
class Color:
    """The routers of one color: bit masks of ports, [grid rows, grid columns]."""

    name: str
    number: int
    receive: Array
    transmit: Array
    where: str | None = None
    """Source location of the color."""
    label: str = ""
    """Its name in messages: 'red', as in the user's program, or @red as in the IR."""
    _routes: list[tuple[list[tuple[range, range]], str | None]] = field(
        default_factory=list[tuple[list[tuple[range, range]], "str | None"]]
    )

    def routed_at(self, row: int, column: int) -> str | None:
        """Return the source location of the route that holds at a router."""
        for regions, where in reversed(self._routes):
            if any(row in rows and column in columns for columns, rows in regions):
                return where
        return None

    def set_route(
        self,
        regions: Sequence[tuple[range, range]],
        receive: Iterable[str],
        transmit: Iterable[str],
        where: str | None = None,
    ) -> None:
        """Configure the routers of regions (columns, rows), as the source says at `where`."""
        self._routes.append((list(regions), where))
        receive_mask, transmit_mask = port_mask(receive), port_mask(transmit)
        for columns, rows in regions:
            if columns and rows:
                index = rectangle(rows, columns).index
                self.receive[index] = receive_mask
                self.transmit[index] = transmit_mask


@dataclass
class Paths:
    """Where wavelets of a color go: one element per (sender, receiver) pair, in grid coordinates."""

    source: Array
    """[pairs, 2] row and column of the sender."""
    target: Array
    latency: Array
    """Cycles from the sender's router to the receiver's queue."""
    lost: Array
    """[losses, 2] senders some of whose wavelets reach no ramp at the end of a path, or no path at all."""
    lost_at: Array
    """[losses, 2] the router at which they are lost."""


def trace(color: Color, senders: Array, timing: Timing) -> Paths:
    """Follow the wavelets of `senders` (bool, [grid rows, grid columns]) through the routers of a color.

    Raises LoomError if a route runs in a circle.
    """
    routers = Routers(color.receive, color.transmit, color.label, color.where)
    paths = routes.trace(routers, np.flatnonzero(senders), timing)
    width = senders.shape[1]
    source, target, lost, lost_at = (
        np.stack(np.divmod(pes, width), 1) for pes in (paths.source, paths.target, paths.lost, paths.lost_at)
    )
    return Paths(source, target, paths.latency, lost, lost_at)


@dataclass
class Delivery:
    """Wavelets of the units `source` of one class arrive at one input queue of one class.

    `shift`: every unit's go to the unit `offset` (rows, columns) away. `spread`: every unit's go to a line of units,
    along `axis` (0 rows, 1 columns) over `line`. `pairs`: element k of `senders` reaches element k of `receivers`.
    Coordinates are class coordinates of the sending and of the receiving class. `latency` is a number, or for a
    spread one per unit of the line, or one per pair.
    """

    kind: Literal["shift", "spread", "pairs"]
    source: UnitSet
    receiver: Any
    latency: Any
    rank: int = 0
    """Place among all deliveries: who comes first when wavelets of two senders arrive in one cycle."""
    offset: tuple[int, int] = (0, 0)
    axis: int = 0
    line: range = range(0)
    senders: tuple[Array, Array] | None = None
    receivers: tuple[Array, Array] | None = None
    shifted: dict[Rectangle, UnitSet] = field(default_factory=dict[Rectangle, UnitSet])
    """Of a shift: the receivers for each set of senders met so far."""
    line_pairs: tuple[Array, Array, Array, Array, Array] | None = None
    """Of a spread: its pairs one by one, made when first needed."""


def _masked(shape: tuple[int, int], points: Array) -> list[UnitSet]:
    mask = np.zeros(shape, np.bool_)
    mask[points[:, 0], points[:, 1]] = True
    return from_mask(rectangle(range(shape[0]), range(shape[1])), mask)


def compress(source: Array, target: Array, latency: Array, shape: tuple[int, int], receiver: Any) -> list[Delivery]:
    """Return pairs (sender, receiver) in class coordinates as few deliveries; `shape` is the sending class's."""
    deliveries: list[Delivery] = []
    for each in group(source, target, latency):
        deliveries += _deliveries(each, source, target, latency, shape, receiver)
    return deliveries


def _deliveries(
    each: Group, source: Array, target: Array, latency: Array, shape: tuple[int, int], receiver: Any
) -> list[Delivery]:
    """Return the deliveries of a group of pairs: one for each set of units that send."""
    mine = each.members
    if each.kind == "pairs":
        source, target, latency = source[mine], target[mine], latency[mine]
        distinct = np.unique(source, axis=0)
        return [
            Delivery(
                "pairs", cells(distinct[:, 0], distinct[:, 1]), receiver, latency,
                senders=(source[:, 0], source[:, 1]), receivers=(target[:, 0], target[:, 1]),
            )
        ]  # fmt: skip
    senders = _masked(shape, source[mine])
    if each.kind == "spread":
        return [Delivery("spread", units, receiver, each.latency, axis=each.axis, line=each.line) for units in senders]
    first = int(mine[0])
    offset = (int(target[first, 0] - source[first, 0]), int(target[first, 1] - source[first, 1]))
    return [Delivery("shift", units, receiver, int(latency[first]), offset=offset) for units in senders]


Arrival = tuple[UnitSet, Array, Any, Any]
"""Receiving units, payload [rows, elements, columns], time of the first wavelet, and a number for the sender: among
wavelets that arrive in one cycle the smallest comes first."""


def arrivals(delivery: Delivery, senders: UnitSet, payload: Array, time: Any) -> list[Arrival]:
    """Return where and when the wavelets of `senders` arrive.

    `senders` is a subset of the delivery's source; `payload` and `time` belong to it. Receivers of one arrival are
    distinct; where several senders reach one unit there are several arrivals.
    """
    if delivery.kind == "shift":
        if isinstance(senders, Rectangle):
            receivers = delivery.shifted.get(senders)
            if receivers is None:
                receivers = delivery.shifted[senders] = shift(senders, *delivery.offset)
        else:
            receivers = shift(senders, *delivery.offset)
        return [(receivers, payload, time + delivery.latency, delivery.rank << 32)]
    if delivery.kind == "spread" and isinstance(senders, Rectangle) and senders.shape[delivery.axis] == 1:
        if delivery.axis == 0:
            receivers = rectangle(delivery.line, senders.columns)
            latency = delivery.latency[:, None]
        else:
            receivers = rectangle(senders.rows, delivery.line)
            latency = delivery.latency[None, :]
        shape = receivers.shape
        spread = np.broadcast_to(payload, (shape[0], payload.shape[1], shape[1]))
        return [(receivers, spread, np.broadcast_to(time + latency, shape), delivery.rank << 32)]
    return _arrivals_by_pairs(delivery, senders, payload, time)


def _arrivals_by_pairs(delivery: Delivery, senders: UnitSet, payload: Array, time: Any) -> list[Arrival]:
    rows, columns = senders.cells()
    keys = position_keys(rows.ravel(), columns.ravel())
    order = np.argsort(keys)
    keys = keys[order]
    pair_rows, pair_columns, target_rows, target_columns, latency = _pairs(delivery)
    wanted = position_keys(pair_rows, pair_columns)
    position = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    chosen = keys[position] == wanted
    member = order[position[chosen]]
    flat = np.moveaxis(payload, 1, 2).reshape(-1, payload.shape[1])
    values = flat[member][:, :, None]
    when = np.broadcast_to(np.asarray(time), senders.shape).ravel()[member] + latency[chosen]
    target_rows, target_columns = target_rows[chosen], target_columns[chosen]
    origin = (delivery.rank << 32) + np.flatnonzero(chosen)
    order = np.lexsort((origin, when, target_columns, target_rows))
    target_rows, target_columns, values, when, origin = (
        v[order] for v in (target_rows, target_columns, values, when, origin)
    )
    targets = position_keys(target_rows, target_columns)
    result: list[Arrival] = []
    while len(targets):
        first = np.ones(len(targets), np.bool_)
        first[1:] = targets[1:] != targets[:-1]
        units = Cells(target_rows[first], target_columns[first])
        result.append((units, values[first], when[first][:, None], origin[first][:, None]))
        if first.all():
            break
        rest = ~first
        target_rows, target_columns, values, when, origin, targets = (
            v[rest] for v in (target_rows, target_columns, values, when, origin, targets)
        )
    return result


def _pairs(delivery: Delivery) -> tuple[Array, Array, Array, Array, Array]:
    """Return row and column of sender and receiver and the latency of every pair of a delivery by pairs or lines."""
    if delivery.kind == "pairs":
        assert delivery.senders is not None and delivery.receivers is not None
        return (*delivery.senders, *delivery.receivers, delivery.latency)
    if delivery.line_pairs is None:
        rows, columns = (v.ravel() for v in delivery.source.cells())
        count, length = len(rows), len(delivery.line)
        sender_rows, sender_columns = np.repeat(rows, length), np.repeat(columns, length)
        line, latency = np.tile(np.asarray(delivery.line), count), np.tile(delivery.latency, count)
        delivery.line_pairs = (
            (sender_rows, sender_columns, line, sender_columns, latency)
            if delivery.axis == 0
            else (sender_rows, sender_columns, sender_rows, line, latency)
        )
    return delivery.line_pairs


def senders_of(delivery: Delivery, receivers: UnitSet, origin: Any) -> tuple[Array, Array, Array]:
    """Return row, column and latency of the sender of every receiver of an arrival, flat; not for shifts."""
    if delivery.kind == "pairs":
        pair_rows, pair_columns, _, _, latency = _pairs(delivery)
        pair = np.broadcast_to(np.asarray(origin), receivers.shape).ravel() - (delivery.rank << 32)
        return pair_rows[pair], pair_columns[pair], latency[pair]
    rows, columns = (values.ravel() for values in receivers.cells())
    along, across = (rows, columns) if delivery.axis == 0 else (columns, rows)
    source_rows, source_columns = delivery.source.cells()
    position = int((source_rows if delivery.axis == 0 else source_columns).ravel()[0])
    fixed = np.full(len(across), position)
    latency = delivery.latency[along - delivery.line.start]
    return (fixed, across, latency) if delivery.axis == 0 else (across, fixed, latency)


def reach(delivery: Delivery, receivers: UnitSet) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the (sender, receiver) pairs of a delivery that end in `receivers`, in class coordinates."""
    if delivery.kind == "shift":
        dy, dx = delivery.offset
        rows, columns = (v.ravel() for v in delivery.source.cells())
        targets = np.stack([rows + dy, columns + dx], 1)
        sources = np.stack([rows, columns], 1)
    else:
        pair_rows, pair_columns, target_rows, target_columns, _ = _pairs(delivery)
        sources = np.stack([pair_rows, pair_columns], 1)
        targets = np.stack([target_rows, target_columns], 1)
    y, x = (v.ravel() for v in receivers.cells())
    wanted = np.isin(position_keys(targets[:, 0], targets[:, 1]), position_keys(y, x))
    return [
        ((s[0], s[1]), (t[0], t[1])) for s, t in zip(sources[wanted].tolist(), targets[wanted].tolist(), strict=True)
    ]
