"""Connects the queues of a program: follows every color from the queues that send it to those that read it.

Runs once for a program. Its cost grows with the grid only by whole-array operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import targets
from ...operations.prices import NONE as NO_PRICES
from ...operations.prices import Prices
from ..findings import FINDING, Code
from ..tables.format import INPUT, NONE, TASK_TYPES, Tables
from .classes import Classes, areas_of, paint
from .model import (
    LEAVES,
    LOST,
    NOWHERE,
    PARTLY_UNREAD,
    SWALLOWED,
    UNBOUNDED,
    UNROUTED,
    UNUSED_ROOM,
    WAY,
    Fabric,
    HostStream,
)
from .priorities import blockable_microthreads, levels_of, main_levels
from .routers import Ends, colors_by_router, routers_of, switched_colors
from .routes import RAMP, Paths, Routers, trace
from .ways import Ways

Array: TypeAlias = NDArray[Any]


class _Use(NamedTuple):
    """A queue that serves a color, and the PEs where it does."""

    queue: int
    pes: Array


@dataclass
class _Pairs:
    """Paths between two queues: fields of `Paths`."""

    source: list[Array] = field(default_factory=list[Array])
    target: list[Array] = field(default_factory=list[Array])
    latency: list[Array] = field(default_factory=list[Array])
    port: list[Array] = field(default_factory=list[Array])
    back: list[Array] = field(default_factory=list[Array])
    words: list[Array] = field(default_factory=list[Array])


class _Sink(NamedTuple):
    color: int
    owner: int


def fabric_of(tables: Tables, prices: Prices = NO_PRICES) -> Fabric:
    """Return the fabric of checked tables, with prices instead of those of its target.

    Raises LoomError for an unknown target, classes without PEs or that share some, and static routes in a circle.
    """
    return _Connector(tables, prices).connect()


class _Connector:
    def __init__(self, tables: Tables, prices: Prices) -> None:
        self.tables = tables
        program = tables["program"][0]
        self.target = prices.apply(targets.fabric(tables.strings[int(program["target"])]))
        self.width, self.height = int(program["width"]), int(program["height"])
        self.count = self.width * self.height
        self.classes = Classes(tables, self.target, self.width, self.height)
        records = tables["queues"]
        self.owners: list[int] = records["owner"].tolist()
        self.outgoing: list[bool] = (records["direction"] != INPUT).tolist()
        self.sizes = [self._units(owner) for owner in self.owners]
        self.colors = [self._colors(record) for record in records]
        self.served = [_present(colors) for colors in self.colors]
        self.flags = [np.zeros(size, np.uint8) for size in self.sizes]
        self.tally: list[Array | None] = [None] * len(records)
        self.room: list[int] = records["room"].astype(np.int64).tolist()
        for queue, outgoing in enumerate(self.outgoing):
            if outgoing:
                self.room[queue] = UNUSED_ROOM
        self.network = [NOWHERE] * len(records)
        self.sinks: dict[_Sink, int] = {}
        self.to_sinks: dict[int, list[tuple[Array, int]]] = {}
        self.sink_senders: list[int] = []
        self.pairs: dict[tuple[int, int], _Pairs] = {}
        self.switched: list[Ends] = []
        self.host_queues: dict[int, Array] = {}
        self.lost: list[Array] = []
        self.left: list[Array] = []
        self.unread: list[Array] = []
        self.findings: list[tuple[Any, ...]] = []

    # Tables

    def _units(self, owner: int) -> int:
        return int(self.classes.class_first[owner + 1] - self.classes.class_first[owner])

    def _pes(self, owner: int) -> Array:
        return self.classes.unit_pes[self.classes.class_first[owner] : self.classes.class_first[owner + 1]]

    def _colors(self, record: Any) -> Array:
        """Return the color that a queue serves on each unit."""
        pes = self._pes(int(record["owner"]))
        colors = np.full(len(pes), NOWHERE, np.int16)
        first, count = int(record["colors"]), int(record["color_count"])
        rows = columns = None
        for served in self.tables["queue_colors"][first : first + count]:
            for across, down in areas_of(self.tables, served):
                if len(across) == self.width and len(down) == self.height:
                    colors[:] = served["color"]
                    continue
                if rows is None or columns is None:
                    rows, columns = np.divmod(pes, self.width)
                colors[_among(rows, down) & _among(columns, across)] = served["color"]
        return colors

    def _uses(self, color: int, *, outgoing: bool) -> Iterator[_Use]:
        """Yield the queues of a direction that serve a color."""
        for queue, served in enumerate(self.served):
            if self.outgoing[queue] == outgoing and color in served:
                pes, mine = self._pes(self.owners[queue]), self.colors[queue] == color
                yield _Use(queue, pes if mine.all() else pes[mine])

    def _layers(self, uses: Sequence[_Use]) -> list[Array]:
        """Return the queues of each PE, int32 [P] each; more than one where a PE has several."""
        layers: list[Array] = []
        for queue, pes in uses:
            left = pes
            for layer in layers:
                if not len(left):
                    break
                free = layer[left] == NOWHERE
                layer[left[free]] = queue
                left = left[~free]
            if len(left):
                layers.append(np.full(self.count, NOWHERE, np.int32))
                layers[-1][left] = queue
        return layers

    # Colors

    def connect(self) -> Fabric:
        host_inputs, host_outputs = self._host_streams(out=False), self._host_streams(out=True)
        networks = {int(color): row for row, color in enumerate(self.tables["networks"]["color"].tolist())}
        readers_of_networks = np.full((len(self.tables["networks"]), self.count), NOWHERE, np.int32)
        with_switches = colors_by_router(self.tables)
        for color in range(len(self.tables["colors"])):
            readers = list(self._uses(color, outgoing=False))
            senders = list(self._uses(color, outgoing=True))
            if not readers and not senders and color not in with_switches:
                continue
            routers = routers_of(self.tables, color)
            if color in host_outputs:
                senders = self._to_host(color, senders, routers, host_outputs[color])
            if color in networks:
                self._connect_network(networks[color], senders, readers, readers_of_networks)
                continue
            self._from_host(color, readers, host_inputs)
            if color in with_switches:
                self.switched.append(self._ends(color, senders, readers))
                continue
            self._note_unrouted(color, readers, routers, host_inputs.get(color))
            if senders:
                self._connect_static(senders, readers, routers)
        return self._fabric(host_inputs, host_outputs, readers_of_networks)

    def _host_streams(self, *, out: bool) -> dict[int, Array]:
        """Return for each color with streams of a direction the PEs that they connect."""
        found: dict[int, Array] = {}
        for record in self.tables["host_streams"]:
            if bool(record["out"]) == out:
                connected = found.setdefault(int(record["color"]), np.zeros(self.count, np.uint8))
                paint(connected.reshape(self.height, self.width), areas_of(self.tables, record), 1)
        return found

    def _to_host(self, color: int, senders: list[_Use], routers: Routers, connected: Array) -> list[_Use]:
        """Connect PEs without a route that a stream to the host comes from; return the other senders."""
        rest: list[_Use] = []
        ends = (connected == 1) & (routers.receive.reshape(-1) == 0)
        for queue, pes in senders:
            goes = ends[pes]
            if goes.any():
                sink = self._sink(color, self.owners[queue])
                self.sink_senders[sink] += 1
                self.to_sinks.setdefault(queue, []).append((pes[goes], sink))
            if not goes.all():
                rest.append(_Use(queue, pes[~goes]))
        return rest

    def _sink(self, color: int, owner: int) -> int:
        key = _Sink(color, owner)
        if key not in self.sinks:
            self.sinks[key] = len(self.sinks)
            self.sink_senders.append(0)
        return self.sinks[key]

    def _connect_network(self, row: int, senders: Sequence[_Use], readers: Sequence[_Use], found: Array) -> None:
        for queue, _ in senders:
            self.network[queue] = row
        for queue, pes in readers:
            self.network[queue] = row
            found[row, pes] = queue

    def _count(self, queue: int, pes: Array, numbers: Any) -> None:
        """Count PEs that send to units of an input queue."""
        tally = self.tally[queue]
        if tally is None:
            tally = self.tally[queue] = np.zeros(self.sizes[queue], np.int32)
        tally[self.classes.pe_unit[pes]] += numbers

    def _from_host(self, color: int, readers: Sequence[_Use], host_inputs: dict[int, Array]) -> None:
        """Attach the queues in which a stream from the host ends to the stream."""
        connected = host_inputs.get(color)
        if connected is None:
            return
        mine = [_Use(queue, pes[connected[pes] == 1]) for queue, pes in readers]
        for queue, pes in mine:
            if len(pes):
                self._count(queue, pes, 1)
        self.host_queues[color] = self._stacked(self._layers(mine))

    def _stacked(self, layers: list[Array]) -> Array:
        return np.stack(layers) if layers else np.full((1, self.count), NOWHERE, np.int32)

    def _note_unrouted(self, color: int, readers: Sequence[_Use], routers: Routers, connected: Array | None) -> None:
        """Mark the units that read a color no route brings to their ramps; note data tasks that never start."""
        arrives = (routers.transmit.reshape(-1) >> RAMP) & 1 == 1
        if connected is not None:
            arrives |= connected == 1
        for queue, pes in readers:
            missing = pes[~arrives[pes]]
            self.flags[queue][self.classes.pe_unit[missing]] |= UNROUTED
        if arrives.any():
            return
        tasks = self.tables["tasks"]
        for queue, pes in readers:
            task = int(self.tables["queues"]["task"][queue])
            if task != NONE and TASK_TYPES[tasks["type"][task]] == "data":
                values = (color, 0, 0, 0, 0, 0)
                self.findings.append((Code.NEVER_STARTS, pes[0], task, tasks["where"][task], 0, values))

    def _ends(self, color: int, senders: Sequence[_Use], readers: Sequence[_Use]) -> Ends:
        for queue, pes in readers:
            # The router puts the wavelets of all senders into one order.
            self._count(queue, pes, 1)
        counts = np.zeros(self.count, np.uint8)
        for _, pes in senders:
            counts[pes] += 1
        return Ends(color, counts, self._stacked(self._layers(readers)))

    def _connect_static(self, senders: Sequence[_Use], readers: Sequence[_Use], routers: Routers) -> None:
        sending, reading = self._layers(senders), self._layers(readers)
        sends = np.zeros(self.count, np.bool_)
        for _, pes in senders:
            sends[pes] = True
        paths = trace(routers, np.flatnonzero(sends), self.target.timing)
        claimed = np.zeros(len(paths.source), np.bool_)
        found: dict[tuple[int, int], list[Array]] = {}
        for layer in reading:
            reader = layer[paths.target]
            here = reader >= 0
            claimed |= here
            numbers = np.bincount(paths.target[here], minlength=self.count)
            for queue, pes in readers:
                mine = pes[layer[pes] == queue]
                if len(mine):
                    self._count(queue, mine, numbers[mine])
            for other in sending:
                for receiver, sender, chosen in _between(other[paths.source], reader):
                    found.setdefault((receiver, sender), []).append(chosen)
        for (reader, sender), parts in sorted(found.items()):
            chosen = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
            pairs = self.pairs.setdefault((sender, reader), _Pairs())
            for of in fields(pairs):
                getattr(pairs, of.name).append(getattr(paths, of.name)[chosen])
        self._note_losses(sending, paths, claimed, routers)

    def _note_losses(self, sending: Sequence[Array], paths: Paths, claimed: Array, routers: Routers) -> None:
        """Note wavelets that nobody can read."""
        reaches = np.zeros(self.count, np.bool_)
        reaches[paths.source[claimed]] = True
        # Of a multicast some receivers may not read; but what nobody reads was sent in vain.
        unread = ~claimed
        vain = unread & ~reaches[paths.source]
        # What ends where it was sent, the machine swallows.
        home = (paths.lost == paths.lost_at) & (routers.receive.reshape(-1)[paths.lost] == 0)
        own = vain & (paths.source == paths.target)
        lost = np.concatenate([paths.lost[~home], paths.source[vain & ~own]])
        places = np.concatenate([paths.lost_at[~home], paths.target[vain & ~own]])
        _, first = np.unique(lost, return_index=True)
        self.lost += self._flag(sending, lost[first], places[first], LOST)
        _, first = np.unique(paths.left, return_index=True)
        self.left += self._flag(sending, paths.left[first], paths.left_at[first], LEAVES)
        swallowed = np.concatenate([paths.lost[home], paths.source[own]])
        self._flag(sending, swallowed, swallowed, SWALLOWED)
        partly = unread & ~vain
        self.unread += self._flag(sending, paths.source[partly], paths.target[partly], PARTLY_UNREAD)

    def _flag(self, sending: Sequence[Array], pes: Array, places: Array, flag: int) -> list[Array]:
        """Set a flag of the queues that some PEs send by; return queue, unit and the place beside the PE."""
        found: list[Array] = []
        for layer in sending if len(pes) else ():
            queues = layer[pes]
            for queue in _present(queues):
                mine = queues == queue
                units = self.classes.pe_unit[pes[mine]]
                self.flags[queue][units] |= flag
                found.append(np.stack([np.full(len(units), queue), units, places[mine]], 1).astype(np.int32))
        return found

    # All together

    def _ways(self) -> tuple[Ways, list[Array]]:
        """Return all ways, and of each queue the number of the list of each unit."""
        parts: dict[int, list[tuple[Array, Array]]] = {}
        unit, records = self.classes.pe_unit, self.tables["queues"]
        for queue, ends in self.to_sinks.items():
            for pes, sink in ends:
                ways = np.zeros(len(pes), WAY)
                ways["queue"] = len(self.owners) + sink
                parts.setdefault(queue, []).append((unit[pes], ways))
        for (sender, reader), pairs in self.pairs.items():
            source, target = _joined(pairs.source), _joined(pairs.target)
            ways = np.zeros(len(source), WAY)
            ways["offset"] = target - source
            ways["queue"] = reader
            for name in ("latency", "port", "back"):
                ways[name] = _joined(getattr(pairs, name))
            # What is on the way there and back always has room.
            tally = self.tally[reader]
            meets = tally is not None and int(tally.max(initial=0)) > 1
            ways["meets"] = meets
            held = _joined(pairs.words) + int(records["room"][sender]) + (0 if meets else int(records["room"][reader]))
            ways["capacity"] = np.maximum(held, ways["latency"] + ways["back"])
            parts.setdefault(sender, []).append((unit[source], ways))
            self.room[sender] = min(self.room[sender], self.room[reader])
        ways = Ways()
        lists = [
            ways.add(_joined([units for units, _ in parts[queue]]), _joined([each for _, each in parts[queue]]), size)
            if queue in parts
            else np.zeros(size, np.uint32)
            for queue, size in enumerate(self.sizes)
        ]
        return ways, lists

    def _fabric(self, host_inputs: dict[int, Array], host_outputs: dict[int, Array], networks: Array) -> Fabric:
        ways, lists = self._ways()
        sizes = [*self.sizes, *(self._units(sink.owner) for sink in self.sinks)]
        sink_colors = [np.full(self._units(sink.owner), NOWHERE, np.int16) for sink in self.sinks]
        sinks = [_Use(len(self.owners) + row, self._pes(sink.owner)) for row, sink in enumerate(self.sinks)]
        for ends in self.to_sinks.values():
            for pes, sink in ends:
                sink_colors[sink][self.classes.pe_unit[pes]] = list(self.sinks)[sink].color
        more = len(self.sinks)
        colors = [*self.colors, *sink_colors]
        senders = [0 if tally is None else int(tally.max(initial=0)) for tally in self.tally]
        classes = self.classes
        return Fabric(
            self.tables,
            self.target,
            self.width,
            self.height,
            classes.pe_class,
            classes.pe_unit,
            classes.class_first,
            classes.unit_pes,
            classes.words,
            np.array([*self.owners, *(sink.owner for sink in self.sinks)], np.int32),
            np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            _joined([np.zeros(0, np.int16), *colors]),
            _joined([np.zeros(0, np.uint8), *self.flags, *(np.zeros(size, np.uint8) for size in sizes[len(lists) :])]),
            _joined([np.zeros(0, np.uint32), *lists, *(np.zeros(size, np.uint32) for size in sizes[len(lists) :])]),
            np.array([bool((each == NOWHERE).any()) for each in self.colors] + [False] * more, np.uint8),
            np.array(self.room + [UNBOUNDED] * more, np.int64),
            np.array(senders + self.sink_senders, np.int32),
            np.array(self.network + [NOWHERE] * more, np.int32),
            ways.first(),
            ways.all(),
            switched_colors(self.tables, self.switched, self.target.timing),
            networks,
            tuple(
                HostStream(color, connected, self.host_queues.get(color, self._stacked([])))
                for color, connected in host_inputs.items()
            ),
            tuple(
                HostStream(
                    color,
                    connected,
                    self._stacked(
                        self._layers([use for use, sink in zip(sinks, self.sinks, strict=True) if sink.color == color])
                    ),
                )
                for color, connected in host_outputs.items()
            ),
            np.array(self.findings, FINDING),
            _by_queue(self.lost),
            _by_queue(self.left),
            _by_queue(self.unread),
            levels_of(self.tables, self.target),
            main_levels(self.tables, self.target),
            blockable_microthreads(self.tables, self.target),
        )


def _between(senders: Array, readers: Array) -> list[tuple[int, int, Array]]:
    """Return the pairs of each input and each output queue: which they are, in order."""
    both = (senders >= 0) & (readers >= 0)
    if not both.any():
        return []
    chosen = np.flatnonzero(both)
    senders, readers = senders[chosen], readers[chosen]
    base = int(readers.max()) + 1
    keys = senders.astype(np.int64) * base + readers
    if bool((keys == keys[0]).all()):
        return [(int(readers[0]), int(senders[0]), chosen)]
    distinct, numbers = np.unique(keys, return_inverse=True)
    if len(distinct) < 1 << 16:
        numbers = numbers.astype(np.uint16)
    order = np.argsort(numbers, kind="stable")
    bounds = np.searchsorted(numbers[order], np.arange(len(distinct) + 1))
    return [
        (key % base, key // base, chosen[order[bounds[row] : bounds[row + 1]]])
        for row, key in enumerate(distinct.tolist())
    ]


def _among(values: Array, indices: range) -> Array:
    inside = (values >= indices.start) & (values < indices.stop)
    return inside if indices.step == 1 else inside & ((values - indices.start) % indices.step == 0)


def _present(numbers: Array) -> list[int]:
    """Return the distinct numbers of an array that are not `NOWHERE`."""
    return np.flatnonzero(np.bincount(numbers[numbers >= 0])).tolist()


def _joined(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _by_queue(parts: list[Array]) -> Array:
    rows = np.concatenate([np.zeros((0, 3), np.int32), *parts])
    return rows[np.argsort(rows[:, 0], kind="stable")]
