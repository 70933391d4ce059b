"""Placement of tiles in one memory, where some may share addresses. Knows sizes and alignment, nothing of IR."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TypeVar

from ..diagnostics.records import record
from .first_fit import Room

Tile = TypeVar("Tile", bound=Hashable)

MAX_STEPS = 2_000
"""Tiles placed by the search after which the memory is said to be too small."""


@record
class Memory:
    """A memory with its occupied ranges, as (address, bytes), and the bytes to reserve behind the tiles.

    What comes behind takes the first aligned places that are left, in its order, and shares with no tile.
    """

    capacity: int
    alignment: int
    occupied: Sequence[tuple[int, int]] = field(default=())
    behind: Sequence[int] = field(default=())

    def room(self, others: Iterable[tuple[int, int]] = ()) -> Room:
        """Return the room that is left if `others` are in it as well."""
        room = Room(self.capacity, self.alignment)
        for address, size in (*self.occupied, *others):
            room.occupy(address, size)
        return room

    def leaves_enough(self, taken: Iterable[tuple[int, int]]) -> bool:
        """Return True if what comes behind finds places when tiles take these."""
        room = self.room(taken)
        return all(room.take(size) is not None for size in self.behind)


def place_apart(sizes: Mapping[Tile, int], memory: Memory) -> dict[Tile, int] | None:
    """Return an address for every tile, none on another: each the first in their order; None if they do not fit."""
    return _in_order(list(sizes), sizes, {tile: sizes.keys() for tile in sizes}, memory)


def place_sharing(
    sizes: Mapping[Tile, int], together: Mapping[Tile, Collection[Tile]], memory: Memory
) -> dict[Tile, int] | None:
    """Return an address for every tile, apart from those it is used `together` with; None if they do not fit.

    Large tiles are placed first. If that does not succeed, other orders are tried: some order leads to a placement
    if there is one, since tiles in the order of their addresses in it each find theirs, or one before. The search
    gives up at MAX_STEPS.
    """
    by_size = sorted(sizes, key=lambda tile: -sizes[tile])
    by_crowd = sorted(sizes, key=lambda tile: -sum(sizes[other] for other in together.get(tile, ()) if other in sizes))
    for order in (by_size, by_crowd, list(sizes)):
        found = _in_order(order, sizes, together, memory)
        if found is not None:
            return found
    return _by_search(by_size, sizes, together, memory)


def _spans(
    addresses: Mapping[Tile, int], sizes: Mapping[Tile, int], among: Collection[Tile] | None = None
) -> list[tuple[int, int]]:
    """Return the place of tiles, all or those `among` some, as (address, bytes)."""
    return [(address, sizes[tile]) for tile, address in addresses.items() if among is None or tile in among]


def _in_order(
    order: Sequence[Tile], sizes: Mapping[Tile, int], together: Mapping[Tile, Collection[Tile]], memory: Memory
) -> dict[Tile, int] | None:
    addresses: dict[Tile, int] = {}
    for tile in order:
        place = memory.room(_spans(addresses, sizes, together.get(tile, ()))).take(sizes[tile])
        if place is None:
            return None
        addresses[tile] = place
    if not memory.leaves_enough(_spans(addresses, sizes)):
        return None
    return {tile: addresses[tile] for tile in sizes}


def _by_search(
    order: Sequence[Tile], sizes: Mapping[Tile, int], together: Mapping[Tile, Collection[Tile]], memory: Memory
) -> dict[Tile, int] | None:
    addresses: dict[Tile, int] = {}
    steps = 0

    def place(at_least: int) -> bool:
        """Place the tiles that are left, at `at_least` or behind."""
        nonlocal steps
        left = [tile for tile in order if tile not in addresses]
        if not left:
            return memory.leaves_enough(_spans(addresses, sizes))
        # A placement in the order of addresses is as good as any: each tile goes where the last went, or behind it.
        tried: set[tuple[int, int, frozenset[Tile]]] = set()
        for tile in left:
            room = memory.room(_spans(addresses, sizes, together.get(tile, ())))
            address = room.first(sizes[tile], at_least)
            if address + sizes[tile] > memory.capacity:
                continue
            # Of tiles that can be exchanged for each other, one is tried.
            others = frozenset(other for other in left if other in together.get(tile, ()))
            alike = {(sizes[tile], address, others), (sizes[tile], address, others | {tile})}
            if alike & tried:
                continue
            tried |= alike
            steps += 1
            if steps > MAX_STEPS:
                return False
            addresses[tile] = address
            if place(address):
                return True
            del addresses[tile]
        return False

    return {tile: addresses[tile] for tile in sizes} if place(0) else None
