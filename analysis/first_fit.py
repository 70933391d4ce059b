"""First-fit placement of sized things in a range of numbers. Knows nothing of IR."""

from __future__ import annotations

from bisect import insort


class Room:
    """The numbers from 0 to `capacity`, less what is occupied; what is placed starts at a multiple of `alignment`."""

    def __init__(self, capacity: int, alignment: int):
        self.capacity = capacity
        self.alignment = alignment
        self._occupied: list[tuple[int, int]] = []

    def is_free(self, start: int, size: int) -> bool:
        """Return True if nothing occupies any of the `size` numbers from `start` on."""
        return all(end <= start or start + size <= begin for begin, end in self._occupied)

    def occupy(self, start: int, size: int) -> None:
        """Mark the `size` numbers from `start` on as taken."""
        insort(self._occupied, (start, start + size))

    def first(self, size: int, at_least: int = 0) -> int:
        """Return the first aligned place for `size`, from `at_least` on, be it inside the capacity or beyond."""
        place = self._aligned(at_least)
        for begin, end in self._occupied:
            if place + size <= begin:
                break
            if end > place:
                place = self._aligned(end)
        return place

    def take(self, size: int) -> int | None:
        """Occupy the first aligned place for `size` and return it; None if there is none."""
        place = self.first(size)
        if place + size > self.capacity:
            return None
        self.occupy(place, size)
        return place

    def _aligned(self, place: int) -> int:
        return -(-place // self.alignment) * self.alignment
