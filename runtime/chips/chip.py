"""Chip: the cores of a program, and where each is in its class, from checked tables."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..places import Array
from ..tables.format import EXPORT_FUNCTION, NONE, Tables


class Side(NamedTuple):
    """The cores at one end of a channel."""

    cls: int
    many: bool
    """True if several cores of a row take part: each has a lane, and its own counts."""


class Ring(NamedTuple):
    """The slots of a channel that a core uses in a shared memory: first byte, and the one behind the last."""

    row: int
    channel: int
    space: int
    start: int
    end: int
    where: int


class ChannelCounts(NamedTuple):
    """The state of a channel on a row of the grid, as reports read it: counts of each core of a side, or lane."""

    acquired: list[int]
    committed: list[int]
    waited: list[int]
    released: list[int]
    ready: list[int]
    credits: list[int]
    issued: list[int]


class Waiting(NamedTuple):
    """A core that waits at an operation of a channel, or rests until others have changed shared memory."""

    unit: int
    channel: int
    action: str
    """"acquire", "wait" or "drain", or "rest", which has no channel."""
    where: int
    task: int
    found: int = 0
    wanted: int = 0
    """What a resting core has found in memory, and what it compares that with."""


class Chip:
    """The cores of a program, numbered by rows of the grid."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        program = tables["program"][0]
        self.width, self.height = int(program["width"]), int(program["height"])
        shape = self.height, self.width
        self.class_of = np.full(shape, -1, np.int32)
        """The class of each core, [height, width], -1 where there is none."""
        for number, record in enumerate(tables["classes"]):
            first = int(record["regions"])
            for x, columns, x_step, y, rows, y_step in tables["regions"][
                first : first + int(record["region_count"])
            ].tolist():
                self.class_of[y : y + rows * y_step : y_step, x : x + columns * x_step : x_step] = number
        self.blocks = self.height
        """The rows of a device; the rest are other devices' blocks."""
        self.ordinal = np.zeros(shape, np.int64)
        """The number of each core in its class, by rows of the grid."""
        self.column = np.zeros(shape, np.int64)
        """The number of each core among those of its class and row."""
        for number in range(len(tables["classes"])):
            mine = self.class_of == number
            self.ordinal[mine] = np.arange(int(mine.sum()))
            self.column[mine] = (np.cumsum(mine, axis=1) - 1)[mine]

    def text(self, row: int) -> str:
        """Return a string."""
        return self.tables.strings[int(row)]

    def task_name(self, row: int) -> str:
        """Return the name of a task as the host knows it: a kernel may have another in the program."""
        exports = self.tables["exports"]
        known = exports["name"][(exports["type"] == EXPORT_FUNCTION) & (exports["row"] == row)]
        return self.text(known[0] if len(known) else self.tables["tasks"]["name"][row])

    def class_name(self, number: int) -> str:
        """Return the name of a class."""
        return self.text(self.tables["classes"]["name"][number])

    def channel_name(self, number: int) -> str:
        """Return the name of a channel."""
        return self.text(self.tables["channels"]["name"][number])

    def where(self, row: int) -> str | None:
        """Return a source place, None for none."""
        return self.text(row) or None

    def unit_name(self, unit: int) -> str:
        """Return the name of a core in messages."""
        y, x = divmod(int(unit), self.width)
        return f"{self.row_name(y)} {'AIC' if x == 0 else f'AIV{x - 1}'}"

    def row_name(self, y: int) -> str:
        """Return the name of a row of the grid in messages."""
        device, block = divmod(y, self.blocks)
        return f"block {block}" if self.blocks == self.height else f"device {device} block {block}"

    @cached_property
    def sides(self) -> list[tuple[Side, Side]]:
        """The producers and consumers of each channel."""
        return [
            (self._side(int(channel["producer"])), self._side(int(channel["consumer"])))
            for channel in self.tables["channels"]
        ]

    def _side(self, cls: int) -> Side:
        return Side(cls, self.columns(cls) > 1)

    def columns(self, cls: int) -> int:
        """Return how many cores of a class, which is a rectangle, a row has."""
        return int((self.class_of == cls).sum(axis=1).max())

    def rows(self, channel: int) -> list[int]:
        """Return the rows of the grid that have a channel."""
        producer = self.sides[channel][0].cls
        return np.flatnonzero((self.class_of == producer).any(axis=1)).tolist()

    @cached_property
    def answered(self) -> list[list[int]]:
        """For each channel those in the other direction whose credits alone do not protect their entries.

        Consumers of the channel produce there, so an entry here proves what its sender had released there."""
        channels = self.tables["channels"]
        return [
            [
                number for number, other in enumerate(channels)
                if (other["seed"] or other["depth"] % other["period"])
                and other["producer"] == channel["consumer"] and other["consumer"] == channel["producer"]
            ]
            for channel in channels
        ]  # fmt: skip

    def units_of(self, cls: int) -> Array:
        """Return the cores of a class, by rows of the grid."""
        return np.flatnonzero(self.class_of == cls)


BETWEEN_ARRAYS = 1 << 16
"""Bytes left free behind an array, so that an access beyond its end is reported and does not reach the next."""

ALIGNMENT = 512
"""Bytes at a multiple of which an array begins."""


class Spaces:
    """The memories of a program's cores: an array of bytes for each, which hosts and executors see."""

    def __init__(self, chip: Chip) -> None:
        self.chip = chip
        records = chip.tables["spaces"]
        self.bytes: list[Array] = []
        """Of a space of a class the bytes of its cores, contiguous; of a shared one, its own."""
        self.arrays: list[list[tuple[int, int, str]]] = [[] for _ in records]
        """What the host has put into a shared memory: first byte, the one behind the last, and a name."""
        for record in records:
            owner = int(record["owner"])
            units = 1 if owner == NONE else len(chip.units_of(owner))
            self.bytes.append(np.zeros(units * int(record["size"]), np.uint8))

    def size(self, space: int) -> int:
        """Return the bytes that a core sees of a memory."""
        record = self.chip.tables["spaces"][space]
        return len(self.bytes[space]) if record["owner"] == NONE else int(record["size"])

    def shared(self, name: str) -> int:
        """Return the memory of all cores of a name."""
        records = self.chip.tables["spaces"]
        return next(
            row for row, each in enumerate(records) if each["owner"] == NONE and self.chip.text(each["name"]) == name
        )

    def of_class(self, cls: str, name: str) -> Array:
        """Return the bytes of a memory of the cores of a class, [cores by rows of the grid, bytes]."""
        for row, record in enumerate(self.chip.tables["spaces"]):
            owner = int(record["owner"])
            if owner != NONE and self.chip.class_name(owner) == cls and self.chip.text(record["name"]) == name:
                return self.bytes[row].reshape(-1, int(record["size"]))
        raise KeyError(name)

    def extend(self, name: str, count: int, label: str = "") -> int:
        """Extend a shared memory by an array of `count` zero bytes and return its address.

        Tiles must not reach beyond the array; `label` is its name in errors.
        """
        space = self.shared(name)
        arrays, size = self.arrays[space], len(self.bytes[space])
        before = size + BETWEEN_ARRAYS if arrays else size
        address = -(-before // ALIGNMENT) * ALIGNMENT
        arrays.append((address, address + count, label))
        self.bytes[space] = np.concatenate([self.bytes[space], np.zeros(address + count - size, np.uint8)])
        return address
