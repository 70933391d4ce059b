"""`Fabric`: what both executors need of a program's grid, colors and routes, as flat arrays.

P is the number of PEs, numbered y * width + x. Units are the PEs of a class, numbered by rows of the grid. Queues are
the rows of the tables' section, and behind them the *sinks*, the ends of streams to the host: a sink takes what the
units of one class send, of one color. A delivery to a sink has latency 0 and comes from the PE itself.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...diagnostics.records import record
from ...targets.model import Target
from ..tables.format import Tables

Array: TypeAlias = NDArray[Any]

UNBOUNDED = 1 << 40
"""Room of a queue that is never full."""

UNUSED_ROOM = 1 << 16
"""Room of an output queue from which nothing arrives anywhere."""

NOWHERE = -1
"""In place of a class, a unit, a color or a queue: none."""

UNROUTED, SWALLOWED, LOST, PARTLY_UNREAD, LEAVES = 1, 2, 4, 8, 16
"""Flags of a queue on a unit. Of an input queue: no route brings its color to the PE. Of an output queue: its wavelets
end at their own router or ramp; some end where they should not, which is an error; some receivers of a multicast have
no queue for the color, so that the wavelets of the unit are counted (`Fabric.unread`)."""

WAY: np.dtype[Any] = np.dtype(
    [
        ("offset", "<i4"), ("queue", "<u4"), ("latency", "<u4"), ("port", "<u4"), ("back", "<u4"), ("capacity", "<u4"),
        ("meets", "<u4"),
    ],
    align=True,
)  # fmt: skip

"""Where wavelets of a unit arrive: at `queue` of the PE whose number is larger by `offset`, `latency` cycles after they
leave, by `port` of its router. Wavelets of several senders that arrive in one cycle come in the order of (port, row of
the sender, column of the sender, output queue). The way holds `capacity` wavelets, those in the queues at its ends
included; a credit needs `back` cycles for the way back. A way to a sink is never full: its capacity is 0. `meets` is 1
if others send to the queue as well: they share its words, which `capacity` then leaves out."""


@record
class SwitchedColor:
    """The routers of a color whose wavelets go from router to router: it has switches, filters or swaps somewhere.

    Ports are bits by their place in `targets.wavelets.PORTS`. Arrays over PEs are bytes.
    """

    color: int
    receive: Array
    """[4, P] ports that each position takes wavelets from."""
    transmit: Array
    """[4, P] ports that it sends them to."""
    valid: Array
    """[4, P] 1 for positions that the switch has."""
    ring: Array
    """[P] 1 if the position behind the last one is the first."""
    pop_mode: Array
    """[P] by number in `POP_MODES`."""
    current: Array
    """[P] position at the start."""
    senders: Array
    """[P] output queues of the PE that send the color."""
    live: Array
    """[P] ports that can bring wavelets."""
    crowded: Array
    """[4, P] 1 where several ports, or several queues of the PE, can bring wavelets that a position takes: there time
    decides. All 0 if that is nowhere so."""
    held: Array
    """uint16 [5, P] wavelets that the link to each port holds; 0 at the ramp."""
    sets: Array
    """[4, P] which of its ports each position names itself, as bits of `SETS_RECEIVE` and `SETS_TRANSMIT`."""
    teardown: Array
    """[P] 1 where the color starts in a teardown phase."""
    changes: bool
    """True if programs may change the routes while they run: then all above is how it is at the start."""
    readers: Array
    """int32 [layers, P] input queues of the PE that get what comes down the ramp, else `NOWHERE`; mostly one layer."""
    other: int
    """The color that it swaps with on some routers, or that with it; else `NOWHERE`."""
    swap: Array
    """[P] ports from which it takes the wavelets of the other color instead of its own; [0] if there is none."""
    filter_kind: Array
    """[P] by place in `FILTER_KINDS` from 1 on, 0 without a filter; [0] if no router has one."""
    filter_flags: Array
    """[P] bits by place in `FILTER_FLAGS`."""
    filter_numbers: Array
    """int32 [numbers, P] by place in `FILTER_NUMBERS`; `NOWHERE` where a filter does not have the number."""


@record
class HostStream:
    """A color by which the host sends words to PEs, or PEs send words to the host."""

    color: int
    connected: Array
    """[P] 1 for PEs that the stream leads to or comes from."""
    queues: Array
    """Into PEs: int32 [layers, P] input queues that serve the color, else `NOWHERE`. Out of PEs: int32 [1, P] sinks."""


@record
class Fabric:
    """The fabric of a program. Arrays are contiguous and never changed."""

    tables: Tables
    target: Target
    width: int
    height: int

    # Classes
    pe_class: Array
    """int16 [P] class of each PE, else `NOWHERE`."""
    pe_unit: Array
    """int32 [P] its unit, else `NOWHERE`."""
    class_first: Array
    """int64 [classes + 1] where the units of each class begin in `unit_pes`."""
    unit_pes: Array
    """int32 [all units] PE of each unit of each class."""
    words: Array
    """int64 [classes] 16-bit words of memory of each PE, also odd ones; some may be beyond those in use."""

    # Queues, and behind them the sinks
    queue_class: Array
    """int32 [queues]."""
    queue_first: Array
    """int64 [queues + 1] where the units of each queue begin in the three arrays that follow."""
    colors: Array
    """int16 [units of all queues] row of the color that the queue serves on the unit, else `NOWHERE`."""
    flags: Array
    """uint8 [units of all queues] UNROUTED and the like."""
    way_lists: Array
    """uint32 [units of all queues] number of the list of ways of an output queue on the unit; list 0 is empty."""
    colorless: Array
    """uint8 [queues] 1 if the queue has no color on some unit."""
    room: Array
    """int64 [queues] wavelets that an input queue holds; those that every receiver of an output queue does."""
    senders: Array
    """int32 [queues] the largest number of PEs that send to one unit of an input queue: with several, their wavelets
    come to it in the order of time."""
    network: Array
    """int32 [queues] row of the network whose messages the queue sends or receives, else `NOWHERE`."""

    # Ways
    list_first: Array
    """uint32 [lists + 1] where each list begins in `ways`."""
    ways: Array
    """WAY [all], of each list by receiving queue."""

    switched: tuple[SwitchedColor, ...]
    network_readers: Array
    """int32 [networks, P] input queue of each PE that gets messages, else `NOWHERE`."""
    host_inputs: tuple[HostStream, ...]
    host_outputs: tuple[HostStream, ...]
    findings: Array
    """FINDING [n] warnings of what can be seen on loading."""

    # For reports
    lost: Array
    """int32 [n, 3] output queue, unit, and the PE at whose router, or ramp, its wavelets end; each unit once."""
    left: Array
    """int32 [n, 3] output queue, unit, and the PE at whose router wavelets leave the grid; each unit once."""
    unread: Array
    """int32 [n, 3] output queue, unit, and a PE that gets its wavelets and has no queue for the color."""

    # Priorities
    levels: Array
    """uint8 [classes] levels that the operations of a class on queues and FIFOs have, as bits by their places in
    `targets.model.LEVELS`; 0 if they are all alike, so that none holds up another."""
    main_levels: Array
    """uint8 [classes] level of the operations for which tasks wait."""

    blockable: Array
    """uint32 [classes] microthreads that the code of a class, or its start, may block, as bits."""

    def units(self, number: int) -> Array:
        """Return the PEs of a class."""
        return self.unit_pes[self.class_first[number] : self.class_first[number + 1]]

    def colors_of(self, queue: int) -> Array:
        """Return the color of each unit of a queue."""
        return self.colors[self.queue_first[queue] : self.queue_first[queue + 1]]

    def flags_of(self, queue: int) -> Array:
        """Return the flags of each unit of a queue."""
        return self.flags[self.queue_first[queue] : self.queue_first[queue + 1]]

    def ways_of(self, queue: int, unit: int) -> Array:
        """Return the ways of the wavelets that a unit sends on an output queue."""
        number = int(self.way_lists[int(self.queue_first[queue]) + unit])
        return self.ways[self.list_first[number] : self.list_first[number + 1]]

    def host_capacities(self, queues: Array) -> Array:
        """Return how many wavelets a way from the host to each of some input queues holds.

        These are the words of a link, and those of the queue, unless senders that meet there share them; what is on the
        way always has room.
        """
        own = np.where(self.senders[queues] > 1, 0, self.room[queues])
        return np.maximum(own + self.target.timing.link_words, self.host_back)

    @property
    def host_back(self) -> int:
        """Return how many cycles a credit needs to the host."""
        return self.target.timing.hop

    @property
    def sinks(self) -> range:
        """Return the queues that are sinks."""
        return range(len(self.tables["queues"]), len(self.queue_class))
