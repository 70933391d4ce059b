"""Placement of blocks on the fabric: where each goes whose place is left open.

Blocks are placed one after the other, the one with the most links to placed blocks first, where its links are
shortest. A `Channels` says how many PEs stay free around them, through which links go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...diagnostics.records import record
from .netlist import EDGES, OPPOSITE, PE, STEPS, Block, Fabric, ImpossibleLayout, Link, Port

MAX_SEARCH_AREA = 256
"""PEs of the largest fabric that is searched through where blocks do not fit one after the other."""

MAX_SEARCH_STEPS = 50_000
"""Places tried by that search."""


@dataclass(frozen=True)
class Channels:
    """Free PEs kept along the sides of a block."""

    ports: int = 1
    """Along each side with a port, for each PE of the port."""
    lanes: int = 0
    """Along all four sides, for each PE of the longest port of the block."""


NO_CHANNELS = Channels(ports=0)


def port_pes(block: Block, side: str | None) -> list[PE]:
    """Return the PEs along a side of a block, counted from its corner, from west to east or north to south."""
    if side is None:
        return [(0, 0)]
    if side in ("north", "south"):
        y = 0 if side == "north" else block.height - 1
        return [(x, y) for x in range(block.width)]
    x = 0 if side == "west" else block.width - 1
    return [(x, y) for y in range(block.height)]


def place(
    blocks: Sequence[Block], links: Sequence[Link], fabric: Fabric, channels: Channels = Channels()
) -> dict[str, PE]:
    """Return the corner of every block.

    Raises ImpossibleLayout for blocks that overlap, are outside the fabric, have a port at its edge, or have no room.
    """
    if all(block.at is None for block in blocks) and (found := _place_freely(blocks, links, fabric, channels)):
        return found
    placement = _Placement(blocks, links, fabric, channels)
    placement.place_fixed()
    placement.place_others()
    return {block.name: placement.places[block.name] for block in blocks}


def _place_freely(
    blocks: Sequence[Block], links: Sequence[Link], fabric: Fabric, channels: Channels
) -> dict[str, PE] | None:
    """Return places grown in all directions from the first block, or None if these are more than the fabric has."""
    longest = max(len(port_pes(block, side)) for block in blocks for side in STEPS)
    around = 8 + 2 * longest * max(channels.ports, channels.lanes)
    width, height = (
        min(2 * limit, 2 * sum(2 * side + around for side in sides))
        for limit, sides in (
            (fabric.width, [block.width for block in blocks]),
            (fabric.height, [block.height for block in blocks]),
        )
    )
    placement = _Placement(blocks, links, replace(fabric, width=width, height=height), channels)
    placement.start = (width // 2, height // 2)
    try:
        placement.place_fixed()
        placement.place_others()
    except ImpossibleLayout:
        return None
    boxes = [placement.with_channels(block, placement.places[block.name]) for block in blocks]
    west, north = min(box[0] for box in boxes), min(box[1] for box in boxes)
    if max(box[2] for box in boxes) - west > fabric.width or max(box[3] for box in boxes) - north > fabric.height:
        return None
    return {name: (x - west, y - north) for name, (x, y) in placement.places.items()}


def block_grid(blocks: Sequence[Block], places: Mapping[str, PE], fabric: Fabric) -> np.ndarray:
    """Return the index of the block at every PE, [y, x], and -1 where there is none."""
    grid = np.full((fabric.height, fabric.width), -1, dtype=np.int32)
    for index, block in enumerate(blocks):
        x, y = places[block.name]
        grid[y : y + block.height, x : x + block.width] = index
    return grid


@record
class _End:
    """One side of a block and the port that it is linked to."""

    side: str | None
    other: Port
    count: int
    """PEs of the port."""


class _Placement:
    def __init__(self, blocks: Sequence[Block], links: Sequence[Link], fabric: Fabric, channels: Channels) -> None:
        self.blocks = {block.name: block for block in blocks}
        self.numbers = {block.name: number for number, block in enumerate(blocks)}
        self.fabric, self.channels = fabric, channels
        self.start: PE = (0, 0)
        """Where the first block goes, near which those are placed that have no link to placed ones."""
        self.places: dict[str, PE] = {}
        self.box: tuple[int, int, int, int] | None = None
        """The rectangle around all placed blocks: west, north, east, south."""
        self.index = np.full((fabric.height, fabric.width), -1, dtype=np.int32)
        """The block at every PE, by its position among the blocks."""
        self.kept = np.zeros((fabric.height, fabric.width), dtype=bool)
        """PEs that no other block may take: those of blocks, and those in front of ports."""
        self.ends: dict[str, list[_End]] = {name: [] for name in self.blocks}
        for link in links:
            count = len(port_pes(self.blocks[link.source.block], link.source.side))
            self.ends[link.source.block].append(_End(link.source.side, link.target, count))
            self.ends[link.target.block].append(_End(link.target.side, link.source, count))

    # What is fixed

    def place_fixed(self) -> None:
        """Put the blocks that have a place there."""
        for block in self.blocks.values():
            self._check_size(block)
            if block.at is not None:
                self._check_inside(block, block.at)
                self._put(block, block.at)
        for block in self.blocks.values():
            if block.at is not None:
                for end in self.ends[block.name]:
                    self._check_exit(block, block.at, end.side)

    def _check_size(self, block: Block) -> None:
        if block.width > self.fabric.width or block.height > self.fabric.height:
            raise ImpossibleLayout(
                f"{_sized(block)} is larger than the fabric of {self._size()} PEs; make it smaller or take a larger "
                "fabric",
                [block.name],
            )

    def _check_inside(self, block: Block, at: PE) -> None:
        x, y = at
        last = (x + block.width - 1, y + block.height - 1)
        if x < 0 or y < 0 or last[0] >= self.fabric.width or last[1] >= self.fabric.height:
            raise ImpossibleLayout(
                f"{_sized(block)} is placed at {at} and ends at {last}, outside the fabric, whose PEs are (0, 0) to "
                f"({self.fabric.width - 1}, {self.fabric.height - 1}); place it inside",
                [block.name],
            )
        under = self.index[y : y + block.height, x : x + block.width]
        taken = np.argwhere(under >= 0)
        if len(taken):
            row, column = (int(number) for number in taken[0])
            other = list(self.blocks.values())[int(under[row, column])]
            raise ImpossibleLayout(
                f"{_sized(block)} is placed at {at} and overlaps {_sized(other)} at {self.places[other.name]}: PE "
                f"({x + column}, {y + row}) is in both, and {len(taken)} in all; move one of them",
                [block.name, other.name],
            )

    def _check_exit(self, block: Block, at: PE, side: str | None) -> None:
        if side is not None and side not in self._sides_with_room(block, at):
            raise ImpossibleLayout(
                f"{_sized(block)} at {at} has a port on its {EDGES[side]} edge, which is the edge of the fabric of "
                f"{self._size()} PEs: no link can reach it; place the region at least one PE away from that edge",
                [block.name],
            )

    def _sides_with_room(self, block: Block, at: PE) -> set[str]:
        x, y = at
        room = {
            "west": x > 0,
            "north": y > 0,
            "east": x + block.width < self.fabric.width,
            "south": y + block.height < self.fabric.height,
        }
        return {side for side, free in room.items() if free}

    def _put(self, block: Block, at: PE) -> None:
        x, y = at
        self.places[block.name] = at
        x0, y0, x1, y1 = self.box or (x, y, x, y)
        self.box = (min(x0, x), min(y0, y), max(x1, x + block.width), max(y1, y + block.height))
        self.index[y : y + block.height, x : x + block.width] = self.numbers[block.name]
        x0, y0, x1, y1 = self.with_channels(block, at)
        self.kept[max(y0, 0) : y1, max(x0, 0) : x1] = True

    def with_channels(self, block: Block, at: PE) -> tuple[int, int, int, int]:
        """Return the rectangle of a block with the PEs kept free in front of its ports: west, north, east, south."""
        x, y = at
        free = {side: self._channel(block, side) for side in STEPS}
        return x - free["west"], y - free["north"], x + block.width + free["east"], y + block.height + free["south"]

    def _channel(self, block: Block, side: str) -> int:
        """Return how many PEs stay free along a side of a block."""
        ends = self.ends[block.name]
        around = self.channels.lanes * max((end.count for end in ends), default=0)
        return max(around, self.channels.ports * max((end.count for end in ends if end.side == side), default=0))

    def _size(self) -> str:
        return f"{self.fabric.width} x {self.fabric.height}"

    # What is left open

    def place_others(self) -> None:
        """Find places for the other blocks."""
        for block in self._order():
            at = self._best(block)
            if at is None:
                self._search()
                return
            self._put(block, at)

    def _order(self) -> Iterator[Block]:
        """Yield the blocks without a place: next the one with the most links to placed ones, and last those whose
        port has no side, which go wherever there is room."""
        waiting = {name: block for name, block in self.blocks.items() if name not in self.places}
        pull = dict.fromkeys(waiting, 0)
        for name in waiting:
            pull[name] = sum(end.count for end in self.ends[name] if end.other.block in self.places)
        loose = {name for name in waiting if any(end.side is None for end in self.ends[name])}
        while waiting:
            name = max(waiting, key=lambda name: (name not in loose, pull[name]))
            block = waiting.pop(name)
            yield block
            for end in self.ends[name]:
                if end.other.block in waiting:
                    pull[end.other.block] += end.count

    def _best(self, block: Block) -> PE | None:
        """Return the free place with the shortest links, or None."""
        linked = [end for end in self.ends[block.name] if end.other.block in self.places]
        whole = (0, 0, self.fabric.width, self.fabric.height)
        if linked:
            corners = [self.places[end.other.block] for end in linked]
            others = [self.blocks[end.other.block] for end in linked]
            west, north = min(x for x, _ in corners), min(y for _, y in corners)
            east = max(x + other.width for (x, _), other in zip(corners, others, strict=True))
            south = max(y + other.height for (_, y), other in zip(corners, others, strict=True))
        else:
            west, north, east, south = self.box or (*self.start, *self.start)
        channel = max(self._channel(block, side) for side in STEPS)
        radius = 4 + 4 * channel + block.width + block.height
        while True:
            window = (
                max(0, west - radius),
                max(0, north - radius),
                min(self.fabric.width, east + radius),
                min(self.fabric.height, south + radius),
            )
            found = self._best_in(block, linked, window)
            if found is not None or window == whole:
                return found
            radius *= 2

    def _best_in(self, block: Block, linked: list[_End], window: tuple[int, int, int, int]) -> PE | None:
        """Return the best free place for a block inside a window of the fabric, or None."""
        west, north, east, south = window
        sides = {end.side for end in self.ends[block.name]}
        # Corners that keep the block inside the window, and its ports away from the edges of the fabric.
        edge = {side: max(self._channel(block, side), 1) if side in sides else 0 for side in STEPS}
        first_x, first_y = max(west, edge["west"]), max(north, edge["north"])
        last_x = min(east - block.width, self.fabric.width - block.width - edge["east"])
        last_y = min(south - block.height, self.fabric.height - block.height - edge["south"])
        if last_x < first_x or last_y < first_y:
            return None
        xs, ys = np.arange(first_x, last_x + 1), np.arange(first_y, last_y + 1)
        x0, y0, x1, y1 = self.with_channels(block, (0, 0))
        taken = _sums(self.kept, xs, ys, (0, 0, block.width, block.height))
        taken += _sums(self.index >= 0, xs, ys, (x0, y0, x1, y1))
        if taken.min() > 0:
            return None
        cost = np.zeros(taken.shape)
        grid_x, grid_y = np.meshgrid(xs, ys)
        for end in linked:
            cost += self._length(block, end, grid_x, grid_y)
        if not linked:
            # The smallest square, and in it the nearest to its start.
            x0, y0, x1, y1 = self.box or (*self.start, *self.start)
            right, bottom = np.maximum(grid_x + block.width, x1), np.maximum(grid_y + block.height, y1)
            cost += np.maximum(right - np.minimum(grid_x, x0), bottom - np.minimum(grid_y, y0))
            cost += (np.abs(grid_x - x0) + np.abs(grid_y - y0)) / 4096
        cost[taken > 0] = np.inf
        row, column = np.unravel_index(np.argmin(cost), cost.shape)
        return int(xs[column]), int(ys[row])

    def _length(self, block: Block, end: _End, grid_x: np.ndarray, grid_y: np.ndarray) -> np.ndarray:
        """Return about how long a link is for each place of a block: the mean of its outermost PEs, times their
        number."""
        other = self.blocks[end.other.block]
        other_x, other_y = self.places[other.name]
        mine, theirs = port_pes(block, end.side), port_pes(other, end.other.side)
        my_step = STEPS[end.side] if end.side else (0, 0)
        their_step = STEPS[end.other.side] if end.other.side else (0, 0)
        total = np.zeros(grid_x.shape)
        for which in (0, -1):
            x, y = grid_x + (mine[which][0] + my_step[0]), grid_y + (mine[which][1] + my_step[1])
            to_x, to_y = other_x + theirs[which][0] + their_step[0], other_y + theirs[which][1] + their_step[1]
            total += np.abs(x - to_x) + np.abs(y - to_y)
            # Around a block, where the port looks the wrong way.
            total += _behind(end.side, to_x - x, to_y - y) * (block.width + block.height)
            total += _behind(end.other.side, x - to_x, y - to_y) * (other.width + other.height)
            if end.side and end.other.side:
                facing = end.side == OPPOSITE[end.other.side]
                total += 0.5 * (not facing)
                if facing and end.count > 1:
                    # Lanes that do not go straight need room to turn.
                    total += 0.25 * ((x - to_x) * (y - to_y) != 0)
        return total * (end.count / 2)

    # Exhaustive search

    def _search(self) -> None:
        """Find places for all blocks without one, whatever was chosen before; ImpossibleLayout if there are none."""
        width, height = self.fabric.width, self.fabric.height
        fixed = [block for block in self.blocks.values() if block.at is not None]
        others = [block for block in self.blocks.values() if block.at is None]
        others.sort(key=lambda block: -block.width * block.height)
        complete = False
        if self.channels == NO_CHANNELS and width * height <= MAX_SEARCH_AREA:
            taken = 0
            for block in fixed:
                assert block.at is not None
                taken |= _mask(block, block.at, width)
            found, complete = _packing(others, taken, self._corners, width)
            if found is not None:
                self.places = {block.name: block.at for block in fixed if block.at is not None} | found
                return
        raise self._no_room(others, complete)

    def _corners(self, block: Block) -> Iterator[PE]:
        """Yield all corners of a block that keep it and the PEs before its ports inside the fabric."""
        sides = {end.side for end in self.ends[block.name]}
        for y in range("north" in sides, self.fabric.height - block.height - ("south" in sides) + 1):
            for x in range("west" in sides, self.fabric.width - block.width - ("east" in sides) + 1):
                yield x, y

    def _no_room(self, others: list[Block], complete: bool) -> ImpossibleLayout:
        fixed = sum(block.width * block.height for block in self.blocks.values() if block.at is not None)
        free = self.fabric.width * self.fabric.height - fixed
        needed = sum(block.width * block.height for block in others)
        missing = next(
            block for block in (*self._order(), *others) if block.name not in self.places or needed > free or complete
        )
        ports = sorted({EDGES[end.side] for end in self.ends[missing.name] if end.side})
        beside = f" with a free PE beyond its {' and '.join(ports)} edge" if ports else ""
        why = (
            f"{needed} PEs are to be placed and {free} are free"
            if needed > free
            else f"{free} PEs are free and {needed} needed, but not in such rectangles"
        )
        sure = "there is" if complete or needed > free else "found"
        return ImpossibleLayout(
            f"{sure} no free rectangle of {missing.width} x {missing.height} PEs{beside} for code region "
            f"'{missing.name}' on the fabric of {self._size()} PEs: {why}; make regions smaller, place those that are "
            "in the way elsewhere, or take a larger fabric",
            [missing.name],
        )


def _sized(block: Block) -> str:
    return f"code region '{block.name}' of {block.width} x {block.height} PEs"


def _behind(side: str | None, right: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Return where something that many PEs east and south of the PE before a port is on the port's other side."""
    if side is None:
        return np.zeros(right.shape)
    return {"west": right > 0, "east": right < 0, "north": down > 0, "south": down < 0}[side].astype(float)


def _sums(marked: np.ndarray, xs: np.ndarray, ys: np.ndarray, box: tuple[int, int, int, int]) -> np.ndarray:
    """Return how many marked PEs a box contains (west, north, east, south of a corner), for each corner."""
    height, width = marked.shape
    x0, y0 = max(0, int(xs[0]) + box[0]), max(0, int(ys[0]) + box[1])
    x1, y1 = min(width, int(xs[-1]) + box[2]), min(height, int(ys[-1]) + box[3])
    sums = np.zeros((y1 - y0 + 1, x1 - x0 + 1), dtype=np.int64)
    sums[1:, 1:] = marked[y0:y1, x0:x1].cumsum(axis=0, dtype=np.int64).cumsum(axis=1)
    left, right = np.clip(xs + box[0], x0, x1) - x0, np.clip(xs + box[2], x0, x1) - x0
    top, bottom = np.clip(ys + box[1], y0, y1) - y0, np.clip(ys + box[3], y0, y1) - y0
    return sums[np.ix_(bottom, right)] - sums[np.ix_(top, right)] - sums[np.ix_(bottom, left)] + sums[np.ix_(top, left)]


def _mask(block: Block, at: PE, width: int) -> int:
    """Return the PEs of a block as a number with a bit for each PE of the fabric."""
    row = ((1 << block.width) - 1) << at[0]
    return sum(row << (width * (at[1] + line)) for line in range(block.height))


def _packing(
    blocks: Sequence[Block], taken: int, corners: Callable[[Block], Iterator[PE]], width: int
) -> tuple[dict[str, PE] | None, bool]:
    """Return places for all blocks clear of the PEs in `taken`, or None; and True if the search tried all of them."""
    choices = [[(at, _mask(block, at, width)) for at in corners(block)] for block in blocks]
    steps = 0
    found: list[PE] = []

    def fits(position: int, taken: int) -> bool:
        nonlocal steps
        if position == len(blocks):
            return True
        for at, mask in choices[position]:
            steps += 1
            if steps > MAX_SEARCH_STEPS:
                return False
            if taken & mask == 0:
                found.append(at)
                if fits(position + 1, taken | mask):
                    return True
                found.pop()
        return False

    if fits(0, taken):
        return {block.name: at for block, at in zip(blocks, found, strict=True)}, True
    return None, steps <= MAX_SEARCH_STEPS
