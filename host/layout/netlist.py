"""Netlists of layouts: blocks of PEs, the nets that their colors are, and the links between their ports.

A block is a rectangle of PEs with programs, such as a code region or the PE of a stream from the host. A net is one
color of the user's: everywhere it is painted it has one physical value. A link joins the net of a port to the net of
another port, and since wavelets keep their color on the way, all nets that links join have one value. Coordinates
grow east and south; those of a `Paint` count from the corner of its block.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...diagnostics.errors import LoomError
from ...diagnostics.records import record
from ...targets.model import Target

STEPS = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
"""What one step in each direction adds to x and y."""

OPPOSITE = {"north": "south", "east": "west", "south": "north", "west": "east"}

EDGES = {"north": "top", "east": "right", "south": "bottom", "west": "left"}
"""The names of a block's edges in messages."""

PE = tuple[int, int]
"""The x and y of a processing element on the fabric."""


class ImpossibleLayout(LoomError):
    """A layout that has no solution, or none that was found.

    `subjects` are the names of the blocks, links and nets that the message is about.
    """

    def __init__(self, message: str, subjects: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.subjects = tuple(subjects)


@record
class Fabric:
    """The PEs to place on, and the colors to choose from."""

    width: int
    height: int
    colors: tuple[int, ...]
    """What a color without a value may get, in the order of preference."""
    switch_colors: frozenset[int]
    """The colors that may have several routing positions."""

    @classmethod
    def of(cls, target: Target, size: tuple[int, int] | None = None, reserved: Iterable[int] = ()) -> Fabric:
        """Return the fabric of a machine, or a smaller one of `size`, without the colors that something else uses."""
        width, height = size or target.fabric
        kept = set(reserved)
        colors = tuple(color for color in range(target.routable_colors) if color not in kept)
        return cls(width, height, colors, frozenset(target.switch_colors))


@record
class Block:
    """A rectangle of PEs with programs; `at` is the corner north and west, None if any place will do."""

    name: str
    width: int
    height: int
    at: PE | None = None


@record
class Position:
    """One routing position of a color: the ports of the router that wavelets come from, and those they go to."""

    rx: frozenset[str]
    tx: frozenset[str]


@record
class Paint:
    """A rectangle of PEs of a block on which a net's color is in use.

    Without positions, programs name the color there but it has no route. Those of a port's PEs contain the direction
    of the port, unless the port has none before it is routed.
    """

    block: str
    x: int
    y: int
    width: int = 1
    height: int = 1
    positions: tuple[Position, ...] = ()


@record
class Net:
    """One color: where it is in use, the value that the user gave it, and values that it must not get."""

    name: str
    paints: tuple[Paint, ...] = ()
    value: int | None = None
    avoid: frozenset[int] = frozenset()


@record
class Port:
    """All PEs along one side of a block, where a net leaves or enters it.

    `side` is a direction; None for a block of one PE, whose side the router chooses.
    """

    block: str
    net: str
    side: str | None


@record
class Link:
    """A connection of each PE of one port to the PE of the same number of another; west to east, north to south."""

    name: str
    source: Port
    target: Port


@record
class Hop:
    """A router on the way of a link: where wavelets come from and where they go."""

    x: int
    y: int
    rx: str
    tx: str


@record
class Lane:
    """The way from one PE of the source to one PE of the target, both excluded.

    `leaves` is the direction that wavelets take out of the source PE, `enters` the one they come from at the target
    PE. Ports of adjacent PEs that face each other have no hops between them.
    """

    leaves: str
    hops: tuple[Hop, ...]
    enters: str


@record
class Layout:
    """A result: the corner of every block, the value of every net, the lanes of every link, in the order of PEs."""

    places: dict[str, PE]
    values: dict[str, int]
    lanes: dict[str, tuple[Lane, ...]]
